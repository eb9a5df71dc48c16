"""Rows of campaign_states."""

from collections.abc import Iterable, Sequence

from client_telemetry.campaign.recorded import Recorded
from client_telemetry.campaign.states import StateChange, current
from client_telemetry.formats.typed_values import of_row
from client_telemetry.tables.rows import CampaignStateRow


def state_row(cluster_id: str, row: Recorded) -> CampaignStateRow:
    change = row.change
    return {
        "cluster_id": cluster_id,
        "campaign": change.campaign,
        "cluster": change.cluster,
        "principal": change.principal or "",
        "application": change.application,
        "day": change.day,
        "revision": row.revision,
        "recorded_on": row.recorded_on,
        "state": change.state,
        "before": change.before or None,
        "why": change.why,
        "by": change.by or None,
        "until": change.until,
        "owner": change.owner,
        "owner_contact": change.contact,
        "verdict": change.verdict,
        "fix": change.fix,
        "rules": list(change.rules),
        "report_id": change.report_id,
        "affected_since": change.affected_since,
        "formerly": list(change.formerly),
    }


def recorded_state(row: CampaignStateRow) -> Recorded:
    change = of_row(
        StateChange,
        row,
        principal=row["principal"] or None,
        contact=row["owner_contact"],
        before=row["before"] or "",
        by=row["by"] or "",
    )
    return Recorded(change, row["revision"], row["recorded_on"])


def counts(changes: Iterable[StateChange], new: Sequence[Recorded]) -> dict[str, int]:
    """Changes and corrections among the new rows, and applications by state. `changes`: of one cluster."""
    corrected = sum(row.revision > 1 for row in new)
    states: dict[str, int] = {}
    for change in current(changes):
        states[change.state] = states.get(change.state, 0) + 1
    return {"changes": len(new) - corrected, "corrections": corrected, **states}
