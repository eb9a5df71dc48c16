"""Decompression of PushTelemetry payloads with bounded output.

Codec ids are those of Kafka's CompressionType (KIP-714): 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd. The wire formats were
taken from Java 4.3.1 and librdkafka 2.15.0 clients (tests/data/payloads).
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import lz4.frame
import snappy
import zstandard

from client_telemetry.formats.raw.errors import CorruptPayload, PayloadTooLarge, UnknownCodec
from client_telemetry.formats.raw.stored_object import Decompressor

NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)
NOT_KNOWN = -1

_GZIP_MAGIC = b"\x1f\x8b"
_LZ4_MAGIC = b"\x04\x22\x4d\x18"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# Stream of snappy-java (xerial): magic, two int32 versions, then { int32 big-endian length, snappy block }*.
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER_BYTES = 16
# MetricsData has one field, number 1, length-delimited: an uncompressed payload begins with its tag.
_METRICS_DATA_TAG = b"\x0a"
ZSTD_BLOCK_BYTES = 128 * 2**10
# 4 bytes of zstd can expand to 128 KiB (RFC 8878, RLE_Block): a piece decompresses to at most 16 MiB.
_PIECE_BYTES = 512


@dataclass(frozen=True)
class Limits:
    """A payload may decompress to `max_bytes`, and to the greater of `max_ratio` times its size and
    `ratio_floor_bytes`. The captured payloads have ratios of 1 to 9; the brokers' own limit on the compressed size,
    `telemetry.max.bytes`, is 1 MiB by default. The floor spares small and very regular payloads.
    """

    max_bytes: int = 64 * 2**20
    max_ratio: int = 200
    ratio_floor_bytes: int = 2**20

    def output_bytes(self, stored_bytes: int) -> int:
        return min(self.max_bytes, max(self.max_ratio * stored_bytes, self.ratio_floor_bytes))


DEFAULT_LIMITS = Limits()
_FRAMES: dict[int, Callable[[], Decompressor]] = {
    GZIP: lambda: zlib.decompressobj(wbits=31),
    LZ4: lz4.frame.LZ4FrameDecompressor,
    # Frames of Kafka clients have no content size: only the streaming interface can read them.
    ZSTD: lambda: zstandard.ZstdDecompressor().decompressobj(),
}


def decompress(data: bytes, codec: int, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """The payload as protobuf. Codec -1: detected from the bytes (`detect_codec`).

    Raises `UnknownCodec`, `CorruptPayload` (also if cut short or followed by other bytes) and `PayloadTooLarge`, the
    last before more than the limit and 16 MiB were produced.
    """
    if codec == NOT_KNOWN:
        codec = detect_codec(data)
    limit = limits.output_bytes(len(data))
    if codec == NONE:
        _check_size(len(data), limits.max_bytes, len(data))
        return data
    if codec == SNAPPY:
        return _decompress_snappy(data, limit)
    if codec in _FRAMES:
        return _decompress_frames(data, _FRAMES[codec], limit)
    raise UnknownCodec(f"compression type {codec}")


def detect_codec(data: bytes) -> int:
    """The codec according to its magic bytes. Kafka 3.7 hands over compressed payloads without the codec.

    A raw snappy block (librdkafka) has no magic: it is recognised by decompressing to the beginning of a MetricsData.
    Raises `UnknownCodec`.
    """
    for magic, codec in (
        (_GZIP_MAGIC, GZIP),
        (_XERIAL_MAGIC, SNAPPY),
        (_LZ4_MAGIC, LZ4),
        (_ZSTD_MAGIC, ZSTD),
    ):
        if data.startswith(magic):
            return codec
    if not data or data.startswith(_METRICS_DATA_TAG):
        return NONE
    if _is_raw_snappy(data):
        return SNAPPY
    raise UnknownCodec(f"compression type not known, and no codec begins with {data[:8].hex(' ')}")


def _decompress_frames(data: bytes, new: Callable[[], Decompressor], limit: int) -> bytes:
    pieces, size = [], 0
    frame = new()
    try:
        for at in range(0, len(data), _PIECE_BYTES):
            piece = data[at : at + _PIECE_BYTES]
            while piece:
                if frame.eof:
                    frame = new()
                pieces.append(frame.decompress(piece))
                size += len(pieces[-1])
                _check_size(size, limit, len(data))
                piece = frame.unused_data if frame.eof else b""
    except (zlib.error, zstandard.ZstdError, RuntimeError) as error:  # lz4 raises RuntimeError
        raise CorruptPayload(f"{error} ({len(data)} bytes, beginning with {data[:8].hex(' ')})") from None
    if not frame.eof:
        raise CorruptPayload(f"the compressed payload ends early, at byte {len(data)}")
    return b"".join(pieces)


def _decompress_snappy(data: bytes, limit: int) -> bytes:
    if not data.startswith(_XERIAL_MAGIC):
        _check_size(_snappy_length(data), limit, len(data))
        return _decompress_block(data)
    pieces, size, at = [], 0, 0
    while at < len(data):
        if data.startswith(
            _XERIAL_MAGIC, at
        ):  # also a second stream, as snappy-java's SnappyInputStream allows
            at += _XERIAL_HEADER_BYTES
            if at > len(data):
                raise CorruptPayload(f"the snappy stream ends in its header, at byte {len(data)}")
            continue
        length = int.from_bytes(data[at : at + 4], "big", signed=True)
        block = data[at + 4 : at + 4 + max(length, 0)]
        if length <= 0 or len(block) < length:
            raise CorruptPayload(f"snappy block of {length} bytes at {at} of {len(data)}")
        _check_size(size + _snappy_length(block), limit, len(data))
        pieces.append(_decompress_block(block))
        size += len(pieces[-1])
        at += 4 + length
    return b"".join(pieces)


def _decompress_block(block: bytes) -> bytes:
    """A snappy block whose declared length was checked; the library returns no more than that."""
    try:
        return snappy.uncompress(block)
    except snappy.UncompressError as error:
        raise CorruptPayload(f"snappy block of {len(block)} bytes: {error.__cause__ or error}") from None


def _snappy_length(block: bytes) -> int:
    """The uncompressed length that a snappy block begins with, a varint of at most 5 bytes."""
    length = 0
    for i, byte in enumerate(block[:5]):
        length |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            return length
    raise CorruptPayload(f"no snappy block begins with {block[:8].hex(' ')}")


def _is_raw_snappy(data: bytes) -> bool:
    try:
        block = _decompress_snappy(data, DEFAULT_LIMITS.output_bytes(len(data)))
    except (CorruptPayload, PayloadTooLarge):
        return False
    return block.startswith(_METRICS_DATA_TAG)


def _check_size(size: int, limit: int, stored_bytes: int) -> None:
    if size > limit:
        raise PayloadTooLarge(f"{stored_bytes} bytes decompress to {size} or more; the limit is {limit}")
