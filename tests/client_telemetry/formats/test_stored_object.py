"""Stored bytes to decompressed ones: nothing before damage is lost, what is at fault is kept, and pieces are small."""

import gzip
import hashlib
import io
import itertools
import random
import zlib

import pytest
import zstandard
from client_telemetry.formats.raw.errors import (
    CorruptStream,
    EmptyObject,
    ObjectTooLarge,
    TruncatedStream,
    UndecodableRecord,
    UnknownEnding,
    WrongCompression,
)
from client_telemetry.formats.raw.stored_object import MAX_TAIL_BYTES, StoredObject

ZSTD_BLOCK = 128 * 2**10
FEW_BLOCKS = 6 * ZSTD_BLOCK
"""The last few bytes of what was read are taken together."""
SKIPPABLE = b"\x5a\x2a\x4d\x18\x05\x00\x00\x00hello"


class Slow(io.BytesIO):
    """Gives at most so many bytes at a time, as a network may."""

    def __init__(self, data: bytes, most: int, *, is_seekable: bool = True) -> None:
        super().__init__(data)
        self._most, self._is_seekable = most, is_seekable

    def read(self, size: int | None = -1) -> bytes:
        return super().read(min(self._most, size or self._most))

    def seekable(self) -> bool:
        return self._is_seekable


def taken(
    data: bytes, name: str = "a.zst", most: int = 2**20, **more: bool
) -> tuple[StoredObject, list[bytes]]:
    stored = StoredObject(Slow(data, most, **more), name)
    pieces = list(stored.pieces())
    stored.drain()
    assert stored.stored_bytes == len(data)
    assert stored.sha256 == hashlib.sha256(data).hexdigest()
    return stored, pieces


def zstd(text: bytes, *, checksum: bool = True, size: bool = True) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=checksum, write_content_size=size).compress(text)


def streamed(text: bytes) -> bytes:
    compressor = zstandard.ZstdCompressor().compressobj()
    return compressor.compress(text) + compressor.flush()


NOISE = random.Random(5).randbytes(300_000)
TEXTS = {
    "nothing": b"",
    "some": b"some",
    "300 bytes": NOISE[:300],
    "zeros": bytes(3_000_000),
    "noise": NOISE,
    "a mix": NOISE[:70_000] + bytes(700_000) + NOISE[:70_001] + b"text " * 100_000,
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize(("checksum", "size"), tuple(itertools.product((True, False), repeat=2)))
def test_a_piece_of_zstd_is_a_block_or_a_few(name, checksum, size):
    """However little is stored: four bytes can stand for 128 KiB."""
    text = TEXTS[name]
    frame = zstd(text, checksum=checksum, size=size)
    for frames in ([frame], [frame, frame], [frame, streamed(text), frame], [zstd(b"x"), frame, zstd(b"")]):
        expected = b"".join(zstandard.ZstdDecompressor().decompressobj().decompress(each) for each in frames)
        for most in (2**20, 1000):
            stored, pieces = taken(b"".join(frames), most=most)
            assert b"".join(pieces) == expected and stored.error is None
            assert max(map(len, pieces)) <= FEW_BLOCKS


@pytest.mark.parametrize("most", [1, 3, 20, 2**20])
def test_frames_of_another_kind_are_passed_over(most):
    frame = zstd(b"text " * 100)
    for data in (SKIPPABLE + frame, frame + SKIPPABLE, frame + SKIPPABLE + SKIPPABLE + frame):
        stored, pieces = taken(data, most=most)
        assert b"".join(pieces) == b"text " * 100 * data.count(frame)
        assert stored.error is None


@pytest.mark.parametrize("most", [1, 7, 2**20])
def test_members_of_gzip_are_one_stream(most):
    member = gzip.compress(b"text " * 1000)
    stored, pieces = taken(member + member, "a.gz", most)
    assert b"".join(pieces) == b"text " * 2000 and stored.error is None


def test_a_piece_of_gzip_is_at_most_16_mib():
    data = gzip.compress(bytes(60_000_000))
    _, pieces = taken(data, "a.gz")
    assert sum(map(len, pieces)) == 60_000_000 and max(map(len, pieces)) < 17 * 2**20


def test_plain_bytes_are_given_as_they_are():
    stored, pieces = taken(NOISE, "a.bin")
    assert b"".join(pieces) == NOISE and stored.error is None
    assert max(map(len, pieces)) == 64 * 2**10


FIRST, SECOND = NOISE[:200] * 3, b"text " * 40
FRAMES = {
    "a.zst": (zstd(FIRST), zstd(SECOND, checksum=False)),
    "a.gz": (gzip.compress(FIRST, mtime=0), gzip.compress(SECOND, mtime=0)),
}


def fault(stored: StoredObject, data: bytes) -> UndecodableRecord | None:
    """What is wrong; that what is kept of it stands where it says."""
    if stored.error:
        tail = stored.silent_tail
        assert 0 < len(tail) <= MAX_TAIL_BYTES
        assert data[stored.silent_from :][: len(tail)] == tail
        assert stored.silent_from + len(tail) == len(data) or len(tail) == MAX_TAIL_BYTES
    return stored.error


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("most", [5, 2**20])
def test_a_stream_that_ends_early_gives_what_came_before(name, most):
    data, text = b"".join(FRAMES[name]), FIRST + SECOND
    ends = 0
    for size in range(1, len(data) + 1):
        stored, pieces = taken(data[:size], name, most)
        assert text.startswith(b"".join(pieces))
        error = fault(stored, data[:size])
        assert error is None or isinstance(error, TruncatedStream)
        assert error is None or f"at byte {size}" in str(error)
        ends += error is None
    assert ends == 2, "at the end of each frame nothing is missing"


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("is_seekable", [True, False])
def test_a_damaged_stream_gives_what_came_before(name, is_seekable):
    data, begin = b"".join(FRAMES[name]), len(FRAMES[name][0])
    found = 0
    for place in range(4, len(data)):
        damaged = data[:place] + bytes((data[place] ^ 0xFF,)) + data[place + 1 :] + b"more"
        stored, pieces = taken(damaged, name, is_seekable=is_seekable)
        given = b"".join(pieces)
        error = fault(stored, damaged)
        assert error is not None
        if isinstance(error, CorruptStream) and is_seekable and place >= begin:
            assert given.startswith(FIRST), "of the first frame nothing is lost"
            found += 1
    assert found > 10 or not is_seekable


def test_of_much_that_is_at_fault_64_kib_are_kept():
    first = zstd(b"text")
    stored, pieces = taken(first + b"\xff" + NOISE, most=50_000)
    assert b"".join(pieces) == b"text"
    assert isinstance(stored.error, CorruptStream) and f"near byte {len(first)}" in str(stored.error)
    assert (stored.silent_from, stored.silent_tail) == (len(first), (b"\xff" + NOISE)[:MAX_TAIL_BYTES])


@pytest.mark.parametrize(
    ("name", "data", "error", "says"),
    [
        ("a.zst", b"", EmptyObject, "no bytes"),
        ("a.txt", b"text", UnknownEnding, "ends in none of .zst, .gz, .bin"),
        ("a.zst", gzip.compress(b"x", mtime=0), WrongCompression, "not .zst: it begins with the bytes 1f 8b 08 00 00 00 00 00"),
        ("a.gz", zstd(b"x"), WrongCompression, "not .gz: it begins with the bytes 28 b5 2f fd"),
        ("a.gz", zlib.compress(b"x"), WrongCompression, "not .gz: it begins with the bytes 78 9c"),
        ("a.zst", b"\x60\x2a\x4d\x18rest", WrongCompression, "60 2a 4d 18"),
        ("a.zst", b"\x5a\x2a\x4d\x19rest", WrongCompression, "5a 2a 4d 19"),
    ],
)  # fmt: skip
def test_what_is_no_such_stream(name, data, error, says):
    stored, pieces = taken(data, name)
    assert pieces == [] and isinstance(stored.error, error) and says in str(stored.error)
    assert stored.silent_tail == data and stored.silent_from == 0


def test_what_gives_a_thousand_times_its_size_is_not_read_to_the_end():
    """But for small objects, of which 64 MiB are no harm."""
    bomb = zstd(bytes(80 * 2**20))
    stored, pieces = taken(bomb)
    assert isinstance(stored.error, ObjectTooLarge)
    assert 64 * 2**20 < sum(map(len, pieces)) <= 64 * 2**20 + ZSTD_BLOCK
    stored, pieces = taken(zstd(bytes(60 * 2**20)))
    assert stored.error is None and sum(map(len, pieces)) == 60 * 2**20
