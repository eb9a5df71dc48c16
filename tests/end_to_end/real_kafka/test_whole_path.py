"""From the broker's request thread to the tables: held against what the brokers logged and the clients told."""

import base64
from collections import Counter
from itertools import pairwise

import pytest
from client_telemetry.otlp.codecs import decompress
from client_telemetry.raw.envelopes import parse_client_push
from client_telemetry.raw.manifest import Manifest, parse_manifest
from client_telemetry.raw.object_key import parse_object_key
from client_telemetry.raw.reader import RecordReader
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.raw_objects import RAW_OBJECTS
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS

from .conftest import Play

PUSH_TELEMETRY = 72
UNFLUSHED_SECONDS = 1.0
"""What a killed broker may lose: the plugin flushes ten times a second; the rest is for a busy machine."""


@pytest.fixture(scope="module")
def manifests(play: Play) -> list[Manifest]:
    files = sorted(play.store.raw.rglob("*.json"))
    return [parse_manifest(file.read_bytes(), parse_object_key(str(file))) for file in files]


def _is_lost_with_the_broker(play: Play, entry: dict) -> bool:
    return entry["node"] == 2 and 0 <= play.killed_at - entry["logged_at"] < UNFLUSHED_SECONDS


def test_every_accepted_push_is_in_the_dump_byte_for_byte(play):
    dumped = Counter()
    for file in play.store.raw.glob("v1/dataset=client_pushes/**/*.zst"):
        key = parse_object_key(str(file))
        with file.open("rb") as source:
            for record in RecordReader(source, file.name):
                push = parse_client_push(record.data, key)
                dumped[push.broker_id, push.client.connection_id, push.payload] += 1
    accepted = [
        entry
        for entry in play.requests()
        if entry["requestHeader"]["requestApiKey"] == PUSH_TELEMETRY
        and entry["response"]["errorCode"] == 0
        and entry["request"]["metrics"]
    ]
    assert len(accepted) > 50
    for entry in accepted:
        sent = base64.b64decode(entry["request"]["metrics"])
        payload = bytes(decompress(sent, entry["request"]["compressionType"]))
        key = (entry["node"], entry["connection"], payload)
        dumped[key] -= 1
        assert dumped[key] >= 0 or _is_lost_with_the_broker(play, entry), entry["requestHeader"]


def test_every_push_of_the_dump_is_in_the_table(play, manifests):
    told = sum(f.records for m in manifests for f in m.files if f.dataset == "client_pushes")
    rows = play.rows(CLIENT_PUSHES)
    assert len(rows) == told
    assert play.rows(UNDECODABLE_RECORDS) == []
    assert all(row["points"] > 0 for row in rows)


def test_every_connection_that_the_broker_logged_is_in_the_registry(play):
    logged = {(e["node"], e["connection"]) for e in play.requests() if not _is_lost_with_the_broker(play, e)}
    known = {(row["broker_id"], row["connection_id"]) for row in play.rows(CLIENT_CONNECTIONS)}
    assert len(logged) > 20
    assert logged - known == set()


def test_requests_are_counted_as_the_broker_logged_them(play):
    logged = Counter()
    for entry in play.requests():
        header = entry["requestHeader"]
        logged[entry["node"], entry["connection"], header["requestApiKey"], header["requestApiVersion"]] += 1
    closed = {}
    for event in play.rows(CONNECTION_EVENTS):
        if event["kind"] == "closed" and event["client_id"] is not None:
            closed[event["broker_id"], event["connection_id"]] = event
    assert len(closed) > 20
    for (node, connection), event in closed.items():
        for use in event["api_uses"]:
            count = logged[node, connection, use["api_key"], use["version"]]
            assert use["requests"] + use["rejected"] == count, (connection, use)


def test_open_connections_are_those_of_the_brokers_gauges(play, manifests):
    for broker in play.brokers:
        last = max(
            (m for m in manifests if m.broker_id == broker.node), key=lambda m: (m.broker_started_at, m.hour)
        )
        gauges = Counter()
        for gauge in last.connections:
            if gauge.listener == "CLIENTS":
                gauges[gauge.client_software_name, gauge.client_software_version] += gauge.count
        still_open = Counter(
            (row["client_software_name"], row["client_software_version"])
            for row in play.rows(CLIENT_CONNECTIONS)
            if row["broker_incarnation"] == last.incarnation
            and row["listener_name"] == "CLIENTS"
            and row["end_known_by"] == "still_open"
        )
        assert gauges == still_open != Counter()


def test_clients_are_who_they_say_they_are(play):
    software = {
        (row["client_id"], row["client_software_name"], row["client_software_version"])
        for row in play.rows(CLIENTS)
    }
    for expected in (
        ("java-newer-producer", "apache-kafka-java", "4.4.0"),
        ("java-older-consumer", "apache-kafka-java", "3.9.1"),
        ("librdkafka-consumer", "confluent-kafka-python", "2.16.1-rdkafka-2.16.0"),
        ("kafka-python-producer", "kafka-python", "3.0.12"),
    ):
        assert expected in software
    assert not any(client_id and client_id.startswith("broker-") for client_id, _, _ in software)


def test_instance_ids_are_those_that_clients_report(play):
    sessions = {bytes(row["client_instance_id"]) for row in play.rows(CLIENT_SESSIONS)}
    for name in ("java-newer", "java-older", "librdkafka", "victim"):
        told = play.clients[name].instance_ids
        assert told, name
        assert told & sessions, name


def test_the_killed_broker_left_everything_to_its_successor(play, manifests):
    recovered = [m for m in manifests if m.recovered]
    assert {m.broker_id for m in recovered} == {2}
    assert len({m.incarnation for m in recovered}) == 1
    assert len({m.incarnation for m in manifests if m.broker_id == 2}) == 3
    listed = [f.key for m in manifests for f in m.files]
    stored = {str(p.relative_to(play.store.raw)) for p in play.store.raw.rglob("*.zst")}
    assert len(listed) == len(set(listed))
    assert set(listed) == stored
    for broker in play.brokers:
        assert list(broker.spool.iterdir()) == [], "everything left the spool"


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


def test_the_upgrade_is_judged(play):
    verdicts = {row["client_id"]: row["verdict"] for row in play.rows(UPGRADE_VERDICTS)}
    assert {"java-newer-producer", "librdkafka-consumer", "kafka-python-producer"} <= verdicts.keys()
