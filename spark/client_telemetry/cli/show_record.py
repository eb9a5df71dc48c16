"""Shows one record of a raw dump, which a finding cites by raw object and sequence.

    client-telemetry show-record --raw include/sample/fleet/raw OBJECT SEQUENCE

`--raw` is the folder or URL that holds `v1/`; OBJECT a key below it, SEQUENCE a number or `all`. Prints JSON, one
record a line with `all`: API names beside their keys, times as UTC, bytes as hex.
"""

import datetime as dt
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from client_telemetry import Unusable
from client_telemetry.console.arguments import Arguments
from client_telemetry.console.refusal import refuses
from client_telemetry.formats.locations import absolute_url
from client_telemetry.formats.raw.envelopes import parse_client_push, parse_connection_event
from client_telemetry.formats.raw.errors import BadObjectKey, UndecodableRecord
from client_telemetry.formats.raw.location import RawLocation
from client_telemetry.formats.raw.object_key import ObjectKey, parse_object_key
from client_telemetry.formats.raw.reader import RecordReader
from client_telemetry.knowledge import apis
from client_telemetry.subscriptions.instances import NO_INSTANCE_ID, kafka_uuid

_PARSERS = {"client_pushes": parse_client_push, "connections": parse_connection_event}


class NoSuchRecord(Unusable):
    """The object does not exist, or has no such record; the message says what there is."""


def records(raw: RawLocation, object_key: str) -> Iterator[dict[str, Any]]:
    """The decodable records of an object, as returned by `readable`. Raises NoSuchRecord."""
    try:
        key = parse_object_key(object_key)
        parse = _PARSERS[key.dataset]
    except (BadObjectKey, KeyError) as error:
        raise NoSuchRecord(f"{object_key}: not the key of an object with records: {error}") from error
    try:
        source = raw.read(object_key)
    except FileNotFoundError as error:
        raise NoSuchRecord(f"no object {object_key} in {raw.url}") from error
    with source:
        for record in RecordReader(source, object_key):
            message = _decoded(parse, record.data, key)
            if message is not None:
                yield readable(message)


def _decoded(parse: Callable[[bytes, ObjectKey], Message], data: bytes, key: ObjectKey) -> Message | None:
    try:
        return parse(data, key)
    except UndecodableRecord:
        return None


def readable(message: Message) -> dict[str, object]:
    """Fields by name, those that are set and `sequence`: times as text, client instance ids as Kafka writes them, other bytes as hex, with the API's name in an ApiUse."""
    fields: dict[str, Any] = {}
    if "sequence" in message.DESCRIPTOR.fields_by_name:
        fields["sequence"] = getattr(message, "sequence")  # noqa: B009 - only some messages have it
    for field, value in message.ListFields():
        fields[field.name] = (
            [_shown(field, item) for item in value] if field.is_repeated else _shown(field, value)
        )
    if "api_uses" in fields:
        fields["api_uses"] = [_named(use) for use in fields["api_uses"]]
    return fields


def _named(use: dict[str, Any]) -> dict[str, object]:
    # Zeros are not on the wire: Produce is API 0.
    key = use.get("api_key", 0)
    api = apis.by_key().get(key)
    return {"api": api.name if api else None, "api_key": key, "version": use.get("version", 0)} | use


def _shown(field: FieldDescriptor, value: Any) -> object:
    if isinstance(value, Message):
        return readable(value)
    if isinstance(value, bytes):
        is_instance_id = field.name.startswith("client_instance_id") and len(value) == len(NO_INSTANCE_ID)
        return kafka_uuid(value) if is_instance_id else value.hex()
    if field.enum_type:
        return field.enum_type.values_by_number[value].name
    if field.name.endswith("_nanos"):
        at = dt.datetime.fromtimestamp(value // 10**9, dt.UTC)
        return f"{at:%Y-%m-%dT%H:%M:%S}.{value % 10**9:09d}Z"
    return value


@refuses("show-record")
def main(argv: Sequence[str] | None = None) -> int:
    parser = Arguments("show-record", "Prints the record of a raw dump that a finding cites.")
    parser.add_argument("--raw", required=True, help="folder or URL that contains v1/")
    parser.add_argument("object", help="key of the object, starting at v1/")
    parser.add_argument("sequence", help="number of the record, or `all`")
    args = parser.parse_args(argv)
    for record in _wanted(RawLocation(absolute_url(args.raw)), args.object, args.sequence):
        print(json.dumps(record, indent=None if args.sequence == "all" else 1, ensure_ascii=True))
    return 0


def _wanted(raw: RawLocation, object_key: str, sequence: str) -> Iterator[dict[str, object]]:
    if sequence == "all":
        yield from records(raw, object_key)
        return
    if not sequence.isdecimal():
        raise NoSuchRecord(f"{sequence!r} is not a sequence: use a number or `all`")
    sequences = []
    for record in records(raw, object_key):
        if record["sequence"] == int(sequence):
            yield record
            return
        sequences.append(record["sequence"])
    there = f"it has {min(sequences)} to {max(sequences)}" if sequences else "no record in it can be decoded"
    raise NoSuchRecord(f"no record with sequence {sequence} in {object_key}: {there}")
