"""What a question has to know of all clients first, as SQL beside the arrays of impact/totals.py: the same totals, and what the
whole stage `impact` costs with each, taking turns.

    include/airflow.sh python -m benchmarks.question_totals [CLIENTS ROUNDS ...]

By default 33,333 clients, as many as one process judges without Spark, and 100,000, with it. With Spark, the SQL reads the Parquet files
without Iceberg: it is cheaper here than it would be.

    include/airflow.sh python -m benchmarks.question_totals --compare OPTION ...

compares the totals of one question with these options of `impact`, such as --lake, --cluster, --from and --to, and says which differ.
"""

import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from unittest import mock

import pyarrow as pa
from client_telemetry.impact import answer
from client_telemetry.impact.client_evidence import OF_PUSHES
from client_telemetry.impact.evidence_columns import CONNECTION
from client_telemetry.impact.programs import may_be_shared
from client_telemetry.impact.question import Question
from client_telemetry.impact.totals import Totals, totals
from client_telemetry.jobs import main_of
from client_telemetry.knowledge import kip511
from client_telemetry.lake.files import PartitionFile, stored_rows
from client_telemetry.pipeline.queries import InProcess, OnSpark, Queries
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.clients import CLIENT_KEY, CLIENTS
from client_telemetry.tables.table import Table
from client_telemetry.workers.columns import ALWAYS, NEVER, micros_of
from pyspark.sql import SparkSession

from benchmarks.impact import arguments, make_lake
from benchmarks.measure import cost_with_workers

TARGET = "4.2.1"
SOFTWARE = ("client_software_name", "client_software_version")
LOGIN = ("listener_name", "sasl_mechanism")
READ = (
    *CONNECTION, *SOFTWARE, *LOGIN, "client_id", "principal", "broker_software_version", "first_seen_at", "last_seen_at",
    "connections",
)  # fmt: skip


def words(values: Sequence[str]) -> str:
    return ", ".join(f"'{value}'" for value in values)


def texts(question: Question) -> tuple[dict[str, str], dict[str, str]]:
    """Relations, in the order in which they need each other, and what is asked of them."""
    undeclared = f"client_software_name is null or client_software_name in ({words(kip511.NOT_DECLARED)})"
    nobody = f"client_id is null and coalesce(principal, '') = '' and ({undeclared})"
    software = ", ".join(
        f"if({name} in ({words(kip511.NOT_DECLARED)}), '{kip511.UNKNOWN}', {name}) as {name}"
        for name in SOFTWARE
    )
    brokers = words(question.brokers_declare or (question.from_release,))
    before = (
        f"< timestamp '{question.until:%Y-%m-%d %H:%M:%S.%f}+00:00'"
        if question.until
        else "is not null or true"
    )
    connection, by_software, client = map(", ".join, (CONNECTION, SOFTWARE, CLIENT_KEY))
    of_a_client = "is_evidence and not is_unidentified"
    relations = {
        "evidence": f"""
            select {connection}, {software}, coalesce(connections, 1) as connections, first_seen_at, last_seen_at,
                {", ".join(LOGIN)}, {nobody} as is_unidentified,
                coalesce(broker_software_version in ({brokers}) and (opened_at {before}), false) as is_evidence
            from client_connections""",
        "by_software": f"""
            select {connection}, {by_software}, max(connections) as connections,
                max(if(is_evidence, connections, null)) as counted, max(if({of_a_client}, 1, 0)) as is_known,
                max(if(is_evidence and is_unidentified, 1, 0)) as is_nobodys,
                min(if({of_a_client}, first_seen_at, null)) as first_seen_at,
                max(if({of_a_client}, last_seen_at, null)) as last_seen_at
            from evidence group by {connection}, {by_software}""",
        "by_connection": f"""
            select {connection}, max(connections) as connections, max(is_known) as is_known,
                max(is_nobodys) as is_nobodys, min(first_seen_at) as first_seen_at, max(last_seen_at) as last_seen_at
            from by_software group by {connection}""",
        "pushing": f"""
            select {client}, sum(coalesce(connections, 1)) + sum(coalesce(refusals, 0)) as seen,
                min(first_seen_at) as first_seen_at
            from clients where not ({nobody}) group by {client}""",
    }
    asked = {
        "connections": """
            select sum(if(is_known = 1, connections, 0)) as known,
                sum(if(is_known = 0 and is_nobodys = 1, connections, 0)) as nobodys, sum(connections) as of_all,
                min(first_seen_at) as first_seen_at, max(last_seen_at) as last_seen_at
            from by_connection""",
        "software": f"""
            select {by_software}, sum(counted) as number from by_software where counted is not null
            group by {by_software}""",
        "logins": f"select distinct {', '.join(LOGIN)} from evidence",
        "pushed": f"""
            select {by_software}, count(*) as number
            from (select {software} from pushing where seen = 0 and coalesce(first_seen_at {before}, false))
            group by {by_software}""",
    }  # fmt: skip
    return relations, asked


def totals_by_sql(
    spark: SparkSession | None,
    question: Question,
    connections: Sequence[PartitionFile],
    profiled: Sequence[PartitionFile],
    parts: int,
) -> Totals:
    relations, asked = texts(question)
    with _queries(
        spark, {CLIENT_CONNECTIONS: (connections, READ), CLIENTS: (profiled, OF_PUSHES)}
    ) as queries:
        for name, text in relations.items():
            queries.define(name, text)
        rows = {name: list(answers) for name, answers in queries.answers(asked).items()}
    (sums,) = rows["connections"]
    known, nobodys, of_all = (int(sums[name] or 0) for name in ("known", "nobodys", "of_all"))
    by_software, only_pushed = (
        Counter({tuple(row[each] for each in SOFTWARE): int(row["number"]) for row in rows[name]})
        for name in ("software", "pushed")
    )
    first, last = sums["first_seen_at"], sums["last_seen_at"]
    shared = [
        clients.filter(pa.array(may_be_shared(clients))).select(CLIENT_KEY)
        for clients in stored_rows(profiled, CLIENTS, (*CLIENT_KEY, "api_uses"))
    ]
    return Totals(
        known,
        nobodys,
        of_all - known - nobodys,
        by_software,
        only_pushed,
        NEVER if first is None else micros_of(first),
        ALWAYS if last is None else micros_of(last),
        pa.concat_tables(shared) if any(map(len, shared)) else None,
        frozenset(tuple(row[each] for each in LOGIN) for row in rows["logins"]),
    )


def _queries(
    spark: SparkSession | None, tables: dict[Table, tuple[Sequence[PartitionFile], Sequence[str]]]
) -> Queries:
    if spark is not None:
        return OnSpark(
            spark,
            {
                table.name: spark.read.parquet(*(file.url for file in files)).select(*columns)
                for table, (files, columns) in tables.items()
            },
        )

    def stored(table: Table, files: Sequence[PartitionFile], columns: Sequence[str]) -> Iterator[pa.Table]:
        yield table.arrow_schema.empty_table().select(columns)
        yield from stored_rows(files, table, columns)

    return InProcess({table.name: stored(table, *read) for table, read in tables.items()})


def compare(options: Sequence[str]) -> int:
    differences = []

    def both(*inputs: object) -> Totals:
        expected, by_sql = totals(*inputs), totals_by_sql(*inputs)
        for field in fields(Totals):
            ours, theirs = getattr(expected, field.name), getattr(by_sql, field.name)
            if field.name == "shared":
                ours, theirs = (
                    sorted(map(repr, rows.to_pylist())) if rows else [] for rows in (ours, theirs)
                )
            if ours != theirs:
                differences.append(f"{field.name}: {ours} by arrays, {theirs} by SQL")
        return expected

    with mock.patch.object(answer, "totals", both):
        code = main_of("impact")(options)
    print("\n".join(differences) or "all totals are equal")
    return code or bool(differences)


def measure(clients: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as lake:
        make_lake(lake, clients)
        run([lake, "--compare"])
        costs: dict[str, list[float]] = {"--arrays": [], "--sql": []}
        for number in range(rounds):
            for way in sorted(costs, reverse=bool(number % 2)):
                costs[way].append(cost_with_workers(lambda way=way: run([lake, way])).cpu)
                print(f"{clients:,} clients, {way[2:]}: {costs[way][-1]:.1f} CPU s", flush=True)
    ratio = statistics.median(sql / arrays for arrays, sql in zip(*costs.values(), strict=True))
    medians = ", ".join(f"{way[2:]} {statistics.median(own):.1f} CPU s" for way, own in costs.items())
    print(f"{clients:,} clients: {medians}; SQL costs {ratio:.3f} times as much", flush=True)


def run(given: Sequence[str]) -> None:
    lake, way = given
    command = [sys.executable, "-m", "benchmarks.question_totals", way, *arguments(lake, TARGET)]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[1])


def main(given: Sequence[str]) -> int:
    if given and given[0] == "--compare":
        return compare(given[1:])
    if given and given[0] in ("--arrays", "--sql"):
        way = totals if given[0] == "--arrays" else totals_by_sql
        with mock.patch.object(answer, "totals", way):
            return main_of("impact")(given[1:])
    numbers = [*map(int, given)] or [33_333, 5, 100_000, 3]
    for clients, rounds in zip(numbers[::2], numbers[1::2], strict=True):
        measure(clients, rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
