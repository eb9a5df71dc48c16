"""What leaves a broker whose identifiers are treated: one that replaces them by digests, one that leaves them out, one that
keeps principals and leaves listeners and principals out. Everything that they wrote is searched for the names themselves,
and rules for owners are written with the digests of the shipped command.
"""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from client_telemetry.formats.raw.envelopes import parse_client_push, parse_connection_event
from client_telemetry.formats.raw.object_key import parse_object_key
from client_telemetry.identity.owners import first_match, load_owner_rules

from .kafka_broker import JARS, PLUGIN, KafkaBroker, free_ports, secured
from .play import LOOK_SECONDS, Play, records, wait_until

KINDS = ("principal", "address", "client.id", "group.id", "transactional.id", "topic")
RELEASES = {"hmac": "broker-4", "omit": "broker-3", "filtered": "broker-4"}
USERS = {"alice": "alices-secret", "mallory": "mallorys-secret"}
NAMES = ("alice", "mallory", "salaries")
"""Parts of principals, and of the clients' ids, groups, transactions and topics (`e2e-salaries-alice`)."""


@pytest.fixture(scope="module")
def plays(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Play]]:
    """By what becomes of identifiers."""
    played = {name: _play(tmp_path_factory.mktemp(name), name) for name in RELEASES}
    try:
        for play in played.values():
            (broker,) = play.brokers
            broker.start()
        _act(list(played.values()))
        yield played
    finally:
        for play in played.values():
            play.end()


def _play(folder: Path, name: str) -> Play:
    key = folder / "telemetry.key"
    key.write_text("a key of sixteen bytes or more\n")
    prefix = "client.telemetry.dump."
    settings = {f"{prefix}identifiers.{kind}": name for kind in KINDS if name != "filtered"}
    if name == "hmac":
        settings[f"{prefix}identifiers.key.file"] = key
    if name == "filtered":
        settings[f"{prefix}exclude.listeners"] = "CLIENTS"
        settings[f"{prefix}exclude.principals"] = "User:mallory; User:nobody"
    (controller,) = free_ports(1)
    broker = KafkaBroker(
        folder / "broker",
        RELEASES[name],
        1,
        1,
        controller,
        settings={
            f"{prefix}location": (folder / "raw").as_uri(),
            **secured(folder, "SECURE", USERS),
            **settings,
        },
        listeners={"CLIENTS": "PLAINTEXT", "SECURE": "SASL_SSL"},
        cluster=f"privacy{name}".ljust(21, "x") + "A",
    )
    return Play(folder, folder / "raw", str(folder / "raw"), [broker])


def _act(plays: list[Play]) -> None:
    for play in plays:
        play.subscribe(interval_ms=1000)
        (broker,) = play.brokers
        for user, secret in USERS.items():
            play.python(
                "confluent",
                f"salaries-{user}",
                *("security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", "broker.address.family=v4"),
                *(f"ssl.ca.location={play.folder / 'ca.pem'}", f"sasl.username={user}"),
                *(f"sasl.password={secret}", f"transactional.id=salaries-{user}-transaction"),
                bootstrap=f"localhost:{broker.ports['SECURE']}",
            )
        play.python("confluent", "salaries-open")
    for play in plays:
        for name in ("salaries-alice", "salaries-mallory", "salaries-open"):
            client = play.clients[name]
            wait_until(f"{name} has a subscription", lambda c=client: len(c.instance_ids) == 2)
    time.sleep(LOOK_SECONDS)
    for play in plays:
        for client in list(play.clients.values())[1:]:
            client.finish()
    for play in plays:
        (broker,) = play.brokers
        broker.stop()


def _objects(play: Play, dataset: str) -> list[Path]:
    files = sorted(play.raw.glob(f"v1/dataset={dataset}/**/*.zst"))
    assert files, dataset
    return files


def _events(play: Play) -> list:
    return [
        parse_connection_event(record, parse_object_key(str(file)))
        for file in _objects(play, "connections")
        for record in records(file)
    ]


def _pushes(play: Play) -> list:
    return [
        parse_client_push(record, parse_object_key(str(file)))
        for file in _objects(play, "client_pushes")
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


@pytest.mark.parametrize("treatment", ["hmac", "omit"])
def test_no_name_leaves_the_broker(plays, treatment):
    play = plays[treatment]
    written = [
        record
        for dataset in ("connections", "client_pushes")
        for file in _objects(play, dataset)
        for record in records(file)
    ]
    written += [file.read_bytes() for file in play.raw.rglob("*.json")]
    for name in NAMES:
        assert not any(name.encode() in each for each in written), name
    clients = [each.client for each in (*_events(play), *_pushes(play))]
    assert len(clients) > 20
    assert "127.0.0.1" not in {client.client_address for client in clients}
    pushes = [push for push in _pushes(play) if not push.error_code]
    assert len(pushes) > 10 and all(push.payload for push in pushes)


def test_the_names_are_there_where_nothing_is_treated(plays):
    """Otherwise the search of the test before would prove nothing."""
    events, pushes = _events(plays["filtered"]), _pushes(plays["filtered"])
    clients = [event.client for event in events]
    assert "User:alice" in {client.principal for client in clients}
    assert {"salaries-alice-producer", "salaries-alice-consumer"} <= {client.client_id for client in clients}
    assert "127.0.0.1" in {client.client_address for client in clients}
    assert any("salaries-alice-group" in event.group_ids for event in events)
    assert any("salaries-alice-transaction" in event.transactional_ids for event in events)
    assert any(b"salaries-alice" in push.payload for push in pushes)


def test_owners_are_found_by_digests(plays):
    play = plays["hmac"]
    client_id = _digest(play, "salaries-alice-consumer")
    rules = {
        "principal": _digest(play, "User:alice"),
        "client_id": client_id,
        "group_id": _digest(play, "salaries-alice-group"),
        "client_address": _digest(play, "127.0.0.1"),
    }
    owned = set()
    for event in _events(play):
        client = event.client
        for kind, digest in rules.items():
            (rule,) = load_owner_rules(f"[{{name: hers, owner: payroll, {kind}: '{digest}'}}]")
            known = (client.principal, client.client_id, event.group_ids, [client.client_address])
            if client.client_id == client_id and first_match([rule], *known):
                owned.add(kind)
    assert owned == set(rules)


def test_digests_tell_clients_apart(plays):
    play = plays["hmac"]
    principals = {event.client.principal for event in _events(play) if event.client.client_id}
    assert {_digest(play, f"User:{name}") for name in ("alice", "mallory", "ANONYMOUS")} <= principals
    transactions = {name for event in _events(play) for name in event.transactional_ids}
    assert transactions == {_digest(play, f"salaries-{name}-transaction") for name in USERS}


def test_manifests_say_what_was_done(plays):
    for name, expected in (("hmac", "hmac"), ("omit", "omit"), ("filtered", "clear")):
        manifests = plays[name].manifests()
        assert manifests
        assert {how for manifest in manifests for how in manifest.identifiers.values()} == {expected}


def test_listeners_and_principals_can_be_left_out(plays):
    play = plays["filtered"]
    both = [*_events(play), *_pushes(play)]
    assert "CLIENTS" not in {each.client.listener_name for each in both}
    assert "User:mallory" not in {each.client.principal for each in both}
    assert "User:alice" in {push.client.principal for push in _pushes(play)}
