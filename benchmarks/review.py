"""The review of an upgrade of 100,000 clients, as the job makes it: from spark-submit's start to its end.

The clients are those of the matrix (real libraries on brokers with 3.9.1), each many times under other names. Each has two
connections, to two of three brokers, that are closed when their broker stops and opened again when it is back on the target, with
the events that the broker plugin tells of them: opened, a snapshot every five minutes, closed. Some stop, some are refused, some
cannot log in any more, some push their metrics.
"""

import datetime as dt
import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from client_telemetry.activity.client_metrics import PREFIX
from client_telemetry.lake.lake import Lake
from client_telemetry.lake.writer import DataFile
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.table import Table
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_reports import UPGRADE_REPORTS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS
from pyspark.sql import types

from benchmarks.accuracy import Seen, matrix
from benchmarks.bench import Section
from benchmarks.impact import CLUSTER, DAY, row_of
from benchmarks.measure import cost_with_workers, run_stage

SIZES = (2_000, 10_000, 100_000)
SOURCE, TARGET = "3.9.1", "4.0.1"
BEGAN = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC).timestamp()
BEFORE, AFTER, SNAPSHOT = 1800, 2100, 300
"""Seconds of records before the first stop and after it, and between two snapshots of a connection."""
STOPS = {0: BEGAN, 1: BEGAN + 90, 2: BEGAN + 180}
DOWN = 20
CELL = 1000
"""Clients that are made; the others are copies of them under other names."""
COPIES_OF_A_FILE = 10
GONE, REFUSED, LOCKED_OUT, PUSHING = 100, 50, 200, 20
"""One client of so many stops, is refused, cannot log in, pushes its metrics."""
OFTEN = {0: 150, 1: 300, 8: 60, 12: 100, 26: 30}
"""Requests in five minutes: Produce, Fetch, OffsetCommit, Heartbeat, EndTxn; all others once, as a connection opens."""
METRICS = ("producer.node.request.latency.avg", "producer.record.send.total", "producer.record.error.total")
NOTHING: dict[type, Any] = {
    types.StringType: "",
    types.LongType: 0,
    types.IntegerType: 0,
    types.BooleanType: False,
    types.ArrayType: [],
    types.MapType: {},
    types.TimestampType: dt.datetime.fromtimestamp(BEGAN - BEFORE, dt.UTC),
}
"""What stands where a column may not be null and nothing is given."""
OWNERS = Path(__file__).parents[1] / "include" / "sample" / "owners.yaml"


def run() -> Iterator[Section]:
    rows = []
    for clients in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            events = make_lake(folder, clients)
            run_stage("publish", "--report-id", "benchmark", *_places(folder))
            cost = cost_with_workers(lambda lake=folder: ask(lake))
        rows.append({"clients": clients, "events": events, "CPU s": cost.cpu, "wall s": cost.wall})
        print(rows[-1], flush=True)
    text = (
        f"`spark-submit spark/run_stage.py review --from {SOURCE} --to {TARGET}`, including Spark's start, the gates, writing tables "
        "and published files, and adding a link to the review in the report that it is compared with. Each client has two "
        f"connections, {BEFORE // 60} minutes of records before the first broker stopped and {AFTER // 60} after, and a snapshot every "
        f"{SNAPSHOT // 60} minutes. One run each."
    )
    yield Section("The review of an upgrade", text, rows)


def ask(lake: str) -> None:
    """Run the job; it has to end well."""
    run_stage("review", "--from", SOURCE, "--to", TARGET, *_places(lake), "--owners", str(OWNERS))


def _places(lake: str) -> list[str]:
    run = ["--cluster", CLUSTER, "--run-id", "benchmark"]
    return [*run, "--lake", lake, "--publish", f"{lake}/published"]


def make_lake(folder: str, clients: int) -> int:
    """A lake with the day's tables of so many clients; how many events of connections there are."""
    tables = (CONNECTION_EVENTS, CLIENT_PUSHES, CLIENT_METRICS, CLIENTS, BROKERS, BROKER_HOURS)
    answers = (UPGRADE_REPORTS, UPGRADE_VERDICTS, UPGRADE_FINDINGS)
    lake = Lake(None, folder)
    lake.create([*tables, *answers, PUBLICATIONS])
    branch = lake.branch("benchmark", CLUSTER, "profile")
    size = min(CELL, clients)
    events = _columns(CONNECTION_EVENTS, _events(size))
    where = {"cluster_id": CLUSTER, "dt": DAY}
    copies = clients // size
    files = []
    for first in range(0, copies, COPIES_OF_A_FILE):
        file = DataFile(CONNECTION_EVENTS, lake.place(CONNECTION_EVENTS), where)
        for copy in range(first, min(first + COPIES_OF_A_FILE, copies)):
            file.add_columns(_named(events, copy))
        files.append(str(file.close()))
    branch.replace_files(CONNECTION_EVENTS, files, **where)
    pushes, metrics = _pushes(clients)
    branch.replace_rows(CLIENT_PUSHES, pushes, **where)
    branch.replace_rows(CLIENT_METRICS, metrics, **where)
    branch.replace_rows(CLIENTS, _clients(clients, size), **where)
    branch.replace_rows(BROKERS, _brokers(), **where)
    branch.replace_rows(BROKER_HOURS, [], **where)
    branch.publish(CLUSTER, "benchmark", "profile", [DAY])
    answered = lake.branch("benchmark", CLUSTER, "impact")
    report = {"cluster_id": CLUSTER, "report_id": "benchmark"}
    row = {"from_release": SOURCE, "to_release": TARGET, "first_dt": DAY, "last_dt": DAY}
    row |= {"created_at": _moment(BEGAN - 3600), "clients": clients, "snapshots": lake.published()}
    answered.replace_rows(UPGRADE_REPORTS, [_whole(UPGRADE_REPORTS, **report, **row)], **report)
    answered.replace_rows(UPGRADE_VERDICTS, _verdicts(clients, size, report), **report)
    answered.replace_rows(UPGRADE_FINDINGS, _findings(clients, size, report), **report)
    answered.publish(CLUSTER, "benchmark", "impact", [DAY])
    return len(events[CONNECTION_EVENTS.columns[2].name]) * copies


def _software() -> Sequence[Seen]:
    return [each for each in matrix()[0] if each.release == SOURCE]


def _events(size: int) -> list[dict[str, Any]]:
    software = _software()
    chance = random.Random(1)
    found: list[dict[str, Any]] = []
    for number in range(size):
        seen = software[number % len(software)]
        who = {
            "client_id": f"app-{number}",
            "principal": f"User:{number % 500}",
            "client_address": f"10.{number % 7}.{number // 250}.{number % 250}",
            "client_software_name": seen.name,
            "client_software_version": seen.software_version,
            "security_protocol": "SASL_SSL",
            "listener_name": "CLIENTS",
        }
        uses = tuple(sorted({(use.api_key, use.version) for use in seen.uses}))
        for each in range(2):
            found += _connection(who, uses, number, (number + each) % 3, chance.random() * 200)
    for sequence, row in enumerate(found):
        row["sequence"] = sequence
    return found


def _connection(
    who: dict[str, Any], uses: Sequence[tuple[int, int]], number: int, broker: int, offset: float
) -> Iterator[dict[str, Any]]:
    """Events of a client's connections to a broker: before it stopped, and after it was back."""
    began = BEGAN - BEFORE + offset
    back = STOPS[broker] + DOWN + offset / 50
    yield from _told(who, uses, broker, "old", f"{number}-{broker}-1", began, STOPS[broker])
    if number % GONE == 1:
        return
    if number % LOCKED_OUT == 2:
        at = back
        while at < BEGAN + AFTER:
            yield _event(who, broker, "new", "authentication_failed", "", at, at, [], connections=60)
            at += 60
        return
    if number % REFUSED == 3:
        at = back
        while at < BEGAN + AFTER:
            refused = [(key, version, 0, 30, at - 60, at) for key, version in uses if key in OFTEN]
            yield _event(who, broker, "new", "summary", "", at - 60, at, refused, connections=30)
            at += 60
        return
    yield from _told(who, uses, broker, "new", f"{number}-{broker}-2", back, BEGAN + AFTER)


def _told(
    who: dict[str, Any],
    uses: Sequence[tuple[int, int]],
    broker: int,
    run: str,
    name: str,
    opened: float,
    until: float,
) -> Iterator[dict[str, Any]]:
    at, kind = opened + 0.5, "opened"
    while at < until:
        yield _event(who, broker, run, kind, name, opened, at, _counted(uses, opened, at))
        at, kind = (at // SNAPSHOT + 1) * SNAPSHOT + broker, "active"
    if run == "old":
        yield _event(who, broker, run, "closed", name, opened, until, _counted(uses, opened, until))


def _counted(uses: Sequence[tuple[int, int]], opened: float, at: float) -> list[tuple[Any, ...]]:
    """Cumulative."""
    minutes = (at - opened) / SNAPSHOT
    return [
        (
            key,
            version,
            1 + int(minutes * OFTEN.get(key, 0)),
            0,
            opened + 0.1,
            max(at - 1, opened + 0.1) if key in OFTEN else opened + 0.1,
        )
        for key, version in uses
    ]


def _event(
    who: dict[str, Any],
    broker: int,
    run: str,
    kind: str,
    connection: str,
    opened: float,
    at: float,
    uses: Sequence[tuple[Any, ...]],
    **more: Any,
) -> dict[str, Any]:
    names = ("api_key", "version", "requests", "rejected")
    return {
        **who,
        **more,
        "broker_id": broker,
        "broker_incarnation": f"{broker}-{run}",
        "kind": kind,
        "connection_id": connection,
        "opened_at": _moment(opened),
        "observed_at": _moment(at),
        "last_request_at": _moment(at),
        "api_uses": [
            {
                **dict(zip(names, use[:4], strict=True)),
                "first_request_at": _moment(use[4]),
                "last_request_at": _moment(use[5]),
            }
            for use in uses
        ],
        "group_ids": [],
        "transactional_ids": [],
        "cut_fields": [],
        "given_instance_ids": [],
        "topics": [],
        "flags": [],
        "source_object": "object",
        "source_offset": 0,
    }


def _columns(table: Table, rows: Sequence[dict[str, Any]]) -> dict[str, pa.Array]:
    names = [c.name for c in table.columns if c.name not in table.partition]
    schema = table.arrow_schema
    return {name: pa.array([row.get(name) for row in rows], schema.field(name).type) for name in names}


def _named(columns: dict[str, pa.Array], copy: int) -> dict[str, pa.Array]:
    """The same clients under other names, from other addresses, over other connections."""

    def renamed(name: str, change: Any) -> pa.Array:
        return pa.array([change(text) for text in columns[name].to_pylist()], pa.string())

    sequence = pa.array([value + copy * 10_000_000 for value in columns["sequence"].to_pylist()], pa.int64())
    return {
        **columns,
        "sequence": sequence,
        "client_id": renamed("client_id", lambda text: _copied(text, copy)),
        "connection_id": renamed("connection_id", lambda text: text and f"{text}-{copy}"),
        "client_address": renamed("client_address", lambda text: f"{text}:{copy:x}"),
    }


def _copied(client_id: str, copy: int) -> str:
    """Names that mask to different families: digits alone would be one."""
    letters = "".join(chr(97 + int(digit)) for digit in f"{copy}-{client_id[4:]}".replace("-", ""))
    return f"app-{letters}-{len(client_id)}-{copy:x}"


def _pushes(clients: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    chance = random.Random(2)
    pushes, metrics = [], []
    size = min(CELL, clients)
    for number in range(0, clients, PUSHING):
        instance = number.to_bytes(16, "big")
        at = BEGAN - BEFORE + number % SNAPSHOT
        while at < BEGAN + AFTER:
            key = {
                "broker_id": 0,
                "broker_incarnation": "0-old" if at < BEGAN else "0-new",
                "sequence": len(pushes),
            }
            who = {
                "client_id": _copied(f"app-{number % size}", number // size),
                "principal": f"User:{number % size % 500}",
                "client_software_name": "apache-kafka-java",
                "client_software_version": SOURCE,
            }
            pushes.append(row_of(CLIENT_PUSHES, **key, **who, client_instance_id=instance))
            for name in METRICS:
                metrics.append(
                    row_of(
                        CLIENT_METRICS,
                        **key,
                        client_instance_id=instance,
                        metric=PREFIX + name,
                        temporality="delta" if name.endswith("total") else None,
                        attributes=[],
                        received_at=_moment(at),
                        start_time=_moment(at - SNAPSHOT),
                        time=_moment(at),
                        value=0.0 if "error" in name else chance.lognormvariate(1, 0.2) * 10,
                    )
                )
            at += SNAPSHOT
    return pushes, metrics


def _brokers() -> list[dict[str, Any]]:
    found = []
    for broker, stop in STOPS.items():
        for run, release, since, until in (
            ("old", SOURCE, BEGAN - 86400, stop),
            ("new", TARGET, stop + DOWN, BEGAN + AFTER),
        ):
            found.append(
                row_of(
                    BROKERS,
                    broker_id=broker,
                    broker_incarnation=f"{broker}-{run}",
                    software_version=release,
                    releases=[release],
                    started_at=_moment(since),
                    last_evidence_at=_moment(until),
                )
            )
    return found


def _named_clients(clients: int, size: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number of the client that each is a copy of, and what all tables call it."""
    software = _software()
    for number in range(clients):
        cell = number % size
        seen = software[cell % len(software)]
        yield (
            cell,
            {
                "client_id": _copied(f"app-{cell}", number // size),
                "principal": f"User:{cell % 500}",
                "client_software_name": seen.name,
                "client_software_version": seen.software_version,
            },
        )


def _clients(clients: int, size: int) -> list[dict[str, Any]]:
    named = _named_clients(clients, size)
    return [_whole(CLIENTS, **who, application=who["client_id"], connections=2) for _, who in named]


def _verdicts(clients: int, size: int, report: dict[str, str]) -> list[dict[str, Any]]:
    found = []
    for cell, who in _named_clients(clients, size):
        breaks = cell % REFUSED == 3
        found.append(
            _whole(
                UPGRADE_VERDICTS,
                **report,
                **who,
                application=who["client_id"],
                verdict="breaks" if breaks else "safe",
                mixed_verdict="breaks" if breaks else "safe",
                when="at_once" if breaks else None,
                confidence="observed",
                explanation="sends versions that the target refuses" if breaks else "accepted",
                fix="upgrade the library" if breaks else None,
            )
        )
    return found


def _findings(clients: int, size: int, report: dict[str, str]) -> list[dict[str, Any]]:
    return [
        _whole(
            UPGRADE_FINDINGS,
            **report,
            **who,
            rule_id="observed_version_refused",
            verdict="breaks",
            when="at_once",
            api_key=0,
            explanation="Produce v2 is refused",
            fix="upgrade the library",
        )
        for cell, who in _named_clients(clients, size)
        if cell % REFUSED == 3
    ]


def _whole(table: Table, **values: Any) -> dict[str, Any]:
    """A row with something in each column that may not be null."""
    needed = {
        c.name: NOTHING[type(c.kind)] for c in table.columns if not c.nullable and type(c.kind) in NOTHING
    }
    return row_of(table, **{**needed, **values})


def _moment(seconds: float) -> dt.datetime:
    return dt.datetime.fromtimestamp(round(seconds, 3), dt.UTC)
