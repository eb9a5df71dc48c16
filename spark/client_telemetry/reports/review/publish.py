"""Puts a review where people find it: <root>/upgrade_review/<cluster>/<review>/, and `latest.json` beside it."""

import json
from pathlib import Path

from client_telemetry.reports.folder import replace_file, replace_folder
from client_telemetry.reports.names import folder_name
from client_telemetry.reports.review.document import files
from client_telemetry.reports.review.page import review_page
from client_telemetry.reports.review.report import ReviewReport
from client_telemetry.reports.review.ticket import owner_packs
from client_telemetry.reports.upgrade.document import timestamp

PAGE = "index.html"


def publish(report: ReviewReport, root: Path) -> Path:
    """Writes the review below `root` and returns its folder; one of the same id is replaced whole."""
    cluster = root / "upgrade_review" / folder_name(report.cluster_name)
    folder = cluster / folder_name(report.review_id)
    summary = {
        "review_id": report.review_id,
        "from_release": report.review.upgrade.from_release,
        "to_release": report.review.upgrade.to_release,
        "sentence": report.sentence,
        "created_at": timestamp(report.created_at),
    }
    contents = {
        PAGE: review_page(report),
        **files(report),
        "summary.json": json.dumps(summary, indent=1) + "\n",
        **owner_packs(report),
    }
    replace_folder(folder, contents.items())
    replace_file(
        cluster / "latest.json", json.dumps({"path": f"{folder.name}/{PAGE}", **summary}, indent=1) + "\n"
    )
    return folder
