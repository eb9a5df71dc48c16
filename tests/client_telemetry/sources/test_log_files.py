import gzip
import io
import random

import ncompress
import pytest
import zstandard
from client_telemetry.sources import log_files
from client_telemetry.sources.compression import CutOff, open_decompressed
from client_telemetry.sources.log_files import NoLogs, find_logs, line_blocks, lines
from client_telemetry.sources.log_text import open_objects, open_text

TEXT = b"".join(b"line %d %d\n" % (i, i * 7919 % 65_537) for i in range(20_000))


def _log(path, data):
    (log,) = find_logs([str(_write(path, data))])
    return log


def _write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "pack",
    [
        bytes,
        gzip.compress,
        zstandard.compress,
        lambda text: gzip.compress(text[:9]) + gzip.compress(text[9:]),
    ],
    ids=["plain", "gzip", "zstd", "several gzip members"],
)
def test_lines_of_a_log_whatever_its_compression(tmp_path, pack):
    cut = CutOff()
    found = list(lines(_log(tmp_path / "kafka-request.log", pack(TEXT)), cut))
    assert [line for _, line in found] == TEXT.splitlines()
    assert all(TEXT[at : at + len(line)] == line for at, line in found[:100])
    assert cut.reason is None


@pytest.mark.parametrize("size", [1, 7, 100, 65_536])
@pytest.mark.parametrize("text", [TEXT[:5000], TEXT[:4999], b"", b"\n\n", b"no end"], ids=repr)
def test_blocks_are_whole_lines_that_follow_each_other(tmp_path, monkeypatch, size, text):
    monkeypatch.setattr(log_files, "LINE_BLOCK_BYTES", size)
    found = [(at, bytes(block)) for at, block in line_blocks(_log(tmp_path / "a.log", text), CutOff())]
    assert b"".join(block for _, block in found) == text
    assert all(text[at:].startswith(block) and block for at, block in found)
    assert all(block.endswith(b"\n") for _, block in found[:-1])


def test_a_line_without_end_is_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(log_files, "MAX_LINE_BYTES", 100)
    monkeypatch.setattr(log_files, "LINE_BLOCK_BYTES", 64)
    found = [len(block) for _, block in line_blocks(_log(tmp_path / "a.log", b"x" * 300), CutOff())]
    assert sum(found) == 300 and max(found) < 200


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_a_log_that_ends_early_gives_what_is_there_and_says_so(tmp_path, pack):
    packed = pack(TEXT)
    cut = CutOff()
    found = list(lines(_log(tmp_path / "kafka-request.log.gz", packed[: len(packed) // 2]), cut))
    assert cut.reason == "the compressed file ends early"
    assert [line for _, line in found[:-1]] == TEXT.splitlines()[: len(found) - 1]
    assert len(found) < 20_000


def test_a_damaged_log_gives_what_comes_before_the_damage(tmp_path):
    packed = bytearray(zstandard.compress(random.Random(1).randbytes(1_200_000).hex("\n").encode()))
    packed[len(packed) * 3 // 4 :] = b"\xff" * 400_000
    cut = CutOff()
    found = list(lines(_log(tmp_path / "kafka-request.log", bytes(packed)), cut))
    assert "damaged" in cut.reason
    assert len(found) > 100_000


def test_a_damaged_file_of_compress(tmp_path):
    """Codes beyond the dictionary so far; the format has no checksum that would show more."""
    packed = ncompress.compress(TEXT)[:200] + b"\xff" * 50
    cut = CutOff()
    list(lines(_log(tmp_path / "kafka-request.log.Z", packed), cut))
    assert "damaged" in cut.reason


def test_rotated_files_are_one_family_and_other_folders_are_others(tmp_path):
    for name in (
        "kafka-request.log",
        "kafka-request.log.2026-11-21-05.gz",
        "kafka-request.log.1",
        "other.log",
    ):
        _write(tmp_path / "a" / name, TEXT)
    _write(tmp_path / "b" / "kafka-request.log", TEXT)
    _write(tmp_path / "b" / ".hidden" / "kafka-request.log", TEXT)
    found = find_logs([str(tmp_path)])
    assert len(found) == 5
    assert len({log.family for log in found}) == 3


def test_node_ids_and_patterns(tmp_path):
    _write(tmp_path / "one.log", TEXT)
    _write(tmp_path / "two.log", TEXT)
    found = find_logs([f"7={tmp_path}/o*.log", f"{tmp_path}/*.log"])
    assert [(log.file.name, log.broker_id) for log in found] == [("one.log", 7), ("two.log", None)]


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(NoLogs, match="nothing-here"):
        find_logs([f"{tmp_path}/nothing-here"])


HEADS = (
    b"", b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00", b"BZh9", b"\x04\x22\x4d\x18", b"PK\x03\x04", b"\x1f\x9d\x90",
    b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"[{", b'{"message":', b'[["', b"@timestamp,@message\n", b'"_raw"\r\n"', b"a;b\r",
)  # fmt: skip
PIECES = (
    b"\r",
    b"\n",
    b"\r\n",
    b'"',
    b"'",
    b",",
    b";",
    b"\t",
    b"\x00",
    b"\x00\x00",
    b"\xff",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\\",
    b"x",
)


def test_no_bytes_end_the_reading_of_a_folder():
    """A broker's folder has segments, indexes and keystores, too."""
    chance = random.Random(5)
    for _ in range(6000):
        rest = (
            chance.choice(PIECES) if chance.random() < 0.6 else chance.randbytes(3)
            for _ in range(chance.randrange(60))
        )
        data = chance.choice(HEADS) + b"".join(rest)
        for read in (open_text, open_objects):
            for _ in read(open_decompressed(io.BytesIO(data), CutOff())):
                pass
