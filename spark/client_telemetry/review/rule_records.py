"""How often each rule was right: over the clients of one review, and over all reviews of a lake. Pure.

precision  the share of a rule's predictions that happened, of those that can be checked. A latent finding whose trigger
did not come counts neither way
recall     the share of clients that failed in what the rule is about for which it had a finding
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from operator import itemgetter
from typing import cast

from client_telemetry.knowledge import known_issues
from client_telemetry.knowledge.vocabulary import Verdict, When
from client_telemetry.review.outcome import Happened, Kind, Outcome
from client_telemetry.review.prediction import Comparison, FoundRule, Prediction
from client_telemetry.tables.rows import RuleRecordRow

COUNTS = ("predicted", "happened", "did_not_happen", "not_triggered", "cannot_tell", "missed")


Fared = tuple[Prediction | None, Sequence[Outcome], Comparison]
"""What was predicted of a client, what happened to it, and how the two compare."""


@dataclass(frozen=True)
class RuleRecord:
    """`predicted`: clients for which it had a deciding finding; of these it `happened`, did not happen, waits for its
    trigger, or cannot be checked. `missed`: clients that failed unexpectedly in what it is about.
    """

    rule_id: str
    predicted: int
    happened: int
    did_not_happen: int
    not_triggered: int
    cannot_tell: int
    missed: int = 0

    @property
    def precision(self) -> float | None:
        decided = self.happened + self.did_not_happen
        return self.happened / decided if decided else None

    @property
    def recall(self) -> float | None:
        failed = self.happened + self.missed
        return self.happened / failed if failed else None


def rule_records(clients: Sequence[Fared]) -> tuple[RuleRecord, ...]:
    counts: dict[str, dict[str, int]] = {}
    subjects: dict[str, set[int]] = {}
    for prediction, _, comparison in clients:
        if prediction is None:
            continue
        rules_of_client = set()
        for rule in prediction.rules:
            if rule.verdict not in (Verdict.BREAKS, Verdict.DEGRADES):
                continue
            if rule.api_key is not None:
                subjects.setdefault(rule.rule_id, set()).add(rule.api_key)
            if rule.rule_id in rules_of_client or not rule.decides:
                continue
            rules_of_client.add(rule.rule_id)
            own = counts.setdefault(rule.rule_id, dict.fromkeys(COUNTS, 0))
            own["predicted"] += 1
            own[_of_rule(comparison, rule)] += 1
    for _, outcomes, comparison in clients:
        if comparison != Comparison.UNEXPECTED:
            continue
        for rule_id, own in counts.items():
            own["missed"] += _is_about(rule_id, subjects.get(rule_id, set()), outcomes)
    return tuple(RuleRecord(rule_id, **own) for rule_id, own in sorted(counts.items()))


def totals(records: Iterable[RuleRecord]) -> tuple[RuleRecord, ...]:
    """Over several reviews."""
    sums: dict[str, dict[str, int]] = {}
    for record in records:
        own = sums.setdefault(record.rule_id, dict.fromkeys(COUNTS, 0))
        for name in COUNTS:
            own[name] += getattr(record, name)
    return tuple(RuleRecord(rule_id, **own) for rule_id, own in sorted(sums.items()))


def from_row(row: RuleRecordRow) -> RuleRecord:
    return RuleRecord(row["rule_id"], *itemgetter(*COUNTS)(row))


def table_rows(
    records: Iterable[RuleRecord], cluster_id: str, review_id: str, releases: tuple[str, str], now: datetime
) -> list[RuleRecordRow]:
    """Rows of rule_records."""
    of_review = {
        "cluster_id": cluster_id,
        "review_id": review_id,
        "from_release": releases[0],
        "to_release": releases[1],
        "reviewed_at": now,
    }
    return [cast("RuleRecordRow", of_review | asdict(record)) for record in records]


def _of_rule(comparison: Comparison, rule: FoundRule) -> str:
    if comparison == Comparison.HAPPENED:
        return "happened"
    if comparison == Comparison.DID_NOT_HAPPEN:
        return "not_triggered" if rule.when == When.LATENT else "did_not_happen"
    if comparison == Comparison.NOT_TRIGGERED:
        return "not_triggered"
    return "cannot_tell"


def _is_about(rule_id: str, api_keys: set[int], outcomes: Sequence[Outcome]) -> bool:
    failed = [happened for happened in outcomes if happened.outcome == Happened.FAILING]
    if rule_id in known_issues.login_rules():
        return any(failure.kind == Kind.AUTHENTICATION_FAILED for failure in failed)
    return any(api_keys & set(failure.api_keys) for failure in failed)
