"""The plugin on each release of Kafka, with clients of four libraries over PLAINTEXT, SCRAM over TLS and mutual TLS: what
it recorded is compared with the broker's own request log and counters. `make e2e-brokers` says which releases."""

import base64
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from client_telemetry.formats.otlp.codecs import decompress
from client_telemetry.formats.raw.envelopes import parse_connection_event
from client_telemetry.formats.raw.object_key import parse_object_key

from .kafka_broker import ClientCertificate, KafkaBroker, free_ports, mutual_tls, secured
from .play import LOOK_SECONDS, Client, Play, records, wait_until

RELEASES = os.environ.get("BROKER_RELEASES", "").split()
PUSH_TELEMETRY = 72
SCRAM = "SCRAM-SHA-256"
LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule"
LISTENERS = ("CLIENTS", "SECURE", "MUTUAL")
LIBRARIES = ("java", "librdkafka", "kafka-python", "franz-go")
LAST_WITHOUT_DECOMPRESSION = "3.7"
AUTHENTICATION_FAILED = 4

pytestmark = pytest.mark.skipif(not RELEASES, reason="make e2e-brokers sets the releases")


@pytest.fixture(scope="module", params=RELEASES or ["none"])
def play(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    folder = tmp_path_factory.mktemp("play")
    (controller,) = free_ports(1)
    prefix = "listener.name.secure."
    mutual, certificate = mutual_tls(folder, "MUTUAL", "carol")
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
            f"{prefix}scram-sha-256.sasl.jaas.config": f"{LOGIN} required;",
            **mutual,
        },
        listeners={"CLIENTS": "PLAINTEXT", "SECURE": "SASL_SSL", "MUTUAL": "SSL"},
        format_options=("--add-scram", f"{SCRAM}=[name=alice,password=alices-secret]"),
    )
    played = Play(folder, folder / "raw", str(folder / "raw"), [broker])
    try:
        broker.start()
        _act(played, certificate)
        yield played
    finally:
        played.end()


def _act(play: Play, certificate: ClientCertificate) -> None:
    (broker,) = play.brokers
    play.subscribe(interval_ms=1000)
    bootstraps = {listener: f"localhost:{broker.ports[listener]}" for listener in LISTENERS}
    ca = play.folder / "ca.pem"
    working = [
        *_plain_clients(play),
        *_scram_clients(play, bootstraps["SECURE"], ca),
        *_mutual_clients(play, bootstraps["MUTUAL"], ca, certificate),
    ]
    wrong = play.python("confluent", "wrong", *_scram(ca, "not-hers"), bootstrap=bootstraps["SECURE"])
    play.python("unserved", "unserved").finish()
    for client in working:
        wait_until(f"{client.name} works", lambda c=client: c.events("started"))
    wait_until("java has a subscription", lambda: play.clients["java-clients"].instance_ids)
    _set_dynamically(play)
    time.sleep(LOOK_SECONDS)
    wrong.kill()
    for client in working:
        client.finish()
    time.sleep(LOOK_SECONDS)
    broker.stop()


def _plain_clients(play: Play) -> list[Client]:
    (broker,) = play.brokers
    return [
        play.java("broker-4", "work", broker.bootstrap, "java-clients", name="java-clients"),
        play.python("confluent", "librdkafka-clients"),
        play.python("kafka-python", "kafka-python-clients"),
        play.franz_go("franz-go-clients"),
    ]


def _scram_clients(play: Play, bootstrap: str, ca: Path) -> list[Client]:
    return [
        play.java(
            "broker-4",
            *("work", bootstrap, "java-secure"),
            *("security.protocol=SASL_SSL", f"sasl.mechanism={SCRAM}"),
            *("ssl.truststore.type=PEM", f"ssl.truststore.location={ca}"),
            f'sasl.jaas.config={LOGIN} required username="alice" password="alices-secret";',
            name="java-secure",
        ),
        play.python("confluent", "librdkafka-secure", *_scram(ca, "alices-secret"), bootstrap=bootstrap),
        play.python(
            "kafka-python",
            "kafka-python-secure",
            *("security_protocol=SASL_SSL", f"ssl_cafile={ca}", f"sasl_mechanism={SCRAM}"),
            *("sasl_plain_username=alice", "sasl_plain_password=alices-secret"),
            bootstrap=bootstrap,
        ),
        play.franz_go(
            "franz-go-secure",
            *(f"ssl.ca.location={ca}", "sasl.username=alice", "sasl.password=alices-secret"),
            bootstrap=bootstrap,
        ),
    ]


def _mutual_clients(play: Play, bootstrap: str, ca: Path, own: ClientCertificate) -> list[Client]:
    as_librdkafka = (
        *(f"ssl.ca.location={ca}", f"ssl.certificate.location={own.certificate}"),
        f"ssl.key.location={own.key}",
    )
    return [
        play.java(
            "broker-4",
            *("work", bootstrap, "java-mutual", "security.protocol=SSL"),
            *("ssl.truststore.type=PEM", f"ssl.truststore.location={ca}"),
            *("ssl.keystore.type=PKCS12", f"ssl.keystore.location={own.store}"),
            f"ssl.keystore.password={own.password}",
            name="java-mutual",
        ),
        play.python(
            "confluent",
            "librdkafka-mutual",
            *("security.protocol=SSL", "broker.address.family=v4", *as_librdkafka),
            bootstrap=bootstrap,
        ),
        play.python(
            "kafka-python",
            "kafka-python-mutual",
            *("security_protocol=SSL", f"ssl_cafile={ca}"),
            *(f"ssl_certfile={own.certificate}", f"ssl_keyfile={own.key}"),
            bootstrap=bootstrap,
        ),
        play.franz_go("franz-go-mutual", *as_librdkafka, bootstrap=bootstrap),
    ]


def _set_dynamically(play: Play) -> None:
    """One setting that exists and one that does not, as `kafka-configs.sh` would."""
    (broker,) = play.brokers
    for name, value in (
        ("client.telemetry.dump.roll.ms", "5000"),
        ("client.telemetry.dump.connections.sampled.minutes", "7"),
        ("num.network.threads", "3"),
        ("client.telemetry.dump.conections", "off"),
    ):
        play.java("broker-4", "alter-broker", broker.bootstrap, "1", name, value, name=name).finish()


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
    counted = sum(manifest["failed_logins"] for manifest in _manifests(play))
    assert counted == sum(event.connections for event in failed)
    for event in failed:
        assert event.client.listener_name == "SECURE"
        assert event.client.client_address == "127.0.0.1"
        assert event.client.sasl_mechanism == SCRAM
        assert "invalid credentials" in event.failure_reason


def test_clients_of_every_library_and_listener_have_their_principal(play):
    found = {
        (e.client.client_id, e.client.listener_name, e.client.security_protocol, e.client.principal)
        for e in _events(play)
        if e.client.client_id
    }
    for library in LIBRARIES:
        assert {
            (f"{library}-clients-producer", "CLIENTS", "PLAINTEXT", "User:ANONYMOUS"),
            (f"{library}-secure-producer", "SECURE", "SASL_SSL", "User:alice"),
            (f"{library}-mutual-producer", "MUTUAL", "SSL", "User:CN=carol"),
        } <= found, library


def test_manifests_have_mechanisms_and_scram_users(play):
    last = _manifests(play)[-1]
    assert {"name": "SECURE", "security_protocol": "SASL_SSL", "sasl_mechanisms": [SCRAM]} in last[
        "listeners"
    ]
    assert last["scram_users"] == [{"principal": "User:alice", "mechanisms": [SCRAM]}]


def test_a_dynamic_setting_is_applied_refused_or_complained_about(play):
    (broker,) = play.brokers
    log = (broker.folder / "server.log").read_text()
    (refused,) = play.clients["client.telemetry.dump.roll.ms"].events("refused")
    assert "needs a restart" in refused["value"]
    (applied,) = play.clients["client.telemetry.dump.connections.sampled.minutes"].events("altered")
    assert applied["value"] == "7"
    assert "Connections are watched continuous from now on" in log
    assert play.clients["client.telemetry.dump.conections"].events("altered"), "Kafka does not ask"
    assert "do you mean client.telemetry.dump.connections?" in log


def test_stored_settings_keep_no_others_from_being_applied(play):
    """Kafka validates once more what is stored when a broker starts: the plugin's refusal of a misspelt setting would
    keep `num.network.threads` from being applied, too. The last test: its broker is another incarnation."""
    (broker,) = play.brokers
    before = (broker.folder / "server.log").read_text()
    broker.start()
    wait_until(
        "stored settings are applied",
        lambda: "Connections are watched" in (broker.folder / "server.log").read_text()[len(before) :],
    )
    broker.stop()
    log = (broker.folder / "server.log").read_text()[len(before) :]
    assert "could not be applied" not in log and "Failed to update" not in log
