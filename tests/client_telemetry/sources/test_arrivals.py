"""What is new in a source's files, and that a crash costs nothing: nothing is lost, nothing comes twice."""

import gzip
import json
import os
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from client_telemetry.formats.raw.envelopes import parse_connection_event
from client_telemetry.formats.raw.errors import UnreadableSource
from client_telemetry.formats.raw.object_key import parse_object_key
from client_telemetry.formats.raw.reader import RecordReader
from client_telemetry.sources import dump_root
from client_telemetry.sources.adapter import Source, WrongCluster
from client_telemetry.sources.arrivals import SETTLED, Arrivals, StillWritten
from client_telemetry.sources.conversion import UnusableSource, convert_new, declared
from client_telemetry.sources.dump_root import put
from client_telemetry.sources.log_files import NoLogs
from client_telemetry.sources.request_log import log_look
from client_telemetry.sources.staged import PartFailed

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
    """Requests of all connections of the dump: an event tells what there was since its connection opened."""
    counted = Counter()
    for path in (logs.parent / "raw").glob("v1/dataset=connections/**/*.zst"):
        with path.open("rb") as source:
            for record in RecordReader(source, path.name):
                try:
                    event = parse_connection_event(record.data, parse_object_key(str(path)))
                except UnreadableSource:
                    continue
                connection = event.incarnation, event.client.connection_id, event.opened_at_nanos
                counted[connection] = max(counted[connection], sum(use.requests for use in event.api_uses))
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


def test_of_a_file_that_is_still_written_to_whole_lines_count(logs):
    path = write(logs / "kafka-request.log", range(10), minutes_ago=1)
    assert convert(logs).counts["converted_requests"] == 10
    line = json_line(10, FETCH)
    append(path, line[:100])
    done = convert(logs)
    assert done.counts == {"converted_files": 0}
    assert "1 files are still written to and end within a message" in done.warnings[0]
    append(path, line[100:] + b"\n" + json_line(11, FETCH)[:50])
    assert convert(logs).counts["converted_requests"] == 1
    path.rename(logs / "kafka-request.log.1")
    append(logs / "kafka-request.log.1", json_line(11, FETCH)[50:] + b"\n")
    write(logs / "kafka-request.log", range(12, 15), minutes_ago=0)
    done = convert(logs)
    assert (done.counts["converted_requests"], done.counts["converted_unreadable"]) == (4, 0)
    assert requests(logs) == 15


def append(path: Path, data: bytes) -> None:
    """As a logger does."""
    with path.open("ab") as file:
        file.write(data)


def test_of_a_log_that_is_copied_and_truncated_each_line_counts_once(logs):
    path = write(logs / "kafka-request.log", range(10), minutes_ago=1)
    assert convert(logs).counts["converted_requests"] == 10
    append(path, json_line(10, FETCH) + b"\n")
    (logs / "kafka-request.log.1").write_bytes(path.read_bytes())
    write(path, range(11, 13), minutes_ago=1)
    assert convert(logs).counts["converted_requests"] == 3
    assert requests(logs) == 13


def test_half_a_line_of_a_file_at_rest_is_quarantined_and_read_when_the_rest_comes(logs):
    line = json_line(2, FETCH)
    path = write(logs / "kafka-request.log", range(2), minutes_ago=0)
    append(path, line[:200])
    done = convert(logs, timedelta(0))
    assert (done.counts["converted_requests"], done.counts["converted_unreadable"]) == (2, 1)
    append(path, line[200:] + b"\n")
    done = convert(logs, timedelta(0))
    assert (done.counts["converted_requests"], done.counts["converted_unreadable"]) == (1, 0)
    assert requests(logs) == 3


def test_a_last_line_without_its_line_feed_counts_once(logs):
    path = write(logs / "kafka-request.log", range(2))
    path.write_bytes(path.read_bytes().rstrip())
    assert convert(logs, timedelta(0)).counts["converted_requests"] == 2
    append(path, b"\n" + json_line(2, FETCH) + b"\n")
    assert convert(logs, timedelta(0)).counts["converted_requests"] == 1
    assert requests(logs) == 3


@pytest.mark.parametrize("into", ["a growing file", "another file"])
def test_a_file_that_is_rotated_while_it_is_converted_leaves_nothing_behind(logs, monkeypatch, into):
    path = write(logs / "kafka-request.log", range(10), minutes_ago=1)
    keep = Arrivals.keep

    def rotate_and_keep(self, left):
        if into == "a growing file":
            append(path, json_line(10, FETCH) + b"\n")
        else:
            path.rename(logs / "kafka-request.log.1")
            write(path, range(10, 30), minutes_ago=0)
        keep(self, left)

    with monkeypatch.context() as patched:
        patched.setattr(Arrivals, "keep", rotate_and_keep)
        if into == "a growing file":
            assert convert(logs).counts["converted_requests"] == 10
        else:
            with pytest.raises(StillWritten):
                convert(logs)
    convert(logs)
    assert requests(logs) == (11 if into == "a growing file" else 30)


def test_a_file_that_changes_while_it_is_converted_leaves_nothing_behind(logs, monkeypatch):
    write(logs / "kafka-request.log", range(10))
    keep = Arrivals.keep

    def write_and_keep(self, left):
        write(logs / "kafka-request.log", range(12))
        keep(self, left)

    with monkeypatch.context() as patched:
        patched.setattr(Arrivals, "keep", write_and_keep)
        with pytest.raises(StillWritten):
            convert(logs)
    assert requests(logs) == 0
    assert convert(logs).counts["converted_requests"] == 12


@pytest.mark.parametrize("moved", range(5))
def test_after_a_crash_nothing_is_missing_and_nothing_is_there_twice(logs, monkeypatch, moved):
    """The move into the dump breaks off after so many files; before the next run the log grows."""
    write(logs / "kafka-request.log", (0, 1, 3700, 3701))
    left = moved

    def break_off(*arguments):
        nonlocal left
        if not left:
            raise OSError("the machine is gone")
        left -= 1
        put(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(dump_root, "put", break_off)
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
        (
            {"format": "otlp_proto", "files": ["a"], "release": "4.0.1"},
            "release, zone and year are of request_log",
        ),
        ({"format": "request_log", "files": ["a"], "zone": "Mars"}, "'Mars' is not a known time zone"),
    ],
)
def test_what_is_no_source_is_refused_with_what_one_is(given, said):
    with pytest.raises(UnusableSource, match=said):
        declared(json.dumps(given))


def test_a_broker_whose_log_cannot_be_converted_is_left_to_the_next_run(logs):
    """A time that no record can have; the other brokers are converted, and nothing of the files counts as known. A copy of the log
    is not taken for known either."""
    for node in (1, 2, 3):
        write_of_node(logs, node, range(5))
    path = logs / "2.log"
    whole = path.read_bytes()
    damaged = json_line(6, FETCH, connection=f"10.0.0.2:{PORTS}").replace(
        b"[2026-11-21 12:00:06,000]", b"[9999-12-31 23:59:59.999]x"
    )
    path.write_bytes(whole + damaged + b"\n")
    (logs / "copy-of-2.log").write_bytes(path.read_bytes())
    for file in (path, logs / "copy-of-2.log"):
        aged(file)
    named = [f"{node}={logs}/{node}.log" for node in (1, 2, 3)]
    both = Source("request_log", (*named, f"2={logs}/copy-of-2.log"), "3.9.1")
    done = convert_new(both, "c1uSter", logs.parent / "raw")
    assert (done.counts["converted_requests"], done.counts["converted_files"]) == (10, 2)
    (warning,) = done.warnings
    assert warning.startswith("broker 2 was left out, and the next run tries again: ValueError: ")
    assert requests(logs) == 10 and not list((logs.parent / "raw").rglob("broker=2"))

    path.write_bytes(whole)
    (logs / "copy-of-2.log").write_bytes(whole)
    for file in (path, logs / "copy-of-2.log"):
        aged(file, 30)
    assert convert_new(both, "c1uSter", logs.parent / "raw").counts["converted_requests"] == 5
    assert requests(logs) == 15


def test_if_nothing_can_be_converted_nothing_is_kept(logs):
    line = json_line(6, FETCH).replace(b"[2026-11-21 12:00:06,000]", b"[9999-12-31 23:59:59.999]x")
    (logs / "kafka-request.log").write_bytes(line + b"\n")
    aged(logs / "kafka-request.log")
    with pytest.raises(RuntimeError, match="broker 0 was left out"):
        convert(logs)
    assert not [path for path in (logs.parent / "raw").rglob("*") if path.is_file()]


def test_a_part_that_cannot_read_its_file_ends_the_conversion_and_keeps_nothing(logs, monkeypatch):
    for node in (1, 2):
        write_of_node(logs, node, range(5))
    look = log_look.LogReader._file

    def lose(self, done):
        if done.log.file.name == "2.log":
            raise FileNotFoundError("2.log is gone")
        look(self, done)

    with monkeypatch.context() as patched:
        patched.setattr(log_look.LogReader, "_file", lose)
        with pytest.raises(PartFailed, match=r"FileNotFoundError: 2\.log is gone"):
            convert(logs)
    assert requests(logs) == 0
    assert convert(logs).counts["converted_requests"] == 10


PORTS = "9092-10.0.1.1:40001-0-1"


def write_of_node(logs: Path, node: int, seconds: range) -> None:
    lines = (json_line(second, FETCH, connection=f"10.0.0.{node}:{PORTS}") for second in seconds)
    (logs / f"{node}.log").write_bytes(b"".join(line + b"\n" for line in lines))
    aged(logs / f"{node}.log")
