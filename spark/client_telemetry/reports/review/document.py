"""review.json, outcomes.csv and metric_changes.csv, of the same rows. Client-supplied strings are in review.json as they came. Fields:
docs/review.md."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from client_telemetry.knowledge import apis
from client_telemetry.reports.json_text import timestamp
from client_telemetry.reports.review.report import SCHEMA_VERSION, ReviewReport, moment
from client_telemetry.reports.spreadsheet import csv_lines, with_mark
from client_telemetry.review.metric_changes import MetricChange, row
from client_telemetry.review.model import ReviewedClient
from client_telemetry.review.outcome import Outcome
from client_telemetry.review.rule_records import COUNTS, RuleRecord
from client_telemetry.tables.rows import MetricChangeRow

OUTCOME_COLUMNS = (
    "application",
    "client_id",
    "principal",
    "client_software_name",
    "client_software_version",
    "addresses",
    "owner",
    "owner_contact",
    "phase",
    "predicted",
    "predicted_when",
    "outcome",
    "kind",
    "since",
    "confidence",
    "comparison",
    "lost",
    "apis",
    "reasons",
    "fix",
    "rates",
)
_NOT_SHOWN = frozenset(
    ("cluster_id", "review_id", "instance_id", "before_from", "before_until", "after_from", "after_until")
)
METRIC_COLUMNS = tuple(name for name in MetricChangeRow.__annotations__ if name not in _NOT_SHOWN)


_encoded = json.JSONEncoder(allow_nan=False).encode
"""One encoder for all rows: json.dumps makes one for each."""


class Lines(NamedTuple):
    """Of some clients or changes. `json`: their objects, separated."""

    json: str
    csv: str


def outcome_lines(clients: Iterable[ReviewedClient]) -> Lines:
    rows = [row for client in clients for row in outcome_rows(client)]
    return Lines(_objects(rows), csv_lines(map(_cells, rows)))


def change_lines(changes: Iterable[MetricChange]) -> Lines:
    rows = [row(change) for change in changes]
    return Lines(_objects(rows), csv_lines([each[name] for name in METRIC_COLUMNS] for each in rows))


def files(report: ReviewReport) -> dict[str, Iterable[str]]:
    """By name, in pieces."""
    return files_of_lines(
        report, [outcome_lines(report.review.clients)], [change_lines(report.metrics.changes)]
    )


def files_of_lines(
    report: ReviewReport, clients: Sequence[Lines], changes: Sequence[Lines]
) -> dict[str, Iterable[str]]:
    """As `files`, with the lines of all clients and changes."""
    return {
        "review.json": _json(document(report), {"clients": clients, "metric_changes": changes}),
        "outcomes.csv": _csv(OUTCOME_COLUMNS, clients),
        "metric_changes.csv": _csv(METRIC_COLUMNS, changes),
    }


def _csv(columns: tuple[str, ...], lines: Sequence[Lines]) -> Iterable[str]:
    return with_mark([csv_lines([columns]), *(each.csv for each in lines)])


_SEPARATOR = ",\n  "


def _objects(rows: Iterable[Mapping[str, object]]) -> str:
    return _SEPARATOR.join(_encoded(each) for each in rows)


def _json(document: Mapping[str, object], lines: Mapping[str, Sequence[Lines]]) -> Iterator[str]:
    """In pieces: hundreds of MB for 100,000 clients. Lists of objects have a line for each: Python indents slowly, and there
    is an object for each client and phase. `lines`: those that belong in an empty place of the document."""
    start = "{"
    for name, value in document.items():
        yield f"{start}\n {json.dumps(name)}: "
        start = ","
        objects = [each.json for each in lines.get(name, ()) if each.json]
        if isinstance(value, list) and value:
            objects = [_objects(value)]
        if not objects:
            yield _encoded(value)
            continue
        yield f"[\n  {objects[0]}"
        for text in objects[1:]:
            yield _SEPARATOR
            yield text
        yield "\n ]"
    yield "\n}\n"


def document(report: ReviewReport) -> dict[str, object]:
    """But for the lists of clients and changes, whose places are empty."""
    review, upgrade = report.review, report.review.upgrade
    return {
        "schema_version": SCHEMA_VERSION,
        "knowledge_version": report.knowledge_version,
        "knowledge_built_at": timestamp(report.knowledge_built_at) if report.knowledge_built_at else None,
        "code_version": report.code_version,
        "review_id": report.review_id,
        "cluster_id": review.cluster_id,
        "cluster_name": report.cluster_name,
        "from_release": upgrade.from_release,
        "to_release": upgrade.to_release,
        "sentence": report.sentence,
        "is_complete": upgrade.is_complete,
        "created_at": timestamp(report.created_at),
        "prediction": report.prediction_source,
        "broker_events": list(review.broker_events),
        "phases": [
            {"phase": phase.name, "since": _time(phase.since), "until": _time(phase.until)}
            for phase in upgrade.phases
        ],
        "brokers": [
            {
                "broker_id": decision.broker_id,
                "upgraded_at": _time(upgrade.upgraded[decision.broker_id]),
                "decision": decision.decision,
                "reason": decision.reason,
                "clients_answered": decision.tested,
                "clients": [
                    {"client_id": client_id, "principal": principal}
                    for client_id, principal in decision.clients
                ],
            }
            for decision in report.decisions
        ],
        "clients": [],
        "rules": [_rule(rule) for rule in review.rules],
        "rules_of_all_reviews": [_rule(rule) for rule in report.all_rules],
        "not_identified": [
            {
                "address": each.address,
                "outcome": "failing_before" if each.first < upgrade.began else "failing",
                "kind": "authentication_failed",
                "sasl_mechanism": each.mechanism,
                "first": _time(each.first),
                "last": _time(each.last),
                "connections": each.connections,
                "reason": each.reason,
            }
            for each in review.unexplained_logins
        ],
        "unattributed_refusals": review.unexplained_refusals,
        "records": {"failed_logins": review.has_failed_logins, "refused_requests": review.has_refusals},
        "metric_changes": [],
    }


def _rule(rule: RuleRecord) -> dict[str, object]:
    return {
        "rule_id": rule.rule_id,
        **{name: getattr(rule, name) for name in COUNTS},
        "precision": rule.precision,
        "recall": rule.recall,
    }


def outcome_rows(client: ReviewedClient) -> list[dict[str, object]]:
    """One for each phase after `before`."""
    return [_row(client, each) for each in client.outcomes]


def _row(client: ReviewedClient, happened: Outcome) -> dict[str, object]:
    foreseen = client.prediction
    verdict = None if foreseen is None else foreseen.by_phase.get(happened.phase, foreseen.verdict)
    return {
        "application": client.application,
        "client_id": client.client_id,
        "principal": client.principal,
        "client_software_name": client.software_name,
        "client_software_version": client.software_version,
        "addresses": list(client.addresses),
        "owner": client.owner,
        "owner_contact": client.owner_contact,
        "phase": happened.phase,
        "predicted": verdict,
        "predicted_when": None if foreseen is None else foreseen.when,
        "outcome": happened.outcome,
        "kind": happened.kind,
        "since": _time(happened.since),
        "confidence": happened.confidence,
        "comparison": client.comparison,
        "lost": list(happened.lost),
        "apis": [apis.name(key) for key in happened.api_keys],
        "reasons": list(happened.reasons),
        "fix": client.fix,
        "rates": [
            {"function": name, "before": round(before, 2), "after": round(after, 2)}
            for name, before, after in happened.rates
        ],
    }


def _cells(row: Mapping[str, Any]) -> list[object]:
    """Lists are one text each."""
    texts = {name: "; ".join(row[name]) for name in ("addresses", "lost", "apis", "reasons")}
    texts["rates"] = "; ".join(
        f"{each['function']}: {each['before']:g} → {each['after']:g}/min" for each in row["rates"]
    )
    return [texts[name] if name in texts else row[name] for name in OUTCOME_COLUMNS]


def _time(seconds: float | None) -> str | None:
    found = moment(seconds)
    return None if found is None else timestamp(found)
