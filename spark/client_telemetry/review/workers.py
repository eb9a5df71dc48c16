"""Clients judged in tasks (workers/exchange.py), from data files of connection_events (event_files.py) and of a report.

Everything about one client (client id with its changing parts masked, and principal: tracks.py) goes to one worker,
which makes a Part from all that it receives: clients that continue as before all at once (plain_clients.py), the others
one by one (in_parts.py).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from operator import attrgetter
from typing import Generic, NamedTuple, TypeVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from client_telemetry import knowledge
from client_telemetry.activity import event_files
from client_telemetry.activity.event_files import Events, Known, Uses
from client_telemetry.activity.records import Activity
from client_telemetry.activity.table_evidence import Gathering
from client_telemetry.formats.raw.garbage_collection import collector_paused
from client_telemetry.identity.client_families import family
from client_telemetry.knowledge import kip511
from client_telemetry.lake.files import PartitionFile, files_by_task, stored_rows
from client_telemetry.review import applications
from client_telemetry.review.in_parts import part
from client_telemetry.review.metric_changes import Group
from client_telemetry.review.model import ReviewedClient
from client_telemetry.review.outcome import Outcome
from client_telemetry.review.plain_clients import plain_clients
from client_telemetry.review.prediction import Prediction, from_report
from client_telemetry.review.setting import Part, Setting
from client_telemetry.review.tracks import Track
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.rows import ClientRow, UpgradeFindingRow, UpgradeVerdictRow
from client_telemetry.tables.table import Table
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS, VERDICTS
from client_telemetry.workers.columns import Vector
from client_telemetry.workers.exchange import Exchange, read_in_tasks
from client_telemetry.workers.pieces import Pieces, by_part

READ_BY_A_TASK = 500_000
_OF_ALL = -1
"""Bucket with the totals over all clients."""
_IDENTITY = ("client_id", "principal", "client_software_name", "client_software_version", "program")
_VERDICT = (
    "verdict",
    "confidence",
    "when",
    "explanation",
    "fix",
    "mixed_verdict",
    "rollback_verdict",
)
_FARED = attrgetter(*(field.name for field in fields(Outcome) if field.name != "rates"))
_FINDING = ("rule_id", "verdict", "when", "api_key", "condition_met", "explanation", "fix")


class ReportFiles(NamedTuple):
    """Data files of one report; empty without a report. A file may also have rows of other reports."""

    report_id: str = ""
    verdicts: Sequence[PartitionFile] = ()
    findings: Sequence[PartitionFile] = ()


Written = TypeVar("Written")
Found = TypeVar("Found")
Write = Callable[[Sequence[ReviewedClient]], Written]


class Judged(NamedTuple, Generic[Written]):
    """For some of the clients: the results, and what was written about those in its parts, whose rates are removed.
    `names`: applications of the suspects.
    """

    parts: list[Part]
    written: Written
    names: applications.Names


class _ReportAndNames:
    """The report's predictions and the daily run's application names for some clients."""

    def __init__(self) -> None:
        self._verdicts: list[tuple[tuple[str | None, ...], tuple[object, ...]]] = []
        self._findings: dict[tuple[object, ...], list[tuple[object, ...]]] = {}
        self._profiled: list[ClientRow] = []

    def add(self, table: str, rows: pa.Table) -> None:
        """`rows`: of `table`."""
        if table == CLIENTS.name:
            self._profiled += rows.to_pylist()
            return
        names = _VERDICT if table == UPGRADE_VERDICTS.name else _FINDING
        keys = zip(*(rows[name].to_pylist() for name in _IDENTITY), strict=True)
        values = zip(*(rows[name].to_pylist() for name in names), strict=True)
        for key, own in zip(keys, values, strict=True):
            if table == UPGRADE_VERDICTS.name:
                self._verdicts.append((key, own))
            else:
                self._findings.setdefault(key, []).append(own)

    def predictions(self) -> dict[tuple[str | None, str, str], Prediction]:
        """If several programs share a client id, the one with the worst verdict counts: the review does not distinguish
        them.
        """
        order = list(VERDICTS)
        by_client: dict[tuple[str | None, str, str], Prediction] = {}
        for key, own in sorted(self._verdicts, key=lambda verdict: (str(verdict[1]), str(verdict[0]))):
            client = key[0], key[1] or "", kip511.registered(key[2])
            prediction = _prediction(own, tuple(sorted(self._findings.get(key, ()), key=str)))
            earlier = by_client.get(client)
            if earlier is None or order.index(prediction.verdict) < order.index(earlier.verdict):
                by_client[client] = prediction
        return by_client

    def names(self) -> applications.Names:
        return applications.of_rows(self._profiled)


class ClientRows:
    """What clients did, in buckets. Kept until `close`."""

    def __init__(
        self,
        spark: SparkSession | None,
        events: Sequence[PartitionFile],
        report: ReportFiles,
        profiled: Sequence[PartitionFile],
        slot_seconds: int,
    ) -> None:
        """Data files: `events` of connection_events, `profiled` of clients."""
        tasks = files_by_task(events, READ_BY_A_TASK)
        self._buckets = buckets = event_files.tasks_for(events)

        def read(task: int) -> Pieces:
            return event_files.read(tasks[task], buckets)

        def differ(pieces: Iterator[Events]) -> Pieces:
            return event_files.differences(pieces, slot_seconds, buckets)

        def read_report(task: int) -> Pieces:
            return _read_report(report, buckets)

        def read_names(task: int) -> Pieces:
            return _read_in_buckets(CLIENTS, profiled, applications.READ, buckets)

        self._found = read_in_tasks(spark, len(tasks), read).moved(buckets).worked(differ).kept()
        self._report = read_in_tasks(spark, 1, read_report)
        self._names = read_in_tasks(spark, 1, read_names)

    def known(self) -> Known:
        return Known.of_all(self._found.with_numbers(_OF_ALL).collected())

    def judged(self, common: Setting, write: Write[Written]) -> list[Judged[Written]]:
        """`write` is called in the tasks, with clients that are independent of others."""

        def judge(pieces: list[Uses], report: _ReportAndNames, common: Setting) -> Judged[Written]:
            return _judged(pieces, report, common, write)

        return self._worked(self._pieces().union(self._names), common, judge)

    def tracks_of(self, common: Setting, clients: Sequence[Group]) -> list[Track]:
        """The tracks of a few clients, and of others with the same names."""
        names_wanted = frozenset((_masked(client.client_id), client.principal) for client in clients)
        table = pa.table(
            {
                "client_id": pa.array([client.client_id for client in clients], pa.string()),
                "principal": pa.array([client.principal for client in clients], pa.string()),
            }
        )
        buckets = sorted(set(event_files.bucket_of_clients(table, self._buckets).tolist()))
        pieces = self._pieces().with_numbers(*buckets)

        def tracks(pieces: list[Uses], report: _ReportAndNames, common: Setting) -> list[Track]:
            uses = event_files.together(event_files.only(piece, is_wanted(piece)) for piece in pieces)
            everybody = np.ones(len(uses.clients), bool)
            return part(_activities(uses, everybody, common), common, report.predictions())[1]

        def is_wanted(uses: Uses) -> Vector:
            names = zip(*(uses.clients[name].to_pylist() for name in ("client_id", "principal")), strict=True)
            return np.array([(_masked(c), p or "") in names_wanted for c, p in names], bool)

        return [
            track for tracks_of_bucket in self._worked(pieces, common, tracks) for track in tracks_of_bucket
        ]

    def _pieces(self) -> Exchange:
        return self._found.of_parts().union(self._report)

    def _worked(
        self,
        pieces: Exchange,
        common: Setting,
        work_on: Callable[[list[Uses], _ReportAndNames, Setting], Found],
    ) -> list[Found]:
        own = knowledge.in_use()

        def work(pieces: Iterator[Uses | tuple[str, pa.Table]]) -> Pieces:
            knowledge.use(own)
            uses: list[Uses] = []
            report = _ReportAndNames()
            for piece in pieces:
                if isinstance(piece, Uses):
                    uses.append(piece)
                else:
                    report.add(*piece)
            if uses:
                with collector_paused():
                    result = work_on(uses, report, common)
                yield 0, result

        return pieces.moved(self._buckets).worked(work).collected()

    def close(self) -> None:
        self._found.release()


def _judged(
    pieces: list[Uses], report: _ReportAndNames, common: Setting, write: Write[Written]
) -> Judged[Written]:
    uses, predictions, names = event_files.together(pieces), report.predictions(), report.names()
    plain, is_plain = plain_clients(uses, common, predictions)
    rest, _ = part(_activities(uses, ~is_plain, common), common, predictions)
    clients = list(applications.named([*plain.clients, *rest.clients], names))
    written_clients = write(clients)
    suspects = {track.key[:2] for track, _ in rest.suspects}
    return Judged(
        [plain._replace(clients=_without_rates(clients)), rest._replace(clients=[])],
        written_clients,
        {key: name for key, name in names.items() if key[:2] in suspects},
    )


def _without_rates(clients: Iterable[ReviewedClient]) -> list[ReviewedClient]:
    """What was written has the rates. Without them most clients have equal outcomes, which are sent only once."""
    shared: dict[tuple[object, ...], tuple[Outcome, ...]] = {}
    without = []
    for client in clients:
        fared = tuple(map(_FARED, client.outcomes))
        if fared not in shared:
            shared[fared] = tuple(replace(happened, rates=()) for happened in client.outcomes)
        without.append(replace(client, outcomes=shared[fared]))
    return without


def _activities(uses: Uses, is_wanted: Vector, common: Setting) -> list[Activity]:
    gathered = Gathering(common.slot_seconds)
    gathered.add(uses, is_wanted)
    return gathered.activities()


def _masked(client_id: str | None) -> str | None:
    return None if client_id is None else family(client_id).text


def _read_report(report: ReportFiles, buckets: int) -> Pieces:
    kinds = ((UPGRADE_VERDICTS, report.verdicts, _VERDICT), (UPGRADE_FINDINGS, report.findings, _FINDING))
    for table, files, names in kinds:
        columns = ("report_id", *_IDENTITY, *names)
        yield from _read_in_buckets(table, files, columns, buckets, pc.field("report_id") == report.report_id)


def _read_in_buckets(
    table: Table,
    files: Sequence[PartitionFile],
    columns: Sequence[str],
    buckets: int,
    condition: pc.Expression | None = None,
) -> Pieces:
    """(bucket, (table's name, rows))."""
    for group in stored_rows(files, table, columns):
        rows = group if condition is None else group.filter(condition)
        for bucket, own in by_part(rows, event_files.bucket_of_clients(rows, buckets)):
            yield bucket, (table.name, own)


@lru_cache(maxsize=20_000)
def _prediction(verdict: tuple[object, ...], findings: tuple[tuple[object, ...], ...]) -> Prediction:
    rows = [cast("UpgradeFindingRow", dict(zip(_FINDING, finding, strict=True))) for finding in findings]
    return from_report(cast("UpgradeVerdictRow", dict(zip(_VERDICT, verdict, strict=True))), rows)
