"""What a stage reads: days of one cluster, in tables that were published together.

inputs = StageInputs.of(stage, days, READ)
inputs.frame(CLIENTS)
inputs.rows(BROKERS)
inputs.files(CONNECTION_EVENTS)
"""

import argparse
import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Self

from pyspark.sql import DataFrame

from client_telemetry.lake.commits import SnapshotGone
from client_telemetry.lake.files import PartitionFile, rows_in
from client_telemetry.lake.lake import Lake
from client_telemetry.pipeline.stage import BadArguments, Stage
from client_telemetry.tables.quality_results import QUALITY_RESULTS
from client_telemetry.tables.rows import QualityResultRow
from client_telemetry.tables.table import Row, Table


@dataclass(frozen=True)
class StageInputs:
    lake: Lake
    cluster: str
    days: Sequence[dt.date]
    snapshots: Mapping[str, int]
    """Table name -> snapshot that readers see."""

    @classmethod
    def of(cls, stage: Stage, days: Sequence[dt.date], tables: Sequence[Table]) -> Self:
        """Raises BadArguments if no stage has written one of the tables."""
        return cls.of_cluster(stage.lake, stage.cluster, days, tables)

    @classmethod
    def of_cluster(cls, lake: Lake, cluster: str, days: Sequence[dt.date], tables: Sequence[Table]) -> Self:
        published = lake.published(cluster)
        if missing := [table.name for table in tables if table.name not in published]:
            raise BadArguments(
                f"no stage has written {', '.join(missing)} to {lake.location}: run the stages before this one"
            )
        return cls(lake, cluster, days, {table.name: published[table.name] for table in tables})

    def on(self, days: Sequence[dt.date]) -> Self:
        """The same tables on other days."""
        return replace(self, days=days)

    def frame(self, table: Table) -> DataFrame:
        condition = Stage.condition({"cluster_id": self.cluster, "dt": list(self.days)})
        return self.lake.read(table, self.snapshots[table.name]).where(condition)

    def rows(self, table: Table[Row]) -> list[Row]:
        """Day by day."""
        snapshot = self.snapshots[table.name]
        rows = self.lake.rows(table, snapshot, cluster_id=self.cluster, dt=list(self.days))
        return sorted(rows, key=itemgetter("dt"))

    def files(self, table: Table) -> list[PartitionFile]:
        return self.lake.files(table, self.snapshots[table.name], cluster_id=self.cluster, dt=list(self.days))

    def count(self, table: Table) -> int:
        """Number of rows."""
        return rows_in(self.files(table), table)


def days_of_evidence(lake: Lake, args: argparse.Namespace, last: dt.date | None = None) -> list[dt.date]:
    """For a question: the published days among the `window` days that end with `day`, otherwise with `last`, otherwise with
    the last published one. Raises BadArguments if there is none.
    """
    published = sorted(lake.published_days(args.cluster, "profile"))
    if not published:
        raise BadArguments(
            f"no day of cluster {args.cluster!r} has been processed: run client_telemetry_daily first"
        )
    until = args.day or last or published[-1]
    days = [day for day in published if until - dt.timedelta(days=args.window) < day <= until]
    if not days:
        raise BadArguments(
            f"no processed day of cluster {args.cluster!r} lies in the {args.window} days up to {until}; "
            f"processed are {published[0]} to {published[-1]}"
        )
    return days


def as_read(
    stage: Stage, table: Table[Row], snapshot: int, columns: Sequence[str] = (), **equal: object
) -> list[Row]:
    """The cluster's rows that a report was made from; if they are no longer kept, those in the table today, with a
    warning.
    """
    where = {"cluster_id": stage.cluster, **equal}
    try:
        return stage.lake.rows(table, snapshot, columns, **where)
    except SnapshotGone:
        warning = (
            f"{table.name}: the rows that the report was made from are no longer kept, because of an erasure or the "
            "retention; the page shows today's rows of the same days"
        )
        if warning not in stage.warnings:
            stage.warnings.append(warning)
        return stage.lake.rows(table, None, columns, **where)


def latest_results(
    stage: Stage, days: Sequence[dt.date], counts: Callable[[QualityResultRow], bool]
) -> list[QualityResultRow]:
    """The gates' last result for each expectation on each day, among those that count."""
    latest: dict[tuple[dt.date, str, str], QualityResultRow] = {}
    rows = stage.lake.rows(QUALITY_RESULTS, cluster_id=stage.cluster, dt=list(days))
    for row in sorted(rows, key=lambda row: row["evaluated_at"]):
        if counts(row):
            latest[row["dt"], row["table_name"], row["expectation"]] = row
    return list(latest.values())
