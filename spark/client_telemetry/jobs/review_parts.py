"""Some of a review's clients or changes, as rows of its tables and of the published files: written by Spark's tasks, as
there are many.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from client_telemetry.formats.raw.garbage_collection import collector_paused
from client_telemetry.lake.writer import TablePlace, write_rows
from client_telemetry.reports.review.document import Lines, change_lines, outcome_lines
from client_telemetry.review.metric_changes import MetricChange, table_rows
from client_telemetry.review.model import ReviewedClient
from client_telemetry.review.outcome_rows import RowsOf, outcome_rows
from client_telemetry.tables.metric_changes import METRIC_CHANGES
from client_telemetry.tables.upgrade_outcomes import UPGRADE_OUTCOMES

CHANGES_OF_A_PART = 15_000

Item = TypeVar("Item")


class WrittenClients(NamedTuple):
    """`lines`: client key -> its lines. `urls`: of the data files with the rows."""

    lines: Mapping[tuple[str | None, str, str], Lines]
    urls: Sequence[str]


class WrittenChanges(NamedTuple):
    lines: Lines
    urls: Sequence[str]


def outcomes(review: RowsOf, place: TablePlace, clients: Sequence[ReviewedClient]) -> WrittenClients:
    if not clients:
        return WrittenClients({}, ())
    urls = write_rows(UPGRADE_OUTCOMES, place, outcome_rows(clients, review))
    return WrittenClients({client.key: outcome_lines([client]) for client in clients}, urls)


def all_lines(clients: Iterable[ReviewedClient], written: Iterable[WrittenClients]) -> list[Lines]:
    """Lines in the order of the clients, all of which were written."""
    by_key = {key: lines for written_part in written for key, lines in written_part.lines.items()}
    return [by_key[client.key] for client in clients]


def metric_changes(
    cluster_id: str, review_id: str, place: TablePlace, changes: Sequence[MetricChange]
) -> WrittenChanges:
    with collector_paused():
        rows = table_rows(changes, cluster_id, review_id)
        return WrittenChanges(change_lines(changes), write_rows(METRIC_CHANGES, place, rows))


def parts(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    return [items[first : first + size] for first in range(0, len(items), size)]
