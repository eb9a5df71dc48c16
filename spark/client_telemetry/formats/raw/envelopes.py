"""Records of a dump as messages of the contract, with all checks that a single record allows.

Checks across records (duplicates, gaps in the sequence) and of the payload's contents are elsewhere.
"""

from functools import cache
from typing import Any, TypeVar

import google_crc32c
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError, Message

from client_telemetry.formats.raw import raw_dump_v1_pb2
from client_telemetry.formats.raw.errors import (
    BadInstanceId,
    InvalidUtf8,
    MissingEventKind,
    NotProtobuf,
    NumberOutOfRange,
    UnreadableSource,
    WrongChecksum,
    WrongIdentity,
)
from client_telemetry.formats.raw.object_key import ObjectKey
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientPush, ConnectionEvent

_Record = TypeVar("_Record", ClientPush, ConnectionEvent)
_LARGEST = 2**63 - 1
_MOST_COUNTED = 2**48
"""By one event: a million requests a second for nine years. Of 32,767 such events the sum is a bigint."""
_UNREADABLE = b"\xffunreadable: "


def parse_client_push(data: bytes, key: ObjectKey) -> ClientPush:
    """A record of dataset `client_pushes` from the object with this key.

    The instance id is returned as sent: 16 bytes, possibly all zero, or empty; the caller flags the latter two.
    A checksum of 0 means "not given" (proto3 cannot distinguish it from an absent one) and is not compared. The
    payload is not looked at.

    Raises `UnreadableSource`, `NotProtobuf`, `InvalidUtf8`, `WrongIdentity`, `NumberOutOfRange`, `BadInstanceId`, `WrongChecksum`.
    """
    push = _parse(ClientPush, data)
    _check_origin(push, key, push.client_instance_id)
    if len(push.client_instance_id) not in (0, 16):
        raise BadInstanceId(
            f"client instance id of {len(push.client_instance_id)} bytes: {push.client_instance_id[:32].hex()}",
            sequence=push.sequence,
        )
    if push.payload_crc32c:
        actual = google_crc32c.value(push.payload)
        if actual != push.payload_crc32c:
            raise WrongChecksum(
                f"payload of {len(push.payload)} bytes has CRC-32C {actual:08x}, stated {push.payload_crc32c:08x}",
                sequence=push.sequence,
                client_instance_id=push.client_instance_id,
            )
    return push


def parse_connection_event(data: bytes, key: ObjectKey) -> ConnectionEvent:
    """A record of dataset `connections` from the object with this key. Its `kind` may be newer than this contract: a
    number above the last known one.

    Raises `UnreadableSource`, `NotProtobuf`, `InvalidUtf8`, `WrongIdentity`, `NumberOutOfRange`, `MissingEventKind`.
    """
    event = _parse(ConnectionEvent, data)
    _check_origin(event, key, None)
    if event.kind == ConnectionEvent.KIND_UNSPECIFIED:
        raise MissingEventKind("connection event without a kind", sequence=event.sequence)
    requests = failed = 0
    for use in event.api_uses:
        requests += use.requests + use.rejected
    for error in event.api_errors:
        failed += error.requests
    for count, counted in (
        (event.connections, "connections"),
        (requests, "requests"),
        (failed, "failed requests"),
    ):
        if count > _MOST_COUNTED:
            raise NumberOutOfRange(f"{count} {counted}", sequence=event.sequence)
    return event


def _check_origin(record: ClientPush | ConnectionEvent, key: ObjectKey, instance_id: bytes | None) -> None:
    if record.sequence > _LARGEST:
        raise NumberOutOfRange(f"sequence {record.sequence}", client_instance_id=instance_id)
    problem, incarnation = None, record.incarnation
    if record.cluster_id != key.cluster_id:
        problem = f"cluster {record.cluster_id!r} in an object of cluster {key.cluster_id!r}"
    elif record.broker_id != key.broker_id:
        problem = f"broker {record.broker_id} in an object of broker {key.broker_id}"
    elif len(incarnation) != 16:
        problem = f"incarnation of {len(incarnation)} bytes"
    elif key.incarnation and incarnation.hex() != key.incarnation:
        problem = f"incarnation {incarnation.hex()} in an object of incarnation {key.incarnation}"
    if problem:
        raise WrongIdentity(problem, sequence=record.sequence, client_instance_id=instance_id)


def unreadable_record(where: str, data: bytes) -> bytes:
    """The record that a converter writes for a piece of its source that it cannot read: bytes that begin no message, a
    line that says where the piece was and what is wrong, and the piece.
    """
    return _UNREADABLE + where.replace("\n", " ").encode() + b"\n" + data


def _parse(message: type[_Record], data: bytes) -> _Record:
    if data.startswith(_UNREADABLE):
        where, _, piece = data.removeprefix(_UNREADABLE).partition(b"\n")
        raise UnreadableSource(where.decode("utf-8", "replace"), piece)
    try:
        return message.FromString(data)
    except DecodeError as error:
        lenient = _with_bytes_for_strings(message.DESCRIPTOR.name)
        try:
            record: Any = lenient.FromString(data)
        except DecodeError:
            raise NotProtobuf(str(error)) from None
        raise InvalidUtf8(
            f"not UTF-8: {', '.join(_invalid_strings(record)) or error}",
            sequence=record.sequence,
            client_instance_id=getattr(record, "client_instance_id", None),
        ) from None


@cache
def _with_bytes_for_strings(name: str) -> type[Message]:
    """The contract's message with `bytes` in place of `string`: the same on the wire, but unchecked."""
    file = descriptor_pb2.FileDescriptorProto()
    raw_dump_v1_pb2.DESCRIPTOR.CopyToProto(file)
    for message in file.message_type:
        for field in message.field:
            if field.type == field.TYPE_STRING:
                field.type = field.TYPE_BYTES
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{file.package}.{name}"))


def _invalid_strings(record: Message, path: str = "") -> list[str]:
    """Paths of the strings that are not UTF-8, with their first bytes, for a message with bytes in place of strings."""
    strings = {f.name for f in _contract_fields(record) if f.type == f.TYPE_STRING}
    paths = []
    for field, value in record.ListFields():
        values = list(value) if field.is_repeated else [value]
        for item in values:
            if isinstance(item, Message):
                paths += _invalid_strings(item, f"{path}{field.name}.")
            elif field.name in strings and not _is_utf8(item):
                paths.append(f"{path}{field.name} = {item[:32]!r}")
    return paths


def _contract_fields(record: Message) -> list[Any]:
    return list(raw_dump_v1_pb2.DESCRIPTOR.message_types_by_name[record.DESCRIPTOR.name].fields)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
