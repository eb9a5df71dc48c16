"""What leaves a broker whose identifiers are treated: one that replaces them by digests, one that leaves them out, one that
keeps principals and leaves listeners and principals out. Everything that they wrote is searched for the names themselves,
and rules for owners are written with the digests of the shipped command.
"""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from client_telemetry.identity.owners import first_match, load_owner_rules
from client_telemetry.raw.envelopes import parse_client_push, parse_connection_event
from client_telemetry.raw.object_key import parse_object_key

from .kafka_broker import JARS, PLUGIN, KafkaBroker, free_ports, secured
from .play import LOOK_SECONDS, Play, records, wait_until

KINDS = ("principal", "address", "client.id", "group.id", "transactional.id", "topic")
HASHED, OMITTED, FILTERED = 1, 2, 3
USERS = {"alice": "alices-secret", "mallory": "mallorys-secret"}
NAMES = ("alice", "mallory", "salaries")
"""Parts of principals, and of the clients' ids, groups, transactions and topics (`e2e-salaries`)."""


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    folder = tmp_path_factory.mktemp("play")
    key = folder / "telemetry.key"
    key.write_text("a key of sixteen bytes or more\n")
    (controller,) = free_ports(1)
    treatments = {
        HASHED: {**dict.fromkeys(KINDS, "hmac"), "key.file": key},
        OMITTED: dict.fromkeys(KINDS, "omit"),
        FILTERED: {},
    }
    brokers = [
        KafkaBroker(
            folder / f"broker-{node}",
            "broker-4" if node != OMITTED else "broker-3",
            node,
            1,
            controller,
            settings={
                "client.telemetry.dump.location": (folder / f"raw-{node}").as_uri(),
                **secured(folder, "SECURE", USERS),
                **{f"client.telemetry.dump.identifiers.{kind}": value for kind, value in treated.items()},
                **(
                    {
                        "client.telemetry.dump.exclude.listeners": "CLIENTS",
                        "client.telemetry.dump.exclude.principals": "User:mallory",
                    }
                    if node == FILTERED
                    else {}
                ),
            },
            listeners={"CLIENTS": "PLAINTEXT", "SECURE": "SASL_SSL"},
            cluster="privacyprivacyprivacyA",
        )
        for node, treated in treatments.items()
    ]
    played = Play(folder, folder / "raw", str(folder / "raw"), brokers)
    try:
        for broker in brokers:
            broker.start()
        _act(played)
        yield played
    finally:
        played.end()


def _act(play: Play) -> None:
    play.subscribe(interval_ms=1000)
    secure = ",".join(f"localhost:{broker.ports['SECURE']}" for broker in play.brokers)
    login = "org.apache.kafka.common.security.plain.PlainLoginModule"
    for user, secret in USERS.items():
        play.java(
            "broker-4",
            *("work", secure, f"salaries-{user}", f"transactional.id=salaries-{user}-transaction"),
            *("security.protocol=SASL_SSL", "sasl.mechanism=PLAIN"),
            *("ssl.truststore.type=PEM", f"ssl.truststore.location={play.folder / 'ca.pem'}"),
            f'sasl.jaas.config={login} required username="{user}" password="{secret}";',
            name=f"salaries-{user}",
        )
    play.python("confluent", "salaries-open")
    clients = list(play.clients.values())[1:]
    for client in clients:
        wait_until(f"{client.name} has a subscription", lambda c=client: c.instance_ids)
    time.sleep(LOOK_SECONDS)
    for client in clients:
        client.finish()
    time.sleep(LOOK_SECONDS)
    for broker in reversed(play.brokers):
        broker.stop()


def _objects(play: Play, node: int, dataset: str) -> list[Path]:
    files = sorted((play.folder / f"raw-{node}").glob(f"v1/dataset={dataset}/**/*.zst"))
    assert files, (node, dataset)
    return files


def _events(play: Play, node: int) -> list:
    return [
        parse_connection_event(record, parse_object_key(str(file)))
        for file in _objects(play, node, "connections")
        for record in records(file)
    ]


def _pushes(play: Play, node: int) -> list:
    return [
        parse_client_push(record, parse_object_key(str(file)))
        for file in _objects(play, node, "client_pushes")
        for record in records(file)
    ]


def _digest(play: Play, value: str) -> str:
    """By the command of docs/broker-plugin.md."""
    classes = f"{PLUGIN}:{JARS / 'broker-4'}/*"
    command = [
        "java",
        "-cp",
        classes,
        "clienttelemetry.broker.Identifiers",
        play.folder / "telemetry.key",
        value,
    ]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    name, _, digest = printed.strip().partition("\t")
    assert name == value
    return digest


@pytest.mark.parametrize("node", [HASHED, OMITTED], ids=["hmac", "omit"])
def test_no_name_leaves_the_broker(play, node):
    written = b"\n".join(
        record
        for dataset in ("connections", "client_pushes")
        for file in _objects(play, node, dataset)
        for record in records(file)
    )
    manifests = b"\n".join(file.read_bytes() for file in (play.folder / f"raw-{node}").rglob("*.json"))
    for name in NAMES:
        assert name.encode() not in written, name
        assert name.encode() not in manifests, name
    clients = [each.client for each in (*_events(play, node), *_pushes(play, node))]
    assert len(clients) > 20
    assert "127.0.0.1" not in {client.client_address for client in clients}
    assert all(push.payload for push in _pushes(play, node) if not push.error_code)


def test_the_names_were_there(play):
    """On a broker that treats nothing: otherwise the search would prove nothing."""
    clients = [event.client for event in _events(play, FILTERED)]
    assert "User:alice" in {client.principal for client in clients}
    assert {"salaries-alice-producer", "salaries-alice-consumer"} <= {client.client_id for client in clients}
    assert "127.0.0.1" in {client.client_address for client in clients}
    assert any(b"e2e-salaries-alice" in push.payload for push in _pushes(play, FILTERED))


def test_owners_are_found_by_digests(play):
    wanted = {
        "principal": _digest(play, "User:alice"),
        "client_id": _digest(play, "salaries-alice-consumer"),
        "group_id": _digest(play, "salaries-alice-group"),
        "client_address": _digest(play, "127.0.0.1"),
    }
    found = set()
    for event in _events(play, HASHED):
        client = event.client
        for key, digest in wanted.items():
            rules = load_owner_rules(f"[{{name: hers, owner: payroll, {key}: '{digest}'}}]")
            groups, addresses = event.group_ids, [client.client_address]
            if first_match(rules, client.principal, client.client_id, groups, addresses):
                found.add((key, client.client_id))
    consumer = wanted["client_id"]
    assert {("principal", consumer), ("client_id", consumer), ("group_id", consumer)} <= found
    assert {key for key, _ in found} == set(wanted)


def test_manifests_say_what_was_done(play):
    for node, expected in ((HASHED, "hmac"), (OMITTED, "omit"), (FILTERED, "clear")):
        for manifest in _manifests(play, node):
            assert set(manifest.identifiers.values()) == {expected}


def _manifests(play: Play, node: int) -> list:
    files = (play.folder / f"raw-{node}").rglob("*.json")
    return Play(play.folder, play.folder / f"raw-{node}", "", [], {}).manifests() if list(files) else []


def test_listeners_and_principals_can_be_left_out(play):
    both = [*_events(play, FILTERED), *_pushes(play, FILTERED)]
    assert {each.client.listener_name for each in both if each.client.client_id} == {"INTERNAL", "SECURE"}
    assert "User:mallory" not in {each.client.principal for each in both}
    assert "User:alice" in {push.client.principal for push in _pushes(play, FILTERED)}


def test_digests_tell_clients_apart(play):
    principals = {event.client.principal for event in _events(play, HASHED) if event.client.client_id}
    expected = {_digest(play, f"User:{name}") for name in ("alice", "mallory", "ANONYMOUS")}
    assert expected <= principals
