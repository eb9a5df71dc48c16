"""Evidence from rows of the lake's tables, without Spark."""

import datetime as dt
import math
from typing import Any

from client_telemetry.activity.table_evidence import (
    SNAPSHOT_SECONDS,
    broker_runs,
    feature_levels,
    instance_points,
    without_clients,
)
from client_telemetry.review.phases import upgrade_of

NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
OLD, NEW = {"metadata.version": 21}, {"metadata.version": 25, "transaction.version": 2}


def after(minutes: float) -> dt.datetime:
    return NOON + dt.timedelta(minutes=minutes)


def broker(
    node: int, release: str, since: float, until: float, levels: list[tuple[float, dict[str, int]]] | None
) -> dict[str, Any]:
    return {
        "broker_id": node,
        "broker_incarnation": f"{node}-{release}",
        "releases": [release],
        "started_at": after(since),
        "last_evidence_at": after(until),
        "finalized_features": levels[-1][1] if levels else NEW,
        "feature_levels": levels and [{"at": after(at), "levels": own} for at, own in levels],
    }


def phases(rows: list[dict[str, Any]]) -> list[tuple[str, float]]:
    runs = broker_runs(rows, after(240).timestamp())
    found = upgrade_of(runs, feature_levels(rows, runs), "3.9.1", "4.0.1")
    return [(phase.name, (phase.until - NOON.timestamp()) / 60) for phase in found.phases]


def rows(finalized: list[tuple[float, dict[str, int]]] | None) -> list[dict[str, Any]]:
    found = [broker(node, "3.9.1", -60, node, [(-1, OLD)]) for node in (1, 2, 3)]
    return found + [broker(node, "4.0.1", node + 0.5, 240, finalized) for node in (1, 2, 3)]


def test_features_that_are_finalized_within_the_day_begin_a_phase() -> None:
    assert phases(rows([(59, OLD), (119, NEW)])) == [
        ("before", 1),
        ("rolling", 3.5),
        ("not_finalized", 119),
        ("finalized", 240),
    ]


def test_features_that_stay_begin_none() -> None:
    assert [name for name, _ in phases(rows([(59, OLD)]))] == ["before", "rolling", "not_finalized"]


def test_rows_of_older_days_tell_the_levels_of_their_end_alone() -> None:
    assert phases(rows(None)) == [("before", 1), ("rolling", 3.5), ("not_finalized", 240)]


def test_a_count_of_no_failed_logins_is_a_record_of_them() -> None:
    for counts, is_recorded in (([None, None], False), ([None, 0], True)):
        brokers = [broker(1, "3.9.1", -60, 1, None) | {"failed_logins": count} for count in counts]
        found = without_clients("c", [], [], brokers, 10, last=NOON.timestamp())
        assert found.has_failed_logins is is_recorded


def test_requests_are_known_until_the_snapshots_of_the_brokers_that_run() -> None:
    brokers = [
        broker(1, "3.9.1", -60, 1, None),
        broker(1, "4.0.1", 2, 9, None),
        broker(2, "3.9.1", -60, 9, None),
    ]
    end = after(9).timestamp()

    def known_until(snapshots: dict[str, float] | None) -> float:
        return without_clients("c", [], [], brokers, 10, last=end, snapshots=snapshots).requests_until - end

    assert known_until({"1-3.9.1": end - 480, "1-4.0.1": end - 20, "2-3.9.1": end - 70}) == -70
    # A broker whose connections asked nothing for so long wrote no snapshot of them.
    assert known_until({"1-4.0.1": end - 20}) == known_until({}) == -SNAPSHOT_SECONDS
    assert known_until(None) == math.inf


def test_an_instance_id_of_two_clients_has_the_names_of_its_first_push_in_any_order() -> None:
    names = {"client_instance_id": b"a" * 16, "principal": None, "client_software_name": "kgo"}
    point = names | {"client_software_version": "v1", "metric": "m", "attributes": None, "temporality": None}
    rows = [
        point | {"client_id": client_id, "received_at": at, "start_time": None, "time": at, "value": 1.0}
        for client_id, at in (("own", 10.0), ("taken", 20.0), (None, 10.0))
    ]
    in_order, reversed_rows = (instance_points(each) for each in (rows, rows[::-1]))
    (instance,) = in_order
    assert list(reversed_rows) == [instance]
    assert instance.client_id == "own", "of two at the same time the first by its names"
    assert [len(points) for points in in_order.values()] == [3]
