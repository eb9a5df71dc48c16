"""The plugin on each release of Kafka, with clients over PLAINTEXT and SCRAM over TLS: what it recorded is compared with
the broker's own request log and counters. `make e2e-brokers` says which releases."""

import base64
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from client_telemetry.otlp.codecs import decompress
from client_telemetry.raw.envelopes import parse_connection_event
from client_telemetry.raw.object_key import parse_object_key

from .kafka_broker import KafkaBroker, free_ports, secured
from .play import LOOK_SECONDS, Play, records, wait_until

RELEASES = os.environ.get("BROKER_RELEASES", "").split()
PUSH_TELEMETRY = 72
SCRAM = "SCRAM-SHA-256"
LAST_WITHOUT_DECOMPRESSION = "3.7"
AUTHENTICATION_FAILED = 4

pytestmark = pytest.mark.skipif(not RELEASES, reason="make e2e-brokers sets the releases")


@pytest.fixture(scope="module", params=RELEASES or ["none"])
def play(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    folder = tmp_path_factory.mktemp("play")
    (controller,) = free_ports(1)
    prefix = "listener.name.secure."
    scram = "org.apache.kafka.common.security.scram.ScramLoginModule"
    broker = KafkaBroker(
        folder / "broker",
        f"kafka-{request.param}",
        1,
        1,
        controller,
        settings={
            "client.telemetry.dump.location": (folder / "raw").as_uri(),
            **secured(folder, "SECURE", {}),
            f"{prefix}sasl.enabled.mechanisms": SCRAM,
            f"{prefix}scram-sha-256.sasl.jaas.config": f"{scram} required;",
        },
        listeners={"CLIENTS": "PLAINTEXT", "SECURE": "SASL_SSL"},
        format_options=("--add-scram", f"{SCRAM}=[name=alice,password=alices-secret]"),
    )
    played = Play(folder, folder / "raw", str(folder / "raw"), [broker])
    try:
        broker.start()
        _act(played)
        yield played
    finally:
        played.end()


def _act(play: Play) -> None:
    (broker,) = play.brokers
    play.subscribe(interval_ms=1000)
    secure = f"localhost:{broker.ports['SECURE']}"
    certificate = play.folder / "ca.pem"
    login = "org.apache.kafka.common.security.scram.ScramLoginModule"
    working = [
        play.java("broker-4", "work", broker.bootstrap, "java", name="java"),
        play.python("confluent", "librdkafka"),
        play.python("kafka-python", "kafka-python"),
        play.java(
            "broker-4",
            *("work", secure, "java-secure"),
            *("security.protocol=SASL_SSL", f"sasl.mechanism={SCRAM}"),
            *("ssl.truststore.type=PEM", f"ssl.truststore.location={certificate}"),
            f'sasl.jaas.config={login} required username="alice" password="alices-secret";',
            name="java-secure",
        ),
        play.python("confluent", "secure", *_scram(certificate, "alices-secret"), bootstrap=secure),
    ]
    wrong = play.python("confluent", "wrong", *_scram(certificate, "not-hers"), bootstrap=secure)
    play.python("unserved", "unserved").finish()
    for client in working:
        wait_until(f"{client.name} works", lambda c=client: c.events("started"))
    wait_until("java has a subscription", lambda: play.clients["java"].instance_ids)
    time.sleep(LOOK_SECONDS)
    wrong.kill()
    for client in working:
        client.finish()
    time.sleep(LOOK_SECONDS)
    broker.stop()


def _scram(certificate: Path, password: str) -> tuple[str, ...]:
    return (
        *("security.protocol=SASL_SSL", f"sasl.mechanism={SCRAM}", f"ssl.ca.location={certificate}"),
        *("sasl.username=alice", f"sasl.password={password}", "broker.address.family=v4"),
    )


def _events(play: Play) -> list:
    found = []
    for file in sorted(play.raw.glob("v1/dataset=connections/**/*.zst")):
        key = parse_object_key(str(file))
        found += [parse_connection_event(record, key) for record in records(file)]
    return found


def _manifests(play: Play) -> list[dict]:
    return [json.loads(file.read_text()) for file in sorted(play.raw.rglob("*.json"))]


def test_requests_are_those_of_the_request_log(play):
    logged = Counter()
    for entry in play.requests:
        header = entry["requestHeader"]
        logged[entry["connection"], header["requestApiKey"], header["requestApiVersion"]] += 1
    closed = {e.client.connection_id: e for e in _events(play) if e.kind == 3 and e.client.connection_id}
    checked = 0
    for connection, event in closed.items():
        for use in event.api_uses:
            if use.rejected == 0:
                assert use.requests == logged[connection, use.api_key, use.version], (connection, use)
                checked += use.requests
    assert len(closed) > 10 and checked > 100


def test_connections_are_those_of_the_request_log(play):
    logged = {entry["connection"] for entry in play.requests}
    seen = {event.client.connection_id for event in _events(play)}
    assert len(logged) > 10 and logged <= seen


def test_pushes_are_those_of_the_request_log(play):
    (broker,) = play.brokers
    sent, dumped = Counter(), Counter()
    for (_, connection, payload), count in play.dumped_pushes().items():
        dumped[connection, payload] += count
    for entry in play.requests:
        is_push = entry["requestHeader"]["requestApiKey"] == PUSH_TELEMETRY
        if is_push and entry["response"]["errorCode"] == 0 and entry["request"]["metrics"]:
            stored = base64.b64decode(entry["request"]["metrics"])
            if LAST_WITHOUT_DECOMPRESSION not in broker.kafka:
                stored = bytes(decompress(stored, entry["request"]["compressionType"]))
            sent[entry["connection"], stored] += 1
    assert sum(sent.values()) > 10
    assert sent - dumped == Counter()
    refused = sum(
        entry["response"]["errorCode"] != 0
        for entry in play.requests
        if entry["requestHeader"]["requestApiKey"] == PUSH_TELEMETRY
    )
    without_payload = sum(count for (_, payload), count in dumped.items() if not payload)
    assert without_payload == refused


def test_everything_adds_up_with_the_brokers_counts(play):
    for manifest in _manifests(play):
        figures = manifest["reconciliation"]
        assert figures["requests_in_registry"] == figures["requests_by_counter"]
        assert figures["connections_in_registry"] == figures["connections_by_gauge"]
        assert set(manifest["dropped"].values()) == {0}
    assert sum(m["reconciliation"]["requests_by_counter"] for m in _manifests(play)) > 100


def test_manifests_have_release_plugin_and_subscriptions(play):
    (broker,) = play.brokers
    for manifest in _manifests(play):
        assert f"kafka-{manifest['broker_software_version']}" == broker.kafka
        assert manifest["plugin"]["name"] == "kafka-client-telemetry-dump"
    expected = [{"name": "all", "interval_ms": 1000, "metrics": ["*"], "match": {}}]
    assert _manifests(play)[-1]["subscriptions"] == expected


def test_failed_logins_are_recorded(play):
    failed = [event for event in _events(play) if event.kind == AUTHENTICATION_FAILED]
    assert failed
    for event in failed:
        assert event.client.listener_name == "SECURE"
        assert event.client.client_address == "127.0.0.1"
        assert event.client.sasl_mechanism == SCRAM
        assert "invalid credentials" in event.failure_reason


def test_logins_have_their_principal(play):
    found = {(e.client.listener_name, e.client.principal) for e in _events(play) if e.client.client_id}
    assert {("CLIENTS", "User:ANONYMOUS"), ("SECURE", "User:alice")} <= found
