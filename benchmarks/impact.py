"""Upgrade questions about 10,000 and 100,000 clients, as the DAG's two jobs answer them: from the start of Python to its end.

The clients are those of the matrix (real libraries on brokers with 3.9.1), each many times under other names, some
without one of the APIs that they use, as a short window sees them. Some client ids are two programs each, so that every
principal's clients are grouped into applications once more, as the job does it then.
"""

import datetime as dt
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from client_telemetry.compatibility import ApiUse, targets
from client_telemetry.impact.answer import ROWS_WITHOUT_SPARK
from client_telemetry.lake.lake import Lake
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.clients import CLIENT_KEY, CLIENTS
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.table import Table
from client_telemetry.tables.upgrade_reports import UPGRADE_REPORTS

from benchmarks.accuracy import Seen, matrix
from benchmarks.bench import Section
from benchmarks.measure import RUN_STAGE, Cost, cost_with_workers

QUESTIONS = ((10_000, "4.2.1"), (33_333, "4.2.1"), (100_000, "4.2.1"), (100_000, "4.0.0"))
"""Clients and the release that is asked about. From 3.9.1 to 4.2.1 a report compares three releases, to 4.0.0 seven. With two
connections each, 33,333 are as many as are judged without Spark."""
WARM_QUESTIONS = 4
"""One after the other to a process that stays; the first is not counted."""
CHECKOUT = Path(__file__).parents[1]
CONNECTIONS = 2
"""Of each client, to two of three brokers."""
TWO_PROGRAMS = 101
"""Of so many clients, one has a client id that two programs share. No divisor of the number of principals: each has some."""
JOIN_GROUP = 11
SOURCE = "3.9.1"
CLUSTER, DAY = "benchmark", dt.date(2026, 11, 21)
NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)


def run() -> list[Section]:
    rows, warm = [], []
    for clients, target in QUESTIONS:
        with tempfile.TemporaryDirectory() as folder:
            distinct = make_lake(folder, clients)
            cost, memory = job("impact", *arguments(folder, target))
            with tempfile.TemporaryDirectory() as published:
                of_publish, most = job("publish", *report_of(folder), "--publish", published)
            (report,) = Lake(None, folder).rows(UPGRADE_REPORTS)
            rows.append(
                {
                    "clients": clients,
                    "verdicts": report["clients"],
                    "target": target,
                    "distinct evidence": distinct,
                    "connections": clients * CONNECTIONS,
                    "releases compared": 1 + len(targets.nearby(SOURCE, target)),
                    "CPU s": cost.cpu,
                    "of which JVM": cost.jvm,
                    "wall s": cost.wall,
                    "MB": memory,
                    "publish, CPU s": of_publish.cpu,
                    "publish, wall s": of_publish.wall,
                    "publish, MB": most,
                }
            )
            print(rows[-1], flush=True)
            if not warm:
                first, *others = ask_warm(folder, target)
                warm += [_warm_row("first", [first]), _warm_row("later", others)]
                print(warm, flush=True)
    text = (
        f"One run each of `python spark/run_stage.py impact --from {SOURCE} --to <target>` on one day of evidence: reading, judging, "
        f"the quality gate, writing and publishing verdicts and findings. Up to {ROWS_WITHOUT_SPARK:,} connections and clients, one "
        "process does it; beyond that it starts Spark, whose start is included. Every client is judged on the target at each step of "
        "the upgrade, and on the nearby releases before and after their features are finalized. There are more verdicts than clients: "
        f"one client id in {TWO_PROGRAMS} is shared by two programs, each of which gets a verdict, and all clients are grouped into "
        "applications again with them. *Distinct evidence*: clients with the same evidence are judged once. *CPU s*: of the JVM, the "
        "driver and Spark's Python workers. *MB*: the largest resident size of the process, without those that it starts. *publish*: "
        "the next job, which makes page, JSON, CSV and messages to owners, in one process."
    )
    of_warm = (
        f"The question about {QUESTIONS[0][0]:,} clients, asked {WARM_QUESTIONS} times of a process that stays up "
        "(`include/warm.sh`, docs/deployment.md). *Later*: the median of the questions after the first."
    )
    return [Section("An upgrade question", text, rows), Section("Questions to a warm process", of_warm, warm)]


def job(stage: str, *given: str) -> tuple[Cost, int]:
    """What a job costs, which has to end well, and the most memory of its process, in MB."""
    most = 0

    def run_it() -> None:
        nonlocal most
        with psutil.Popen([sys.executable, RUN_STAGE, stage, *given]) as running:
            while running.poll() is None:
                with suppress(psutil.NoSuchProcess):
                    most = max(most, running.memory_info().rss)
                time.sleep(0.05)
            assert running.returncode == 0

    return cost_with_workers(run_it), most // 10**6


def ask_warm(lake: str, target: str) -> list[Cost]:
    """What each of WARM_QUESTIONS costs, one after the other."""
    started = subprocess.Popen(
        [CHECKOUT / "include/warm.sh", "bash", "-c", 'echo "$WARM_JOBS"; cat'],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    with started:
        started.stdout.readline()  # what it says to people
        socket = started.stdout.readline().strip()
        run = [sys.executable, CHECKOUT / "spark/warm_jobs.py", "run", socket, RUN_STAGE, "impact"]

        def question() -> None:
            subprocess.run([*run, *arguments(lake, target)], check=True)

        return [cost_with_workers(question) for _ in range(WARM_QUESTIONS)]


def report_of(lake: str) -> list[str]:
    return ["--cluster", CLUSTER, "--report-id", "benchmark", "--run-id", "benchmark", "--lake", lake]


def arguments(lake: str, target: str) -> list[str]:
    return [*report_of(lake), "--from", SOURCE, "--to", target]


def _warm_row(which: str, costs: Sequence[Cost]) -> dict[str, Any]:
    cpu, jvm, wall = (
        statistics.median(each) for each in zip(*((c.cpu, c.jvm, c.wall) for c in costs), strict=True)
    )
    return {"question": which, "CPU s": cpu, "of which JVM": jvm, "wall s": wall}


def make_lake(folder: str, clients: int) -> int:
    """A lake with the day's tables of so many clients; how many of them are not alike in evidence."""
    connections, profiled, alike = [], [], set()
    for number, (name, version, uses) in zip(range(clients), _evidence(), strict=False):
        alike.add((name, version, uses))
        key = dict(zip(CLIENT_KEY, (f"User:{number % 500}", f"app-{number}", name, version), strict=True))
        used_by = [_of_a_program(uses, each, number % TWO_PROGRAMS == 0) for each in range(CONNECTIONS)]
        profiled.append(
            row_of(
                CLIENTS,
                **key,
                first_seen_at=NOON,
                last_seen_at=NOON,
                owner=f"team-{number % 50}",
                owner_contact="#team",
                connections=CONNECTIONS,
                addresses=CONNECTIONS,
                address_sample=[f"10.0.0.{each}" for each in range(CONNECTIONS)],
                listeners=["CLIENTS"],
                group_ids=[f"group-{number}"],
                topics=[f"topic-{number % 1000}", f"topic-{number % 997}"],
                related=[],
                api_uses=[_use(use) for use in dict.fromkeys(use for of_it in used_by for use in of_it)],
            )
        )
        connections += [
            row_of(
                CLIENT_CONNECTIONS,
                **key,
                broker_id=(number + each) % 3,
                broker_incarnation=f"{(number + each) % 3:032x}",
                connection_id=f"{number}-{each}",
                client_address=f"10.0.0.{each}",
                opened_at=NOON,
                first_seen_at=NOON,
                last_seen_at=NOON,
                listener_name="CLIENTS",
                security_protocol="SASL_SSL",
                broker_software_version=SOURCE,
                api_uses=[_use(use) for use in used_by[each]],
                source_objects=[f"object-{number % 100}"],
                uses_object=f"object-{number % 100}",
                uses_sequence=number,
            )
            for each in range(CONNECTIONS)
        ]
    brokers = [
        row_of(
            BROKERS,
            broker_id=each,
            broker_incarnation=f"{each:032x}",
            software_version=SOURCE,
            started_at=NOON,
        )
        for each in range(3)
    ]
    tables = {CLIENT_CONNECTIONS: connections, CLIENTS: profiled, BROKERS: brokers, BROKER_HOURS: []}
    _write(folder, tables)
    return len(alike)


def _evidence() -> Iterator[tuple[str, str, tuple[ApiUse, ...]]]:
    """Clients of the matrix without end: software name and version, and requests."""
    rng = random.Random(1)
    seen: Sequence[Seen] = [each for each in matrix()[0] if each.release == SOURCE]
    while True:
        for each in seen:
            missed = rng.choice([None, *each.uses])
            yield each.name, each.software_version, tuple(use for use in each.uses if use != missed)


def _of_a_program(uses: tuple[ApiUse, ...], place: int, is_shared: bool) -> list[ApiUse]:
    """What one connection of a client sent; where the client id is shared, each is another program's, told by JoinGroup."""
    if not is_shared:
        return list(uses)
    return [*(use for use in uses if use.api_key != JOIN_GROUP), ApiUse(JOIN_GROUP, 5 + 2 * place, 1)]


def _use(use: ApiUse) -> dict:
    times = {"first_request_at": NOON, "last_request_at": NOON}
    return use._asdict() | times


def row_of(table: Table, **values: object) -> dict[str, Any]:
    """A row of the benchmark's cluster and day, null where nothing is given."""
    row = {"cluster_id": CLUSTER, "dt": DAY} | values
    return {column.name: row.get(column.name) for column in table.columns}


def _write(folder: str, tables: dict[Table, list[dict]]) -> None:
    lake = Lake(None, folder)
    lake.create([*tables, PUBLICATIONS])
    branch = lake.branch("benchmark", CLUSTER, "profile")
    for table, rows in tables.items():
        branch.replace_rows(table, rows, cluster_id=CLUSTER, dt=DAY)
    branch.publish(CLUSTER, "benchmark", "profile", [DAY])
