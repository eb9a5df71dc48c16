"""What is new in a source's files, and that a crash costs nothing: nothing is lost, nothing comes twice."""

import gzip
import json
import os
from datetime import timedelta
from pathlib import Path

import pytest
from client_telemetry.raw.envelopes import parse_connection_event
from client_telemetry.raw.object_key import parse_object_key
from client_telemetry.raw.reader import RecordReader
from client_telemetry.sources.arrivals import SETTLED, Arrivals, StillWritten
from client_telemetry.sources.conversion import Source, UnusableSource, WrongCluster, convert_new, declared
from client_telemetry.sources.log_files import NoLogs

from .conftest import FETCH, METADATA, json_line, metadata


@pytest.fixture
def logs(tmp_path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


def write(path: Path, seconds: range | tuple, minutes_ago: float = 60) -> Path:
    """A log with a request in each of these seconds after noon, last written to so long ago."""
    data = b"".join(json_line(second, FETCH) + b"\n" for second in seconds)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return aged(path, minutes_ago)


def aged(path: Path, minutes_ago: float = 60) -> Path:
    at = path.stat().st_mtime - 60 * minutes_ago
    os.utime(path, (at, at))
    return path


def convert(logs: Path, settled: timedelta = SETTLED):
    return convert_new(
        Source("request_log", (str(logs),), release="3.9.1"), "c1uSter", logs.parent / "raw", settled
    )


def requests(logs: Path) -> int:
    """Requests of all connection events of the dump, each record once."""
    counted = {}
    for path in (logs.parent / "raw").glob("v1/dataset=connections/**/*.zst"):
        with path.open("rb") as source:
            for record in RecordReader(source, path.name):
                event = parse_connection_event(record.data, parse_object_key(str(path)))
                counted[event.incarnation, event.sequence] = sum(use.requests for use in event.api_uses)
    return sum(counted.values())


def test_only_what_was_not_converted_before_is_converted(logs):
    write(logs / "kafka-request.log", range(10))
    assert convert(logs).counts["converted_requests"] == 10
    assert convert(logs).counts == {"converted_files": 0}
    (logs / "kafka-request.log").rename(logs / "kafka-request.log.2026-11-21-12")
    write(logs / "kafka-request.log", range(20, 25))
    assert convert(logs).counts["converted_requests"] == 5
    assert requests(logs) == 15


def test_a_file_that_was_compressed_renamed_or_copied_is_known(logs):
    write(logs / "kafka-request.log", range(10))
    convert(logs)
    write(logs / "kafka-request.log.1.gz", range(10))
    write(logs / "copy.log", range(10))
    (logs / "kafka-request.log").unlink()
    assert convert(logs).counts == {"converted_files": 0}
    assert requests(logs) == 10


@pytest.mark.parametrize("name", ["kafka-request.log", "kafka-request.log.gz"])
def test_of_a_file_that_grew_the_new_lines_count(logs, name):
    write(logs / name, range(10))
    convert(logs)
    write(logs / name, range(13), minutes_ago=50)
    assert convert(logs).counts["converted_requests"] == 3
    assert requests(logs) == 13


def test_a_file_that_is_still_written_to_waits(logs):
    write(logs / "kafka-request.log.1", range(10))
    write(logs / "kafka-request.log", range(10, 20), minutes_ago=1)
    done = convert(logs)
    assert done.counts["converted_requests"] == 10
    assert "1 files were written to in the last 10 minutes" in done.warnings[0]
    aged(logs / "kafka-request.log")
    assert convert(logs).counts["converted_requests"] == 10


def test_a_file_that_changes_while_it_is_converted_leaves_nothing_behind(logs, monkeypatch):
    write(logs / "kafka-request.log", range(10))
    keep = Arrivals.keep

    def write_and_keep(self):
        write(logs / "kafka-request.log", range(12))
        keep(self)

    with monkeypatch.context() as patched:
        patched.setattr(Arrivals, "keep", write_and_keep)
        with pytest.raises(StillWritten):
            convert(logs)
    assert requests(logs) == 0
    assert convert(logs).counts["converted_requests"] == 12


@pytest.mark.parametrize("moved", range(4))
def test_after_a_crash_nothing_is_missing_and_nothing_is_there_twice(logs, monkeypatch, moved):
    """The move into the dump breaks off after so many files; before the next run the log grows."""
    write(logs / "kafka-request.log", (0, 1, 3700, 3701))
    left = moved
    replace = Path.replace

    def break_off(path, to):
        nonlocal left
        if ".converting" in path.parts and not path.name.startswith("."):
            if not left:
                raise OSError("the machine is gone")
            left -= 1
        return replace(path, to)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", break_off)
        with pytest.raises(OSError, match="the machine is gone"):
            convert(logs)
    write(logs / "kafka-request.log", (0, 1, 3700, 3701, 3702), minutes_ago=50)
    convert(logs)
    assert requests(logs) == 5
    assert not (logs.parent / "raw" / ".converting").exists()


def test_a_log_of_another_cluster_is_refused_and_so_are_files_that_are_not_there(logs):
    with pytest.raises(NoLogs, match="no such file, and no folder or pattern"):
        convert(logs / "nothing")
    (logs / "kafka-request.log").write_bytes(
        json_line(0, METADATA, {}, metadata({1: ("10.0.0.9", 9092)})) + b"\n"
    )
    source = Source("request_log", (str(logs),), release="3.9.1")
    with pytest.raises(WrongCluster, match="the log is of cluster c1uSter, not another"):
        convert_new(source, "another", logs.parent / "raw", timedelta(0))


def test_files_that_are_gone_after_they_were_converted_are_no_error(logs):
    write(logs / "kafka-request.log", range(3))
    convert(logs)
    (logs / "kafka-request.log").unlink()
    assert "gave nothing new" in convert(logs).warnings[0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"format": "request_log"}, "a source has format and files"),
        ({"format": "request_log", "files": ["a"], "file": "b"}, "a source has format and files"),
        ({"format": "requestlog", "files": ["a"]}, "there are request_log, collector_proto"),
        ({"format": "otlp_proto", "files": ["a"], "release": "4.0.1"}, "release and zone are of request_log"),
        ({"format": "request_log", "files": ["a"], "zone": "Mars"}, "'Mars' is no time zone"),
    ],
)
def test_what_is_no_source_is_refused_with_what_one_is(given, said):
    with pytest.raises(UnusableSource, match=said):
        declared(json.dumps(given))
