"""Puts a review where people find it: <root>/upgrade_review/<cluster>/<review>/, and `latest.json` beside it."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from client_telemetry.reports import folder
from client_telemetry.reports.folder import PAGE
from client_telemetry.reports.json_text import timestamp
from client_telemetry.reports.names import folder_name
from client_telemetry.reports.review.document import files
from client_telemetry.reports.review.page import review_page
from client_telemetry.reports.review.report import ReviewReport
from client_telemetry.reports.review.ticket import owner_packs


def pages(report: ReviewReport) -> dict[str, str]:
    """What people read, by path within the review's folder; document.files come beside it."""
    return {
        PAGE: review_page(report),
        **owner_packs(report),
        "summary.json": json.dumps(_summary(report), indent=1) + "\n",
    }


def publish(report: ReviewReport, root: Path) -> Path:
    """Writes the review below `root` and returns its folder; one of the same id is replaced whole."""
    return put(report, {**pages(report), **files(report)}, root)


def put(report: ReviewReport, texts: Mapping[str, str | Iterable[str]], root: Path) -> Path:
    """As `publish`, with contents that were made before."""
    cluster = root / "upgrade_review" / folder_name(report.cluster_name)
    return folder.publish(cluster, folder_name(report.review_id), texts.items(), _summary(report))


def _summary(report: ReviewReport) -> dict[str, str]:
    return {
        "review_id": report.review_id,
        "from_release": report.review.upgrade.from_release,
        "to_release": report.review.upgrade.to_release,
        "sentence": report.sentence,
        "created_at": timestamp(report.created_at),
    }
