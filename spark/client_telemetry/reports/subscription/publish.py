"""The files of a check, and where they are put: <root>/subscription_check/<cluster>/<report>/, and `latest.json`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from client_telemetry.reports import folder
from client_telemetry.reports.folder import PAGE as PAGE
from client_telemetry.reports.names import folder_name
from client_telemetry.reports.spreadsheet import table_csv
from client_telemetry.reports.subscription.page import check_page
from client_telemetry.reports.subscription.ticket import ticket

FOLDER = "subscription_check"
_SUMMARY = (
    "schema_version",
    "report_id",
    "cluster_id",
    "release",
    "answer",
    "sentence",
    "instances",
    "totals",
    "created_at",
)


def publish(found: Mapping[str, Any], root: Path) -> Path:
    """Writes the folder below `root` and returns it: all of its files or none; one of the same id is replaced."""
    cluster = root / FOLDER / folder_name(found["cluster_name"])
    return folder.publish(cluster, folder_name(found["report_id"]), files(found).items(), _summary(found))


def files(found: Mapping[str, Any]) -> dict[str, str]:
    """Name within the folder to content."""
    return {
        PAGE: check_page(found),
        "report.json": json.dumps(found, indent=1, ensure_ascii=False) + "\n",
        "summary.json": json.dumps(_summary(found), indent=1) + "\n",
        "report.md": ticket(found),
        "clients.csv": _csv(found["clients"]),
        "instances.csv": _csv(found["client_instances"]),
    }


def _summary(found: Mapping[str, object]) -> dict[str, object]:
    return {name: found[name] for name in _SUMMARY}


def _csv(rows: list[dict[str, object]]) -> str:
    header = tuple(rows[0]) if rows else ()
    return table_csv(header, ([_cell(value) for value in row.values()] for row in rows))


def _cell(value: object) -> object:
    if isinstance(value, dict):
        return tuple(f"{key}: {', '.join(of)}" for key, of in value.items())
    return tuple(value) if isinstance(value, list) else value
