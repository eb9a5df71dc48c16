"""The clients of a report as a join takes them (inventory/seen.py)."""

from typing import cast

from client_telemetry.formats import report_file
from client_telemetry.inventory.seen import Seen, from_report
from client_telemetry.reports.upgrade.model import ClientVerdict, UpgradeReport


def seen_clients(report: UpgradeReport) -> Seen:
    """The same as from its report.json, which is not written yet."""
    asked = {**vars(report.question), "last_dt": report.question.last_dt.isoformat()}
    clients = (_client(each) for each in report.clients)
    return from_report(cast("report_file.Report", {"question": asked, "clients": clients}))


def _client(client: ClientVerdict) -> dict[str, object]:
    return {
        **vars(client),
        "candidates": [{"library": each.library} for each in client.candidates],
        "first_seen_at": client.first_seen_at.isoformat(),
        "last_seen_at": client.last_seen_at.isoformat(),
    }
