"""A review's tables and pages: Spark writes and audits rows, while this process compares metrics and makes the pages."""

import datetime as dt
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from client_telemetry.activity.client_metrics import Series
from client_telemetry.jobs import review_parts
from client_telemetry.jobs.review_parts import WrittenChanges, WrittenClients
from client_telemetry.lake.branch import Branch
from client_telemetry.pipeline.place import published_place
from client_telemetry.pipeline.stage import Slice, Stage
from client_telemetry.reports.folder import PAGE
from client_telemetry.reports.names import folder_name
from client_telemetry.reports.review.document import files_of_lines
from client_telemetry.reports.review.publish import pages, put
from client_telemetry.reports.review.report import ReviewReport, report_of
from client_telemetry.review import rule_records
from client_telemetry.review.metric_changes import MetricChange
from client_telemetry.review.metric_curves import MetricReview
from client_telemetry.review.metric_review import Reviewed
from client_telemetry.review.model import Review
from client_telemetry.review.planned import Planned
from client_telemetry.tables.metric_changes import METRIC_CHANGES
from client_telemetry.tables.rule_records import RULE_RECORDS
from client_telemetry.tables.upgrade_outcomes import UPGRADE_OUTCOMES
from client_telemetry.workers.pieces import in_tasks

WRITTEN = (UPGRADE_OUTCOMES, METRIC_CHANGES, RULE_RECORDS)


class ReviewName(NamedTuple):
    review_id: str
    plan: Planned
    created_at: dt.datetime


def write(
    stage: Stage,
    branch: Branch,
    name: ReviewName,
    days: Sequence[dt.date],
    reviewed: Reviewed[WrittenClients],
    pushed: Sequence[Series],
) -> tuple[ReviewReport, str]:
    """What is published, and where its page is."""
    review = reviewed.review
    where: dict[str, object] = {"cluster_id": stage.cluster, "review_id": name.review_id}
    facts = {"clients": float(len(review.clients)), "phases": float(len(review.upgrade.phases) - 1)}
    slices = [Slice(table, where, facts) for table in WRITTEN]
    branch.replace_files(UPGRADE_OUTCOMES, [url for part in reviewed.written for url in part.urls], **where)
    with ThreadPoolExecutor(2) as tasks:
        validated = tasks.submit(stage.validate, branch, slices[0])
        changed = reviewed.changes(pushed)
        changes = tasks.submit(_write_changes, stage, name.review_id, changed)
        metrics = reviewed.metrics(changed, pushed)
        releases = name.plan.from_release, name.plan.to_release
        rules = rule_records.table_rows(
            review.rules, stage.cluster, name.review_id, releases, name.created_at
        )
        branch.replace_rows(RULE_RECORDS, rules, **where)
        report = _report(stage, name, review, metrics)
        texts: dict[str, str | Iterable[str]] = {**pages(report)}
        written_changes = changes.result()
    branch.replace_files(METRIC_CHANGES, [url for part in written_changes for url in part.urls], **where)
    with ThreadPoolExecutor(1) as pool:
        audited = pool.submit(
            stage.publish, branch, slices, days, {UPGRADE_OUTCOMES.name: validated.result()}
        )
        lines = review_parts.all_lines(review.clients, reviewed.written)
        texts |= files_of_lines(report, lines, [part.lines for part in written_changes])
        audited.result()
    with published_place(stage.arguments.publish, "upgrade_review") as place:
        return report, place.shown(put(report, texts, place.root) / PAGE)


def _write_changes(stage: Stage, review_id: str, changes: Sequence[MetricChange]) -> list[WrittenChanges]:
    write = partial(review_parts.metric_changes, stage.cluster, review_id, stage.lake.place(METRIC_CHANGES))
    return in_tasks(stage.lake.spark, write, review_parts.parts(changes, review_parts.CHANGES_OF_A_PART))


def _report(stage: Stage, name: ReviewName, review: Review, metrics: MetricReview) -> ReviewReport:
    cluster_name, report_id = stage.cluster_name, name.plan.report_id
    link = f"../../../upgrade_impact/{folder_name(cluster_name)}/{folder_name(report_id or '')}/{PAGE}"
    others = [
        rule_records.from_row(row)
        for row in stage.lake.rows(RULE_RECORDS)
        if (row["cluster_id"], row["review_id"]) != (stage.cluster, name.review_id)
    ]
    return report_of(
        review,
        name.review_id,
        cluster_name,
        name.created_at,
        metrics,
        (report_id, link) if report_id else None,
        rule_records.totals([*others, *review.rules]),
    )
