import csv
import hashlib
import io
import itertools
import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard
from client_telemetry.formats.raw import stored_object
from client_telemetry.formats.raw.errors import AbsurdLength
from client_telemetry.formats.raw.reader import RecordReader
from hypothesis import given, settings
from hypothesis import strategies as st

ODD = Path(__file__).parents[2] / "data/raw"


def odd_objects():
    with (ODD / "odd_objects.csv").open(newline="") as file:
        return [pytest.param(row, id=row["case"]) for row in csv.DictReader(file)]


def read(data: bytes, name: str = "x.zst"):
    reader = RecordReader(io.BytesIO(data), name)
    return list(reader), reader.result


def framed(*records: bytes) -> bytes:
    return b"".join(struct.pack(">I", len(record)) + record for record in records)


@pytest.mark.parametrize("row", odd_objects())
def test_how_an_object_ends(row):
    data = (ODD / row["file"]).read_bytes()
    records, result = read(data, row["file"])
    assert result.status == row["status"]
    assert (result.error.error_class if result.error else "") == row["error_class"]
    assert result.records == len(records) == int(row["records"])
    assert result.stored_bytes == len(data)
    assert result.sha256 == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    "name", ["complete.zst", "complete.gz", "complete.bin", "several_frames.zst", "corrupt_block.zst"]
)
def test_records_and_offsets_do_not_depend_on_the_compression(name):
    plain = (ODD / "complete.bin").read_bytes()
    records, result = read((ODD / name).read_bytes(), name)
    assert all(plain[at : at + 4 + len(data)] == framed(data) for at, data in records)
    assert records[0].offset == 0 and records[1].offset == 4 + len(records[0].data)
    assert result.tail_offset == records[-1].offset + 4 + len(records[-1].data)


def test_every_odd_object_is_in_the_table():
    listed = {row.values[0]["file"] for row in odd_objects()}
    there = {path.name for path in ODD.iterdir() if path.suffix in (".zst", ".gz", ".bin", ".lz4")}
    assert listed == there


def test_the_tail_of_a_cut_record():
    _, result = read(framed(b"whole") + b"\x00\x00\x00\x09part", "x.bin")
    assert (result.tail_offset, result.tail, result.tail_bytes) == (9, b"\x00\x00\x00\x09part", 8)
    assert (result.stored_tail, result.evidence, result.evidence_bytes) == (b"", result.tail, 8)
    assert result.error.message == "the last record ends early: 8 bytes from 9 on"


def test_the_tail_of_an_absurd_length_begins_at_the_length_and_is_cut_at_64_kib():
    _, result = read(framed(b"whole") + b"\x7f\xff\xff\xff" + bytes(100_000), "x.bin")
    assert isinstance(result.error, AbsurdLength) and "2147483647 bytes at offset 9" in result.error.message
    assert result.tail_offset == 9 and result.tail == b"\x7f\xff\xff\xff" + bytes(len(result.tail) - 4)
    assert 4 < len(result.tail) <= 65536


def test_what_is_not_zstd_is_kept_as_stored_and_cut_at_64_kib():
    data = b"<html>" + bytes(200_000)
    _, result = read(data)
    assert (result.stored_tail_offset, result.stored_tail) == (0, data[:65536])
    assert (result.evidence, result.evidence_bytes) == (data[:65536], len(data))


def test_a_broken_block_is_kept_as_stored():
    data = (ODD / "corrupt_block.zst").read_bytes()
    _, result = read(data)
    # The block header is its first three bytes; a reserved type is found at the third at the latest.
    assert result.stored_tail == data[result.stored_tail_offset :]
    assert b"\x07\x00\x00" in result.stored_tail[:4]


def test_a_stream_cut_in_its_only_block_is_kept_as_stored():
    data = zstandard.ZstdCompressor().compress(framed(b"some text, " * 20))[:-4]
    records, result = read(data)
    assert (records, result.status, result.tail) == ([], "torn", b"")
    assert result.evidence == data[result.stored_tail_offset :] != b""


def test_a_record_of_just_16_mib_is_read():
    record = bytes(16 * 2**20)
    records, result = read(zstandard.ZstdCompressor().compress(framed(b"before", record, b"after")))
    assert [len(data) for _, data in records] == [6, 16 * 2**20, 5]
    assert result.status == "complete"


def test_a_block_cannot_be_read_when_the_next_one_was_taken():
    """They lie in the same memory."""
    data = framed(*[bytes([i]) * 2**20 for i in range(1, 10)])
    blocks = []
    for block in RecordReader(io.BytesIO(data), "x.bin").blocks():
        blocks.append(block)
    assert len(blocks) > 1
    with pytest.raises(ValueError):
        blocks[0].record(0)


def test_readers_that_take_turns_do_not_share_memory():
    each = [framed(*[bytes([i]) * 2**20] * 9) for i in (1, 2)]
    both = zip(*(RecordReader(io.BytesIO(data), "x.bin") for data in each), strict=True)
    assert all((set(a.data), set(b.data)) == ({1}, {2}) for a, b in both)


READS = """
import sys, tracemalloc
from client_telemetry.formats.raw.reader import RecordReader

tracemalloc.start()
with open(sys.argv[1], "rb") as stream:
    reader = RecordReader(stream, "x.zst")
    records = sum(1 for _ in reader)
print(tracemalloc.get_traced_memory()[1], records, reader.result.status, reader.result.error.error_class)
"""
"""A process of its own: where other threads run, tracemalloc crashes Python 3.11 when it stops (gh-128679 of python/cpython)."""


def test_memory_stays_bounded_on_a_decompression_bomb(tmp_path):
    record = framed(bytes(2**20)) * 63 + framed(bytes(16 * 2**20)) * 4
    bomb = zstandard.ZstdCompressor().compress(record)
    assert len(record) > 10_000 * len(bomb)
    (tmp_path / "x.zst").write_bytes(bomb)
    command = [sys.executable, "-c", READS, tmp_path / "x.zst"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    peak, records, *ended = done.stdout.split()
    assert int(peak) < 100 * 2**20
    assert ended == ["damaged", "ObjectTooLarge"]
    assert 0 < int(records) < 67


def test_without_seek_only_the_last_bytes_before_the_damage_are_lost():
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

        def seek(self, *_):
            raise io.UnsupportedOperation("seek")

    compressor = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    noise = [random.Random(i).randbytes(4096) for i in range(64)]
    data = bytearray(b"".join(compressor.compress(framed(record)) for record in noise) + compressor.flush())
    data[-1] ^= 1
    assert len(read(bytes(data))[0]) == 64
    reader = RecordReader(Pipe(data), "x.zst")
    assert 40 < len(list(reader)) < 64
    assert reader.result.status == "damaged"


def test_errors_of_the_source_pass_through():
    class Lost(io.BytesIO):
        def read(self, size=-1):
            raise ConnectionResetError("storage went away")

    with pytest.raises(ConnectionResetError):
        list(RecordReader(Lost(), "x.zst"))


def test_the_result_is_not_known_before_the_records_were_taken():
    reader = RecordReader(io.BytesIO(framed(b"a", b"b")), "x.bin")
    next(iter(reader))
    with pytest.raises(RuntimeError, match="take all records first"):
        reader.result  # noqa: B018


class Dribble(io.BytesIO):
    """A source that gives what it likes, as sockets do."""

    def read(self, size=-1):
        return super().read(min(size, 7))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.binary(min_size=1, max_size=300), min_size=1, max_size=8), st.data())
def test_whatever_happens_to_an_object_the_records_before_it_come_out(records, data):
    compressor = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    blocks = [
        compressor.compress(framed(r)) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) for r in records
    ]
    whole = b"".join(blocks) + compressor.flush()
    got, result = read(whole)
    assert ([d for _, d in got], result.status) == (records, "complete")

    reader = RecordReader(Dribble(whole), "x.zst")
    assert list(reader) == got and reader.result == result

    cut = data.draw(st.integers(1, len(whole) - 1))
    torn, result = read(whole[:cut])
    assert torn == got[: len(torn)] and result.status == "torn"
    assert len(torn) >= max(i for i in range(len(blocks) + 1) if len(b"".join(blocks[:i])) <= cut)

    at = data.draw(st.integers(0, len(whole) - 1))
    flipped = whole[:at] + bytes([whole[at] ^ 1 << data.draw(st.integers(0, 7))]) + whole[at + 1 :]
    kept, result = read(flipped)
    intact = max(i for i in range(len(blocks) + 1) if len(b"".join(blocks[:i])) <= at)
    assert kept[:intact] == got[:intact] or at < 6  # the frame's header governs all blocks
    assert result.status != "complete" or kept == got or at < 6


def test_the_header_of_a_zstd_frame_is_as_long_as_zstd_says():
    for descriptor in range(256):
        frame = b"\x28\xb5\x2f\xfd" + bytes((descriptor,)) + bytes(18)
        assert stored_object._frame_header_bytes(descriptor) == zstandard.frame_header_size(frame), descriptor


@pytest.mark.parametrize("checksum", [False, True])
@pytest.mark.parametrize("size", [64 * 2**10, 1000, 19])
def test_pieces_of_a_zstd_object_are_its_blocks(checksum, size):
    """However the stored bytes come; where they come in parts, one piece may give what is left of a frame and the first block
    of the next."""
    data = bytes(random.Random(1).choices(b"abcdefgh", k=400_000))
    stored = zstandard.ZstdCompressor(write_checksum=checksum).compress(data) * 2
    pieces, frames = (
        stored_object._ZstdPieces(),
        stored_object._Frames(stored_object._COMPRESSIONS[".zst"].new),
    )
    given, waiting = [], b""
    for start in range(0, len(stored), size):
        block = waiting + stored[start : start + size]
        at = 0
        for end in pieces.ends(block):
            given.append(len(frames.feed(block[at:end])))
            at = end
        waiting = block[at:]
    given.append(len(frames.feed(waiting)))
    assert sum(given) == 2 * len(data) and max(given) < 2 * 128 * 2**10
    assert 6 <= len([each for each in given if each]) <= 8
    assert len(given) < 30 + len(stored) // size
    assert frames.at_end


def test_what_is_not_a_frame_of_blocks_is_cut_into_small_pieces():
    skippable = b"\x50\x2a\x4d\x18" + (100).to_bytes(4, "little") + bytes(100)
    stored = zstandard.ZstdCompressor().compress(b"x" * 10) + skippable * 20
    ends = stored_object._ZstdPieces().ends(stored)
    assert ends[-1] == len(stored)
    assert {b - a for a, b in itertools.pairwise(ends[-4:-1])} == {512}


def test_all_that_is_said_of_odd_objects(same_as_kept):
    """And of pieces of them: cut after so many bytes."""
    lines = []
    names = sorted({case.values[0]["file"] for case in odd_objects()})
    for name in names:
        whole = (ODD / name).read_bytes()
        for size in (len(whole), len(whole) - 1, len(whole) // 2, 5):
            records, result = read(whole[:size], name)
            error = f"{type(result.error).__name__}: {result.error.message}" if result.error else ""
            lines.append(
                f"{name} {size} of {len(whole)}: {result.status}, {result.records} records {[len(data) for _, data in records][:5]}, "
                f"tail {result.tail_offset} {result.tail[:8].hex()} {len(result.tail)} of {result.tail_bytes}, stored "
                f"{result.stored_tail_offset} {result.stored_tail[:8].hex()} {len(result.stored_tail)}, {result.evidence_bytes}; {error}"
            )
    same_as_kept("raw", {"odd_results.txt": "\n".join(lines) + "\n"})
