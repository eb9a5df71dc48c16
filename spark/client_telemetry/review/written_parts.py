"""Some of a review's clients or changes, as rows of its tables and of the published files: made by Spark's tasks, as there are many."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar

from client_telemetry.lake.writer import TablePlace, write_rows
from client_telemetry.pipeline.garbage_collection import collector_paused
from client_telemetry.reports.review.document import Lines, change_lines, outcome_lines
from client_telemetry.review.metric_changes import MetricChange, table_rows
from client_telemetry.review.model import Review
from client_telemetry.review.outcome_rows import outcome_rows
from client_telemetry.tables.metric_changes import METRIC_CHANGES
from client_telemetry.tables.upgrade_outcomes import UPGRADE_OUTCOMES

CLIENTS_OF_A_PART, CHANGES_OF_A_PART = 5_000, 15_000

Item = TypeVar("Item")


class Written(NamedTuple):
    """`urls`: of the data files with the rows."""

    lines: Lines
    urls: list[str]


def outcomes(
    review_id: str, report_id: str | None, reviewed_at: datetime, place: TablePlace, found: Review
) -> Written:
    with collector_paused():
        rows = outcome_rows(found, review_id, report_id, reviewed_at)
        return Written(outcome_lines(found.clients), write_rows(UPGRADE_OUTCOMES, place, rows))


def metric_changes(
    cluster_id: str, review_id: str, place: TablePlace, changes: Sequence[MetricChange]
) -> Written:
    with collector_paused():
        rows = table_rows(changes, cluster_id, review_id)
        return Written(change_lines(changes), write_rows(METRIC_CHANGES, place, rows))


def parts(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    return [items[first : first + size] for first in range(0, len(items), size)]
