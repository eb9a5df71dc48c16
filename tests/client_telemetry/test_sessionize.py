import csv
import datetime as dt
import random
from collections import Counter
from functools import reduce
from pathlib import Path

import pytest
from client_telemetry.sessionize import client_sessions
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

DAY = dt.date(2026, 11, 21)
with (Path(__file__).parents[1] / "data/sessionize/sessions.csv").open(newline="") as table:
    CASES = list(csv.DictReader(table))


def moment(text: str, day: dt.date = DAY) -> dt.datetime:
    """`12:00:00.5` or `D-1 12:00:00`, UTC."""
    days, _, time = text.rpartition(" ")
    date = day + dt.timedelta(days=int(days.removeprefix("D") or 0))
    seconds = sum(float(part) * unit for part, unit in zip(time.split(":"), (3600, 60, 1), strict=True))
    return dt.datetime.combine(date, dt.time(), dt.UTC) + dt.timedelta(seconds=seconds)


def push(case: str, sequence: int, at: dt.datetime, words: list[str]) -> dict:
    told = dict(word.split("=", 1) for word in words if "=" in word)
    broker = next((word for word in words if word[0] == "b"), "b1")
    name, version = told.get("sw", "apache-kafka-java/4.3.1").split("/")
    instance = bytes(16) if "zero" in words else None if "none" in words else bytes(range(16))
    row = {
        "cluster_id": case,
        "dt": DAY + dt.timedelta(days=int(told["dt"].removeprefix("D"))) if "dt" in told else at.date(),
        "broker_id": int(broker[1]),
        "broker_incarnation": broker * 16,
        "sequence": sequence,
        "received_at": at,
        "client_instance_id": instance,
        "client_id": None if told.get("c") == "-" else told.get("c", "app"),
        "principal": "User:app",
        "client_address": told.get("a", "10.0.0.1"),
        "client_software_name": name,
        "client_software_version": version,
        "terminating": "T" in words,
        "compression_type": 0,
        "payload_bytes": 100,
        "points": 0 if "R" in words else 10,
        "histogram_points": 0,
        "resources": [],
        "push_interval_ms": int(told["i"]) if "i" in told else None,
        "flags": ["rejected"] if "R" in words else [],
        "source_object": "x",
        "source_offset": sequence,
    }
    return {column.name: row.get(column.name) for column in CLIENT_PUSHES.columns}


def pushes_of(case: str, text: str) -> list[dict]:
    rows = []
    for part in text.split("|"):
        words = part.split()
        begin = " ".join(words[: 2 if words[0][0] == "D" else 1])
        words = words[len(begin.split()) :]
        times = [moment(begin)]
        if words and words[0] == "to":
            end = " ".join(words[1 : 3 if words[1][0] == "D" else 2])
            words = words[1 + len(end.split()) :]
            every = float(words[1])
            words = words[2:]
            count = int((moment(end) - times[0]).total_seconds() / every + 1e-9)
            times = [times[0] + dt.timedelta(seconds=every * n) for n in range(count + 1)]
        rows += [push(case, len(rows) + n, at, words) for n, at in enumerate(times)]
    return rows


def frame(spark: SparkSession, rows: list[dict]) -> DataFrame:
    return spark.createDataFrame([tuple(row.values()) for row in rows], CLIENT_PUSHES.schema)


@pytest.fixture(scope="module")
def sessions(spark: SparkSession) -> dict[str, dict]:
    """The session of each case, all cases in one go: a case is a cluster of its own."""
    rows = [row for case in CASES for row in pushes_of(case["case"], case["pushes"])]
    found = client_sessions(frame(spark, rows), DAY)
    assert [(f.name, f.dataType) for f in found.schema] == [
        (f.name, f.dataType) for f in CLIENT_SESSIONS.schema
    ]
    collected = found.collect()
    assert len({row["cluster_id"] for row in collected}) == len(collected)
    return {row["cluster_id"]: row.asDict() for row in collected}


def told(at: dt.datetime | None) -> str:
    """As the truth table writes a time."""
    if at is None:
        return "-"
    at = at.replace(tzinfo=dt.UTC)
    days = (at.date() - DAY).days
    text = at.strftime("%H:%M:%S.%f").rstrip("0").rstrip(".")
    return f"D{days:+d} {text}" if days else text


def summary(row: dict) -> dict[str, str]:
    """A session as the truth table writes it."""
    start = told(row["started_at"]) if row["started_at"] else f"before {told(row['started_before'])}"
    counts = [row["pushes"], row["terminating_pushes"], row["rejected_pushes"]]
    while counts[-1] == 0:
        counts.pop()
    return {
        "first": told(row["first_evidence_at"]),
        "last": told(row["last_evidence_at"]),
        "started": start,
        "ended": told(row["ended_at"]),
        "end_reason": row["end_reason"],
        "counts": " ".join(map(str, counts)),
        "gaps": str(row["gaps"]),
        "gap_seconds": f"{row['gap_seconds']:g}"
        if row["gap_seconds"] < 1000
        else f"{row['gap_seconds']:.0f}",
        "interval": f"{row['push_interval_ms'] or '-'} {row['push_interval_source'] or '-'}",
        "software": f"{row['client_software_name']}/{row['client_software_version']}",
        "flags": " ".join(row["flags"]) or "-",
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_sessions_by_truth_table(case: dict, sessions: dict[str, dict]):
    if case["first"] == "none":
        assert case["case"] not in sessions
        return
    expected = {name: value for name, value in case.items() if value and name not in ("case", "pushes")}
    found = summary(sessions[case["case"]])
    assert {name: found[name] for name in expected} == expected


def test_points_and_identity_of_the_day(spark: SparkSession):
    rows = pushes_of("x", "D-1 10:00:00 c=old | 12:00:00 b2 | 12:01:00 R | 12:02:00 c=-")
    (row,) = client_sessions(frame(spark, rows), DAY).collect()
    assert row["points"] == 20
    assert row["broker_ids"] == [1, 2]
    assert row["client_addresses"] == ["10.0.0.1"]
    assert (row["client_id"], row["principal"]) == (None, "User:app")


def random_pushes(seed: int) -> list[dict]:
    """Three days of twenty instances: irregular, on two brokers, with equal receive times and changing software."""
    chance = random.Random(seed)
    rows = []
    for instance in range(20):
        at = moment("D-2 00:00:00") + dt.timedelta(minutes=chance.randrange(2000))
        for _ in range(chance.randrange(1, 40)):
            words = [chance.choice(["b1", "b2"]), f"a=10.0.0.{chance.randrange(1, 3)}"]
            words += chance.choice([["T"], ["R"], [], [], [], []])
            words += chance.choice([["i=60000"], ["i=300000"], [], []])
            words.append(f"sw={chance.choice(['unknown', 'kgo', 'librdkafka'])}/{chance.randrange(3)}")
            row = push("c", len(rows), at, words)
            rows.append(row | {"client_instance_id": bytes([instance] * 16)})
            at += dt.timedelta(seconds=chance.choice([0, 0, 1, 30, 60, 61, 300, 1000, 40000]))
    return [row for row in rows if row["dt"] <= DAY]


def test_order_of_rows_and_days_does_not_matter(spark: SparkSession):
    """In one job: the same pushes in order and shuffled, in few parts and many, with and without later days. And
    every push is counted once."""
    rows = random_pushes(1)
    days = [DAY - dt.timedelta(days=n) for n in (2, 1, 0)]

    def slice_of(variant: str, pushes: list[dict], parts: int, day: dt.date) -> DataFrame:
        sessions = client_sessions(frame(spark, pushes).repartition(parts), day)
        return sessions.withColumn("variant", F.lit(variant))

    shuffled = random.Random(1).sample(rows, len(rows))
    slices = [slice_of("in order", rows, 1, day) for day in days]
    slices += [slice_of("shuffled", [r for r in shuffled if r["dt"] <= day], 5, day) for day in days[::-1]]
    found: dict[str, list[str]] = {"in order": [], "shuffled": []}
    counted: Counter = Counter()
    for row in reduce(DataFrame.unionByName, slices).collect():
        found[row["variant"]].append(str(row[:-1]))
        counted[row["variant"], row["dt"]] += row["pushes"]
    assert len(found["in order"]) > 20
    assert sorted(found["in order"]) == sorted(found["shuffled"])
    assert [counted["in order", day] for day in days] == [sum(r["dt"] == day for r in rows) for day in days]
