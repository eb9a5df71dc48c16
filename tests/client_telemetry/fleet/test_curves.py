"""A day over time: what connections asked is spread over slots, and added up by software version and by owner."""

import datetime as dt
import json

import numpy as np
import pyarrow as pa
import pytest
from client_telemetry.activity.event_files import CLIENT, OPENED, RUN, USED, Uses
from client_telemetry.fleet import curves as fleet_curves
from client_telemetry.reports.fleet.day_curves import Grid

GRID = Grid(1000.0, 10, 6)
USAGE = (
    "client_id string, principal string, client_software_name string, client_software_version string, "
    "api_key int, api_version int, slot int, requests double, rejected double"
)
OPEN = USAGE.partition(", api_key")[0] + ", slot int, connections bigint"
VALUES = USAGE.partition(", api_key")[0] + ", metric string, slot int, value double"
LATENCY = "producer.request.latency.avg"


def uses(rows: list[tuple[int, int, int, int, float, float]]) -> Uses:
    """Rows: client, API key, requests, rejected, first and last in seconds."""
    used = np.zeros(len(rows), USED)
    for place, (client, api_key, requests, rejected, first, last) in enumerate(rows):
        times = (int(first * 1e6), int(last * 1e6))
        used[place] = (client, 0, int(last // 10), api_key, 9, requests, rejected, *times)
    names = {name: pa.array([None, "x"], pa.string()) for name in CLIENT}
    names |= {"client_id": pa.array(["a", "b"]), "principal": pa.array(["User:a", None], pa.string())}
    runs = pa.table({RUN[0]: pa.array([1], pa.int32()), RUN[1]: ["run"]})
    groups = pa.table({"client": pa.array([], pa.int32()), "group_id": pa.array([], pa.string())})
    return Uses(pa.table(names), runs, used, np.zeros(0, OPENED), groups)


def test_requests_are_spread_evenly_over_the_slots_between_two_events() -> None:
    found = fleet_curves.usage_of(uses([(0, 0, 30, 3, 1005.0, 1035.0)]), GRID).to_pylist()
    assert [(row["slot"], round(row["requests"], 6), round(row["rejected"], 6)) for row in found] == [
        (0, 5.0, 0.5),
        (1, 10.0, 1.0),
        (2, 10.0, 1.0),
        (3, 5.0, 0.5),
    ]
    assert {(row["client_id"], row["principal"], row["api_version"]) for row in found} == {("a", "User:a", 9)}


def test_what_lies_in_one_slot_or_at_one_time_stays_there() -> None:
    rows = [(0, 0, 4, 0, 1011.0, 1019.0), (0, 0, 2, 0, 1012.0, 1012.0), (1, 3, 1, 0, 1030.0, 1030.0)]
    found = fleet_curves.usage_of(uses(rows), GRID).to_pylist()
    assert [(row["client_id"], row["slot"], row["requests"]) for row in found] == [
        ("a", 1, 6.0),
        ("b", 3, 1.0),
    ]


def test_nothing_of_what_lies_within_the_day_is_lost() -> None:
    chance = np.random.default_rng(1)
    firsts = 1000 + chance.random(200) * 60
    lasts = np.minimum(firsts + chance.random(200) * 30, 1059.9)
    rows = [
        (0, n % 3, 7, n % 2, first, last) for n, (first, last) in enumerate(zip(firsts, lasts, strict=True))
    ]
    found = fleet_curves.usage_of(uses(rows), GRID)
    assert sum(found["requests"].to_pylist()) == pytest.approx(1400)
    assert sum(found["rejected"].to_pylist()) == pytest.approx(100)


def test_groups_are_versions_and_owners_with_most_clients(given) -> None:
    kgo, java = ("kgo", "v1"), ("apache-kafka-java", "3.9.1")
    of_a, of_b, of_c = ("a", "User:a", *kgo), ("b", None, *java), ("c", "User:c", *java)
    used = [(*of_a, 0, 9, 1, 5.0, 0.0), (*of_a, 0, 9, 1, 5.0, 1.0), (*of_b, 1, 4, 0, 8.0, 0.0), (*of_c, 1, 4, 0, 4.0, 0.0)]  # fmt: skip
    measured = [("b", "", *java, LATENCY, 2, 4.0), ("c", "User:c", *java, LATENCY, 2, 6.0)]
    clients = [("a", "User:a", "team a"), ("b", None, "team b"), ("b", None, "team b"), ("c", "User:c", None)]
    queries = given(
        used=(used, USAGE),
        opened=([(*of_a, 1, 2), (*of_b, 0, 1), (*of_c, 0, 1)], OPEN),
        measured=(measured, VALUES),
        clients=(clients, "client_id string, principal string, owner string"),
    )
    groups = fleet_curves.groups(queries, GRID)
    java_day, kgo_day = groups.versions
    assert (java_day.title, java_day.clients, kgo_day.title, kgo_day.clients) == (
        "apache-kafka-java 3.9.1",
        2,
        "kgo v1",
        1,
    )
    assert java_day.requests == {"Fetch v4": [72.0, 0.0, 0.0, 0.0, 0.0, 0.0]}
    assert java_day.metrics == {LATENCY: [None, None, 5.0, None, None, None]}
    assert (kgo_day.connections[1], kgo_day.refused["Produce v9"][1]) == (2, 6.0)

    of_team_a, of_team_b = groups.owners
    assert (of_team_a.name, of_team_a.requests["Produce v9"][1]) == ("team a", 60.0)
    assert (of_team_b.name, of_team_b.clients, of_team_b.requests["Fetch v4"][0]) == ("team b", 1, 48.0)
    assert of_team_b.metrics == {LATENCY: [None, None, 4.0, None, None, None]}, (
        "the owner of a null principal"
    )
    assert (sorted(groups.api_keys), groups.metrics) == ([0, 1], (LATENCY,))


def test_connections_are_open_in_each_slot_that_they_touch(given) -> None:
    at = [dt.datetime.fromtimestamp(seconds, dt.UTC) for seconds in (1000, 1009.9, 1025, 1060)]
    who = ("a", None, "kgo", "v1")
    connections = [(*who, at[0], at[1]), (*who, at[1], at[2]), (*who, at[2], at[3])]
    schema = USAGE.partition(", api_key")[0] + ", first_seen_at timestamp, last_seen_at timestamp"
    queries = given(client_connections=(connections, schema))
    found = queries.answers({"opened": fleet_curves.opened(GRID)})["opened"]
    assert {row["slot"]: row["connections"] for row in found} == {0: 2, 1: 1, 2: 2, 3: 1, 4: 1, 5: 1}


def test_the_curves_of_a_client_are_sums_and_means_of_its_slots(given) -> None:
    kgo, java = ("kgo", "v1"), ("", "")
    used = [("a", "User:a", *kgo, 0, 9, 1, 5.004, 0.0), ("a", "User:a", *java, 0, 9, 1, 5.0, 1.0), ("a", "User:a", *kgo, 0, 9, 0, 1.0, 0.0)]  # fmt: skip
    measured = [("a", "User:a", *kgo, LATENCY, 2, 4.00015), ("a", "User:a", *kgo, LATENCY, 2, 6.0)]
    queries = given(
        used=(used, USAGE),
        opened=([("a", "User:a", *kgo, 1, 2), ("a", "User:a", *java, 1, 1), (None, None, *java, 0, 1)], OPEN),
        measured=(measured, VALUES),
    )
    groups = fleet_curves.Groups((), (), (0,), (LATENCY,))
    files = {
        name: "".join(texts)
        for name, texts in fleet_curves.client_files(queries, groups, 2, GRID, ()).files()
    }
    (name,) = [name for name in files if name != "curves.json"]
    nobody, own = json.loads(files[name])["clients"]
    assert (nobody["client_id"], nobody["principal"], nobody["software"]) == (None, "", [])
    assert own["software"] == ["kgo v1"]
    assert own["connections"] == [[1.0, 3.0]]
    assert own["requests"] == {"0:9": [[0.0, 1.0, 0.0], [1.0, 10.0, 1.0]]}
    assert own["metrics"] == {LATENCY: [[2.0, 5.0001]]}


@pytest.mark.parametrize("value", [2.0**63, 1e18, 123456789012345.67])
def test_large_values_are_not_cut_off(given, value: float) -> None:
    who = ("a", "User:a", "kgo", "v1")
    queries = given(
        used=([(*who, 0, 9, 1, value, 0.0)], USAGE),
        opened=([(*who, 1, 2)], OPEN),
        measured=([(*who, LATENCY, 2, value)], VALUES),
    )
    groups = fleet_curves.Groups((), (), (0,), (LATENCY,))
    files = fleet_curves.client_files(queries, groups, 1, GRID, ()).files()
    (own,) = next(json.loads("".join(texts))["clients"] for name, texts in files if name != "curves.json")
    assert own["requests"]["0:9"][0][1] == pytest.approx(value, rel=1e-15)
    assert own["metrics"][LATENCY][0][1] == pytest.approx(value, rel=1e-15)
