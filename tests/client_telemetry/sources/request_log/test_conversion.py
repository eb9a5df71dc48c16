import base64
import gzip
import json
from datetime import timedelta
from pathlib import Path

import pytest
import zstandard
from client_telemetry.formats.otlp.codecs import decompress
from client_telemetry.formats.raw.envelopes import parse_client_push, parse_connection_event
from client_telemetry.formats.raw.errors import UnreadableSource
from client_telemetry.formats.raw.object_key import parse_object_key
from client_telemetry.formats.raw.reader import RecordReader
from client_telemetry.knowledge import served
from client_telemetry.knowledge.broker_guess import GUESSED, possible_releases
from client_telemetry.sources.conversion import Source, convert_new
from client_telemetry.sources.log_files import find_logs
from client_telemetry.sources.request_log.broker_releases import (
    BrokerReleases,
    UnclearRelease,
    contradictions,
    release_to_leave,
)
from client_telemetry.sources.request_log.broker_survey import survey
from client_telemetry.sources.request_log.conversion import convert, surveyed_days

from ..conftest import API_VERSIONS, FETCH, METADATA, PUSH, SAMPLE, json_line, metadata


def _records(raw: Path, dataset: str, unreadable: list | None = None) -> list:
    parse = parse_client_push if dataset == "client_pushes" else parse_connection_event
    found, unreadable = [], [] if unreadable is None else unreadable
    for path in sorted(raw.glob(f"v1/dataset={dataset}/**/*.zst")):
        key = parse_object_key(str(path))
        with path.open("rb") as source:
            for record in RecordReader(source, path.name):
                try:
                    found.append(parse(record.data, key))
                except UnreadableSource as error:
                    unreadable.append(error)
    return found


def _manifests(raw: Path) -> list[dict]:
    return [json.loads(path.read_text()) for path in sorted(raw.glob("v1/dataset=manifests/**/*.json"))]


def _convert(logs: list[str], raw: Path, release: str, **more):
    seen = survey(find_logs(logs))
    return seen, convert(seen, BrokerReleases.parse(release), seen.cluster_id or "unknown", raw, **more)


@pytest.fixture
def converted_sample(sample_logs, tmp_path):
    logs = [str(sample_logs / "kafka-4.0.1-json.request.log.zst")]
    return (*_convert(logs, tmp_path, "4.0.1"), tmp_path)


def test_pushes_of_the_log_are_those_that_the_plugin_of_the_broker_dumped(converted_sample):
    """Two witnesses of the same half minute: the broker's plugin got the payloads decompressed, the log has them as
    they were sent."""
    _, done, raw = converted_sample
    of_log = _records(raw, "client_pushes")
    first, last = (f(p.received_at_nanos for p in of_log) for f in (min, max))
    of_plugin = [
        push
        for push in _records(SAMPLE / "telemetry_cluster" / "raw", "client_pushes")
        if push.broker_id == 2 and first <= push.received_at_nanos <= last + 10**9
    ]

    def essence(push):
        payload = decompress(push.payload, push.compression_type)
        return push.client_instance_id, push.client.connection_id, push.terminating, payload

    assert done.pushes == 5
    assert sorted(map(essence, of_log)) == sorted(map(essence, of_plugin))
    assert all(push.error_code == 0 and push.subscription_id for push in of_log)


def test_who_was_connected_is_whom_the_dump_knows(converted_sample):
    """Every connection of the log is one of the dump, with the same client and software."""

    def essence(event):
        c = event.client
        return c.connection_id, c.client_id, c.client_software_name, c.client_software_version, c.principal

    of_log = {essence(e) for e in _records(converted_sample[2], "connections") if e.api_uses}
    dump = SAMPLE / "telemetry_cluster" / "raw"
    of_dump = {essence(e) for e in _records(dump, "connections") if e.broker_id == 2}
    assert len(of_log) == converted_sample[1].connections == 24
    assert of_log <= of_dump


def test_the_manifest_tells_when_it_was_watched(converted_sample):
    of_broker_1, manifest = sorted(_manifests(converted_sample[2]), key=lambda m: m["broker_id"])
    assert manifest["broker_software_version"] == "4.0.1"
    assert manifest["registry"] == {"mode": "sampled", "windows": [["05:01:30", "05:01:58"]]}
    assert manifest["broker_started_at"].startswith("2026-11-21T05:01:30")
    assert [0, 0, 12] in manifest["api_versions"]
    # Clients were told of another broker, whose log is not there.
    assert (of_broker_1["registry"]["windows"], of_broker_1["files"]) == ([], [])


def test_converting_again_gives_the_same_bytes(converted_sample, sample_logs, tmp_path_factory):
    again = tmp_path_factory.mktemp("again")
    _convert([str(sample_logs / "kafka-4.0.1-json.request.log.zst")], again, "4.0.1")
    files = {p.relative_to(again): p.read_bytes() for p in again.rglob("*") if p.is_file()}
    assert files == {p: (converted_sample[2] / p).read_bytes() for p in files}


@pytest.mark.parametrize(("name", "release"), [("kafka-2.7.2-text", "2.7.2"), ("kafka-2.4.1-text", "2.4.1")])
def test_text_logs_tell_clients_and_versions(sample_logs, tmp_path, name, release):
    seen, done = _convert([str(sample_logs / f"{name}.request.log.zst")], tmp_path, release)
    assert release in seen.brokers[0].incarnations[0].candidates
    assert done.unreadable == {"does not read as an entry": 4}
    software = {
        (e.client.client_software_name, e.client.client_software_version)
        for e in _records(tmp_path, "connections")
    }
    assert {("apache-kafka-java", "2.8.2"), ("confluent-kafka-python", "1.9.2-rdkafka-1.9.2")} <= software
    sarama = [
        u for e in _records(tmp_path, "connections") if e.client.client_id == "sarama" for u in e.api_uses
    ]
    assert (8, 1) in {(u.api_key, u.version) for u in sarama}  # commits with OffsetCommit 1


def _log(folder: Path, *lines: bytes, name: str = "kafka-request.log") -> list[str]:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"\n".join(lines) + b"\n")
    return [str(folder / name)]


def test_a_rejected_push_keeps_its_error(tmp_path):
    request = {
        "clientInstanceId": "-_f6AAAAQACAAAAAAAAAAQ",
        "subscriptionId": -7,
        "terminating": True,
        "compressionType": 1,
        "metrics": base64.b64encode(gzip.compress(b"")).decode().rstrip("="),
    }
    logs = _log(tmp_path, json_line(0, PUSH, request, {"throttleTimeMs": 0, "errorCode": 117}))
    _convert(logs, tmp_path / "raw", "4.0.1")
    (push,) = _records(tmp_path / "raw", "client_pushes")
    assert push.error_code == 117
    assert push.subscription_id == -7
    assert push.client_instance_id.hex() == "fbf7fa00000040008000000000000001"
    assert decompress(push.payload, push.compression_type) == b""


def test_rotated_and_torn_files_are_one_log(tmp_path):
    lines = [json_line(i, FETCH) for i in range(10)]
    torn = lines[5][:300]
    (tmp_path / "r.log.1").write_bytes(b"\n".join(lines[:5]) + b"\n" + torn)
    (tmp_path / "r.log").write_bytes(lines[5][300:] + b"\n" + b"\n".join(lines[6:]) + b"\n")
    seen, done = _convert([str(tmp_path)], tmp_path / "raw", "3.9.1")
    assert (done.entries, done.other_lines, done.unreadable.total()) == (9, 1, 1)
    unreadable: list[UnreadableSource] = []
    (event,) = _records(tmp_path / "raw", "connections", unreadable)
    assert event.api_uses[0].requests == 9
    # The torn line goes to the quarantine as it is, with the place where it stood.
    assert [error.data for error in unreadable] == [torn]
    assert unreadable[0].message.startswith(
        f"r.log.1, byte {sum(len(line) + 1 for line in lines[:5])}: not whole"
    )
    assert surveyed_days(seen) == ["2026-11-21"]


def _answer(release: str) -> dict:
    ranges = [(key, *api.advertised) for key, api in served.by(release).items() if not api.condition]
    return {
        "errorCode": 0,
        "apiKeys": [{"apiKey": k, "minVersion": a, "maxVersion": b} for k, a, b in ranges],
    }


def test_a_broker_that_was_upgraded_meanwhile_has_two_incarnations(tmp_path):
    logs = _log(
        tmp_path,
        json_line(0, API_VERSIONS, {}, _answer("3.9.1")),
        json_line(1, FETCH),
        json_line(60, API_VERSIONS, {}, _answer("4.0.0"), connection="10.0.0.9:9092-10.0.1.1:40002-0-1"),
        json_line(61, FETCH, connection="10.0.0.9:9092-10.0.1.1:40002-0-1"),
    )
    seen, _ = _convert(logs, tmp_path / "raw", "3.9.1")
    assert [release_to_leave(seen, specified)[1] for specified in (None, "3.9.1")] == ["4.0.0", "3.9.1"]
    incarnations = {m["incarnation"]: m["broker_software_version"] for m in _manifests(tmp_path / "raw")}
    assert sorted(incarnations.values()) == ["3.9.1", "4.0.0"]
    ends = {e.incarnation.hex(): e.client.client_port for e in _records(tmp_path / "raw", "connections")}
    assert {incarnations[i]: port for i, port in ends.items()} == {"3.9.1": 40001, "4.0.0": 40002}


def test_a_release_that_its_answers_do_not_prove_stays_open(tmp_path):
    """4.4.0 is the only known release that answers so, and the last one known: a later patch may answer alike."""
    logs = _log(
        tmp_path,
        json_line(0, API_VERSIONS, {}, _answer("3.9.1")),
        json_line(60, API_VERSIONS, {}, _answer("4.4.0"), connection="10.0.0.9:9092-10.0.1.1:40002-0-1"),
    )
    _convert(logs, tmp_path / "raw", "3.9.1")
    declared = {m["broker_software_version"]: m["api_versions"] for m in _manifests(tmp_path / "raw")}
    assert declared.keys() == {"3.9.1", ""}
    assert possible_releases("apache-kafka", "", declared[""]) == (("4.4.0",), GUESSED)


@pytest.mark.parametrize(
    ("answers", "specified", "expected"),
    [
        (["4.0.0"], None, "4.0.0"),
        (["3.9.1"], "3.9.2", "3.9.2"),
        ([None], "3.9.2", "3.9.2"),
        (["4.0.0", "3.9.1"], "3.9.1", "3.9.1"),
    ],
    ids=["one release explains", "a patch that was told", "no answer seen", "a mixed cluster"],
)
def test_release_to_upgrade_from(tmp_path, answers, specified, expected):
    assert release_to_leave(_brokers(tmp_path, answers), specified)[1] == expected


def test_a_specified_release_is_believed_where_every_answer_contradicts_it(tmp_path):
    seen = _brokers(tmp_path, ["3.9.1"])
    releases, source = release_to_leave(seen, "2.8.2")
    (broker,) = seen.brokers
    assert (source, releases.of(1, broker.incarnations[0])) == ("2.8.2", "2.8.2")
    assert contradictions(seen, releases) == [
        "broker 1 is taken to run 2.8.2 as specified, but its log shows 3.9.0 or 3.9.1 or 3.9.2"
    ]


def test_a_broker_that_was_upgraded_already_is_no_contradiction(tmp_path):
    seen = _brokers(tmp_path, ["3.9.1", "4.0.0"])
    releases, source = release_to_leave(seen, "3.9.1")
    assert (source, contradictions(seen, releases)) == ("3.9.1", [])
    assert [releases.of(b.broker_id, b.incarnations[0]) for b in seen.brokers] == ["3.9.1", "4.0.0"]


@pytest.mark.parametrize(
    ("answers", "specified", "message"),
    [
        (["3.9.1"], None, "broker 1: 3.9.0 or 3.9.1 or 3.9.2"),
        ([None], None, "broker 1: no ApiVersions response in the log"),
        (["4.0.0", None], None, "broker 1: 4.0.0; broker 2: no ApiVersions response"),
        (["4.4.0"], None, r"broker 1: 4\.4\.0\)"),
        (["4.0.0", "3.9.1"], None, "broker 1: 4.0.0; broker 2: 3.9.0 or"),
    ],
)
def test_a_release_that_is_not_reported(tmp_path, answers, specified, message):
    with pytest.raises(UnclearRelease, match=message):
        release_to_leave(_brokers(tmp_path, answers), specified)


def _brokers(folder: Path, answers: list[str | None]):
    for number, release in enumerate(answers, start=1):
        at = f"10.0.0.{number}:9092-10.0.1.1:40001-0-1"
        nodes = metadata({number: (f"10.0.0.{number}", 9092)})
        lines = [json_line(0, METADATA, {}, nodes, connection=at)]
        if release:
            lines.append(json_line(1, API_VERSIONS, {}, _answer(release), connection=at))
        _log(folder, *lines, name=f"{number}.log")
    return survey(find_logs([str(folder)]))


def test_when_the_log_was_off_nothing_was_watched(tmp_path):
    logs = _log(tmp_path, *(json_line(second, FETCH) for second in (0, 30, 59, 3700, 3710)))
    _convert(logs, tmp_path / "raw", "3.9.1")
    windows = {m["hour"]: m["registry"]["windows"] for m in _manifests(tmp_path / "raw")}
    assert windows == {
        "2026-11-21T12": [["12:00:00", "12:00:59"]],
        "2026-11-21T13": [["13:01:40", "13:01:50"]],
    }


def _connections(raw: Path) -> dict:
    """The fullest event of each connection."""
    fullest = {}
    for event in _records(raw, "connections"):
        key = event.incarnation, event.client.connection_id, event.opened_at_nanos
        uses = sorted(
            (u.api_key, u.version, u.requests, u.rejected, u.first_request_at_nanos) for u in event.api_uses
        )
        total = sum(use.requests + use.rejected for use in event.api_uses)
        fullest[key] = max(fullest.get(key, (-1,)), (total, sorted(uses), event.client.client_software_name))
    return fullest


@pytest.mark.parametrize("chunks", [2, 5])
def test_a_log_that_is_converted_in_chunks_gives_what_it_gives_at_once(sample_logs, tmp_path, chunks):
    """One incarnation of the broker, each connection once, sequences without holes, manifests that list all objects."""
    text = zstandard.decompress((sample_logs / "kafka-4.0.1-json.request.log.zst").read_bytes(), 2**28)
    lines = text.splitlines(keepends=True)
    log = Path(*_log(tmp_path / "logs"))
    source = Source("request_log", (str(log),), release="4.0.1")
    for chunk in range(chunks):
        with log.open("ab") as file:
            file.writelines(lines[len(lines) * chunk // chunks : len(lines) * (chunk + 1) // chunks])
        convert_new(source, "kQ7x0RvXTs-Y2r0m3Jw0zA", tmp_path / "chunks")
    convert_new(source, "kQ7x0RvXTs-Y2r0m3Jw0zA", tmp_path / "once")

    at_once, in_chunks = tmp_path / "once", tmp_path / "chunks"
    assert _connections(in_chunks) == _connections(at_once)
    pushes = [
        sorted(p.SerializeToString() for p in _records(raw, "client_pushes")) for raw in (at_once, in_chunks)
    ]
    assert pushes[0] == pushes[1] and pushes[0]
    sequences = [event.sequence for event in _records(in_chunks, "connections")]
    assert sorted(sequences) == list(range(len(sequences)))
    of_once, of_chunks = (
        next(m for m in _manifests(raw) if m["broker_id"] == 2) for raw in (at_once, in_chunks)
    )
    keys = {file["key"] for file in of_chunks.pop("files")}
    assert keys == {str(path.relative_to(in_chunks)) for path in in_chunks.glob("v1/**/*.zst")}
    del of_once["files"]
    assert of_chunks == of_once


def _at(*seconds: int) -> list[bytes]:
    return [json_line(second, FETCH) for second in seconds]


def _incarnations(raw: Path) -> set[tuple[str, str]]:
    return {(m["incarnation"], m["broker_started_at"]) for m in _manifests(raw)}


def test_windows_and_hours_go_on_too(tmp_path):
    source = Source("request_log", (str(tmp_path / "logs"),), release="3.9.1")
    for name, lines in (
        ("1", _at(0, 60)),
        ("2", _at(120, 180)),
        ("3", _at(900, 1000)),
        ("4", _at(9000)),
    ):
        _log(tmp_path / "logs", *lines, name=f"kafka-request.log.{name}")
        convert_new(source, "c1uSter", tmp_path / "raw", timedelta(0))
    noon, one, two = _manifests(tmp_path / "raw")
    assert noon["registry"]["windows"] == [["12:00:00", "12:03:00"], ["12:15:00", "12:16:40"]]
    assert (one["registry"]["windows"], two["registry"]["windows"]) == ([], [["14:30:00", "14:30:00"]])
    assert [len(m["files"]) for m in (noon, one, two)] == [3, 0, 1]
    assert len(_incarnations(tmp_path / "raw")) == 1


def test_lines_that_come_late_are_no_restart(tmp_path):
    """They get an incarnation of their own, whose sequences are free, and which began when the broker's incarnation did."""
    source = Source("request_log", (str(tmp_path / "logs"),), release="3.9.1")
    for name, lines in (
        ("1", _at(0, 60)),
        ("3", _at(300)),
        ("2", _at(120, 180)),
        ("4", _at(400)),
    ):
        _log(tmp_path / "logs", *lines, name=f"kafka-request.log.{name}")
        convert_new(source, "c1uSter", tmp_path / "raw", timedelta(0))
    (_, started), (_, other) = _incarnations(tmp_path / "raw")
    assert started == other == "2026-11-21T12:00:00.000Z"
    events = _records(tmp_path / "raw", "connections")
    assert len({(event.incarnation, event.sequence) for event in events}) == len(events)


def test_a_broker_whose_answers_changed_between_two_runs_has_two_incarnations(tmp_path):
    for second, release in ((0, "3.9.1"), (60, "3.9.1"), (120, "4.0.0")):
        source = Source("request_log", (str(tmp_path / "logs"),), release)
        lines = [json_line(second, API_VERSIONS, {}, _answer(release)), json_line(second + 1, FETCH)]
        _log(tmp_path / "logs", *lines, name=f"kafka-request.log.{second}")
        convert_new(source, "c1uSter", tmp_path / "raw", timedelta(0))
    assert sorted(started for _, started in _incarnations(tmp_path / "raw")) == [
        "2026-11-21T12:00:00.000Z",
        "2026-11-21T12:02:00.000Z",
    ]


@pytest.mark.parametrize(
    ("content", "says", "kept"),
    [
        (
            b"[2026-11-21 12:00:00,000] INFO started (org.example.Proxy)\n" * 3,
            "none of its 3 lines",
            b"[2026-11-21",
        ),
        (
            b"other\n" + json_line(0, FETCH)[:300],
            "1 begin like one",
            b"[2026-11-21 12:00:00,000] DEBUG Completed",
        ),
        (b"x" * 300_000, "none of its 1 lines", b"x" * 65_536),
        (b"\x1f\x8b\x08" + b"\xff" * 70, "the compressed file is damaged", b"\x1f\x8b\x08"),
        (gzip.compress(b"nothing of it\n" * 99)[:-12], "none of its", b"nothing of it"),
    ],
    ids=["another log", "half an entry", "one long line", "no gzip", "gzip that ends early"],
)
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside a log"])
def test_a_file_without_an_entry_is_quarantined_once_and_in_part(tmp_path, content, says, kept, beside):
    _log(tmp_path / "logs", content, name="other.log")
    (tmp_path / "logs" / "other.log").write_bytes(content)
    if beside:
        _log(tmp_path / "logs", *_at(0, 60))
    source = Source("request_log", (str(tmp_path / "logs"),), release="3.9.1")
    done = convert_new(source, "c1uSter", tmp_path / "raw", timedelta(0))
    unreadable = []
    events = _records(tmp_path / "raw", "connections", unreadable)
    assert done.counts["converted_unreadable"] == len(unreadable) in (1, 2)
    assert any(says in error.message and error.message.startswith("other.log") for error in unreadable)
    assert unreadable[0].data.startswith(kept) and all(len(error.data) <= 2**18 for error in unreadable)
    assert any(
        "Files without an entry of kafka.request.logger at DEBUG: 1, " in warning for warning in done.warnings
    )
    assert bool(events) == beside
    assert {m["broker_id"] for m in _manifests(tmp_path / "raw")} == ({0} if beside else {-1})
    assert convert_new(source, "c1uSter", tmp_path / "raw", timedelta(0)).counts == {"converted_files": 0}


def test_what_is_plainly_no_request_log_is_named_and_left_alone(tmp_path):
    logs = tmp_path / "logs"
    _log(logs, *_at(0, 60))
    (logs / "README.md").write_text("The lines have `Completed request:` in them.\n")
    (logs / "log4j.properties").write_text("log4j.logger.kafka.request.logger=DEBUG, requestAppender\n")
    (logs / "notes").write_text("copied from broker 1\n")
    (logs / "kafka-request.log.7").write_bytes(json_line(0, FETCH)[:300])
    (logs / "dump").write_bytes(json_line(0, FETCH)[40:300])
    source = Source("request_log", (str(logs),), release="3.9.1")
    done = convert_new(source, "c1uSter", tmp_path / "raw", timedelta(0))
    unreadable = []
    _records(tmp_path / "raw", "connections", unreadable)
    assert {error.message.partition(",")[0] for error in unreadable} == {"kafka-request.log.7", "dump"}
    assert done.message.endswith("skipped, as they are not request logs: README.md, log4j.properties, notes")


def test_a_file_of_a_specified_broker_is_quarantined_as_its(tmp_path):
    _log(tmp_path / "a", *_at(0, 60))
    _log(tmp_path / "b", b"[2026-11-21 12:00:00,000] INFO started (kafka.server)")
    named = (f"1={tmp_path}/a", f"2={tmp_path}/b")
    convert_new(Source("request_log", named, release="3.9.1"), "c1uSter", tmp_path / "raw", timedelta(0))
    assert {(m["broker_id"], m["hour"]) for m in _manifests(tmp_path / "raw")} == {
        (1, "2026-11-21T12"),
        (2, "2026-11-21T12"),
    }
