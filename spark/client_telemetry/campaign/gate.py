"""Whether a planned upgrade may start: go, no-go or cannot tell, with reasons."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from client_telemetry.campaign.answers import Facts, newest
from client_telemetry.campaign.plan import Campaign
from client_telemetry.campaign.states import StateChange, current
from client_telemetry.campaign.vocabulary import LEFT, QUIET, WAIVED
from client_telemetry.compatibility.go_no_go import CANNOT_TELL, GO, NO_GO, unseen_sentence
from client_telemetry.console.counted import counted, first_of
from client_telemetry.knowledge.vocabulary import Verdict

WORDS: Final = {GO: "go", NO_GO: "no-go", CANNOT_TELL: "cannot tell"}
_NAMED: Final = 3


@dataclass(frozen=True)
class Reason:
    """`kind`: a word for machines. `code`: what the reason alone decides; GO for a remark. `applications`: names, sorted."""

    kind: str
    code: int
    text: str
    cluster: str = ""
    applications: tuple[str, ...] = ()


@dataclass(frozen=True)
class Knowledge:
    """The installed knowledge base. `until`: date of its newest Kafka release."""

    version: str
    until: dt.date


@dataclass(frozen=True)
class Decision:
    """`code`: 0 go, 3 no-go, 4 cannot tell. `reasons`: those that decide first."""

    code: int
    sentence: str
    reasons: tuple[Reason, ...]


def decide(
    campaign: Campaign,
    changes: Sequence[StateChange],
    reports: Iterable[Facts],
    knowledge: Knowledge,
    today: dt.date,
) -> Decision:
    """`changes`: the history up to `today`. What is known to stop the upgrade outweighs what is not known."""
    last = {answer.cluster: answer for answer in newest(reports, campaign.to_release) if answer.day <= today}
    reasons = [*_of_applications(campaign, changes), *_of_knowledge(campaign, knowledge, today)]
    for cluster in campaign.clusters:
        reasons += _of_evidence(campaign, cluster, last.get(cluster), knowledge, today)
    reasons.sort(key=lambda reason: (NO_GO, CANNOT_TELL, GO).index(reason.code))
    code = reasons[0].code if reasons else GO
    deciding = "; ".join(reason.text for reason in reasons if reason.code == code != GO)
    remarks = "; ".join(reason.text for reason in reasons if reason.code == GO)
    return Decision(code, f"{WORDS[code]}: {deciding or remarks or 'no application is left'}", tuple(reasons))


def _of_applications(campaign: Campaign, changes: Sequence[StateChange]) -> Iterator[Reason]:
    states = current(changes)
    left = [state for state in states if state.state in LEFT]
    quiet = [state for state in left if state.state == QUIET]
    seen = [state for state in left if state.state != QUIET]
    lacking = (
        []
        if Verdict.INSUFFICIENT_EVIDENCE in campaign.gate.fail_on
        else [state for state in seen if state.verdict == Verdict.INSUFFICIENT_EVIDENCE]
    )
    stopping = [state for state in seen if not lacking or state.verdict != Verdict.INSUFFICIENT_EVIDENCE]
    if stopping:
        verdicts = " or ".join(sorted({state.verdict for state in stopping}))
        yield _listed("affected", NO_GO, stopping, f"left with the verdict {verdicts}")
    if lacking:
        yield _listed("insufficient_evidence", CANNOT_TELL, lacking, "without sufficient evidence")
    if quiet:
        text = "not seen any more and not known to be fixed (waive those that are retired)"
        yield _listed("quiet", CANNOT_TELL, quiet, text)
    if waived := [state for state in states if state.state == WAIVED]:
        yield _listed("waived", GO, waived, "waived")
        if late := [state for state in waived if state.until and state.until < campaign.date]:
            yield _listed("waiver_ends_before", GO, late, f"whose waiver ends before {campaign.date}")

    if unmatched := _unmatched(campaign, changes):
        text = f"statements about what is not affected (is the name right?): {first_of(unmatched, _NAMED)}"
        yield Reason("unmatched_statements", GO, text, "", unmatched)


def _unmatched(campaign: Campaign, changes: Sequence[StateChange]) -> tuple[str, ...]:
    """Applications and owners of statements that none of the campaign's applications has."""
    names = {name for change in changes for name in (change.application, *change.formerly)}
    owners = {change.owner for change in changes}
    targets = [statement.target for statement in campaign.statements]
    found = {t.application for t in targets if t.application and t.application not in names}
    return tuple(sorted(found | {t.owner for t in targets if t.owner and t.owner not in owners}))


def _listed(kind: str, code: int, states: Sequence[StateChange], text: str) -> Reason:
    names = tuple(sorted({state.application for state in states}))
    number = len({state.application_key for state in states})
    return Reason(
        kind, code, f"{counted(number, 'application')} {text}: {first_of(names, _NAMED)}", "", names
    )


def _of_knowledge(campaign: Campaign, knowledge: Knowledge, today: dt.date) -> Iterator[Reason]:
    age = (today - knowledge.until).days
    if age > campaign.gate.knowledge_days:
        yield Reason(
            "old_knowledge",
            CANNOT_TELL,
            f"the knowledge base ends with Kafka releases of {knowledge.until}, {age} days ago: update client-telemetry",
        )


def _of_evidence(
    campaign: Campaign, cluster: str, answer: Facts | None, knowledge: Knowledge, today: dt.date
) -> Iterator[Reason]:
    gate = campaign.gate
    if answer is None:
        yield Reason(
            "no_report",
            CANNOT_TELL,
            f"no report of {cluster} for {campaign.target}",
            cluster,
        )
        return
    if answer.blockers:
        text = f"{counted(len(answer.blockers), 'blocker')} in the setup of {cluster}: {', '.join(answer.blockers)}"
        yield Reason("blocker", NO_GO, text, cluster)
    if not answer.has_applications:
        yield Reason("no_applications", CANNOT_TELL, f"the report of {cluster} has no application", cluster)
    age = (today - answer.day).days
    if age > gate.evidence_days:
        text = f"the newest evidence of {cluster} is of {answer.day}, {counted(age, 'day')} ago"
        yield Reason("old_evidence", CANNOT_TELL, text, cluster)
    if answer.knowledge_version != knowledge.version:
        text = (
            f"the report of {cluster} was made with another knowledge base than the installed one: ask again"
        )
        yield Reason("other_knowledge", CANNOT_TELL, text, cluster)
    yield from _of_coverage(answer, gate.least_coverage)
    if unseen := unseen_sentence(dict(answer.unseen)):
        yield Reason("written_not_seen", GO, f"{cluster}: {unseen[:1].lower()}{unseen[1:]}", cluster)


def _of_coverage(answer: Facts, least: float) -> Iterator[Reason]:
    cluster = answer.cluster
    if answer.incomplete:
        yield Reason("incomplete", CANNOT_TELL, f"{cluster}: {answer.incomplete.rstrip('.')}", cluster)
    if answer.complete_share is None:
        yield Reason("no_coverage", CANNOT_TELL, f"no broker of {cluster} was seen", cluster)
    elif answer.complete_share < least:
        share = f"{100 * answer.complete_share:.0f} %"
        text = f"{share} of the broker hours of {cluster} were seen completely, less than {100 * least:.0f} %"
        yield Reason("low_coverage", CANNOT_TELL, text, cluster)
    if answer.unseen_brokers:
        brokers = ", ".join(map(str, answer.unseen_brokers))
        word = "broker" if len(answer.unseen_brokers) == 1 else "brokers"
        yield Reason("unseen_brokers", CANNOT_TELL, f"{word} {brokers} of {cluster} not seen", cluster)


def decision_document(campaign: Campaign, decision: Decision, day: dt.date) -> dict[str, object]:
    """For machines: what `client-telemetry gate --format json` prints."""
    return {
        "schema_version": 1,
        "campaign": campaign.name,
        "clusters": list(campaign.clusters),
        "to_release": campaign.to_release,
        "planned_for": str(campaign.date),
        "day": str(day),
        "code": decision.code,
        "decision": WORDS[decision.code],
        "sentence": decision.sentence,
        "reasons": [
            {
                "kind": reason.kind,
                "decision": WORDS[reason.code],
                "cluster": reason.cluster or None,
                "text": reason.text,
                "applications": list(reason.applications),
            }
            for reason in decision.reasons
        ],
    }
