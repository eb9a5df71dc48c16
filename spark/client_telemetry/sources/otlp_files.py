"""Files of OpenTelemetry metrics, as collectors and metric streams write them, message by message.

| format | bytes |
|---|---|
| `collector_proto` | Collector's file exporter, `format: proto`: `{ uint32 big-endian length, MetricsData }*`, maybe one zstd stream |
| `collector_proto_zstd` | the same with `compression: zstd` without the gate exporter.file.nativeCompression: each message is compressed |
| `collector_json` | file or S3 exporter, `format: json`: one object of OTLP/JSON a line, maybe one zstd or gzip stream |
| `collector_json_zstd` | as `collector_proto_zstd`, with OTLP/JSON in each message |
| `otlp_proto` | S3 exporter, `marshaler: otlp_proto`: a file is one message, maybe gzip |
| `metric_stream` | CloudWatch metric streams: `{ varint length, ExportMetricsServiceRequest }*` |

The format is told, never guessed; only whether the whole file is a zstd or gzip stream shows in its first bytes.
MetricsData and ExportMetricsServiceRequest are the same on the wire. What the metrics say is not here.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import zstandard
from google.protobuf import json_format
from google.protobuf.message import DecodeError
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from client_telemetry.sources.log_files import CutOff, open_decompressed, skip

MAX_MESSAGE_BYTES = 64 * 2**20
"""Above the 4 MiB that OTLP receivers take by default; a larger length is damage."""


class NotMetrics(ValueError):
    """A message that cannot be read; the message says why. A line of logs or traces is none of these: it is skipped."""


class Message(NamedTuple):
    """`offset` in the decompressed file; `data` as it stands there; `metrics`: None = it is of logs or traces.
    `error`: why there are no metrics in it."""

    offset: int
    data: bytes
    metrics: MetricsData | None
    error: str | None = None


def messages(path: Path, format_: str, cut: CutOff, start: int = 0) -> Iterator[Message]:
    """The messages of a file from byte `start` of it on, decompressed. Where it is damaged or ends early the rest is one
    message with an error."""
    split, parse = FORMATS[format_]
    with path.open("rb") as stored:
        file = open_decompressed(stored, cut)
        skip(file, start)
        for at, data, error in split(file):
            offset = start + at
            if error is not None:
                yield Message(offset, data, None, error)
                continue
            try:
                yield Message(offset, data, parse(data))
            except NotMetrics as reason:
                yield Message(offset, data, None, str(reason))


_Split = Callable[[BinaryIO], Iterator[tuple[int, bytes, str | None]]]


def _framed(file: BinaryIO) -> Iterator[tuple[int, bytes, str | None]]:
    offset = 0
    while head := file.read(4):
        length = int.from_bytes(head, "big")
        if len(head) < 4 or length > MAX_MESSAGE_BYTES:
            yield offset, head + file.read(65_536), f"no length of a message: {head.hex(' ')}"
            return
        data = file.read(length)
        if len(data) < length:
            yield offset, head + data, f"the last message ends early: {len(data)} of {length} bytes"
            return
        yield offset + 4, data, None
        offset += 4 + length


def _varint_framed(file: BinaryIO) -> Iterator[tuple[int, bytes, str | None]]:
    offset = 0
    while True:
        length = size = 0
        while byte := file.read(1):
            length |= (byte[0] & 0x7F) << (7 * size)
            size += 1
            if byte[0] < 0x80 or size == 10:
                break
        if not byte and not size:
            return
        data = file.read(length) if byte and length <= MAX_MESSAGE_BYTES else b""
        if not byte or len(data) < length:
            yield offset, data, f"the last message ends early, or {length} is no length"
            return
        yield offset + size, data, None
        offset += size + length


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
    if "resourceMetrics" not in fields:
        if "resourceLogs" in fields or "resourceSpans" in fields:
            return None
        raise NotMetrics("no resourceMetrics in it")
    try:
        return json_format.ParseDict(_without_exemplars(fields), MetricsData(), ignore_unknown_fields=True)
    except json_format.ParseError as error:
        raise NotMetrics(f"not OTLP/JSON: {error}") from None


def _without_exemplars(value: Any) -> Any:
    """OTLP/JSON has trace and span ids in hexadecimal where protobuf's JSON has base64; exemplars are not read."""
    if isinstance(value, dict):
        return {key: _without_exemplars(each) for key, each in value.items() if key != "exemplars"}
    return [_without_exemplars(each) for each in value] if isinstance(value, list) else value


def _zstd_then(parse: Callable[[bytes], MetricsData | None]) -> Callable[[bytes], MetricsData | None]:
    def read(data: bytes) -> MetricsData | None:
        try:
            decompressor = zstandard.ZstdDecompressor().decompressobj()
            return parse(decompressor.decompress(data))
        except zstandard.ZstdError as error:
            raise NotMetrics(f"not zstd: {error}") from None

    return read


FORMATS: dict[str, tuple[_Split, Callable[[bytes], MetricsData | None]]] = {
    "collector_proto": (_framed, _proto),
    "collector_proto_zstd": (_framed, _zstd_then(_proto)),
    "collector_json": (_lines, _json),
    "collector_json_zstd": (_framed, _zstd_then(_json)),
    "otlp_proto": (_whole, _proto),
    "metric_stream": (_varint_framed, _proto),
}
