import base64
import gzip
import json
from pathlib import Path

import pytest
from client_telemetry.compatibility import served
from client_telemetry.compatibility.broker_guess import GUESSED, known
from client_telemetry.otlp.codecs import decompress
from client_telemetry.raw.envelopes import parse_client_push, parse_connection_event
from client_telemetry.raw.errors import UnreadableSource
from client_telemetry.raw.object_key import parse_object_key
from client_telemetry.raw.reader import RecordReader
from client_telemetry.sources.broker_survey import survey
from client_telemetry.sources.log_files import find_logs
from client_telemetry.sources.request_log import ReleaseNotTold, convert, release_of_all, surveyed_days

from .conftest import API_VERSIONS, FETCH, METADATA, PUSH, SAMPLE, json_line, metadata


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
    return seen, convert(seen, release, seen.cluster_id or "unknown", raw, **more)


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
    assert release in seen.brokers[0].lives[0].candidates
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


def test_a_broker_that_was_upgraded_meanwhile_has_two_lives(tmp_path):
    logs = _log(
        tmp_path,
        json_line(0, API_VERSIONS, {}, _answer("3.9.1")),
        json_line(1, FETCH),
        json_line(60, API_VERSIONS, {}, _answer("4.0.0"), connection="10.0.0.9:9092-10.0.1.1:40002-0-1"),
        json_line(61, FETCH, connection="10.0.0.9:9092-10.0.1.1:40002-0-1"),
    )
    seen, _ = _convert(logs, tmp_path / "raw", "3.9.1")
    assert (release_of_all(seen, None), release_of_all(seen, "3.9.1")) == ("4.0.0", "3.9.1")
    lives = {m["incarnation"]: m["broker_software_version"] for m in _manifests(tmp_path / "raw")}
    assert sorted(lives.values()) == ["3.9.1", "4.0.0"]
    ends = {e.incarnation.hex(): e.client.client_port for e in _records(tmp_path / "raw", "connections")}
    assert {lives[i]: port for i, port in ends.items()} == {"3.9.1": 40001, "4.0.0": 40002}


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
    assert known("apache-kafka", "", declared[""]) == (("4.4.0",), GUESSED)


@pytest.mark.parametrize(
    ("answers", "told", "expected"),
    [
        (["4.0.0"], None, "4.0.0"),
        (["3.9.1"], "3.9.2", "3.9.2"),
        ([None], "3.9.2", "3.9.2"),
        (["4.0.0", "3.9.1"], "3.9.1", "3.9.1"),
    ],
    ids=["one release explains", "a patch that was told", "no answer seen", "a mixed cluster"],
)
def test_release_to_upgrade_from(tmp_path, answers, told, expected):
    assert release_of_all(_brokers(tmp_path, answers), told) == expected


@pytest.mark.parametrize(
    ("answers", "told", "message"),
    [
        (["3.9.1"], None, "broker 1: 3.9.0 or 3.9.1 or 3.9.2"),
        ([None], None, "broker 1: no ApiVersions answer in the log"),
        (["4.0.0", None], None, "broker 1: 4.0.0; broker 2: no ApiVersions answer"),
        (["4.4.0"], None, r"broker 1: 4\.4\.0\)"),
        (["4.0.0", "3.9.1"], None, "broker 1: 4.0.0; broker 2: 3.9.0 or"),
        (["3.9.1"], "2.8.2", "no broker in the logs answers as 2.8.2 does"),
    ],
)
def test_a_release_that_is_not_told(tmp_path, answers, told, message):
    with pytest.raises(ReleaseNotTold, match=message):
        release_of_all(_brokers(tmp_path, answers), told)


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
