"""An upgrade question about 100,000 clients, as the job answers it: from spark-submit's start to its end.

The clients are those of the matrix (real libraries on brokers with 3.9.1), each many times under other names, some
without one of the APIs that they use, as a short window sees them.
"""

import datetime as dt
import random
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from client_telemetry.compatibility import ApiUse, targets
from client_telemetry.lake.lake import Lake
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.clients import CLIENT_KEY, CLIENTS
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.table import Table

from benchmarks.accuracy import Seen, matrix
from benchmarks.bench import Section
from benchmarks.measure import cost_of, run_stage

QUESTIONS = ((10_000, "4.2.1"), (100_000, "4.2.1"), (100_000, "4.0.0"))
"""Clients and the release that is asked about. From 3.9.1 to 4.2.1 a report compares three releases, to 4.0.0 seven."""
CONNECTIONS = 2
"""Of each client, to two of three brokers."""
SOURCE = "3.9.1"
CLUSTER, DAY = "benchmark", dt.date(2026, 11, 21)
NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)


def run() -> list[Section]:
    rows = []
    for clients, target in QUESTIONS:
        with tempfile.TemporaryDirectory() as folder:
            distinct = make_lake(folder, clients)
            cost = cost_of(lambda lake=folder, target=target: ask(lake, target))
        rows.append(
            {
                "clients": clients,
                "target": target,
                "of distinct evidence": distinct,
                "connections": clients * CONNECTIONS,
                "releases compared": 1 + len(targets.nearby(SOURCE, target)),
                "CPU s": cost.cpu,
                "wall s": cost.wall,
            }
        )
        print(rows[-1], flush=True)
    text = (
        f"`spark-submit spark/run_stage.py impact --from {SOURCE} --to <target>` over one day, with Spark's start, the gate, and "
        "verdicts and findings written and published. The target is judged at each step of the upgrade, the releases that it "
        "is compared with before and after their features are finalized. One run each."
    )
    return [Section("An upgrade question", text, rows)]


def ask(lake: str, target: str) -> None:
    """Run the job; it has to end well."""
    arguments = ["--cluster", CLUSTER, "--report-id", "benchmark", "--from", SOURCE, "--to", target]
    run = ["--run-id", "benchmark", "--lake", lake]
    run_stage("impact", *arguments, *run)


def make_lake(folder: str, clients: int) -> int:
    """A lake with the day's tables of so many clients; how many of them are not alike in evidence."""
    connections, profiled, alike = [], [], set()
    for number, (name, version, uses) in zip(range(clients), _evidence(), strict=False):
        alike.add((name, version, uses))
        key = dict(zip(CLIENT_KEY, (f"User:{number % 500}", f"app-{number}", name, version), strict=True))
        api_uses = [_use(use) for use in uses]
        profiled.append(row_of(CLIENTS, **key, owner=f"team-{number % 50}", owner_contact="#team"))
        connections += [
            row_of(
                CLIENT_CONNECTIONS,
                **key,
                broker_id=(number + each) % 3,
                broker_incarnation=f"{(number + each) % 3:032x}",
                connection_id=f"{number}-{each}",
                client_address="10.0.0.1",
                opened_at=NOON,
                first_seen_at=NOON,
                last_seen_at=NOON,
                listener_name="CLIENTS",
                security_protocol="SASL_SSL",
                broker_software_version=SOURCE,
                api_uses=api_uses,
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
