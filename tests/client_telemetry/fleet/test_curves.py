"""A day over time: what connections asked is spread over slots, and added up by software version and by owner."""

import numpy as np
import pyarrow as pa
import pytest
from client_telemetry.activity.event_files import CLIENT, OPENED, RUN, USED, Uses
from client_telemetry.fleet import curves as fleet_curves
from client_telemetry.reports.fleet.day_curves import Grid

GRID = Grid(1000.0, 10, 6)
USAGE = (
    "client_id string, principal string, client_software_name string, client_software_version string, "
    "api_key int, version int, slot int, requests double, rejected double"
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
    assert {(row["client_id"], row["principal"], row["version"]) for row in found} == {("a", "User:a", 9)}


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


def test_groups_are_versions_and_owners_with_most_clients(spark) -> None:
    kgo, java = ("kgo", "v1"), ("apache-kafka-java", "3.9.1")
    of_a, of_b, of_c = ("a", "User:a", *kgo), ("b", None, *java), ("c", "User:c", *java)
    used = spark.createDataFrame(
        [(*of_a, 0, 9, 1, 5.0, 0.0), (*of_a, 0, 9, 1, 5.0, 1.0), (*of_b, 1, 4, 0, 8.0, 0.0), (*of_c, 1, 4, 0, 4.0, 0.0)],
        USAGE,
    )  # fmt: skip
    open_ = spark.createDataFrame([(*of_a, 1, 2), (*of_b, 0, 1), (*of_c, 0, 1)], OPEN)
    values = spark.createDataFrame(
        [("b", "", *java, LATENCY, 2, 4.0), ("c", "User:c", *java, LATENCY, 2, 6.0)], VALUES
    )
    clients = spark.createDataFrame(
        [("a", "User:a", "team a"), ("b", None, "team b"), ("b", None, "team b"), ("c", "User:c", None)],
        "client_id string, principal string, owner string",
    )

    groups = fleet_curves.groups(used, open_, values, clients, GRID)
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
