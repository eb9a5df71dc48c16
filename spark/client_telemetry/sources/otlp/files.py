"""Files of OpenTelemetry metrics, as collectors and metric streams write them, message by message.

| format | bytes |
|---|---|
| `collector_proto` | Collector's file exporter, `format: proto`: `{ uint32 big-endian length, MetricsData }*`, maybe one zstd stream |
| `collector_proto_zstd` | the same with `compression: zstd` without the gate exporter.file.nativeCompression: each message is compressed |
| `collector_json` | file or S3 exporter, `format: json`: objects of OTLP/JSON, one a line or in any other form, maybe one zstd or gzip stream |
| `collector_json_zstd` | as `collector_proto_zstd`, with OTLP/JSON in each message |
| `otlp_proto` | S3 exporter, `marshaler: otlp_proto`: a file is one message, maybe gzip |
| `metric_stream` | CloudWatch metric streams: `{ varint length, ExportMetricsServiceRequest }*` |

The format is specified, never guessed; only whether the whole file is a zstd or gzip stream shows in its first bytes.
MetricsData and ExportMetricsServiceRequest are the same on the wire. What the metrics say is not here.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, BinaryIO, NamedTuple

import zstandard
from google.protobuf import json_format
from google.protobuf.message import DecodeError
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from client_telemetry.formats.raw.quarantine import MAX_EVIDENCE_BYTES
from client_telemetry.sources.arrivals import Form, Opened
from client_telemetry.sources.compression import CutOff
from client_telemetry.sources.log_files import LogFile, opened, opened_objects
from client_telemetry.sources.message_ends import FrameEnds, LineEnds, MessageEnds, OnlyEnd

MAX_MESSAGE_BYTES = 64 * 2**20
"""Above the 4 MiB that OTLP receivers accept by default; a larger length is damage."""


class NotMetrics(ValueError):
    """A message that cannot be read; the text says why. Lines of logs or traces do not count: they are skipped."""


class Message(NamedTuple):
    """`offset` in the decompressed file; `data` as stored there; `metrics`: None if it is logs or traces. `error`: why
    there are no metrics in it.
    """

    offset: int
    data: bytes
    metrics: MetricsData | None
    error: str | None = None


def messages(log: LogFile, format_: str, cut: CutOff) -> Iterator[Message]:
    """The messages in the part of a file to read. If it is damaged or ends early the rest is one message with an error."""
    layout = FORMATS[format_]
    with layout.opened(log, cut) as file:
        for at, data, error in layout.split(file):
            offset = log.start + at
            if error is not None:
                yield Message(offset, data, None, error)
                continue
            try:
                yield Message(offset, data, layout.parse(data))
            except NotMetrics as reason:
                yield Message(offset, data, None, str(reason))


def form(format_: str) -> Form:
    """How the messages of this format follow each other."""
    layout = FORMATS[format_]

    def is_whole(tail: bytes) -> bool:
        if layout.ends is OnlyEnd:
            return True
        if layout.ends is not LineEnds:
            return False
        try:
            layout.parse(tail)
        except NotMetrics:
            return False
        return True

    return Form(layout.ends, is_whole, layout.opened)


_Split = Callable[[BinaryIO], Iterator[tuple[int, bytes, str | None]]]


def _framed(length_of: Callable[[bytes], int | None]) -> _Split:
    """`length_of`: as of FrameEnds."""

    def split(file: BinaryIO) -> Iterator[tuple[int, bytes, str | None]]:
        offset = 0
        while head := file.read(1):
            while (length := length_of(head)) is None and (byte := file.read(1)):
                head += byte
            if length is None or length < 0:
                data = head + file.read(MAX_EVIDENCE_BYTES)
                yield offset, data, f"no length of a message: {head.hex(' ')}"
                return
            data = file.read(length)
            if len(data) < length:
                yield offset, head + data, f"the last message ends early: {len(data)} of {length} bytes"
                return
            yield offset + len(head), data, None
            offset += len(head) + length

    return split


def _fixed_length(head: bytes) -> int | None:
    """Value of 4 bytes, big-endian; None = fewer bytes, -1 = longer than any message."""
    length = int.from_bytes(head, "big")
    return None if len(head) < 4 else length if length <= MAX_MESSAGE_BYTES else -1


def _varint_length(head: bytes) -> int | None:
    """Value of a protobuf varint; None = it continues, -1 = longer than any message."""
    length = sum((byte & 0x7F) << (7 * i) for i, byte in enumerate(head))
    if length > MAX_MESSAGE_BYTES or len(head) > 10:
        return -1
    return None if head[-1] & 0x80 else length


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes, str | None]]:
    offset = 0
    while line := file.readline(MAX_MESSAGE_BYTES):
        if line.strip():
            yield offset, line.rstrip(b"\r\n"), None
        offset += len(line)


def _whole(file: BinaryIO) -> Iterator[tuple[int, bytes, str | None]]:
    data = file.read(MAX_MESSAGE_BYTES + 1)
    if data:
        yield 0, data, f"more than {MAX_MESSAGE_BYTES} bytes" if len(data) > MAX_MESSAGE_BYTES else None


def _proto(data: bytes) -> MetricsData:
    try:
        return MetricsData.FromString(data)
    except DecodeError as error:
        raise NotMetrics(f"not MetricsData: {error}") from None


def _json(data: bytes) -> MetricsData | None:
    try:
        fields = json.loads(data)
    except ValueError as error:
        raise NotMetrics(f"not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise NotMetrics("not a JSON object")
    if "resourceMetrics" not in fields and "resource_metrics" not in fields:
        if "resourceLogs" in fields or "resourceSpans" in fields:
            return None
        raise NotMetrics("no resourceMetrics in it")
    try:
        return json_format.ParseDict(_as_now(fields), MetricsData(), ignore_unknown_fields=True)
    except json_format.ParseError as error:
        raise NotMetrics(f"not OTLP/JSON: {error}") from None


_OLD_NAMES = {
    "instrumentationLibraryMetrics": "scopeMetrics",
    "instrumentation_library_metrics": "scopeMetrics",
    "instrumentationLibrary": "scope",
    "instrumentation_library": "scope",
}
"""Names of fields until opentelemetry-proto 0.14 (Collector 0.59); the fields are the same."""


def _as_now(value: object) -> Any:
    """With today's names of fields, and without exemplars: OTLP/JSON has trace and span ids in hexadecimal where
    protobuf's JSON has base64, and exemplars are not read.
    """
    if isinstance(value, dict):
        return {_OLD_NAMES.get(key, key): _as_now(item) for key, item in value.items() if key != "exemplars"}
    return [_as_now(item) for item in value] if isinstance(value, list) else value


def _zstd_then(parse: Callable[[bytes], MetricsData | None]) -> Callable[[bytes], MetricsData | None]:
    def read(data: bytes) -> MetricsData | None:
        try:
            message = zstandard.ZstdDecompressor().stream_reader(data).read(MAX_MESSAGE_BYTES + 1)
        except zstandard.ZstdError as error:
            raise NotMetrics(f"not zstd: {error}") from None
        if len(message) > MAX_MESSAGE_BYTES:
            raise NotMetrics(f"decompresses to more than {MAX_MESSAGE_BYTES} bytes")
        return parse(message)

    return read


class _Format(NamedTuple):
    split: _Split
    parse: Callable[[bytes], MetricsData | None]
    ends: Callable[[], MessageEnds]
    opened: Opened = opened


FORMATS = {
    "collector_proto": _Format(_framed(_fixed_length), _proto, partial(FrameEnds, _fixed_length)),
    "collector_proto_zstd": _Format(
        _framed(_fixed_length), _zstd_then(_proto), partial(FrameEnds, _fixed_length)
    ),
    "collector_json": _Format(_lines, _json, LineEnds, opened_objects),
    "collector_json_zstd": _Format(
        _framed(_fixed_length), _zstd_then(_json), partial(FrameEnds, _fixed_length)
    ),
    "otlp_proto": _Format(_whole, _proto, OnlyEnd),
    "metric_stream": _Format(_framed(_varint_length), _proto, partial(FrameEnds, _varint_length)),
}
