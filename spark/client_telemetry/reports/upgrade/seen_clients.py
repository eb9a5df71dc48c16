"""The clients of a report as a join takes them (inventory/seen.py)."""

from typing import Final, cast

from client_telemetry.formats import report_file
from client_telemetry.inventory.seen import Seen, from_report
from client_telemetry.reports.upgrade.model import ClientVerdict, UpgradeReport

_AS_IT_IS: Final = tuple(
    name
    for name in report_file.Client.__annotations__
    if name not in ("candidates", "findings", "first_seen_at", "last_seen_at")
)


def seen_clients(report: UpgradeReport) -> Seen:
    """The same as from its report.json, which is not written yet."""
    question = report.question
    asked = {
        "cluster_name": question.cluster_name,
        "report_id": question.report_id,
        "from_release": question.from_release,
        "to_release": question.to_release,
        "last_dt": question.last_dt.isoformat(),
    }
    clients = (_client(each) for each in report.clients)
    return from_report(cast("report_file.Report", {"question": asked, "clients": clients}))


def _client(client: ClientVerdict) -> dict[str, object]:
    return {
        **{name: getattr(client, name) for name in _AS_IT_IS},
        "candidates": [{"library": each.library} for each in client.candidates],
        "first_seen_at": client.first_seen_at.isoformat(),
        "last_seen_at": client.last_seen_at.isoformat(),
    }
