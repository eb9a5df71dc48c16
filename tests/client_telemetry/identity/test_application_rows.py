"""Rows of `clients` as what decides about their application."""

import datetime as dt

from client_telemetry.identity import application_rows
from client_telemetry.identity.application_rows import READ, application_columns

NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)


def row(client_id: str, name: str = "unknown", version: str = "unknown", **changes) -> dict:
    return {
        "principal": "User:a",
        "client_id": client_id,
        "client_software_name": name,
        "client_software_version": version,
        "owner": None,
        "first_seen_at": NOON,
        "last_seen_at": NOON,
        "client_addresses": ["10.0.0.1"],
        "group_ids": None,
        "answered": None,
        "related": None,
        "broker_software_versions": None,
        **changes,
    }


def test_what_is_read_is_enough():
    assert set(row("a")) == set(READ)


def test_all_columns_reach_the_rules():
    kgo = {
        "client_id": "b",
        "client_software_name": "kgo",
        "client_software_version": "v1.15.4",
        "because": "",
    }
    relations = ("one_application", "two_applications", "doubtful", "same_principal_and_address")
    given = row(
        "a",
        "kgo",
        "v1.1.0",
        owner="team",
        group_ids=["g"],
        client_addresses=[f"10.0.0.{n}" for n in range(100)],
        answered=[{"api_key": 0, "version": version} for version in (3, 9)],
        related=[{"relation": relation, **kgo} for relation in relations],
        broker_software_versions=["3.9.1", "4.0.0"],
    )
    client = application_rows._client(given)
    named = frozenset((("kgo", "v1.15.4"),))
    assert (client.principal, client.client_id, client.software, client.owner) == (
        "User:a", "a", ("kgo", "v1.1.0"), "team",
    )  # fmt: skip
    assert (client.same_as, client.not_same_as, client.doubtful) == (named, named, named)
    assert client.beside == {"b"} and client.groups == {"g"} and client.versions == {0: {3, 9}}
    assert len(client.addresses) == 64 and client.on_one_release is False and client.program == ""
    assert application_rows._client(given | {"program": "p"}).program == "p"
    alone = application_rows._client(row("a"))
    assert (
        alone.on_one_release
        and not (alone.addresses - {"10.0.0.1"})
        and not alone.groups
        and not alone.versions
    )


def test_columns_are_in_the_order_of_rows():
    found = application_columns([row("console-producer"), row("orders"), row("rdkafka")])
    assert found["application"] == ["console-producer", "orders", "rdkafka"]
    assert found["application_kind"] == ["tool", "application", "default_client_id"]
    assert found["product"][1:] == [None, None] and found["product"][0]
    assert [bool(notes) for notes in found["application_notes"]] == [False, False, True]
