"""The mixed window of a rolling upgrade: what a client meets while brokers run both releases.

A client negotiates with each broker separately (asked_once.py has those that do not), so what both releases serve continues. What the target refuses is
refused only by brokers that already run it: partition by partition as leaders move, and for a group or a transaction
when its coordinator moves. Some problems exist in this window only (mixed_window_issues.csv).
"""

from functools import cache
from typing import NamedTuple

from client_telemetry.compatibility.verdict import ASKED_ONCE, ClientVerdict, Outlook
from client_telemetry.knowledge import DamagedKnowledge, one_of, releases, roles, rows
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.knowledge.vocabulary import PRECEDENCE, Confidence, Verdict, When

FILE = "mixed_window_issues.csv"
COLUMNS = ("rule_id", "broker_from", "broker_to", "roles", "verdict", "explanation", "source")

_AT_LEADERS = frozenset((ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.LIST_OFFSETS, ApiKey.OFFSET_FOR_LEADER_EPOCH))
_AT_GROUP_COORDINATORS = frozenset(
    (
        ApiKey.JOIN_GROUP,
        ApiKey.SYNC_GROUP,
        ApiKey.HEARTBEAT,
        ApiKey.LEAVE_GROUP,
        ApiKey.OFFSET_COMMIT,
        ApiKey.OFFSET_FETCH,
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
    )
)
_AT_TRANSACTION_COORDINATORS = frozenset(
    (ApiKey.INIT_PRODUCER_ID, ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.ADD_OFFSETS_TO_TXN, ApiKey.END_TXN)
)


class MixedWindowIssue(NamedTuple):
    rule_id: str
    brokers: frozenset[str]
    """Targets whose rolling upgrade has it."""
    roles: frozenset[str]
    verdict: Verdict
    explanation: str
    source: str


def judge_mixed_window(from_release: str, to_release: str, upgraded: ClientVerdict) -> Outlook:
    """What happens to a client while some brokers run `from_release` and others `to_release`.

    `upgraded` is the verdict of `judge` for the same pair; its evidence and confidence carry over.
    """
    issue = _issue(from_release, to_release, upgraded.roles or roles.ROLES)
    if issue and not upgraded.roles and upgraded.verdict != Verdict.BREAKS:
        who = f"What it does was not seen. If it is a {' or '.join(sorted(issue.roles)).replace('_', ' ')}: while brokers differ, "
        return Outlook(Verdict.INSUFFICIENT_EVIDENCE, Confidence.NONE, f"{who}{issue.explanation}.", None)
    if issue and PRECEDENCE.index(issue.verdict) < PRECEDENCE.index(upgraded.verdict):
        return Outlook(
            issue.verdict, Confidence.OBSERVED, f"While brokers differ, {issue.explanation}.", When.AT_ONCE
        )
    explanation = _explanation(from_release, to_release, upgraded)
    if issue:
        explanation += f" Also, while brokers differ, {issue.explanation}."
    return Outlook(upgraded.verdict, upgraded.confidence, explanation, upgraded.when)


def _explanation(from_release: str, to_release: str, upgraded: ClientVerdict) -> str:
    if upgraded.verdict == Verdict.INSUFFICIENT_EVIDENCE:
        return f"Not known, because its behaviour on {to_release} is not known."
    if upgraded.verdict not in (Verdict.BREAKS, Verdict.DEGRADES):
        keeps = [finding for finding in upgraded.findings if finding.rule_id == ASKED_ONCE]
        if keeps:
            return f"Both releases accept what it uses, but if {keeps[0].condition}: {keeps[0].explanation}."
        return "Both releases accept what it uses. Brief retriable errors are normal while leaders and coordinators move."
    reasons = [
        finding for finding in upgraded.findings if finding.decides and finding.verdict == upgraded.verdict
    ]
    if upgraded.when == When.LATENT:
        return f"It works until this reaches a broker on {to_release}: {reasons[0].trigger}."
    occasions = _occasions({reason.api_key for reason in reasons if reason.when == When.AT_ONCE})
    return (
        f"It {upgraded.verdict} step by step, {occasions} to brokers on {to_release}, and keeps working with those still on "
        f"{from_release}; after the last broker is upgraded, its verdict applies."
    )


def _occasions(keys: set[int | None]) -> str:
    occasions = []
    if keys & _AT_LEADERS:
        occasions.append("as the leaders of its partitions move")
    if keys & _AT_GROUP_COORDINATORS:
        occasions.append("when its group's coordinator moves")
    if keys & _AT_TRANSACTION_COORDINATORS:
        occasions.append("when its transaction coordinator moves")
    return " and ".join(occasions) or "as it turns"


@cache
def _issue(from_release: str, to_release: str, client_roles: tuple[str, ...]) -> MixedWindowIssue | None:
    return next(
        (
            issue
            for issue in known()
            if to_release in issue.brokers
            and from_release not in issue.brokers
            and not releases.is_rollback(from_release, to_release)
            and issue.roles & set(client_roles)
        ),
        None,
    )


@cache
def known() -> tuple[MixedWindowIssue, ...]:
    issues: list[MixedWindowIssue] = []
    for line, (rule_id, first, last, of_roles, verdict, explanation, source) in rows(FILE, COLUMNS):
        one_of(FILE, line, "verdict", verdict, (Verdict.BREAKS, Verdict.DEGRADES))
        if not of_roles or set(of_roles.split()) - set(roles.ROLES):
            raise DamagedKnowledge(FILE, line, f"roles {of_roles!r} are not known")
        if not (explanation and source):
            raise DamagedKnowledge(FILE, line, "explanation and source are required")
        if any(issue.rule_id == rule_id for issue in issues):
            raise DamagedKnowledge(FILE, line, f"rule {rule_id} occurs twice")
        brokers = releases.between_cells(FILE, line, first, last)
        issues.append(
            MixedWindowIssue(
                rule_id, brokers, frozenset(of_roles.split()), Verdict(verdict), explanation, source
            )
        )
    return tuple(issues)
