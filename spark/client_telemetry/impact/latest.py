"""Which answer to an upgrade question is the latest: `upgrade_reports.is_latest`."""

import datetime as dt
from collections.abc import Mapping
from typing import cast

from client_telemetry.lake.lake import Lake
from client_telemetry.tables.rows import UpgradeReportRow
from client_telemetry.tables.upgrade_reports import UPGRADE_REPORTS


def marked(lake: Lake, answered: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The row of a report, and the stored rows of the same question whose mark it changes, with their marks."""
    report = cast("UpgradeReportRow", answered)
    # All others are marked as older, and their files are not opened.
    stored = lake.rows(
        UPGRADE_REPORTS,
        is_latest=[True, None],
        cluster_id=report["cluster_id"],
        from_release=report["from_release"],
        to_release=report["to_release"],
    )
    others = [row for row in stored if row["report_id"] != report["report_id"]]
    latest = max((*others, report), key=_age)
    changed = [row for row in others if row["is_latest"] is not (row is latest)]
    return [{**row, "is_latest": row is latest} for row in (report, *changed)]


def _age(report: UpgradeReportRow) -> tuple[dt.date, dt.datetime]:
    return report["last_dt"], report["created_at"]
