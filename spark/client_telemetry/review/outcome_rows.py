"""Rows of upgrade_outcomes from a review. Pure."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from client_telemetry.activity.records import moment
from client_telemetry.knowledge import apis
from client_telemetry.review.model import ReviewedClient
from client_telemetry.review.outcome import Outcome
from client_telemetry.review.phases import Phase, Upgrade
from client_telemetry.tables.rows import UpgradeOutcomeRow


class RowsOf(NamedTuple):
    """The review to which rows belong."""

    cluster_id: str
    upgrade: Upgrade
    review_id: str
    report_id: str | None
    reviewed_at: datetime


def outcome_rows(clients: Iterable[ReviewedClient], review: RowsOf) -> list[UpgradeOutcomeRow]:
    """One per client and phase after `before`."""
    return [
        _row(client, happened, phase, review)
        for client in clients
        for happened, phase in zip(client.outcomes, review.upgrade.phases[1:], strict=True)
    ]


def _row(client: ReviewedClient, happened: Outcome, phase: Phase, review: RowsOf) -> UpgradeOutcomeRow:
    foreseen = client.prediction
    return {
        "cluster_id": review.cluster_id,
        "review_id": review.review_id,
        "from_release": review.upgrade.from_release,
        "to_release": review.upgrade.to_release,
        "report_id": review.report_id,
        "client_id": client.client_id,
        "principal": client.principal,
        "client_software_name": client.software_name,
        "client_software_version": client.software_version,
        "addresses": list(client.addresses),
        "phase": phase.name,
        "phase_from": moment(phase.since),
        "phase_until": moment(phase.until),
        "predicted": None if foreseen is None else foreseen.by_phase.get(phase.name, foreseen.verdict),
        "predicted_when": None if foreseen is None else foreseen.when,
        "rules": []
        if foreseen is None
        else sorted({rule.rule_id for rule in foreseen.rules if rule.decides}),
        "outcome": happened.outcome,
        "kind": happened.kind,
        "since": None if happened.since is None else moment(happened.since),
        "confidence": happened.confidence,
        "comparison": client.comparison,
        "lost_functions": sorted(happened.lost),
        "api_keys": sorted(happened.api_keys),
        "api_names": [apis.name(key) for key in sorted(happened.api_keys)],
        "reasons": list(happened.reasons),
        "rates": [
            {"function": name, "before": before, "after": after} for name, before, after in happened.rates
        ],
        "fix": client.fix or None,
        "owner": client.owner,
        "owner_contact": client.owner_contact,
        "reviewed_at": review.reviewed_at,
    }
