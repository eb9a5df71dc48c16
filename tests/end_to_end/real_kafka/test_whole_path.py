"""From the broker's request thread to the tables: held against what the brokers logged and the clients told.

The play: a cluster of two releases, clients of three libraries with and without TLS and SASL, one that closes and one
that is killed, requests that no broker serves, the store down for a minute, meanwhile a broker killed while it spools
and started again, the store back, a restart in order, the end.
"""

import datetime as dt
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
from client_telemetry.formats.raw.manifest import Manifest
from client_telemetry.reports.fleet.client_metrics import Subscriptions
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.raw_objects import RAW_OBJECTS
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS

from .kafka_broker import KafkaBroker, free_ports, secured
from .object_store import ACCESS_KEY, BUCKET, SECRET_KEY, ObjectStore
from .play import LOOK_SECONDS, Play, records, spooled, wait_until

STORE_DOWN_SECONDS = 60
PAUSE_SECONDS = 2
"""Until what was sent before is answered, on a busy machine too; Fetch waits for at most half a second."""
UNFLUSHED_SECONDS = 1.0
"""What a killed broker may lose: the plugin flushes ten times a second; the rest is for a busy machine."""
FETCH, UNSERVED_VERSION = 1, 99
WITH_TELEMETRY = ("java-newer", "java-older", "java-secure", "librdkafka", "secure", "victim", "short")
GAUGES = "kafka.server:type=socket-server-metrics,clientSoftwareName=*,*"


@dataclass
class WholePath(Play):
    """`killed_at`: Unix time of the kill of broker 2. `left`: its spool as the kill left it. `gauges`: what each
    broker's JMX showed at the end (`gauges_at`): connections by listener, software name and version."""

    killed_at: float = 0.0
    gauges: dict[int, Counter] = field(default_factory=dict)
    gauges_at: dt.datetime | None = None
    uploads_failed: int = 0
    lag_seconds: int = 0

    @property
    def left(self) -> Path:
        return self.folder / "left"


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory, spark: object) -> Iterator[WholePath]:
    folder = tmp_path_factory.mktemp("play")
    store = ObjectStore(folder / "store")
    keys = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
    settings = {
        "client.telemetry.dump.location": f"s3://{BUCKET}/raw",
        "client.telemetry.dump.s3.endpoint": store.endpoint,
        "client.telemetry.dump.s3.path.style": "true",
        **secured(folder, "SECURE", {"alice": "alices-secret"}),
    }
    (controller,) = free_ports(1)
    brokers = [
        KafkaBroker(
            folder / f"broker-{node}",
            kafka,
            node,
            1,
            controller,
            keys,
            settings,
            listeners={"CLIENTS": "PLAINTEXT", "SECURE": "SASL_SSL"},
        )
        for node, kafka in ((1, "broker-4"), (2, "broker-3"))
    ]
    played = WholePath(folder, store.raw, store.url, brokers)
    try:
        store.start()
        for broker in brokers:
            broker.start()
        _act(played, store)
        played.process("3.9.1", "4.4.0")
        yield played
    finally:
        played.end()
        store.kill()


def _act(play: WholePath, store: ObjectStore) -> None:
    newer, older = play.brokers
    play.subscribe(interval_ms=1000)
    working = [
        play.java("broker-4", "work", play.bootstrap, "java-newer", name="java-newer"),
        play.java("broker-3", "work", play.bootstrap, "java-older", name="java-older"),
        play.python("confluent", "librdkafka"),
        play.python("kafka-python", "kafka-python"),
    ]
    _start_secure_clients(play)
    victim = play.python("confluent", "victim")
    short = play.python("confluent", "short")
    for broker in play.brokers:
        play.python("unserved", f"unserved-{broker.node}", bootstrap=broker.bootstrap).finish()
    for name in WITH_TELEMETRY:
        wait_until(f"{name} has a subscription", lambda n=name: play.clients[n].instance_ids)
    time.sleep(3)  # the first push comes 0.5 to 1.5 intervals later
    short.finish()
    victim.kill()

    store.kill()
    down_at = time.monotonic()
    time.sleep(20)  # a killed broker is known to have run until ten seconds before, at least
    older.kill()
    play.killed_at = older.killed_at
    shutil.copytree(older.spool, play.left)
    older.start()
    time.sleep(max(0, down_at + STORE_DOWN_SECONDS - time.monotonic()))
    play.uploads_failed = newer.dump_figure("FailedUploads")
    play.lag_seconds = newer.dump_figure("UploadLagSeconds")
    store.start()
    _stop(play, older)
    older.start()
    play.python("confluent", "steady")
    for client in working:
        client.finish()
    _look_at_gauges(play)
    _stop(play, older)
    _stop(play, newer)


def _stop(play: WholePath, broker: KafkaBroker) -> None:
    """With its clients connected but paused: a broker that stops counts requests that arrive and neither answers nor logs
    them."""
    running = [client.process for client in play.clients.values() if client.process.poll() is None]
    for process in running:
        process.send_signal(signal.SIGSTOP)
    time.sleep(PAUSE_SECONDS)
    broker.stop()
    for process in running:
        process.send_signal(signal.SIGCONT)


def _start_secure_clients(play: WholePath) -> None:
    bootstrap = ",".join(f"localhost:{broker.ports['SECURE']}" for broker in play.brokers)
    certificate = play.folder / "ca.pem"
    login = "org.apache.kafka.common.security.plain.PlainLoginModule"
    play.java(
        "broker-4",
        *("work", bootstrap, "java-secure"),
        *("security.protocol=SASL_SSL", "sasl.mechanism=PLAIN"),
        *("ssl.truststore.type=PEM", f"ssl.truststore.location={certificate}"),
        f'sasl.jaas.config={login} required username="alice" password="alices-secret";',
        name="java-secure",
    )
    play.python(
        "confluent",
        "secure",
        *("security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", f"ssl.ca.location={certificate}"),
        *("sasl.username=alice", "sasl.password=alices-secret", "broker.address.family=v4"),
        bootstrap=bootstrap,
    )


def _look_at_gauges(play: WholePath) -> None:
    """At a moment before and after which they are the same: on a slow machine reading takes seconds, in which clients
    connect. When brokers stop, clients close some."""
    wait_until("the last client works", lambda: play.clients["steady"].instance_ids)
    time.sleep(LOOK_SECONDS)
    play.gauges = _gauges(play)

    def are_the_same() -> bool:
        play.gauges_at = dt.datetime.now(dt.UTC)
        before, play.gauges = play.gauges, _gauges(play)
        return play.gauges == before

    wait_until("no connection comes or goes", are_the_same)


def _gauges(play: WholePath) -> dict[int, Counter]:
    gauges = {}
    for broker in play.brokers:
        connections = Counter()
        for gauge in broker.jmx(GAUGES, "connections"):
            if gauge["listener"] in broker.listeners:
                software = gauge["clientSoftwareName"], gauge["clientSoftwareVersion"]
                connections[gauge["listener"], *software] += int(gauge["value"])
        gauges[broker.node] = +connections
    return gauges


@pytest.fixture(scope="module")
def manifests(play: WholePath) -> list[Manifest]:
    return play.manifests()


def _is_lost_with_the_broker(play: WholePath, entry: dict) -> bool:
    return entry["node"] == 2 and 0 <= play.killed_at - entry["logged_at"] < UNFLUSHED_SECONDS


def test_every_accepted_push_is_in_the_dump_byte_for_byte(play):
    dumped = play.dumped_pushes()
    accepted = play.accepted_pushes()
    assert len(accepted) > 50
    for entry, push in accepted:
        dumped[push] -= 1
        assert dumped[push] >= 0 or _is_lost_with_the_broker(play, entry), entry["requestHeader"]


def test_every_push_of_the_dump_is_in_the_table(play, manifests):
    reported = sum(f.records for m in manifests for f in m.files if f.dataset == "client_pushes")
    rows = play.rows(CLIENT_PUSHES)
    assert len(rows) == reported
    assert play.rows(UNDECODABLE_RECORDS) == []
    assert all(row["points"] > 0 for row in rows)


def test_every_connection_that_the_broker_logged_is_in_the_registry(play):
    logged = {(e["node"], e["connection"]) for e in play.requests if not _is_lost_with_the_broker(play, e)}
    known = {(row["broker_id"], row["connection_id"]) for row in play.rows(CLIENT_CONNECTIONS)}
    assert len(logged) > 20
    assert logged - known == set()


def test_requests_are_counted_as_the_broker_logged_them(play):
    logged = Counter()
    for entry in play.requests:
        header = entry["requestHeader"]
        logged[entry["node"], entry["connection"], header["requestApiKey"], header["requestApiVersion"]] += 1
    closed = {}
    # Events are cumulative, and a request that is logged after its connection's end makes another one: the last one counts.
    for event in sorted(play.rows(CONNECTION_EVENTS), key=lambda row: row["sequence"]):
        if event["kind"] == "closed" and event["client_id"] is not None:
            closed[event["broker_id"], event["connection_id"]] = event
    assert len(closed) > 20
    for (node, connection), event in closed.items():
        for use in event["api_uses"]:
            count = logged[node, connection, use["api_key"], use["version"]]
            assert use["requests"] + use["rejected"] == count, (connection, use)


def test_refused_requests_are_in_the_registry(play):
    """Which are in no request log: Kafka 3 and Kafka 4 tell of them in words of their own."""
    refused = {
        (row["broker_id"], use["requests"], use["rejected"])
        for row in play.rows(CLIENT_CONNECTIONS)
        for use in row["api_uses"]
        if (use["api_key"], use["version"]) == (FETCH, UNSERVED_VERSION)
    }
    assert refused == {(1, 0, 1), (2, 0, 1)}


def test_open_connections_are_those_of_the_brokers_gauges(play, manifests):
    for broker in play.brokers:
        last = max(
            (m for m in manifests if m.broker_id == broker.node), key=lambda m: (m.broker_started_at, m.hour)
        )
        gauges = Counter()
        for gauge in last.connections:
            if gauge.listener in broker.listeners:
                gauges[gauge.listener, gauge.client_software_name, gauge.client_software_version] += (
                    gauge.count
                )
        open_then = Counter(
            (row["listener_name"], row["client_software_name"], row["client_software_version"])
            for row in play.rows(CLIENT_CONNECTIONS)
            if row["broker_incarnation"] == last.incarnation and _was_open(row, play.gauges_at)
        )
        assert open_then == play.gauges[broker.node] == gauges
        assert {listener for listener, _, _ in open_then} == {"CLIENTS", "SECURE"}


def _was_open(connection: dict, at: dt.datetime) -> bool:
    return connection["opened_at"] <= at and (connection["closed_at"] is None or connection["closed_at"] > at)


def test_clients_are_who_they_say_they_are(play):
    clients = play.rows(CLIENTS)
    software = {
        (row["client_id"], row["client_software_name"], row["client_software_version"]) for row in clients
    }
    for expected in (
        ("java-newer-producer", "apache-kafka-java", "4.4.0"),
        ("java-older-consumer", "apache-kafka-java", "3.9.1"),
        ("librdkafka-consumer", "confluent-kafka-python", "2.16.1-rdkafka-2.16.0"),
        ("kafka-python-producer", "kafka-python", "3.0.12"),
        ("java-secure-consumer", "apache-kafka-java", "4.4.0"),
        ("secure-producer", "confluent-kafka-python", "2.16.1-rdkafka-2.16.0"),
    ):
        assert expected in software
    assert not any(client_id and client_id.startswith("broker-") for client_id, _, _ in software)


def test_listeners_protocols_and_principals_are_those_of_the_clients(play):
    for table in (CLIENT_CONNECTIONS, CLIENT_PUSHES):
        found = {}
        for row in play.rows(table):
            name = (row["client_id"] or "").rpartition("-")[0]
            identity = row["listener_name"], row["security_protocol"], row["principal"]
            found.setdefault(name, set()).add(identity)
        for name in ("java-newer", "librdkafka"):
            assert found[name] == {("CLIENTS", "PLAINTEXT", "User:ANONYMOUS")}, table.name
        for name in ("java-secure", "secure"):
            assert found[name] == {("SECURE", "SASL_SSL", "User:alice")}, table.name


def test_instance_ids_are_those_that_clients_report(play):
    seen = {}
    for row in play.rows(CLIENT_SESSIONS):
        name = row["client_id"].rpartition("-")[0]
        seen.setdefault(name, set()).add(bytes(row["client_instance_id"]))
    for name in (*WITH_TELEMETRY, "steady"):
        assert seen[name] == play.clients[name].instance_ids, name


def test_ends_of_clients_are_known(play):
    """Of one that closes and of one that is killed, whose sockets the operating system closes."""
    ends = {}
    for row in play.rows(CLIENT_CONNECTIONS):
        name = (row["client_id"] or "").rpartition("-")[0]
        ends.setdefault(name, set()).add(row["end_known_by"])
    assert ends["short"] == ends["victim"] == {"closed_event"}
    said_so = {row["client_instance_id"] for row in play.rows(CLIENT_PUSHES) if row["terminating"]}
    reasons = {row["client_instance_id"]: row["end_reason"] for row in play.rows(CLIENT_SESSIONS)}
    assert said_so and {reasons[instance] for instance in said_so} == {"terminating_push"}
    silent = {instance: reason for instance, reason in reasons.items() if instance not in said_so}
    assert "terminating_push" not in silent.values()
    names = {row["client_instance_id"]: row["client_id"] for row in play.rows(CLIENT_SESSIONS)}
    assert "victim-consumer" in {names[instance] for instance in silent}
    # A Java client does not always get its last push out before it closes the connection.
    closed = {reason for instance, reason in silent.items() if names[instance].startswith("short-")}
    assert closed <= {"connection_closed"}


def test_the_store_was_down_for_a_minute(play):
    assert play.uploads_failed > 1
    assert play.lag_seconds > STORE_DOWN_SECONDS / 2


def test_what_the_killed_broker_had_on_disk_is_in_the_store(play, manifests):
    (killed,) = {m.incarnation for m in manifests if m.recovered}
    had = Counter(record for file in spooled(play.left / killed) for record in records(file))
    stored = Counter(record for file in play.raw.rglob(f"{killed}-*.zst") for record in records(file))
    assert sum(had.values()) > 20
    assert had - stored == Counter()


def test_the_killed_broker_left_everything_to_its_successor(play, manifests):
    recovered = [m for m in manifests if m.recovered]
    assert {m.broker_id for m in recovered} == {2}
    assert len({m.incarnation for m in recovered}) == 1
    assert len({m.incarnation for m in manifests if m.broker_id == 2}) == 3
    listed = [f.key for m in manifests for f in m.files]
    stored = {str(p.relative_to(play.raw)) for p in play.raw.rglob("*.zst")}
    assert len(listed) == len(set(listed))
    assert set(listed) == stored
    for broker in play.brokers:
        assert list(broker.spool.iterdir()) == [], "everything left the spool"


def test_each_incarnation_of_the_restarted_broker_has_its_connections(play, manifests):
    lives = {m.incarnation for m in manifests if m.broker_id == 2}
    seen = {row["broker_incarnation"] for row in play.rows(CLIENT_CONNECTIONS) if row["broker_id"] == 2}
    assert seen == lives


def test_every_hour_says_that_nobody_failed_to_log_in(manifests):
    assert {manifest.failed_logins for manifest in manifests} == {0}


def test_sequences_have_no_holes(play, manifests):
    ranges = {}
    for manifest in manifests:
        for f in manifest.files:
            ranges.setdefault((manifest.incarnation, f.dataset), []).append(
                (f.first_sequence, f.last_sequence)
            )
    for spans in ranges.values():
        spans.sort()
        assert spans[0][0] == 0
        assert all(before[1] + 1 == after[0] for before, after in pairwise(spans))
    assert all(row["status"] == "decoded" for row in play.rows(RAW_OBJECTS) if row["dataset"] != "manifests")


def test_nothing_was_dropped(play, manifests):
    assert {sum(m.dropped.values()) for m in manifests} == {0}
    hours = [row for row in play.rows(BROKER_HOURS) if row["incarnations"]]
    assert hours
    assert not any({"sequence_gap", "dropped_records"} & set(row["completeness"]) for row in hours)


def test_what_each_instance_is_asked_for_is_known_from_the_manifests(play):
    """So that a fleet page can tell a missing metric from one that nobody asked for."""
    instances = play.rows(CLIENT_SESSIONS)
    requested, known = Subscriptions.of(play.rows(BROKERS)).asked_of(instances)
    assert known and instances
    assert set(requested) == {("*",)}


def test_the_upgrade_is_judged(play):
    verdicts = {row["client_id"]: row["verdict"] for row in play.rows(UPGRADE_VERDICTS)}
    assert {"java-newer-producer", "librdkafka-consumer", "kafka-python-producer"} <= verdicts.keys()
