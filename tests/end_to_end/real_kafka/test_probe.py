"""The probe against real brokers: what it finds is what the knowledge base says, and the brokers are as before."""

import hashlib
import importlib
import statistics
import struct
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from client_telemetry.formats import target_file
from client_telemetry.formats.target_file import ACCEPTED, NONCE_FOREIGN, NONCE_TWICE, REFUSED, parse_ranges
from client_telemetry.knowledge import apis, known_issues, releases, served
from client_telemetry.probe import (
    command_line,
    login,
    measurement,
    request_bodies,
    scram_nonce,
    tls_offers,
)
from client_telemetry.probe.listener import read_properties
from client_telemetry.probe.served_protocols import NO, YES
from client_telemetry.rehearsal import sandbox_broker

from .kafka_broker import CHECKOUT, JARS, KafkaBroker, free_ports, mutual_tls, secured

SHORT = ("3.9.1", "4.0.1", "4.4.0")
EVERY_PATCH = tuple(
    release for release in releases.known() if releases.parse(release) >= (3, 7) and release not in SHORT
)
"""Started one after the other by the long tests, which fetch their jars."""
CACHE = CHECKOUT / "var" / "e2e" / "rehearsal"
OAUTH_LOGIN = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
SCRAM_LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule"


def folder_of(release: str) -> str:
    """Of the jars: those of the other tests where they have the release."""
    return {"3.9.1": "broker-3", "4.4.0": "broker-4"}.get(release, f"kafka-{release}")


@pytest.fixture(
    scope="module",
    params=[*SHORT, *(pytest.param(release, marks=pytest.mark.long) for release in EVERY_PATCH)],
)
def release(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def jars(release: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of the release's jars, as KafkaBroker takes it."""
    if (JARS / folder_of(release)).exists():
        return folder_of(release)
    if release in SHORT:
        pytest.skip(f"no jars of Kafka {release}")
    link = tmp_path_factory.mktemp("jars") / f"kafka-{release}"
    link.symlink_to(sandbox_broker.jars(release, CACHE))
    return str(link)


@pytest.fixture(scope="module")
def broker(jars: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaBroker]:
    (controller,) = free_ports(1)
    folder = tmp_path_factory.mktemp("probed")
    mutual, certificate = mutual_tls(folder, "MUTUAL", "carol")
    (folder / "both.pem").write_bytes(certificate.key.read_bytes() + certificate.certificate.read_bytes())
    prefix = "listener.name.secure."
    started = KafkaBroker(
        folder / "broker",
        jars,
        1,
        1,
        controller,
        settings={
            "metric.reporters": "org.apache.kafka.common.metrics.JmxReporter",  # not the plugin's
            **secured(folder, "SECURE", {"alice": "alices-secret"}),
            f"{prefix}sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
            f"{prefix}scram-sha-256.sasl.jaas.config": f"{SCRAM_LOGIN} required;",
            **mutual,
            "listener.name.tokens.sasl.enabled.mechanisms": "OAUTHBEARER",
            "listener.name.tokens.oauthbearer.sasl.jaas.config": f'{OAUTH_LOGIN} required unsecuredLoginStringClaim_sub="admin";',
        },
        listeners={
            "CLIENTS": "PLAINTEXT",
            "SECURE": "SASL_SSL",
            "MUTUAL": "SSL",
            "TOKENS": "SASL_PLAINTEXT",
        },
        format_options=("--add-scram", "SCRAM-SHA-256=[name=alice,password=alices-secret]"),
    )
    try:
        started.start()
        create_offsets_topic(started)
        yield started
    finally:
        started.end()


def create_offsets_topic(broker: KafkaBroker) -> None:
    """So that requests about groups reach a coordinator. A client's first FindCoordinator creates it."""
    (entry,) = measurement.bootstrap_listeners(broker.bootstrap, {})
    requests = request_bodies.requests()
    with entry.connect() as opened:
        deadline = time.monotonic() + 60
        while b"__consumer_offsets" not in opened.ask(requests[3, 0].frame, 30).payload:
            assert time.monotonic() < deadline
            opened.ask(requests[10, 0].frame, 30)
            time.sleep(0.2)
    # Its partitions are written to the metadata log and loaded after it is there.
    time.sleep(2)


@pytest.fixture(scope="module")
def probed(broker: KafkaBroker, tmp_path_factory: pytest.TempPathFactory) -> dict:
    output = tmp_path_factory.mktemp("target") / "target.json"
    before = state(broker)
    assert command_line.main([broker.bootstrap, f"--output={output}", "--rate=1000"]) == 0
    after = state(broker)
    assert len(after["metadata"]) > 5
    assert after == before
    return target_file.read(output)


def state(broker: KafkaBroker) -> dict[str, object]:
    """Digest of each file of the log directories; of the metadata log, its records."""
    data = broker.folder / "data"
    files = [path for path in sorted(data.rglob("*")) if path.is_file()]
    plain = [
        path for path in files if "__cluster_metadata" not in str(path) and "checkpoint" not in path.name
    ]
    return {str(path.relative_to(data)): hashlib.sha256(path.read_bytes()).hexdigest() for path in plain} | {
        "metadata": metadata_records(data / "__cluster_metadata-0" / "00000000000000000000.log")
    }


def metadata_records(log: Path) -> list[bytes]:
    """Values of the records of a metadata log, but for those that only the passing time makes: NoOpRecord (key 20), which the
    controller writes twice a second, and control batches.
    """
    content, place, values = log.read_bytes(), 0, []
    while place + 61 <= len(content):
        (length,) = struct.unpack_from(">i", content, place + 8)
        (attributes,) = struct.unpack_from(">h", content, place + 21)
        (count,) = struct.unpack_from(">i", content, place + 57)
        if not attributes & 0x20 and place + 12 + length <= len(content):
            values += record_values(content[place + 61 : place + 12 + length], count)
        place += 12 + length
    return [value for value in values if value[1] != 20]


def record_values(records: bytes, count: int) -> Iterator[bytes]:
    place = 0

    def varint() -> int:
        nonlocal place
        value = shift = 0
        while True:
            byte = records[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)

    for _ in range(count):
        length = varint()
        end = place + length
        place += 1
        varint()
        varint()
        key_size = varint()
        place += max(0, key_size)
        size = varint()
        yield records[place : place + size]
        place = end


def test_what_is_answered_is_what_the_knowledge_base_says(probed, release):
    (answers,) = probed["answers"]
    known = served.with_levels(
        release, {name: levels["finalized"] for name, levels in probed["features"].items()}
    )
    unexplained = []
    for name, entry in answers.items():
        key = int(name.partition(" ")[0])
        if apis.by_key()[key].used_by == "broker":
            continue
        api = known.get(key)
        asked = [
            version
            for outcome in ("answered", "refused", "closed", "silent", "garbled")
            for version in parse_ranges(entry.get(outcome, ""))
        ]
        expected = [version for version in asked if api and api.served.min <= version <= api.served.max]
        if sorted(parse_ranges(entry.get("answered", ""))) != sorted(expected):
            unexplained.append((name, entry, api))
    # What is a preview there is refused; PushTelemetry is answered by a broker without a telemetry plugin, which does not advertise it.
    # AlterShareGroupOffsets and DeleteShareGroupOffsets wait for share.version, too, which the knowledge base does not say.
    explained = {*known_issues.refused_by(release), 72, 91, 92}
    assert [each for each in unexplained if int(each[0].partition(" ")[0]) not in explained] == []


def test_it_says_which_release_it_is_and_what_is_finalized(probed, release):
    assert release in probed["answers_like"]
    assert probed["features"]["metadata.version"]["finalized"] > 0
    assert probed["cluster_id"]
    assert probed["brokers"]["1"]["address"].startswith("127.0.0.1:")


def test_the_broker_logs_only_the_refusals(probed, broker):
    lines = (broker.folder / "server.log").read_text().splitlines()
    errors = [line for line in lines if "] ERROR " in line or "] FATAL " in line]
    assert [line for line in errors if "kafka.network.Processor" not in line] == []


def test_what_was_not_asked_has_a_reason(probed):
    (answers,) = probed["answers"]
    silent = [(name, entry) for name, entry in answers.items() if not entry]
    assert silent == []
    assert "takes a producer id" in answers["22 InitProducerId"]["not_asked"]


on_the_newest = pytest.mark.parametrize("release", [SHORT[-1]], indirect=True)
"""The ways in are the same on all."""


def config(broker: KafkaBroker, folder: Path, **settings: str) -> Path:
    file = folder / "client.properties"
    authority = {"ssl.truststore.location": str(broker.folder.parent / "ca.pem")}
    file.write_text("".join(f"{name}={value}\n" for name, value in {**authority, **settings}.items()))
    return file


def scram_login(mechanism: str, password: str = "alices-secret") -> dict[str, str]:
    return {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f'{SCRAM_LOGIN} required username="alice" password="{password}";',
    }


def comparable(answers: dict, *without: str) -> dict:
    return {name: entry for name, entry in answers.items() if name not in without}


@on_the_newest
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_a_listener_with_a_login_answers_the_same(probed, broker, tmp_path, mechanism):
    output = tmp_path / "target.json"
    arguments = [
        f"--command-config={config(broker, tmp_path, **scram_login(mechanism))}",
        f"--output={output}",
        "--rate=1000",
    ]
    assert command_line.main([f"localhost:{broker.ports['SECURE']}", *arguments]) == 0
    secure = target_file.read(output)
    assert secure["mechanisms"] == ["PLAIN", "SCRAM-SHA-256"]
    of_login = ("17 SaslHandshake", "36 SaslAuthenticate")
    assert comparable(secure["answers"][0], *of_login) == comparable(probed["answers"][0], *of_login)


@on_the_newest
def test_a_listener_with_client_certificates_answers_the_same(probed, broker, tmp_path):
    output, keys = tmp_path / "target.json", str(broker.folder.parent / "both.pem")
    settings = {"security.protocol": "SSL", "ssl.keystore.location": keys}
    arguments = [
        f"--command-config={config(broker, tmp_path, **settings)}",
        f"--output={output}",
        "--rate=1000",
    ]
    assert command_line.main([f"localhost:{broker.ports['MUTUAL']}", *arguments]) == 0
    assert target_file.read(output)["answers"] == probed["answers"]


@on_the_newest
@pytest.mark.parametrize("from_file", [False, True])
def test_a_listener_with_tokens_answers_the_same(probed, broker, tmp_path, from_file):
    output = tmp_path / "target.json"
    settings = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER"}
    if from_file:
        (tmp_path / "token").write_text(login.unsecured_token("alice") + "\n")
        settings["sasl.oauthbearer.token.endpoint.url"] = f"file://{tmp_path / 'token'}"
    else:
        settings["sasl.jaas.config"] = f'{OAUTH_LOGIN} required unsecuredLoginStringClaim_sub="alice";'
    arguments = [
        f"--command-config={config(broker, tmp_path, **settings)}",
        f"--output={output}",
        "--rate=1000",
    ]
    assert command_line.main([f"localhost:{broker.ports['TOKENS']}", *arguments]) == 0
    tokens = target_file.read(output)
    assert tokens["mechanisms"] == ["OAUTHBEARER"]
    of_login = ("17 SaslHandshake", "36 SaslAuthenticate")
    assert comparable(tokens["answers"][0], *of_login) == comparable(probed["answers"][0], *of_login)


def test_it_says_which_nonces_end_a_login(probed, broker, release, tmp_path):
    """The fix of CVE-2024-56128 is in 3.7.2, 3.8.1 and 3.9.0."""
    (entry,) = measurement.bootstrap_listeners(
        f"localhost:{broker.ports['SECURE']}",
        read_properties(config(broker, tmp_path, **scram_login("SCRAM-SHA-256"))),
    )
    is_4 = release.startswith("4.")
    refuses_foreign = is_4 or release not in ("3.7.0", "3.7.1", "3.8.0")
    assert scram_nonce.measured(entry) == {
        NONCE_TWICE: REFUSED if is_4 else ACCEPTED,
        NONCE_FOREIGN: REFUSED if refuses_foreign else ACCEPTED,
    }
    right = login.scram_credentials(scram_login("SCRAM-SHA-256"))
    assert scram_nonce.outcome(entry, right, "") == ACCEPTED
    assert scram_nonce.outcome(entry, right._replace(password="wrong"), "") == REFUSED


def test_it_says_which_tls_a_listener_takes(probed, broker, release, tmp_path):
    (entry,) = measurement.bootstrap_listeners(
        f"localhost:{broker.ports['SECURE']}",
        read_properties(config(broker, tmp_path, **scram_login("PLAIN"))),
    )
    offered = tls_offers.offered(entry, lambda: None)
    assert sorted(offered) == ["TLSv1.2", "TLSv1.3"]
    assert "ECDHE-ECDSA-AES256-GCM-SHA384" in offered["TLSv1.2"].split(":")
    assert offered["TLSv1.3"].startswith("TLS_AES_")
    assert probed["tls"] == {}


def test_it_says_which_protocols_are_served(probed, release):
    """With the newest features of each release: group.version and transaction.version since 4.0, share.version and streams.version
    since 4.2.
    """
    is_4, is_4_2 = (YES if release >= first else NO for first in ("4.0", "4.2"))
    assert probed["serves"] == {
        "group.protocol=consumer (KIP-848)": is_4,
        "share groups (KIP-932)": is_4_2,
        "streams groups (KIP-1071)": is_4_2,
        "client metrics (KIP-714)": NO,  # a broker serves them with a telemetry plugin
        "transactions, level 0": YES,
        "transactions, level 1": is_4,
        "transactions, level 2": is_4,
    }


@on_the_newest
def test_a_producer_beside_a_probe_is_as_fast_as_before(broker, tmp_path):
    """Half of the records within what nine of ten took before: noise of a machine that runs other tests, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of kafka-python itself
        kafka_python = importlib.import_module("kafka")
    producer = kafka_python.KafkaProducer(bootstrap_servers=broker.bootstrap, acks="all", linger_ms=0)
    try:
        latencies_ms(producer, 200)
        before = latencies_ms(producer, 200)
        output = f"--output={tmp_path / 'target.json'}"
        command = [sys.executable, "-m", "client_telemetry.probe.command_line", broker.bootstrap, output]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as probing:
            beside: list[float] = []
            while probing.poll() is None:
                beside += latencies_ms(producer, 10)
        assert probing.returncode == 0
    finally:
        producer.close()
    assert len(beside) > 200
    assert statistics.median(beside) <= max(statistics.quantiles(before, n=10)[-1], 5.0)


def latencies_ms(producer: Any, count: int) -> list[float]:
    """From sending a record until it is acknowledged, one after the other."""
    found = []
    for _ in range(count):
        begun = time.perf_counter()
        producer.send("beside-a-probe", b"record").get(timeout=30)
        found.append((time.perf_counter() - begun) * 1000)
    return found


@on_the_newest
@pytest.mark.parametrize(
    ("listener", "settings", "said"),
    [
        ("SECURE", scram_login("PLAIN", "wrong"), "the login with PLAIN failed: Authentication failed"),
        ("SECURE", scram_login("SCRAM-SHA-256", "wrong"), "the login with SCRAM-SHA-256 failed"),
        ("SECURE", scram_login("SCRAM-SHA-512"), "does not enable SCRAM-SHA-512, but PLAIN, SCRAM-SHA-256"),
        ("SECURE", {}, "the listener speaks TLS: set security.protocol"),
        ("SECURE", {"security.protocol": "SSL"}, "wants a login with PLAIN, SCRAM-SHA-256"),
        ("MUTUAL", {"security.protocol": "SSL"}, "wants a client certificate"),
        ("CLIENTS", {"security.protocol": "SSL"}, "TLS"),
        (
            "CLIENTS",
            {**scram_login("PLAIN"), "security.protocol": "SASL_PLAINTEXT"},
            "the listener takes no login",
        ),
    ],
)
def test_a_wrong_way_in_is_a_line(broker, tmp_path, capsys, listener, settings, said):
    arguments = [f"--command-config={config(broker, tmp_path, **settings)}", f"--output={tmp_path / 'x'}"]
    assert command_line.main([f"localhost:{broker.ports[listener]}", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert not (tmp_path / "x").exists()
