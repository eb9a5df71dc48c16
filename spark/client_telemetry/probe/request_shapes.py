"""The rows of request_bodies.csv, from the message definitions of published kafka-clients jars.

    python -m client_telemetry.probe.request_shapes --jar kafka-clients-3.9.1.jar --jar kafka-clients-4.4.0.jar

Every field has its default; lists and texts are empty, so that no topic, group or configuration is named. The exceptions are
in VALUES. A version is described by the newest jar that has it: 4.0 dropped the definitions of versions that it refuses
(KIP-896), which the jars of 3.x still have.
"""

import argparse
import re
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final
from zipfile import BadZipFile, ZipFile

from client_telemetry import Unusable
from client_telemetry.console.output_file import whole_file, write_csv
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.knowledge.broker_release import Definition, Field, Value, definition
from client_telemetry.probe.request_bodies import COLUMNS, FILE, Request


class UnusableJar(Unusable):
    """Not a kafka-clients jar, or a message definition that cannot be encoded."""


SOFTWARE_NAME: Final = "client-telemetry-probe"
VALUES: Final[Mapping[tuple[str, str], Value]] = {
    # Without acknowledgement there is no answer.
    ("Produce", "Acks"): 1,
    ("ApiVersions", "ClientSoftwareName"): SOFTWARE_NAME,
    ("ApiVersions", "ClientSoftwareVersion"): "1",
    # 0 is "unknown", which brokers refuse while they parse the request: 4 is the cluster, 1 is "any" (ResourceType, AclOperation,
    # AclPermissionType, PatternType).
    ("DescribeAcls", "ResourceTypeFilter"): 4,
    ("DescribeAcls", "PatternTypeFilter"): 1,
    ("DescribeAcls", "Operation"): 1,
    ("DescribeAcls", "PermissionType"): 1,
    # Where an implementation takes the empty group id for a group: nobody who is in it already (UNKNOWN_MEMBER_ID), or who leaves
    # it, joins it.
    ("JoinGroup", "MemberId"): SOFTWARE_NAME,
    ("ConsumerGroupHeartbeat", "MemberEpoch"): -1,
    ("ShareGroupHeartbeat", "MemberEpoch"): -1,
    ("StreamsGroupHeartbeat", "MemberEpoch"): -1,
    # 0 would open a session.
    ("ShareFetch", "ShareSessionEpoch"): -1,
    ("ShareAcknowledge", "ShareSessionEpoch"): -1,
}
_NEVER_NULL: Final = {("ShareFetch", "GroupId"), ("ShareAcknowledge", "GroupId")}
"""A broker that reads null there fails with an error in its log (NullPointerException), instead of refusing the empty text."""
_ONE_ENTRY: Final = {("OffsetFetch", "Groups")}
"""Lists with one default entry (a group without a name): brokers up to 4.0 never answer OffsetFetch 8 without any group."""
_TRIAL_FIELDS: Final = {"validateOnly", "ValidateOnly"}
"""Set, so that even a broker that took an empty list for all would only check."""
_NUMBERS: Final = {
    "int8": ">b",
    "int16": ">h",
    "uint16": ">H",
    "int32": ">i",
    "uint32": ">I",
    "int64": ">q",
    "float64": ">d",
}


def shapes(jar: Path) -> tuple[str, list[Request]]:
    """The release of a jar, and a shape for each version of each request that it has. Raises UnusableJar."""
    try:
        with ZipFile(jar) as opened:
            properties = opened.read("kafka/kafka-version.properties").decode()
            messages = {
                match[1]: definition(opened.read(name).decode())
                for name in opened.namelist()
                if (match := re.fullmatch(r"common/message/(\w+)\.json", name))
            }
        release = re.search(r"^version=(.+)$", properties, re.MULTILINE)
        if release is None:
            raise UnusableJar(f"{jar}: it does not say which version it is")
        return release[1].strip(), sorted(_all_shapes(messages))
    except (BadZipFile, KeyError, OSError, UnicodeDecodeError, ValueError, struct.error) as error:
        raise UnusableJar(f"{jar}: not a kafka-clients jar: {error}") from error


def _all_shapes(messages: Mapping[str, Definition]) -> Iterator[Request]:
    for name, request in messages.items():
        api_name = name.removesuffix("Request")
        if api_name == name or "apiKey" not in request:
            continue
        response = messages[f"{api_name}Response"]
        for version in _versions(request["validVersions"]):
            flexible = _has(request.get("flexibleVersions"), version)
            body = _Encoder(api_name, version, request).body()
            yield Request(
                request["apiKey"],
                api_name,
                version,
                flexible,
                body,
                _error_at(request["apiKey"], response, version),
            )


def _versions(text: str) -> range:
    if text == "none":
        return range(0)
    low, _, high = text.partition("-")
    return range(int(low), int(high or low) + 1)


def _has(versions: str | None, version: int) -> bool:
    """Whether `0-3`, `4+`, `2` or `none` has a version."""
    if not versions or versions == "none":
        return False
    if versions.endswith("+"):
        return version >= int(versions[:-1])
    return version in _versions(versions)


def _error_at(api_key: int, response: Definition, version: int) -> int | None:
    """Where the answer's own error code begins, counted from the correlation id; None if it has none at a fixed place. Answers to
    ApiVersions never have a flexible header (KIP-511).
    """
    flexible = _has(response.get("flexibleVersions"), version) and api_key != ApiKey.API_VERSIONS
    place = 4 + flexible
    for field in response["fields"]:
        if not _has(field["versions"], version) or _has(field.get("taggedVersions"), version):
            continue
        if field["name"] == "ErrorCode":
            return place
        if field["type"] not in _NUMBERS:
            return None
        place += struct.calcsize(_NUMBERS[field["type"]])
    return None


class _Encoder:
    """Writes the default form of one version of a request."""

    def __init__(self, api_name: str, version: int, definition: Definition) -> None:
        self._api_name, self._version, self._definition = api_name, version, definition
        self._flexible = _has(definition.get("flexibleVersions"), version)
        self._structs = {
            struct_["name"]: struct_["fields"] for struct_ in definition.get("commonStructs", [])
        }

    def body(self) -> bytes:
        return self._fields(self._definition["fields"])

    def _fields(self, fields: Sequence[Field]) -> bytes:
        body = b"".join(
            self._field(field)
            for field in fields
            if _has(field["versions"], self._version) and not _has(field.get("taggedVersions"), self._version)
        )
        return body + b"\0" if self._flexible else body

    def _field(self, field: Field) -> bytes:
        kind, value = field["type"], self._value(field)
        if kind in _NUMBERS:
            return struct.pack(
                _NUMBERS[kind], float(value or 0) if kind == "float64" else int(str(value or 0), 0)
            )
        if kind == "bool":
            return bytes([str(value).lower() == "true"])
        if kind == "uuid":
            return bytes(16)
        is_null = value == "null" and _has(field.get("nullableVersions"), self._version)
        compact = self._flexible and field.get("flexibleVersions") != "none"
        if kind == "string":
            return _text(None if is_null else str(value or ""), compact)
        if (self._api_name, field["name"]) in _ONE_ENTRY and _has(field["versions"], self._version):
            return _length(1, compact) + self._fields(field["fields"])
        if kind in ("bytes", "records") or kind.startswith("[]"):
            return _length(-1 if is_null or kind == "records" else 0, compact)
        if _has(field.get("nullableVersions"), self._version):
            return b"\xff"
        return self._fields(field.get("fields") or self._structs[kind])

    def _value(self, field: Field) -> Value | None:
        place = self._api_name, field["name"]
        if place in _NEVER_NULL:
            return ""
        if field["name"] in _TRIAL_FIELDS:
            return True
        return VALUES.get(place, field.get("default"))


def _text(text: str | None, compact: bool) -> bytes:
    if text is None:
        return b"\0" if compact else b"\xff\xff"
    encoded = text.encode()
    # Texts of these requests are shorter than 127 bytes, so that their compact length is one byte.
    return (bytes([len(encoded) + 1]) if compact else struct.pack(">h", len(encoded))) + encoded


def _length(length: int, compact: bool) -> bytes:
    """Of a list or of bytes; -1 for null."""
    return bytes([length + 1]) if compact else struct.pack(">i", length)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m client_telemetry.probe.request_shapes",
        description="Write request_bodies.csv from kafka-clients jars, the oldest first.",
    )
    parser.add_argument("--jar", required=True, type=Path, action="append")
    args = parser.parse_args(arguments)
    rows: dict[tuple[int, int], tuple[Request, str]] = {}
    try:
        for jar in args.jar:
            release, of_jar = shapes(jar)
            rows |= {(shape.api_key, shape.version): (shape, release) for shape in of_jar}
    except UnusableJar as error:
        print(error, file=sys.stderr)
        return 2
    with whole_file(Path(str(files("client_telemetry.probe") / FILE))) as opened:
        write_csv(opened, COLUMNS, [_cells(*rows[key]) for key in sorted(rows)])
    print(f"{len(rows)} requests written")
    return 0


def _cells(shape: Request, release: str) -> list[str]:
    return [
        str(shape.api_key),
        shape.api_name,
        str(shape.version),
        "yes" if shape.flexible else "no",
        shape.body.hex(),
        "" if shape.error_at is None else str(shape.error_at),
        f"org.apache.kafka:kafka-clients:{release}",
    ]


if __name__ == "__main__":
    sys.exit(main())
