"""Server lines belong to the broker whose lines have the same label, not to that of the file."""

import json
from itertools import zip_longest

import pytest
from client_telemetry.activity.log_evidence import MixedBrokers, from_logs
from client_telemetry.sources.log_files import find_logs
from client_telemetry.sources.request_log.broker_releases import BrokerReleases
from client_telemetry.sources.request_log.broker_survey import survey
from client_telemetry.sources.request_log.conversion import convert
from client_telemetry.sources.request_log.unread import reading_warnings

from ..conftest import FETCH, METADATA, json_line, metadata

BROKERS = {4: ("10.0.0.4", 9092), 5: ("10.0.0.5", 9092)}
RELEASES = {4: "3.9.1", 5: "4.0.0"}


def _line(second: int, level: str, message: str) -> str:
    return f"[2026-11-21 12:{second // 60:02d}:{second % 60:02d},000] {level} {message}"


def _of_broker(broker: int) -> list[str]:
    """A release, requests, two failed logins of broker 4 and one of 5, and a refusal of broker 5."""
    connection = f"10.0.0.{broker}:9092-10.0.1.1:40001-0-1"
    release = _line(
        0, "INFO", f"Kafka version: {RELEASES[broker]} (org.apache.kafka.common.utils.AppInfoParser)"
    )
    requests = [
        json_line(1, METADATA, {}, metadata(BROKERS), connection=connection).decode(),
        *(json_line(second, FETCH, connection=connection).decode() for second in range(2, 9)),
    ]
    login = (
        f"[SocketServer] Failed authentication with /10.0.9.{broker} (channelId=10.0.0.{broker}:9093-10.0.9.{broker}:4000-0-7) "
        "(Authentication failed: Invalid username or password) (org.apache.kafka.common.network.Selector)"
    )
    logins = [_line(10 + n, "INFO", login) for n in range(6 - broker)]
    refusal = [
        _line(20, "ERROR", f"Exception while processing request from {connection} (kafka.network.Processor)"),
        "org.apache.kafka.common.errors.UnsupportedVersionException: Received request for api with key 0 (Produce) and "
        "unsupported version 2",
    ]
    return [release, *requests, *logins, *(refusal if broker == 5 else [])]


TIME = "2026-11-21T12:00:00.000000000Z"
WRAPPED = {
    "docker compose": lambda broker, line: f"kafka-{broker}  | {line}",
    "kubectl --prefix": lambda broker, line: f"[pod/kafka-{broker}/kafka] {line}",
    "journal of several hosts": lambda broker, line: (
        f"Nov 21 12:00:00 host{broker} kafka-server-start.sh[9]: {line}"
    ),
    "Loki": lambda broker, line: json.dumps(
        {"stream": {"pod": f"kafka-{broker}"}, "values": [["1795262400000000000", line]]}
    ),
}


def _mixed(wrapping: str) -> str:
    pairs = zip_longest(*(zip([broker] * 99, _of_broker(broker), strict=False) for broker in BROKERS))
    lines = [numbered for pair in pairs for numbered in pair if numbered]
    texts = [WRAPPED[wrapping](broker, line) for broker, line in lines]
    if wrapping == "Loki":
        return json.dumps({"data": {"result": [json.loads(text) for text in texts]}})
    return "\n".join(texts) + "\n"


@pytest.mark.parametrize("wrapping", WRAPPED)
def test_events_of_brokers_that_are_mixed_in_one_file(tmp_path, wrapping):
    path = tmp_path / "kafka.log"
    path.write_text(_mixed(wrapping))
    seen = survey(find_logs([str(path)]), year=2026)
    counted = {
        broker.broker_id: [
            sum(source.counted[kind] for source in broker.server_logs) for kind in ("login_failed", "refused")
        ]
        for broker in seen.brokers
    }
    assert counted == {4: [2, 0], 5: [1, 1]}
    assert {b.broker_id: [i.release for i in b.incarnations] for b in seen.brokers} == {
        4: ["3.9.1"],
        5: ["4.0.0"],
    }
    assert not seen.of_no_broker
    done = convert(seen, BrokerReleases(), "c", tmp_path / "raw")
    assert (done.failed_logins, done.refused) == (3, 1)
    manifests = [
        json.loads(file.read_text()) for file in (tmp_path / "raw").glob("v1/dataset=manifests/**/*.json")
    ]
    assert {m["broker_id"]: m["failed_logins"] for m in manifests} == {4: 2, 5: 1}


def test_a_review_needs_a_folder_for_each_broker(tmp_path):
    path = tmp_path / "kafka.log"
    path.write_text(_mixed("docker compose"))
    with pytest.raises(MixedBrokers, match="split the file by the label"):
        from_logs(find_logs([str(path)]))


def test_events_that_nothing_assigns_to_a_broker_are_said(tmp_path):
    (tmp_path / "kafka.log").write_text(_mixed("docker compose"))
    failed = next(line for line in _of_broker(4) if "Failed authentication" in line)
    (tmp_path / "others.log").write_text(f"proxy-a  | {failed}\nproxy-b  | {failed}\n")
    seen = survey(find_logs([str(tmp_path)]))
    assert seen.of_no_broker == 2
    assert any("nothing shows which broker" in warning for warning in reading_warnings(seen))


def test_a_server_log_with_failed_logins_only(tmp_path):
    """Of a broker without a request log."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a/kafka-request.log").write_text("\n".join(_of_broker(4)[1:9]) + "\n")
    failed = [line for line in _of_broker(4) if "Failed authentication" in line]
    (tmp_path / "b/server.log").write_text("\n".join(failed) + "\n")
    seen = survey(find_logs([f"4={tmp_path}/a", f"7={tmp_path}/b"]))
    of_logins = next(broker for broker in seen.brokers if broker.broker_id == 7)
    assert of_logins.last - of_logins.first == 10**9
    assert of_logins.incarnations[0].since == of_logins.first
    assert convert(seen, BrokerReleases.parse("3.9.1"), "c", tmp_path / "raw").failed_logins == 2


STOP = _line(
    0, "INFO", "[BrokerServer id=4] Transition from STARTED to SHUTTING_DOWN (kafka.server.BrokerServer)"
)


@pytest.mark.parametrize(("lines", "release"), [([], "3.9.1"), ([STOP], None)])
def test_the_release_before_the_first_request_is_that_of_the_broker(tmp_path, lines, release):
    """Without the line of its start; a stop in between ends that process."""
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "kafka-request.log").write_text("\n".join(_of_broker(4)[1:9]) + "\n")
    version, started = (
        _of_broker(4)[0],
        _line(0, "INFO", "[KafkaRaftServer nodeId=4] Kafka Server started (kafka.server.KafkaRaftServer)"),
    )
    (folder / "server.log").write_text(
        "\n".join([version.replace("12:", "11:", 1), started.replace("12:", "11:", 1), *lines]) + "\n"
    )
    (broker,) = survey(find_logs([str(tmp_path)])).brokers
    assert [incarnation.release for incarnation in broker.incarnations][-1:] == [release]
