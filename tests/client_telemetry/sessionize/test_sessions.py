import csv
import datetime as dt
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from client_telemetry.lake import files as lake_files
from client_telemetry.lake.files import PartitionFile
from client_telemetry.sessionize.push_evidence import sessions_of
from client_telemetry.sessionize.push_groups import read
from client_telemetry.sessionize.sessions import client_sessions
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.table import Table
from pyspark.sql import SparkSession

from tests.client_telemetry.conftest import ENGINES, queries_on

DAY = dt.date(2026, 11, 21)
with (Path(__file__).parents[2] / "data/sessionize/sessions.csv").open(newline="") as table:
    CASES = list(csv.DictReader(table))
OTHER_CLIENT_ID = "another client id than yesterday, and none at last"
SEEDS = range(2)


def moment(text: str, day: dt.date = DAY) -> dt.datetime:
    """`12:00:00.5` or `D-1 12:00:00`, UTC."""
    days, _, time = text.rpartition(" ")
    date = day + dt.timedelta(days=int(days.removeprefix("D") or 0))
    seconds = sum(float(part) * unit for part, unit in zip(time.split(":"), (3600, 60, 1), strict=True))
    return dt.datetime.combine(date, dt.time(), dt.UTC) + dt.timedelta(seconds=seconds)


def push(case: str, sequence: int, at: dt.datetime, words: list[str]) -> dict:
    options = dict(word.split("=", 1) for word in words if "=" in word)
    broker = next((word for word in words if word[0] == "b"), "b1")
    name, version = options.get("sw", "apache-kafka-java/4.3.1").split("/")
    instance = (
        bytes(16) if "zero" in words else None if "none" in words else instance_id(options.get("id", "1"))
    )
    row = {
        "cluster_id": case,
        "dt": DAY + dt.timedelta(days=int(options["dt"].removeprefix("D"))) if "dt" in options else at.date(),
        "broker_id": int(broker[1]),
        "broker_incarnation": broker * 16,
        "sequence": sequence,
        "received_at": at,
        "client_instance_id": instance,
        "client_id": None if options.get("c") == "-" else options.get("c", "app"),
        "principal": "User:app",
        "client_address": options.get("a", "10.0.0.1"),
        "client_port": None if options.get("port") == "-" else 50000,
        "listener_name": "CLIENTS",
        "client_software_name": name,
        "client_software_version": version,
        "terminating": "T" in words,
        "compression_type": 0,
        "payload_bytes": 100,
        "points": 0 if "R" in words else 10,
        "histogram_points": 0,
        "resources": [],
        "push_interval_ms": int(options["i"]) if "i" in options else None,
        "subscription_id": int(options["sub"]) if "sub" in options else None,
        "error_code": 117 if "R" in words else None,
        "clock_skew_ms": int(options["skew"]) if "skew" in options else None,
        "flags": ["rejected"] if "R" in words else [],
        "source_object": "x",
        "source_offset": sequence,
    }
    return {column.name: row.get(column.name) for column in CLIENT_PUSHES.columns}


def instance_id(number: str) -> bytes:
    return bytes(15) + bytes([int(number)])


def pushes_of(case: str, text: str) -> list[dict]:
    rows = []
    for part in filter(None, text.split("|")):
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


def incarnation(broker: str) -> str:
    return broker * 16


def connections_of(case: str, text: str) -> list[dict]:
    """Rows of client_connections: `b1 11:59:30 closed 12:05:20 port=50001`."""
    rows = []
    for part in filter(None, text.split("|")):
        broker, opened, became, until, *words = part.split()
        said = dict(word.split("=", 1) for word in words)
        rows.append(
            {
                "cluster_id": case,
                "dt": DAY,
                "broker_id": int(broker[1]),
                "broker_incarnation": incarnation(broker),
                "connection_id": f"{broker}-{opened}",
                "listener_name": said.get("l", "CLIENTS"),
                "client_address": said.get("a", "10.0.0.1"),
                "client_port": None if said.get("port") == "-" else int(said.get("port", 50000)),
                "opened_at": moment(opened),
                "last_seen_at": moment(until),
                "closed_at": None if became == "open" else moment(until),
                "end_known_by": {"closed": "closed_event", "open": "still_open", "lost": "broker_restart"}[
                    became
                ],
            }
        )
    return rows


def brokers_of(case: str, text: str) -> list[dict]:
    """Rows of brokers: `b1 12:05:30` was last seen then, and started again 40 s later as `b1x`."""
    if not text:
        return []
    broker, stopped = text.split()
    sessions = {
        broker: (moment("D-3 00:00:00"), moment(stopped)),
        f"{broker}x": (moment(stopped) + dt.timedelta(seconds=40), moment("23:59:59")),
    }
    return [
        {
            "cluster_id": case,
            "dt": DAY,
            "broker_id": int(broker[1]),
            "broker_incarnation": incarnation(name),
            "started_at": started,
            "last_evidence_at": last,
        }
        for name, (started, last) in sessions.items()
    ]


def copied(case: dict, rows: list[dict]) -> list[dict]:
    """Each push of a case with `copies=n` in n copies, each of an instance of its own."""
    count = re.search(r"copies=(\d+)", case["pushes"])
    if not count:
        return rows
    ids = [copy.to_bytes(16) for copy in range(1, int(count[1]) + 1)]
    return [row | {"client_instance_id": copy} for row in rows for copy in ids]


def stored(folder: Path, rows: list[dict], table: Table, seed: int) -> list[PartitionFile]:
    """Data files of the rows in any order, up to three of each slice."""
    chance = random.Random(seed)
    by_file: dict[tuple, list[dict]] = defaultdict(list)
    for row in chance.sample(rows, len(rows)):
        by_file[row["cluster_id"], row["dt"], chance.randrange(3)].append(row)
    files = []
    for number, ((cluster, day, _), its) in enumerate(by_file.items()):
        path = folder / f"{table.name}_{number}.parquet"
        pq.write_table(pa.Table.from_pylist(its, schema=table.arrow_schema), path)
        files.append(PartitionFile(path.as_uri(), cluster, day, len(its)))
    return files


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


def sliced(seed: int) -> list[tuple[int, list[dict]]]:
    """The random pushes as seen two days before DAY, a day before, and on DAY: all moved so that it is DAY."""

    def moved(row: dict, days: int) -> dict:
        later = dt.timedelta(days=days)
        return row | {"dt": row["dt"] + later, "received_at": row["received_at"] + later}

    return [(days, [moved(row, days) for row in random_pushes(seed)]) for days in (2, 1, 0)]


def variant(name: str, seed: int, before: int) -> str:
    return f"{name}, seed {seed}, {before} days before"


def variants() -> list[dict]:
    """Each day of each seed twice: in order and without what came later, and shuffled with it."""
    rows = []
    for seed in SEEDS:
        for before, pushes in sliced(seed):
            until = [row for row in pushes if row["dt"] <= DAY]
            rows += [row | {"cluster_id": variant("in order", seed, before)} for row in until]
            shuffled = random.Random(seed).sample(pushes, len(pushes))
            rows += [row | {"cluster_id": variant("shuffled", seed, before)} for row in shuffled]
    return rows


@pytest.fixture(scope="module")
def several_tasks() -> Iterator[None]:
    """Instances are shared out among tasks, as those of a million pushes are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("client_telemetry.sessionize.sessions._PUSHES_AT_ONCE", 5000)
        yield


@pytest.fixture(scope="module", params=ENGINES)
def sessions(
    request: pytest.FixtureRequest, spark: SparkSession, several_tasks, tmp_path_factory
) -> dict[str, list[dict]]:
    """The sessions of each case, all in one go: a case is a cluster of its own."""
    folder = tmp_path_factory.mktemp("pushes")
    pushes = [row for case in CASES for row in copied(case, pushes_of(case["case"], case["pushes"]))]
    pushes += pushes_of(OTHER_CLIENT_ID, "D-1 10:00:00 c=old | 12:00:00 b2 | 12:01:00 R | 12:02:00 c=-")
    connections = [row for case in CASES for row in connections_of(case["case"], case["connections"])]
    brokers = [row for case in CASES for row in brokers_of(case["case"], case["stopped"])]
    files = [
        stored(folder, pushes + variants(), CLIENT_PUSHES, seed=1),
        stored(folder, connections, CLIENT_CONNECTIONS, seed=2),
    ]
    broker_rows = [{column.name: row.get(column.name) for column in BROKERS.columns} for row in brokers]
    by_case: dict[str, list[dict]] = defaultdict(list)
    with queries_on(request.param, {"none": spark.range(0)}) as queries:
        text = client_sessions(queries, *files, broker_rows, DAY)
        for row in queries.answers({"sessions": text})["sessions"]:
            assert list(row) == CLIENT_SESSIONS.schema.names
            by_case[row["cluster_id"]].append(row)
    return by_case


def time_text(at: dt.datetime | None) -> str:
    """As the truth table writes a time."""
    if at is None:
        return "-"
    at = at.replace(tzinfo=dt.UTC)
    days = (at.date() - DAY).days
    text = at.strftime("%H:%M:%S.%f").rstrip("0").rstrip(".")
    return f"D{days:+d} {text}" if days else text


def summary(row: dict) -> dict[str, str]:
    """A session as the truth table writes it."""
    start = (
        time_text(row["started_at"]) if row["started_at"] else f"before {time_text(row['started_before'])}"
    )
    counts = [row["pushes"], row["terminating_pushes"], row["rejected_pushes"]]
    while counts[-1] == 0:
        counts.pop()
    return {
        "first": time_text(row["first_evidence_at"]),
        "last": time_text(row["last_evidence_at"]),
        "started": start,
        "ended": time_text(row["ended_at"]),
        "end_reason": row["end_reason"],
        "counts": " ".join(map(str, counts)),
        "gaps": str(row["gaps"]),
        "gap_seconds": f"{row['gap_seconds']:g}"
        if row["gap_seconds"] < 1000
        else f"{row['gap_seconds']:.0f}",
        "interval": f"{row['push_interval_ms'] or '-'} {row['push_interval_source'] or '-'}",
        "subscription_changes": str(row["subscription_changes"]),
        "clock_skew_ms": str(row["clock_skew_ms"]),
        "software": f"{row['client_software_name']}/{row['client_software_version']}",
        "flags": " ".join(row["flags"]) or "-",
    }


INPUT = {"case", "pushes", "connections", "stopped", "id", "sessions"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_sessions_by_truth_table(case: dict, sessions: dict[str, list[dict]]):
    rows = sessions[case["case"]]
    if case["first"] == "none":
        assert rows == []
        return
    assert len(rows) == int(case["sessions"] or 1)
    if case["id"]:
        rows = [row for row in rows if row["client_instance_id"] == instance_id(case["id"])]
    expected = {name: value for name, value in case.items() if value and name not in INPUT}
    found = summary(rows[0])
    assert {name: found[name] for name in expected} == expected
    assert all(summary(row) == found for row in rows), "copies are alike"


def test_points_and_identity_of_the_day(sessions: dict[str, list[dict]]):
    (row,) = sessions[OTHER_CLIENT_ID]
    assert row["points"] == 20
    assert row["broker_ids"] == [1, 2]
    assert row["client_addresses"] == ["10.0.0.1"]
    assert (row["client_id"], row["principal"]) == (None, "User:app")


@pytest.mark.parametrize("seed", SEEDS)
def test_order_of_rows_and_days_does_not_matter(seed: int, sessions: dict[str, list[dict]]):
    """The same pushes in order, and shuffled with later days there: equal slices. And each push is counted once."""
    for before, pushes in sliced(seed):
        in_order, shuffled = (
            sorted(str({**row, "cluster_id": ""}) for row in sessions[variant(name, seed, before)])
            for name in ("in order", "shuffled")
        )
        assert in_order == shuffled
        of_the_day = sum(push["dt"] == DAY for push in pushes)
        assert sum(row["pushes"] for row in sessions[variant("in order", seed, before)]) == of_the_day > 20


def session_texts(today: list[PartitionFile], before: list[PartitionFile], buckets: int) -> list[str]:
    by_bucket: dict[int, list] = defaultdict(list)
    for files, of_the_day in ((today, True), (before, False)):
        for bucket, pushes in read(files, of_the_day, buckets):
            by_bucket[bucket].append(pushes)
    return sorted(str(row) for pushes in by_bucket.values() for row in sessions_of(pushes).to_pylist())


@pytest.mark.parametrize("seed", SEEDS)
def test_portions_and_tasks_do_not_matter(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    rows = random_pushes(seed)
    files = stored(tmp_path, rows, CLIENT_PUSHES, seed)
    today, before = ([f for f in files if (f.dt == DAY) is of_the_day] for of_the_day in (True, False))
    at_once = session_texts(today, before, 1)
    assert len(at_once) == len({row["client_instance_id"] for row in rows if row["dt"] == DAY}) > 5
    monkeypatch.setattr(lake_files, "_PORTION", 7)
    assert session_texts(today, before, 5) == at_once


def test_columns_younger_than_a_file(tmp_path: Path):
    """Files of before a column was added to the table do not have it."""
    (file,) = stored(tmp_path, [push("c", n, moment(f"12:0{n}:00"), []) for n in range(3)], CLIENT_PUSHES, 3)[
        :1
    ]
    path = Path(file.url.removeprefix("file://"))
    young = ["subscription_id", "clock_skew_ms", "principal"]
    pq.write_table(pq.read_table(path).drop_columns(young), path)
    (row,) = [row for _, pushes in read([file], True, 1) for row in sessions_of([pushes]).to_pylist()]
    assert (row["pushes"], row["principal"], row["clock_skew_ms"]) == (file.rows, None, None)
