"""What clients and instances of a day are found by, on both engines."""

import datetime as dt
import json

import pytest
from client_telemetry.fleet.instances import NEVER_PUSHED, alike
from client_telemetry.fleet.search import _InTurn, search_index
from client_telemetry.identity.hosts import host_names
from client_telemetry.subscriptions.instances import kafka_uuid

A, B, C = b"a" * 16, b"b" * 16, b"c" * 16
AT = dt.datetime(2026, 11, 21, 5, tzinfo=dt.UTC)
KEY = "principal string, client_id string, client_software_name string, client_software_version string"
LABELS = "group_ids array<string>, transactional_ids array<string>"
INSTANCE = (
    f"place bigint, {KEY}, client_addresses array<string>, client_instance_id binary, broker_ids array<int>, pushes bigint, "
    "first_evidence_at timestamp, last_evidence_at timestamp, end_reason string"
)
LABELLED = f"client_instance_id binary, racks array<string>, {LABELS}"
CLIENT = (
    f"place bigint, {KEY}, {LABELS}, address_sample array<string>, owner string, application string, connections bigint, instances bigint, "
    "first_seen_at timestamp, last_seen_at timestamp"
)
GIVEN = (
    f"client_instance_id binary, {KEY}, client_addresses array<string>, broker_ids array<int>, "
    "first_evidence_at timestamp, last_evidence_at timestamp"
)


def instance(place: int, id_: bytes, client_id: str | None) -> tuple:
    return (place, "User:p", client_id, "kgo", "v1", ["::ffff:10.0.0.1"], id_, [1], 3, AT, AT, "still_open")


def test_the_files_have_the_rows_in_their_order_and_names_and_ids_once_and_sorted(given):
    instances = [instance(2, B, "second"), instance(1, C, "First"), instance(3, C, None)]
    clients = [(2, "User:p", "z", "kgo", "v1", [], [], ["10.0.0.9"], "o", "Zone", 1, 2, AT, AT)]
    clients.append((1, "User:p", None, "kgo", "v1", [], [], [], None, None, 1, 2, AT, AT))
    never = [(A, "User:p", "silent", "kgo", "v1", ["10.0.0.2"], [2], AT, AT)]
    queries = given(
        clients=(clients, CLIENT),
        of_clients=(
            [("User:p", "z", "kgo", "v1", ["10.0.0.4", "10.0.0.3"])],
            f"{KEY}, addresses array<string>",
        ),
        client_sessions=(instances, INSTANCE),
        resource_labels=([(id_, ["r"], ["Gröup"], None) for id_ in (B, C)], LABELLED),
        never_pushed=(never, GIVEN),
    )
    hosts = host_names("10.0.0.3 ERP-app-1\n10.0.0.0/29 rack-7")
    index = search_index(queries, "fleet", "2026-11-21", hosts)
    files = {name: "".join(pieces) for name, pieces in index.files()}
    document = json.loads(files["search.json"])
    assert (document["cluster"], document["day"]) == ("fleet", "2026-11-21")
    assert [each["client_id"] for each in document["clients"]] == [None, "z"]
    assert [each["application"] for each in document["clients"]] == [None, "Zone"]
    assert [each["addresses"] for each in document["clients"]] == [[], ["10.0.0.3", "10.0.0.4"]]
    assert [each["hosts"] for each in document["clients"]] == [[], ["ERP-app-1", "rack-7"]]
    assert [each["hosts"] for each in document["instances"]] == [["rack-7"]] * 4
    assert [each["client_id"] for each in document["instances"]] == ["First", "second", None, "silent"]
    silent = document["instances"][-1]
    assert (silent["end_reason"], silent["pushes"], silent["racks"]) == ("never_pushed", 0, [])
    assert document["instances"][0]["last_seen_at"] == "2026-11-21T05:00:00.000000Z"
    assert files["search.instances.txt"].split() == sorted(map(kafka_uuid, (A, B, C)))
    assert files["search.names.txt"] == "\n" + "".join(
        f"{name}\n"
        for name in (
            "10.0.0.1",
            "10.0.0.2",
            "10.0.0.3",
            "10.0.0.4",
            "erp-app-1",
            "first",
            "gröup",
            "r",
            "rack-7",
            "second",
            "silent",
            "user:p",
            "z",
            "zone",
        )
    )


def test_instances_of_a_client_that_delivered_the_same_are_one_row(given):
    sessions = [(id_, ["10.0.0.1"], "p", "a", "kgo", "v1") for id_ in (A, B, C)]
    delivered = [(A, ["m", "n"], ["producer"]), (B, ["n", "m"], ["producer"])]
    queries = given(
        client_sessions=(sessions, f"client_instance_id binary, client_addresses array<string>, {KEY}"),
        delivered_metrics=(
            delivered,
            "client_instance_id binary, metrics array<string>, metric_families array<string>",
        ),
    )
    found = queries.answers({"together": alike(False), "each": alike(True)})
    assert {(*row["metrics"], row["number"]) for row in found["together"]} == {("m", "n", 2), (1,)}
    assert [row["number"] for row in found["each"]] == [1, 1, 1]


def test_an_instance_that_was_given_an_id_and_pushed_is_not_silent(given):
    at = [AT.replace(hour=hour) for hour in (5, 6)]
    connections = [
        ("p", None, "kgo", "v1", "10.0.0.2", 2, at[0], at[1], [A, B]),
        ("p", "later", "kgo", "v1", "10.0.0.2", 2, at[1], at[1], [A]),
    ]
    schema = (
        f"{KEY}, client_address string, broker_id int, first_seen_at timestamp, last_seen_at timestamp, "
        "given_instance_ids array<binary>"
    )
    queries = given(
        client_connections=(connections, schema), client_sessions=([(B,)], "client_instance_id binary")
    )
    (found,) = queries.answers({"silent": NEVER_PUSHED})["silent"]
    assert (found["client_instance_id"], found["client_id"], found["client_addresses"]) == (
        A,
        None,
        ["10.0.0.2"],
    )
    assert (found["first_evidence_at"], found["last_evidence_at"]) == (at[0], at[1])


def test_texts_of_the_search_are_gone_through_in_turn():
    in_turn = _InTurn(iter([(0, "a"), (0, "a"), (2, "b"), (2, "b"), (2, "c")]))
    assert list(in_turn.texts(0)) == ["a", "a"]
    assert list(in_turn.texts(1)) == []
    with pytest.raises(RuntimeError, match="texts 3 of the search before texts 2"):
        list(in_turn.distinct(3))
    assert list(in_turn.distinct(2)) == ["b", "c"]
    assert list(in_turn.distinct(3)) == []
