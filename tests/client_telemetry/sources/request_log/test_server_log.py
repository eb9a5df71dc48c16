import csv
from pathlib import Path

import pytest
from client_telemetry.sources.request_log.log_line import Line
from client_telemetry.sources.request_log.server_log import (
    ServerEvent,
    ServerLines,
    is_of_kafka,
    mechanism_of,
)

DATA = Path(__file__).parents[3] / "data/sources/server_log"
with (DATA / "failed_logins.csv").open(newline="") as table:
    CASES = list(csv.DictReader(table))


def events(*lines: str) -> list[ServerEvent]:
    """A line that begins with a bracket was written at second 1, 2, …; others follow one."""
    server, found = ServerLines(), []
    for second, line in enumerate(lines, start=1):
        nanos = second * 10**9 if line.startswith("[") else None
        if server.is_notable(line.encode()):
            found += server.read(Line(nanos, "", line))
    return found + list(server.end())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['case']} {case['releases'].split()[0]}")
def test_what_brokers_log_of_a_login(case):
    text = (
        case["lines"]
        .replace("ADDRESS", "10.0.0.1")
        .replace("LOCAL-REMOTE", "10.0.0.9:9093-10.0.0.1:4000-0-7")
    )
    levels = ("INFO ", "WARN ", "ERROR ", "DEBUG ")
    lines = [f"[2026-11-21 12:00:00,000] {x}" if x.startswith(levels) else x for x in text.split(" ## ")]
    found = events(*lines)
    assert [event.kind for event in found] == ([case["kind"]] if case["kind"] else [])
    for event in found:
        assert event.connection_id == "10.0.0.9:9093-10.0.0.1:4000-0-7"
        if event.kind == "login_failed":
            assert (event.text, event.address) == (case["reason"], "10.0.0.1")
            assert (mechanism_of(event.text) or "") == case["mechanism"]
        else:
            assert event.api == (0, 2)


def test_a_refusal_up_to_3_9_names_the_api_in_words():
    found = events(
        "[…] ERROR Closing socket for a:1-b:2-0 because of error (kafka.network.Processor)",
        "org.apache.kafka.common.errors.InvalidRequestException: Error getting request for apiKey: INIT_PRODUCER_ID, "
        "apiVersion: 3, connectionId: a:1-b:2-0, listenerName: ListenerName(PLAINTEXT), principal: User:ANONYMOUS",
        "[…] ERROR Exception while processing request from a:1-b:2-0 (kafka.network.Processor)",
        "org.apache.kafka.common.errors.InvalidRequestException: Error getting request for apiKey: INIT_PRODUCER_ID, "
        "apiVersion: 3, connectionId: a:1-b:2-0, listenerName: ListenerName(PLAINTEXT), principal: User:ANONYMOUS",
        "Caused by: java.lang.IllegalArgumentException: Invalid version for API key INIT_PRODUCER_ID: 3",
    )
    assert [(e.kind, e.connection_id, e.api) for e in found] == [("refused", "a:1-b:2-0", (22, 3))]


def test_a_refusal_whose_exception_is_missing_still_counts():
    found = events(
        "[…] ERROR Exception while processing request from a:1-b:2-0-1 (kafka.network.Processor)",
        "[…] INFO [BrokerServer id=3] Transition from STARTED to SHUTTING_DOWN (kafka.server.BrokerServer)",
        "[…] ERROR Exception while processing request from a:1-b:2-0-2 (kafka.network.Processor)",
    )
    assert [(e.kind, e.api) for e in found] == [("refused", None), ("stopping", None), ("refused", None)]


def test_starts_stops_and_the_release():
    found = events(
        "[…] INFO starting (kafka.server.KafkaServer)",
        "[…] INFO Kafka version: 2.7.2 (org.apache.kafka.common.utils.AppInfoParser)",
        "[…] INFO [KafkaServer id=5] started (kafka.server.KafkaServer)",
        "[…] INFO [KafkaServer id=5] shutting down (kafka.server.KafkaServer)",
        "[…] INFO [BrokerServer id=5] Transition from SHUTDOWN to STARTING (kafka.server.BrokerServer)",
        "[…] INFO [KafkaRaftServer nodeId=5] Kafka Server started (kafka.server.KafkaRaftServer)",
    )
    assert [e.kind for e in found] == ["starting", "release", "started", "stopping", "starting", "started"]
    assert found[1].text == "2.7.2" and found[2].node_id == 5


def test_an_error_after_the_login_is_no_failed_login():
    """Selector meets it in KafkaChannel.read: the client has logged in."""
    found = events(
        "[…] WARN [SocketServer listenerType=BROKER, nodeId=1] Unexpected error from /10.0.0.1 (channelId=a:1-b:2-0-1); "
        "closing connection (org.apache.kafka.common.network.Selector)",
        "org.apache.kafka.common.network.InvalidReceiveException: Invalid receive (size = 1195725856)",
        "\tat org.apache.kafka.common.network.NetworkReceive.readFrom(NetworkReceive.java:94)",
        "[…] INFO [KafkaRaftServer nodeId=5] Kafka Server started (kafka.server.KafkaRaftServer)",
    )
    assert [e.kind for e in found] == ["started"]


@pytest.mark.parametrize(
    "context",
    ["[AdminClient clientId=connect]", "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0]"],
)
def test_a_login_of_this_process_elsewhere_is_no_failed_login_of_a_client(context):
    """The same Selector serves clients; LogContext names which."""
    words = "Failed authentication with b/10.0.0.2 (channelId=2) (Authentication failed) (org.apache.kafka.common.network.Selector)"
    assert events(f"[…] ERROR {context} {words}") == []
    (event,) = events(f"[…] INFO [data-plane-1] [SocketServer listenerType=BROKER, nodeId=1] {words}")
    assert (event.kind, event.address) == ("login_failed", "10.0.0.2")
    assert [e.kind for e in events(f"[…] INFO [thread-1] {words}")] == ["login_failed"]


def test_a_state_of_another_class_is_no_unread_stop():
    server = ServerLines()
    line = (
        "[…] INFO [BrokerLifecycleManager id=1] Transitioning from PENDING_CONTROLLED_SHUTDOWN to SHUTTING_DOWN. "
        "(kafka.server.BrokerLifecycleManager)"
    )
    assert not server.is_notable(line.encode())


def test_lines_of_kafka():
    assert is_of_kafka(b"[2026-11-21 12:00:00,000] INFO x y (kafka.log.LogCleaner)")
    assert not is_of_kafka(b"[2026-11-21 12:00:00,000] INFO x y (org.example.Proxy)")
