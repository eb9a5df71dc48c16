import gzip
import re
import subprocess
import sys
from pathlib import Path

import lz4.frame
import pytest
import snappy
import zstandard
from client_telemetry.formats.otlp.codecs import Limits, decompress, detect_codec
from client_telemetry.formats.raw.errors import CorruptPayload, PayloadTooLarge, UnknownCodec

PAYLOADS = Path(__file__).parents[2] / "data/payloads"
CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
PLAIN = b"\x0a\x0c" + b"some metrics"


def xerial(*blocks: bytes) -> bytes:
    """Stream of snappy-java: magic, version 1, compatible with 1, then length and block."""
    framed = b"".join(len(block).to_bytes(4, "big") + block for block in map(snappy.compress, blocks))
    return b"\x82SNAPPY\x00" + b"\x00\x00\x00\x01" * 2 + framed


def zstd_as_kafka_writes_it(data: bytes) -> bytes:
    compressor = zstandard.ZstdCompressor().compressobj()
    return compressor.compress(data) + compressor.flush()


COMPRESSED = {
    "gzip": (1, gzip.compress(PLAIN)),
    "two gzip members": (1, gzip.compress(PLAIN[:5]) + gzip.compress(PLAIN[5:])),
    "xerial snappy": (2, xerial(PLAIN)),
    "xerial snappy in two blocks": (2, xerial(PLAIN[:5], PLAIN[5:])),
    "two xerial snappy streams": (2, xerial(PLAIN[:5]) + xerial(PLAIN[5:])),
    "raw snappy": (2, snappy.compress(PLAIN)),
    "lz4": (3, lz4.frame.compress(PLAIN)),
    "lz4 without content size and checksum": (3, lz4.frame.compress(PLAIN, store_size=False)),
    "zstd without content size": (4, zstd_as_kafka_writes_it(PLAIN)),
    "zstd with content size and checksum": (4, zstandard.ZstdCompressor(write_checksum=True).compress(PLAIN)),
    "none": (0, PLAIN),
    "nothing": (0, b""),
}


def cases():
    return [pytest.param(codec, data, id=case) for case, (codec, data) in COMPRESSED.items()]


@pytest.mark.parametrize(("codec", "data"), cases())
def test_every_framing(codec, data):
    assert decompress(data, codec) == (PLAIN if data else b"")


@pytest.mark.parametrize(("codec", "data"), cases())
def test_a_codec_that_is_not_known_goes_by_the_bytes(codec, data):
    assert detect_codec(data) == codec
    assert decompress(data, -1) == decompress(data, codec)


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_payloads_of_the_java_client(codec):
    """The same producer without traffic, pushing in one codec after the other: only times and values differ."""
    stem = "java-4.3.1-producer-all-delta"
    plain = (PAYLOADS / f"{stem}.none.bin").read_bytes()
    data = (PAYLOADS / f"{stem}.{codec}.bin").read_bytes()
    assert detect_codec(data) == CODECS[codec] and detect_codec(plain) == 0
    decompressed = decompress(data, CODECS[codec])
    assert len(decompressed) == len(plain) == 11812
    assert re.findall(rb"org\.apache\.kafka[a-z.]+", decompressed) == re.findall(
        rb"org\.apache\.kafka[a-z.]+", plain
    )


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_payloads_of_librdkafka(codec):
    data = (PAYLOADS / f"librdkafka-2.15.0-producer-c{codec}.push1.c{codec}.bin").read_bytes()
    assert detect_codec(data) == codec
    plain = decompress(data, codec)
    assert len(plain) == 1469 and plain.startswith(b"\x0a") and b"#producer-" in plain


@pytest.mark.parametrize(("codec", "data"), [p for p in cases() if p.values[0] != 0])
def test_a_payload_that_is_cut_short(codec, data):
    with pytest.raises(CorruptPayload):
        decompress(data[:-1], codec)


@pytest.mark.parametrize(("codec", "data"), [p for p in cases() if p.values[0] != 0])
def test_a_payload_that_something_follows(codec, data):
    with pytest.raises(CorruptPayload):
        decompress(data + b"\xde\xad\xbe\xef\xde\xad\xbe\xef", codec)


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
@pytest.mark.parametrize("data", [b"", b"\xff" * 40], ids=["nothing", "noise"])
def test_bytes_that_are_not_of_the_codec(codec, data):
    with pytest.raises(CorruptPayload):
        decompress(data, codec)


def test_a_xerial_stream_cut_in_its_header_is_corrupt_and_one_without_blocks_is_empty():
    with pytest.raises(CorruptPayload):
        decompress(xerial()[:-1], 2)
    assert decompress(xerial(), 2) == b""


@pytest.mark.parametrize("length", [b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\x7f\xff\xff\xff"])
def test_a_xerial_block_of_absurd_length(length):
    with pytest.raises(CorruptPayload, match="snappy block of"):
        decompress(xerial() + length + b"abc", 2)


@pytest.mark.parametrize("codec", [5, 127, -2])
def test_a_codec_that_kafka_does_not_have(codec):
    with pytest.raises(UnknownCodec, match=f"compression type {codec}"):
        decompress(PLAIN, codec)


@pytest.mark.parametrize("data", [b"\x12\x00", b"\xff" * 40, snappy.compress(b"not MetricsData")])
def test_bytes_that_no_codec_begins_with(data):
    with pytest.raises(UnknownCodec, match="no codec begins with"):
        decompress(data, -1)


BOMBS = {
    "gzip": (1, lambda zeros: gzip.compress(zeros)),
    "xerial snappy": (2, lambda zeros: xerial(*[zeros[i : i + 32768] for i in range(0, len(zeros), 32768)])),
    "raw snappy": (2, snappy.compress),
    "lz4": (3, lz4.frame.compress),
    "zstd": (4, zstd_as_kafka_writes_it),
    "zstd that states its size": (4, lambda zeros: zstandard.ZstdCompressor().compress(zeros)),
}


@pytest.mark.parametrize(("codec", "compress"), BOMBS.values(), ids=BOMBS)
def test_output_is_limited_by_size(codec, compress):
    limits = Limits(max_bytes=100_000, max_ratio=10**6)
    assert decompress(compress(bytes(100_000)), codec, limits) == bytes(100_000)
    with pytest.raises(PayloadTooLarge, match="the limit is 100000"):
        decompress(compress(bytes(100_001)), codec, limits)


@pytest.mark.parametrize(("codec", "compress"), [b for b in BOMBS.values() if b[0] != 2])
def test_output_is_limited_by_ratio_above_the_floor(codec, compress):
    assert decompress(compress(bytes(2**20)), codec) == bytes(2**20)
    with pytest.raises(PayloadTooLarge):
        decompress(compress(bytes(8 * 2**20)), codec)


def test_a_snappy_block_that_declares_4_gib_is_not_believed():
    with pytest.raises(PayloadTooLarge, match="4294967295 or more; the limit is 1048576"):
        decompress(b"\xff\xff\xff\xff\x0f" + b"\x00", 2)


def test_a_payload_without_compression_is_limited_too():
    with pytest.raises(PayloadTooLarge):
        decompress(bytes(11), 0, Limits(max_bytes=10))


def test_bombs_do_not_take_more_memory_than_the_limit_and_a_piece():
    """In an interpreter of its own: what it prints is its high-water mark."""
    script = Path(__file__).with_name("decompression_bombs.py")
    printed = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout
    outcomes = [line.split("\t") for line in printed.splitlines()]
    assert [
        bomb for bomb, outcome, _ in outcomes if outcome not in ("PayloadTooLarge", "CorruptPayload")
    ] == []
    assert len(outcomes) == 6 and all(int(grown) < 100 for _, _, grown in outcomes)
