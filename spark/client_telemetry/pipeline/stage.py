"""How a stage runs: arguments, session, write - audit - publish, result file, exit code. What a stage computes is
elsewhere.
"""

import argparse
import datetime as dt
import json
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn

from pyspark import SparkConf
from pyspark.sql import SparkSession

from client_telemetry import Unusable
from client_telemetry.compatibility.own_knowledge import use_folder
from client_telemetry.console.arguments import day
from client_telemetry.formats.locations import absolute_url
from client_telemetry.formats.raw.file_system import file_system, without_userinfo
from client_telemetry.knowledge_package import store
from client_telemetry.lake.branch import Branch
from client_telemetry.lake.catalog import (
    CATALOG_SETTING,
    WrongClock,
    check_clock,
    spark_settings,
    spark_settings_at_start,
    unavailable,
)
from client_telemetry.lake.commits import ConcurrentCommit, SnapshotGone, Superseded
from client_telemetry.lake.files import DamagedFile
from client_telemetry.lake.lake import Lake
from client_telemetry.pipeline import quality
from client_telemetry.pipeline.duckdb_sql import failure_reason, too_little_memory
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.quality_results import QUALITY_RESULTS
from client_telemetry.tables.stages import DRIVERS_PACKAGE, WORKERS_IMPORT
from client_telemetry.tables.table import Table
from client_telemetry.workers.cluster_check import (
    UnusableCluster,
    check_executors,
    check_master,
    import_failure,
    is_cluster,
    package_digest,
    use_python_of_settings,
)

OK, FAILED, BAD_ARGUMENTS, GATE_FAILED = 0, 1, 2, 3
_ATTEMPTS = 3
_GATES_AT_ONCE = 4


class BadArguments(Unusable):
    """The request cannot be fulfilled; the message says what to write instead."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadArguments(message)


@dataclass
class Outcome:
    """What a finished stage reports: a sentence, counts that can be summed over clusters, and what the next stage
    needs.
    """

    message: str
    counts: dict[str, int] = field(default_factory=dict)
    details: Mapping[str, object] = field(default_factory=dict)


@dataclass
class Slice:
    """The partitions of one table that a stage writes, and the facts that its expectations compare with."""

    table: Table
    where: dict[str, object]
    facts: Mapping[str, float] = field(default_factory=dict)


def days(text: str) -> list[dt.date]:
    """`2026-11-21,2026-11-22`; an empty text means no days."""
    return sorted({day(part.strip()) for part in text.split(",") if part.strip()})


def parser(stage: str, documentation: str | None, of_a_cluster: bool = True) -> argparse.ArgumentParser:
    """The arguments that every stage has. The first line of its documentation becomes the description."""
    description = (documentation or "").partition("\n")[0]
    arguments = _Parser(prog=stage, description=description, allow_abbrev=False)
    if of_a_cluster:
        arguments.add_argument("--cluster", required=True, help="Kafka's cluster id")
        arguments.add_argument("--cluster-name", help="what people call the cluster; default: its id")
        arguments.add_argument("--knowledge", help="folder of the cluster's own rows of the knowledge base")
    arguments.add_argument("--run-id", default="manual", help="id of the run in tables and branches")
    arguments.add_argument("--lake", required=True, help="location of the tables: a folder or file:// URL")
    arguments.add_argument("--result", help="where to write the result, as JSON")
    arguments.add_argument(
        "--knowledge-package", help="package of the knowledge base; default: the one that is kept"
    )
    return arguments


def spark_session(stage: str, lake: str, workers_import: str | None = None) -> SparkSession:
    """A session with the lake's catalog. If Spark already runs (a test's), it is a separate session of that; a catalog
    `lake` configured by spark-submit stays. `workers_import`: see stages.WORKERS_IMPORT; a running Spark already has its
    workers.
    """
    settings = spark_settings(lake)
    active = SparkSession.getActiveSession()
    if active is not None:
        session = active.newSession()
    else:
        with _interrupt_deferred():
            check_master()
            use_python_of_settings()
            is_on_cluster = is_cluster(SparkConf().get("spark.master", "") or "")
            builder = SparkSession.builder.appName(f"client-telemetry {stage}")
            for name, value in spark_settings_at_start().items():
                builder = builder.config(name, value)
            if is_on_cluster:
                builder = builder.config(f"spark.executorEnv.{DRIVERS_PACKAGE}", package_digest())
            if workers_import:
                builder = builder.config(f"spark.executorEnv.{WORKERS_IMPORT}", workers_import)
            session = builder.getOrCreate()
    if session.conf.get(CATALOG_SETTING, None) is None or active is not None:
        for name, value in settings.items():
            session.conf.set(name, value)
    session.conf.set("spark.sql.session.timeZone", "UTC")
    check_executors(session)
    if workers_import and active is None:
        threading.Thread(target=_start_a_worker, args=(session,), daemon=True).start()
    return session


def _start_a_worker(session: SparkSession) -> None:
    """Have Spark's Python daemon import what the workers need while the driver opens the tables and plans the first
    query. Errors are ignored: they recur in the stage's own jobs, which report them.
    """
    with suppress(Exception):
        session.range(0, 1, 1, 1).mapInArrow(lambda batches: batches, "id long").collect()


@contextmanager
def _interrupt_deferred() -> Iterator[None]:
    """Defers interrupts until Spark is up: a JVM whose Python ends while it starts never ends. Afterwards interrupts
    have their previous effect: pyspark's handler would send a command on the connection that is waiting for an
    answer, causing a Py4JError.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if interrupts:
            signal.raise_signal(signal.SIGINT)


class Stage:
    """One attempt of one stage: its arguments, and how its writes reach readers."""

    def __init__(self, name: str, arguments: argparse.Namespace, lake: Lake):
        self.name = name
        self.arguments = arguments
        self.cluster = arguments.cluster
        self.cluster_name = getattr(arguments, "cluster_name", None) or arguments.cluster
        self.run_id = arguments.run_id
        self.lake = lake
        self.warnings: list[str] = []
        self._branches: list[Branch] = []

    @property
    def spark(self) -> SparkSession:
        return self.lake.session

    def branch(self, tables: Sequence[Table]) -> Branch:
        """Create the tables if they do not exist, and a branch to write to. Call it first: data read before may contain
        a client that is erased meanwhile.
        """
        self.lake.create([*tables, QUALITY_RESULTS, PUBLICATIONS])
        branch = self.lake.branch(self.run_id, self.cluster, self.name)
        self._branches.append(branch)
        return branch

    def close(self) -> None:
        """Remove the unpublished branches, except those whose gate failed: their rows are evidence."""
        for branch in self._branches:
            branch.drop()

    def validate(self, branch: Branch, slice_: Slice) -> list[quality.Result]:
        """What the gate of a slice finds."""
        files = branch.files(slice_.table, **slice_.where)
        if self.lake.spark is None or sum(file.rows for file in files) <= quality.MOST_ROWS:
            return quality.validate_files(files, slice_.table, slice_.facts)
        rows = branch.read(slice_.table).where(self.condition(slice_.where))
        return quality.validate(rows, slice_.table, slice_.facts)

    @staticmethod
    def condition(where: Mapping[str, object]) -> str:
        """A Spark SQL condition that selects partitions."""

        def literal(value: object) -> str:
            text = str(value).replace("\\", "\\\\").replace("'", "\\'")
            return f"date'{value}'" if isinstance(value, dt.date) else f"'{text}'"

        parts = []
        for name, value in where.items():
            values = value if isinstance(value, list) else [value]
            parts.append(f"`{name}` in ({', '.join(literal(v) for v in values)})")
        return " and ".join(parts)

    def publish(
        self,
        branch: Branch,
        slices: Sequence[Slice],
        days_written: Sequence[dt.date],
        validated: Mapping[str, list[quality.Result]] | None = None,
    ) -> dict[str, int]:
        """Audit every slice on the branch, store the results, and publish if no critical expectation failed. Returns
        the number of rows of each slice, by table name. `validated`: results of `validate`, by table name, for slices
        that were not written to since.
        """
        earlier = validated or {}
        with ThreadPoolExecutor(_GATES_AT_ONCE) as pool:
            by_slice = list(
                pool.map(
                    lambda slice_: earlier.get(slice_.table.name) or self.validate(branch, slice_),
                    slices,
                )
            )
        results = [result for of_slice in by_slice for result in of_slice]
        rows = quality.result_rows(results, self.cluster, self.run_id, self.name, max(days_written))
        self.lake.append(QUALITY_RESULTS, rows)
        self.warnings += [
            f"{r.table_name}.{r.expectation}: {r.sentence}"
            for r in results
            if not r.success and r.severity == "warning"
        ]
        failure = quality.failure_message(results, self.name, self.cluster, self.run_id, branch.name)
        if failure:
            self._branches.remove(branch)
            raise quality.GateFailed(failure)
        branch.publish(self.cluster, self.run_id, self.name, days_written)
        return {result.table_name: result.rows for result in results}


def run(
    arguments: argparse.ArgumentParser,
    body: Callable[[Stage], Outcome],
    argv: Sequence[str] | None = None,
    nothing_to_do: Callable[[argparse.Namespace], str | None] = lambda _: None,
    workers_import: str | None = None,
    has_gate: bool = True,
) -> int:
    """Run a stage and return its exit code: 0 done, 1 failed, 2 bad arguments, 3 a gate failed.

    `nothing_to_do` may end the stage before anything else is done, with a sentence that says why. Spark starts when the body first
    asks for it. `workers_import`: as for `spark_session`. `has_gate`: whether an audit comes at its end, whose
    imports then begin with the stage.
    """
    stage = arguments.prog
    args = argparse.Namespace(result=None, cluster=None)
    try:
        args = arguments.parse_args(argv)
        _check_texts(args)
        if args.knowledge_package:
            store.activate(args.knowledge_package)
        use_folder(getattr(args, "knowledge", None))
        idle = nothing_to_do(args)
        if idle:
            return _finish(stage, args, OK, Outcome(idle), [])
        if has_gate:
            quality.import_in_background()
        start = partial(spark_session, stage, args.lake, workers_import)
        lake = Lake(None, args.lake, start)
        check_clock(lake.catalog)
        return _attempts(stage, args, lake, body)
    except Exception as error:
        code, message = _failure(stage, error)
        if message is None:
            traceback.print_exc()
            message = f"{stage}: {type(error).__name__}: {str(error).partition(chr(10))[0]}"
        return _finish(stage, args, code, Outcome(message), [])


def _attempts(stage: str, args: argparse.Namespace, lake: Lake, body: Callable[[Stage], Outcome]) -> int:
    """Run the body, again where the tables were changed under it."""
    for attempt in range(1, _ATTEMPTS + 1):
        work = Stage(stage, args, lake)
        try:
            return _finish(stage, args, OK, _outcome(work, body), work.warnings)
        except (ConcurrentCommit, SnapshotGone) as changed:
            print(f"{stage}: {changed}; attempt {attempt} of {_ATTEMPTS}", file=sys.stderr)
        finally:
            work.close()
    message = f"{stage}: the tables were changed under it {_ATTEMPTS} times; run it again"
    return _finish(stage, args, FAILED, Outcome(message), [])


def _outcome(work: Stage, body: Callable[[Stage], Outcome]) -> Outcome:
    """What the body gives, by Spark where this process has too little memory for its queries: how much they need depends on texts
    that clients choose, and on how many of them are in one row.
    """
    try:
        return body(work)
    except Exception as error:
        lacking = too_little_memory(error)
        if lacking is None or not getattr(work.arguments, "without_spark_up_to", 0):
            raise
    print(f"{work.name}: {lacking}: again, by Spark", file=sys.stderr, flush=True)
    work.arguments.without_spark_up_to = 0
    return body(work)


def _failure(stage: str, error: Exception) -> tuple[int, str | None]:
    """The exit code, and the line that says what to do; None for an error that nobody foresaw."""
    match error:
        case Unusable():
            return BAD_ARGUMENTS, f"{stage}: {error}"
        case quality.GateFailed():
            return GATE_FAILED, str(error)
        case WrongClock() | Superseded() | DamagedFile():
            return FAILED, f"{stage}: {error}"
        case UnusableCluster():
            return FAILED, f"{stage}: {error}. Nothing was written; mend it and run the stage again"
    if lacking := _lacking(error):
        return FAILED, f"{stage}: {lacking}. Nothing was published; mend it and run the stage again"
    if reason := unavailable(error) or failure_reason(error):
        return FAILED, f"{stage}: {reason}; run the stage again"
    return FAILED, None


def _lacking(error: Exception) -> str | None:
    """One line for an error caused by an executor that lacks something: one that joined after the check at the start."""
    with suppress(Exception):
        session = SparkSession.getActiveSession()
        if session is not None and is_cluster(session.conf.get("spark.master", "") or ""):
            return import_failure(str(error))
    return None


_NAMES_OF_CLIENTS = ("client_id", "principal")
"""Arguments with text that clients chose, which may be anything."""


def _check_texts(args: argparse.Namespace) -> None:
    """Raises UnusableLocation if a location holds a user or password, BadArguments if an argument is no text."""
    for name, value in vars(args).items():
        if isinstance(value, str):
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise BadArguments(f"--{name.replace('_', '-')} is not valid UTF-8: {value!r}") from error
            if name not in _NAMES_OF_CLIENTS:
                without_userinfo(value)


_STATUS = {OK: "ok", FAILED: "failed", BAD_ARGUMENTS: "bad_arguments", GATE_FAILED: "failed_gate"}


def _finish(
    stage: str, args: argparse.Namespace, code: int, outcome: Outcome, warnings: Sequence[str]
) -> int:
    print(outcome.message, file=sys.stdout if code == OK else sys.stderr, flush=True)
    for warning in warnings:
        print(f"{stage}: warning: {warning}", flush=True)
    if args.result:
        result = {
            "stage": stage,
            "cluster": args.cluster,
            "status": _STATUS[code],
            "message": outcome.message,
            "warnings": list(warnings),
            "counts": outcome.counts,
            **outcome.details,
        }
        files, path = file_system(absolute_url(args.result))
        files.create_dir(path.rpartition("/")[0], recursive=True)
        with files.open_output_stream(path, compression=None) as out:
            out.write(json.dumps(result, indent=1, default=str).encode())
    return code
