import csv
import datetime as dt
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from client_telemetry.lake.files import PartitionFile
from client_telemetry.lake.writer import TablePlace, write_rows
from client_telemetry.pipeline.queries import Queries
from client_telemetry.sessionize.connections import READ, client_connections, events_left_out
from client_telemetry.sessionize.earlier_events import EARLIER, read_earlier_events
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.table import Table
from pyspark.sql import SparkSession

from tests.client_telemetry.conftest import ENGINES, queries_on

DAY = dt.date(2026, 11, 21)
with (Path(__file__).parents[2] / "data/sessionize/connections.csv").open(newline="") as table:
    CASES = list(csv.DictReader(table))
NO_EVIDENCE = ("authentication_failed ", "6 ")


def moment(text: str) -> dt.datetime:
    """`12:00:00.5` or `D-1 12:00:00`, UTC."""
    days, _, time = text.rpartition(" ")
    date = DAY + dt.timedelta(days=int(days.removeprefix("D") or 0))
    seconds = sum(float(part) * unit for part, unit in zip(time.split(":"), (3600, 60, 1), strict=True))
    return dt.datetime.combine(date, dt.time(), dt.UTC) + dt.timedelta(seconds=seconds)


def time_text(at: dt.datetime | None) -> str:
    """As the truth table writes a time."""
    if at is None:
        return "-"
    days = (at.date() - DAY).days
    text = at.strftime("%H:%M:%S.%f").rstrip("0").rstrip(".")
    return f"D{days:+d} {text}" if days else text


def uses(text: str, first: dt.datetime, last: dt.datetime) -> list[dict]:
    """`3.12:5,18.5:0/1`"""
    found = []
    for part in filter(None, text.split(",")):
        pair, counts = part.split(":")
        requests, _, rejected = counts.partition("/")
        key, version = pair.split(".")
        found.append(
            {
                "api_key": int(key),
                "version": int(version),
                "requests": int(requests),
                "rejected": int(rejected or 0),
                "first_request_at": first,
                "last_request_at": last,
            }
        )
    return found


def row_of(table, values: dict) -> tuple:
    assert values.keys() <= {column.name for column in table.columns}
    return tuple(values.get(column.name) for column in table.columns)


def event(case: str, opened_at: dt.datetime, sequence: int, kind: str, at: dt.datetime, words: list[str]):
    said = dict(word.split("=", 1) for word in words if "=" in word)
    name, version = said.get("sw", "apache-kafka-java/4.3.1").split("/")
    sent_name, sent_version = said.get("sent", "/").split("/")
    broker = 9 if "b9" in words else 1
    last = moment(said["last"].replace("_", " ")) if "last" in said else at
    connection_id = said.get("id", "1")
    if "o" in said:
        opened_at = moment(said["o"])
    return row_of(
        CONNECTION_EVENTS,
        {
            "cluster_id": case,
            "dt": DAY if "dt" in said else at.date(),
            "broker_id": broker,
            "broker_incarnation": "0f" * 16,
            "sequence": sequence,
            "observed_at": at,
            "kind": kind,
            "client_id": None if said.get("c") == "-" else said.get("c", "app"),
            "principal": said.get("p", "User:app"),
            "client_address": said.get("a", "10.0.0.1"),
            "client_port": int(said.get("port", 50000 + int(connection_id))),
            "listener_name": said.get("l", "CLIENTS"),
            "security_protocol": said.get("sp", "PLAINTEXT"),
            "connection_id": "" if "refusal" in words or kind == "summary" else connection_id,
            "client_software_name": name,
            "client_software_version": version,
            "sent_software_name": sent_name,
            "sent_software_version": sent_version,
            "api_versions_error": int(said["e"]) if "e" in said else None,
            "opened_at": opened_at,
            "last_request_at": last,
            "api_uses": uses(said.get("uses", ""), opened_at, last),
            "group_ids": sorted(said["g"].split("+")) if "g" in said else [],
            "transactional_ids": [],
            "topics": sorted(said["t"].split("+")) if "t" in said else None,
            "connections": int(said["n"]) if "n" in said else None,
            "cut_fields": [],
            "sasl_mechanism": said.get("sasl"),
            "flags": [],
            "source_object": f"object-{at:%H}",
            "source_offset": sequence,
        },
    )


def events_of(case: dict) -> list[tuple]:
    rows = []
    for sequence, part in enumerate(case["events"].replace("last=D-1 ", "last=D-1_").split("|")):
        kind, *words = part.split()
        at = " ".join(words[: 2 if words[0][0] == "D" else 1])
        words = words[len(at.split()) :]
        several = [int(word.removeprefix("x")) for word in words if word[0] == "x" and word[1:].isdecimal()]
        for number in range(100, 100 + several[0]) if several else (None,):
            more = [] if number is None else [f"id={number}"]
            letter = "" if number is None else chr(ord("a") + number - 100)
            own = [*(word.replace("#", str(number)).replace("@", letter) for word in words), *more]
            rows.append(event(case["case"], moment(case["opened"]), sequence, kind, moment(at), own))
            sequence += 1000
    return rows


def incarnation(case: str, name: str, started: str, day: str) -> tuple:
    return row_of(
        BROKERS,
        {
            "cluster_id": case,
            "dt": moment(day).date(),
            "broker_id": 1,
            "broker_incarnation": name,
            "software_version": "3.9.1",
            "started_at": moment(started),
        },
    )


def incarnations_of(case: dict) -> list[tuple]:
    own = [incarnation(case["case"], "0f" * 16, "D-1 00:00:00", f"{day} 00:00:00") for day in ("D-1", "D+0")]
    if not case["later"]:
        return own
    day = "D+1 00:00:00" if case["later"].startswith("D+1") else "D+0 00:00:00"
    return [*own, incarnation(case["case"], "1f" * 16, case["later"], day)]


def stored_events(folder: Path, events: list[tuple]) -> list[PartitionFile]:
    """A file for each case and day."""
    names = [column.name for column in CONNECTION_EVENTS.columns]
    rows = [dict(zip(names, row, strict=True)) for row in sorted(events, key=lambda row: row[:2])]
    urls = write_rows(CONNECTION_EVENTS, TablePlace(folder.as_uri()), rows)
    return [PartitionFile(url, "c", DAY, 1) for url in urls]


def frame(spark: SparkSession, rows: list[tuple], table: Table):
    return spark.createDataFrame(rows, table.schema).select(*READ[table])


@contextmanager
def day_of(
    spark: SparkSession,
    engine: str,
    events: list[tuple],
    before: list[PartitionFile] = (),
    day: dt.date = DAY,
) -> Iterator[Queries]:
    """Queries over rows of `connection_events` of the day, files of those before it, and no pushes."""
    frames = {
        "connection_events": frame(spark, events, CONNECTION_EVENTS),
        "client_pushes": frame(spark, [], CLIENT_PUSHES),
    }
    with queries_on(engine, frames) as queries:
        read_earlier_events(queries, before, day)
        yield queries


def rows_of(queries: Queries, text: str) -> list[dict]:
    return list(queries.answers({"rows": text})["rows"])


def broker_rows(rows: list[tuple]) -> list[dict]:
    return [dict(zip((column.name for column in BROKERS.columns), row, strict=True)) for row in rows]


@pytest.fixture(scope="module", params=ENGINES)
def connections(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict]:
    """The connection `1` of each case, all cases in one go: a case is a cluster of its own. Events of earlier days are read
    from a file, as the stage reads them.
    """
    events = [row for case in CASES for row in events_of(case)]
    before = stored_events(tmp_path_factory.mktemp("events"), [row for row in events if row[1] < DAY])
    brokers = broker_rows([row for case in CASES for row in incarnations_of(case)])
    with day_of(spark, request.param, [row for row in events if row[1] == DAY], before) as queries:
        found = rows_of(queries, client_connections(queries, brokers, DAY, is_first=True))
    assert list(found[0]) == [column.name for column in CLIENT_CONNECTIONS.columns]
    collected = [row for row in found if row["connection_id"] in ("1", "", "summary-0")]
    assert len({row["cluster_id"] for row in collected}) == len(collected)
    return {row["cluster_id"]: row for row in collected}


def summary(row: dict) -> dict[str, str]:
    """A connection as the truth table writes it."""

    def counts(use: dict) -> str:
        return f"{use['requests']}/{use['rejected']}" if use["rejected"] else f"{use['requests']}"

    client_id = "-" if row["client_id"] is None else row["client_id"]
    who = [row["principal"], client_id, row["client_address"]]
    return {
        "first": time_text(row["first_seen_at"]),
        "last": time_text(row["last_seen_at"]),
        "closed": time_text(row["closed_at"]),
        "end_known_by": row["end_known_by"],
        "uses": " ".join(f"{u['api_key']}.{u['version']}:{counts(u)}" for u in row["api_uses"]) or "-",
        "client": " ".join(who if row["principal"] else who[1:]),
        "software": f"{row['client_software_name']}/{row['client_software_version']}",
        "release": row["broker_software_version"] or "-",
        "count": str(row["events"]),
        "flags": " ".join(row["flags"]) or "-",
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_of_earlier_days_only_events_of_connections_that_may_still_be_open_are_read(spark, tmp_path, engine):
    def of(*events: str) -> list[tuple]:
        return [
            row
            for text in events
            for row in events_of({"case": "c", "opened": text[:12], "events": text[13:]})
        ]

    def earlier(events: list[tuple], before: list[PartitionFile]) -> list[dict]:
        with day_of(spark, engine, events, before) as queries:
            return rows_of(queries, f"select * from {EARLIER}")

    open_one, over = "D-1 22:00:00 opened D-1 22:00:00", "D-2 21:00:00 opened D-2 21:00:00 id=2"
    stored = stored_events(tmp_path, of(open_one, over))
    assert len(stored) == 2
    of_the_day = of("D-1 22:00:00 active 12:00:00", "D+0 13:00:00 opened 13:00:00 id=3")
    (row,) = earlier(of_the_day, stored)
    assert (row["connection_id"], row["opened_at"]) == ("1", moment("D-1 22:00:00"))
    assert row["api_uses"] == [] and row["principal"] == "User:app"

    new = of("D+0 13:00:00 opened 13:00:00 id=3")
    assert earlier(new, stored) == earlier(of_the_day, []) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_connections_by_truth_table(case: dict, connections: dict[str, dict]):
    if case["first"] == "none":
        assert case["case"] not in connections
        return
    inputs = ("case", "opened", "events", "later")
    expected = {name: value for name, value in case.items() if value and name not in inputs}
    found = summary(connections[case["case"]])
    assert {name: found[name] for name in expected} == expected


def test_times_of_uses(connections: dict[str, dict]):
    old = connections["a version that was first used on the day, of an old connection"]["api_uses"]
    in_use_before, new = old
    assert in_use_before["first_request_at"] is None, "the first request of the day is not known"
    assert in_use_before["last_request_at"] == new["last_request_at"]
    assert new["first_request_at"] is not None


def test_sources_and_groups(connections: dict[str, dict]):
    row = connections["groups are gathered"]
    assert row["group_ids"] == ["a", "b"]
    assert (row["first_sequence"], row["last_sequence"]) == (0, 2)
    assert row["source_objects"] == ["object-12"]
    assert (
        connections["open since yesterday: what was counted before the day is taken off"]["first_sequence"]
        == 2
    )


def test_the_record_that_shows_the_requests_is_named(connections: dict[str, dict]):
    row = connections["counts go down: the fuller event is used"]
    assert (row["uses_object"], row["uses_sequence"]) == ("object-12", 1)


def test_sent_name_is_kept(connections: dict[str, dict]):
    row = connections["the broker refused the name"]
    assert (row["sent_software_name"], row["sent_software_version"]) == ("a_b", "1.0")
    assert row["api_versions_error"] == 42


def test_a_summary_stands_for_its_connections(connections: dict[str, dict]):
    row = connections["short connections summed up: each summary is a row"]
    assert (row["connections"], row["link_rule"]) == (56_000, "summary")
    alone = connections["opened and closed on the day"]
    assert (alone["connections"], alone["sasl_mechanism"]) == (1, None)
    assert connections["the mechanism is kept"]["sasl_mechanism"] == "PLAIN"


@pytest.mark.parametrize("engine", ENGINES)
def test_refusals_without_connection_are_distinguished_by_address(spark: SparkSession, engine: str):
    at = moment("12:00:00")
    rows = [
        event("c", at, n, "closed", at, ["refusal", f"a={a}", "uses=0.2:0/1"]) for n, a in enumerate("xyy")
    ]
    with day_of(spark, engine, rows) as queries:
        found = rows_of(queries, client_connections(queries, [], DAY, is_first=True))
    assert sorted((row["client_address"], row["events"]) for row in found) == [("x", 1), ("y", 2)]


@pytest.mark.parametrize("engine", ENGINES)
def test_events_that_are_left_out_are_counted(spark: SparkSession, tmp_path: Path, engine: str):
    """Those of connections of brokers, and those that tell of no connection; of the day only."""
    events = [row for case in CASES for row in events_of(case)]
    names = ("a broker ", "a refused request of clients ")
    cases = [case for case in CASES if case["case"].startswith(names) and case["first"] == "none"]
    assert len(cases) == 5
    of_brokers = sum(len(case["events"].split("|")) for case in cases) - 1
    of_no_connection = sum(part.startswith(NO_EVIDENCE) for c in CASES for part in c["events"].split(" | "))
    assert of_no_connection == 3
    before = stored_events(tmp_path, [row for row in events if row[1] < DAY])
    with day_of(spark, engine, [row for row in events if row[1] == DAY], before) as queries:
        client_connections(queries, [], DAY, is_first=True)
        assert events_left_out(queries, [DAY]) == of_brokers + of_no_connection


@pytest.mark.parametrize("engine", ENGINES)
def test_days_before_bring_only_what_connections_of_the_day_need(spark: SparkSession, engine: str):
    """What is sorted does not grow with connections of the days before that are over: those have no event of the day."""
    of_the_day = [event("c", moment("D-3 10:00:00"), 7000, "active", moment("12:00:00"), ["uses=3.9:9"])]
    earlier = [
        event("c", moment("D-3 10:00:00"), n, "active", moment(f"D-{n} 11:00:00"), ["uses=3.9:1"])
        for n in (1, 2, 3)
    ]
    too_early = [event("c", moment("D-3 10:00:00"), 8, "active", moment("D-8 11:00:00"), ["uses=3.9:1"])]
    over = [
        event("c", moment(f"D-{n} 10:00:01"), 100 * n + m, "closed", moment(f"D-{n} 11:00:00"), [f"id={m}"])
        for n in range(1, 8)
        for m in range(2, 52)
    ]
    opened_when_it_did = event("c", moment("D-3 10:00:00"), 9, "closed", moment("D-3 11:00:00"), ["id=9"])
    rows = [*of_the_day, *earlier, *too_early, *over, opened_when_it_did]
    with day_of(spark, engine, rows) as queries:
        connections = rows_of(queries, client_connections(queries, [], DAY, is_first=False))
        found = rows_of(queries, f"select sequence from keyed_{DAY:%Y%m%d}")
    assert sorted(row["sequence"] for row in found) == [1, 2, 3, 9, 7000]
    assert [row["connection_id"] for row in connections] == ["1"]


def random_events(seed: int) -> list[tuple]:
    """Two days of thirty connections, with snapshots, names that come late and ports that are used again."""
    chance = random.Random(seed)
    rows = []
    for connection in range(30):
        at = opened_at = moment("D-1 00:00:00") + dt.timedelta(minutes=chance.randrange(2600))
        count = 0
        for step in range(chance.randrange(1, 9)):
            kind = "opened" if step == 0 else chance.choice(["active", "active", "active", "closed"])
            count += chance.randrange(4)
            words = [f"uses=1.4:{count},3.9:1", f"sw={chance.choice(['unknown', 'kgo'])}/1"]
            row = list(event("c", opened_at, len(rows), kind, at, words))
            row[[c.name for c in CONNECTION_EVENTS.columns].index("connection_id")] = (
                f"port-{connection % 20}"
            )
            rows.append(tuple(row))
            at += dt.timedelta(seconds=chance.choice([0, 1, 300, 3000, 20000]))
            if kind == "closed":
                break
    return [row for row in rows if row[1] <= DAY]


@pytest.mark.parametrize("engine", ENGINES)
def test_order_of_rows_and_days_does_not_matter(spark: SparkSession, engine: str):
    """The same events in order and shuffled, of both days at once and of each alone, with and without a later day."""
    rows = random_events(1)
    yesterday = DAY - dt.timedelta(days=1)
    brokers = broker_rows(incarnations_of({"case": "c", "later": "20:00:00"}))
    shuffled = random.Random(1).sample(rows, len(rows))

    def slices(events: list[tuple], *days: dt.date) -> list[str]:
        with day_of(spark, engine, events, (), max(days)) as queries:
            texts = [client_connections(queries, brokers, day, is_first=False) for day in days]
            return sorted(map(str, rows_of(queries, " union all ".join(texts))))

    in_order = slices(rows, yesterday, DAY)
    of_yesterday = slices([row for row in shuffled if row[1] == yesterday], yesterday)
    assert len(in_order) > 30
    assert in_order == sorted([*slices(shuffled, DAY), *of_yesterday])


def test_the_recorded_fleet_gives_the_same_connections_on_both_engines(fleet):
    """Those with several events: most of its 75,000 have one, and are alike."""
    frames = {
        "connection_events": fleet.events.select(*READ[CONNECTION_EVENTS]),
        "client_pushes": fleet.pushes.select(*READ[CLIENT_PUSHES]),
    }
    brokers = fleet.brokers.toArrow().to_pylist()
    found = []
    for engine in ENGINES:
        with queries_on(engine, frames) as queries:
            read_earlier_events(queries, [], DAY)
            text = client_connections(queries, brokers, DAY, is_first=True)
            found.append(sorted(map(repr, rows_of(queries, f"select * from ({text}) where events > 1"))))
    assert len(found[0]) > 100
    assert found[0] == found[1]
