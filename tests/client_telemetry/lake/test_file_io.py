"""Files of a table in a store: read once, written without asking whether the name is taken."""

from pathlib import Path

import pytest
from client_telemetry.lake import file_io
from client_telemetry.lake.file_io import StoreFileIO, _Contents


@pytest.fixture
def contents(monkeypatch: pytest.MonkeyPatch) -> _Contents:
    own = _Contents()
    monkeypatch.setattr(file_io, "_CONTENTS", own)
    return own


def write(location: str, content: bytes) -> None:
    with StoreFileIO().new_output(location).create() as out:
        out.write(content)


def read(location: str) -> bytes:
    with StoreFileIO().new_input(location).open() as source:
        return source.read()


def test_metadata_that_was_written_here_is_not_read_again(contents: _Contents, tmp_path: Path) -> None:
    location = str(tmp_path / "1.metadata.json")
    write(location, b"{}")
    assert Path(location).read_bytes() == b"{}"
    Path(location).unlink()
    assert read(location) == b"{}" and len(StoreFileIO().new_input(location)) == 2


def test_metadata_that_another_process_wrote_is_read_once(contents: _Contents, tmp_path: Path) -> None:
    location = tmp_path / "snap-1.avro"
    location.write_bytes(b"manifests")
    assert read(str(location)) == b"manifests"
    location.unlink()
    assert read(str(location)) == b"manifests"


def test_a_file_that_is_deleted_is_gone(contents: _Contents, tmp_path: Path) -> None:
    location = str(tmp_path / "1.metadata.json")
    write(location, b"{}")
    StoreFileIO().delete(location)
    with pytest.raises(FileNotFoundError):
        read(location)


def test_what_could_not_be_written_is_not_kept(contents: _Contents, tmp_path: Path) -> None:
    location = str(tmp_path / "1.metadata.json")
    with pytest.raises(KeyError), StoreFileIO().new_output(location).create() as out:
        out.write(b"{")
        raise KeyError
    assert contents.get(location) is None


def test_rows_are_not_kept(contents: _Contents, tmp_path: Path) -> None:
    location = str(tmp_path / "rows.parquet")
    write(location, b"rows")
    assert read(location) == b"rows" and contents.get(location) is None


def test_only_so_many_bytes_are_kept_those_that_were_used_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_io, "_MOST_BYTES", 10)
    monkeypatch.setattr(file_io, "_LARGEST", 5)
    contents = _Contents()
    for name in "ab":
        contents.add(name, b"12345")
    assert contents.get("a") is not None
    contents.add("c", b"123")
    assert [contents.get(name) is not None for name in "abc"] == [True, False, True]
    contents.add("large", b"123456")
    assert contents.get("large") is None
