"""Finding files in folders and in stores. A real store is read in tests/end_to_end/real_kafka/test_source_in_a_store.py."""

from types import SimpleNamespace

import pytest
from client_telemetry.sources import stored_file
from client_telemetry.sources.stored_file import NoSuchLocation, find_files, without_secrets
from pyarrow import fs

FILES = (
    "top.log",
    "a/one.log",
    "a/two.log.gz",
    "a/b/three.log",
    "a/.hidden/four.log",
    "a/[x].log",
    "z+/f1.log",
)


@pytest.fixture
def bucket(tmp_path):
    for name in FILES:
        path = tmp_path / "bucket" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    return tmp_path / "bucket"


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("a/one.log", ["a/one.log"]),
        ("a", ["a/[x].log", "a/b/three.log", "a/one.log", "a/two.log.gz"]),
        ("a/*.log", ["a/[x].log", "a/one.log"]),
        ("a/*/*.log", ["a/.hidden/four.log", "a/b/three.log"]),
        ("*/*.gz", ["a/two.log.gz"]),
        ("**/t*.log*", ["a/b/three.log", "a/two.log.gz", "top.log"]),
        ("a/[!t]*.log", ["a/[x].log", "a/one.log"]),
        ("z+/f[0-9].log", ["z+/f1.log"]),
        ("b", []),
        ("a/*.txt", []),
    ],
)
def test_objects_are_found_as_files_are(bucket, monkeypatch, named, found):
    """The network is left out: behind the URL is a folder."""
    in_folder = [str(file).removeprefix(f"{bucket}/") for file in find_files(f"{bucket}/{named}")]
    store = fs.SubTreeFileSystem(str(bucket.parent), fs.LocalFileSystem())
    reached = SimpleNamespace(from_uri=lambda url: (store, "bucket"))
    monkeypatch.setattr(stored_file, "fs", SimpleNamespace(**{**vars(fs), "FileSystem": reached}))
    in_store = find_files(f"s3://bucket/{named}?region=here")
    assert in_folder == found
    assert [str(file) for file in in_store] == [f"s3://bucket/{name}" for name in found]
    assert [file.open().read() for file in in_store] == [b"x"] * len(found)


def test_file_urls_are_paths(bucket):
    assert [str(file) for file in find_files(f"file://{bucket}/a/two.log.gz")] == [f"{bucket}/a/two.log.gz"]


@pytest.mark.parametrize("url", ["s3:///logs", "s4://bucket/logs", "s3://bucket/x?no_such_option=1"])
def test_what_is_no_location_is_refused(url):
    with pytest.raises(NoSuchLocation):
        find_files(url)


def test_keys_to_a_store_are_refused_and_not_shown():
    with pytest.raises(NoSuchLocation, match="s3://bucket/logs has a user or password") as refused:
        find_files("s3://mine:hidden@bucket/logs")
    assert "hidden" not in str(refused.value)
    assert without_secrets("s3://key:secret@bucket/a?endpoint_override=b") == "s3://bucket/a"
