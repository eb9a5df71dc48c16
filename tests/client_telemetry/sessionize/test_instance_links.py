import csv
import datetime as dt
from pathlib import Path

import pytest
from client_telemetry.sessionize.instance_links import LINK_COLUMNS, OF_PUSHES, linked
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS, LINK_RULES
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from benchmarks import links as logs
from tests.client_telemetry.conftest import ENGINES, queries_on

DAY = dt.date(2026, 11, 21)
DATA = Path(__file__).parents[2] / "data" / "sessionize"
with (DATA / "links.csv").open(newline="") as table:
    CASES = list(csv.DictReader(table))
UNLINKED = StructType([field for field in CLIENT_CONNECTIONS.schema if field.name not in LINK_COLUMNS])


def words(text: str) -> tuple[dict[str, str], list[str], list[dt.datetime]]:
    """`id=1 D-1 12:00:00 to 12:30:00 closed` -> {id: 1}, [closed], [from, until]."""
    said, plain, times, day = {}, [], [], DAY
    for word in text.split():
        if word == "D-1":
            day = DAY - dt.timedelta(days=1)
        elif ":" in word and "=" not in word:
            times.append(dt.datetime.combine(day, dt.time.fromisoformat(word), dt.UTC))
            day = DAY
        elif "=" in word:
            name, said[name] = word.split("=", 1)[0], word.split("=", 1)[1]
        else:
            plain.append(word)
    return said, plain, times


def client(case: str, said: dict[str, str], plain: list[str]) -> dict:
    name, version = said.get("sw", "kgo/v1.22.2").split("/")
    return {
        "cluster_id": case,
        "dt": DAY,
        "broker_id": 2 if "b2" in plain else 1,
        "broker_incarnation": ("1f" if "x" in plain else "2f" if "b2" in plain else "0f") * 16,
        "client_id": None if said.get("c") == "-" else said.get("c", "app"),
        "principal": said.get("p", "User:app"),
        "client_address": said.get("a", "10.0.0.1"),
        "client_software_name": name,
        "client_software_version": version,
        "flags": ["summary"] if "summary" in plain else [],
    }


def connection_of(case: dict) -> dict:
    said, plain, (opened_at, last_seen_at) = words(case["connection"])
    closed = "closed" in plain
    return client(case["case"], said, plain) | {
        "connection_id": said["id"],
        "client_port": 50001,
        "opened_at": opened_at,
        "first_seen_at": opened_at,
        "last_seen_at": last_seen_at,
        "closed_at": last_seen_at if closed else None,
        "end_known_by": "closed_event" if closed else "still_open",
    }


def pushes_of(case: dict) -> list[dict]:
    found = []
    for part in case["pushes"].split("|"):
        said, plain, (at,) = words(part)
        times = [int(word[1:]) for word in plain if word[0] == "x" and word[1:]]
        for number in range(times[0] if times else 1):
            instance = None if said["i"] == "-" else bytes([0] * 15 + [int(said["i"]) + number])
            found.append(
                client(case["case"], said, plain)
                | {
                    "dt": at.date(),
                    "received_at": at,
                    "client_instance_id": instance,
                    "connection_id": said.get("on", "").replace("#", f"other-{number}"),
                    "client_port": int(said["port"]) if "port" in said else None,
                    "push_interval_ms": int(said["ms"]) if "ms" in said else None,
                    "flags": ["zero_instance_id"] if said["i"] == "0" else [],
                }
            )
    return found


@pytest.fixture(scope="module", params=ENGINES)
def links(request: pytest.FixtureRequest, spark: SparkSession) -> dict[str, dict]:
    """All cases in one go: a case is a cluster of its own."""

    def frame(rows: list[dict], schema: StructType):
        return spark.createDataFrame([tuple(row.get(name) for name in schema.names) for row in rows], schema)

    connections = frame([connection_of(case) for case in CASES], UNLINKED)
    pushes = frame([push for case in CASES for push in pushes_of(case)], CLIENT_PUSHES.schema)
    frames = {"connections": connections, "client_pushes": pushes.select(*OF_PUSHES)}
    with queries_on(request.param, frames) as queries:
        rows = list(queries.answers({"rows": linked(queries, "connections", DAY)})["rows"])
    assert list(rows[0]) == CLIENT_CONNECTIONS.schema.names
    assert len(rows) == len(CASES)
    return {row["cluster_id"]: row for row in rows}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_links_by_truth_table(case: dict, links: dict[str, dict]):
    found = links[case["case"]]
    assert (found["link_rule"], found["link_candidates"]) == (case["rule"], int(case["candidates"]))
    assert found["link"] == LINK_RULES[case["rule"]][0]
    instance = found["client_instance_id"]
    assert (None if instance is None else str(instance[15])) == (case["instance"] or None)


def test_every_rule_has_a_case():
    assert {case["rule"] for case in CASES} == set(LINK_RULES)


def test_links_of_the_captures_are_right(telemetry_cluster, fleet):
    """Against the logs of the clients: `python -m benchmarks.links` shows the same numbers."""
    of_cluster = logs.measure(_rows(telemetry_cluster), logs.telemetry_cluster())
    of_fleet = logs.measure(_rows(fleet), logs.fleet())
    for measured in (of_cluster, of_fleet):
        assert measured.wrong_share("exact") == measured.wrong_share("likely") == 0
    assert of_cluster.judged["push_on_connection", "right"] >= 56
    assert sum(n for (_, judged), n in of_cluster.judged.items() if judged == "missed") <= 4
    assert of_cluster.share("exact") + of_cluster.share("likely") > 0.85
    assert of_fleet.judged["only_instance_at_the_time", "right"] == 43


def _rows(capture) -> list[dict]:
    return [row.asDict() for row in capture.connections.select(*logs.COLUMNS).collect()]
