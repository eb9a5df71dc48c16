"""The verdict engine: one client's evidence and an upgrade in, a verdict with its findings and steps out."""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import cache

from client_telemetry.compatibility import explanations, release_lines, rollback, steps
from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.conclusion import conclude
from client_telemetry.compatibility.evidence import ApiUse, ClientEvidence
from client_telemetry.compatibility.verdict import ClientVerdict, Outlook
from client_telemetry.knowledge import (
    ONLY_MEASURED,
    known_issues,
    measured_target,
    releases,
    roles,
    served,
)
from client_telemetry.knowledge import features as feature_levels
from client_telemetry.knowledge.conditions import APACHE_KAFKA
from client_telemetry.knowledge.vocabulary import Verdict


def judge(
    evidence: ClientEvidence,
    from_release: str,
    to_release: str,
    *,
    features: Mapping[str, int] | None = None,
    vendor: str | None = APACHE_KAFKA,
) -> ClientVerdict:
    """What happens to a client when its brokers move from one exact release to another, newer or older.

    The evidence is from brokers on `from_release`. `features`: levels finalized on the target's brokers at the time in
    question; those left out, by default all, are the target's newest. `vendor`: whose build the target is (one of
    conditions.VENDORS), None if unknown. Raises NotAnExactRelease, UnknownRelease, NothingToUpgrade or
    UnusableFeatures.
    """
    return release_lines.judged(
        evidence,
        lambda release: _judge(release, from_release, to_release, features, vendor),
    )


def _judge(
    evidence: ClientEvidence,
    from_release: str,
    to_release: str,
    features: Mapping[str, int] | None,
    vendor: str | None,
) -> ClientVerdict:
    source, target = _upgrade(from_release, to_release)
    case = Case.of(evidence, source, target, feature_levels.complete(features, target), vendor)
    verdict, not_known = conclude(case), releases.what_is_not_known(source, target)
    if measured_target(target):
        return _on_measured_target(verdict)
    if measured_target(source):
        return verdict  # a move to other brokers, which has none of the steps of an upgrade
    if releases.is_rollback(source, target):
        return replace(verdict, condition=_joined(verdict.condition, not_known)) if not_known else verdict
    levels = levels_before(evidence, source, target)
    before = _at_levels(case, verdict, levels)
    finalized = _at_levels(case, verdict, feature_levels.newest(target))
    back = judge_rollback(evidence, source, target, before)
    until = explanations.until_finalized(target, levels, before, verdict)
    # What waits for a feature on the target waits for it on a source that has not finalized it either.
    waits_today = (
        evidence.source_features is not None and before.already_failing and not verdict.already_failing
    )
    return replace(
        verdict,
        already_failing=verdict.already_failing or waits_today,
        works_again=verdict.works_again
        or (waits_today and verdict.verdict not in (Verdict.BREAKS, Verdict.INSUFFICIENT_EVIDENCE)),
        steps=steps.of(source, target, before, finalized, back),
        condition=_joined(until, verdict.condition, not_known),
        explanation=f"{verdict.explanation} {explanations.capitalised(until)}."
        if until
        else verdict.explanation,
    )


def judge_rollback(
    evidence: ClientEvidence, from_release: str, to_release: str, upgraded: ClientVerdict
) -> Outlook:
    """What happens to a client when brokers return from `to_release` to `from_release` (rollback.py).

    The evidence is from brokers on `from_release`; `upgraded` is the verdict of `judge` for the same pair.
    """
    if rollback.seen_requests(evidence):
        return rollback.outlook(evidence, from_release, to_release, upgraded)
    return conclude(Case.of(replace(evidence, api_uses=()), to_release, from_release)).outlook


def _on_measured_target(verdict: ClientVerdict) -> ClientVerdict:
    """Measured at the levels that are finalized there, so that no step comes after. What the brokers refuse was seen; that
    they do what Apache Kafka does was not.
    """
    if verdict.verdict == Verdict.BREAKS:
        return verdict
    return replace(verdict, condition=_joined(verdict.condition, ONLY_MEASURED))


def _joined(*conditions: str) -> str:
    return "; ".join(filter(None, conditions))


def ends_of_an_upgrade(
    evidence: ClientEvidence, from_release: str, to_release: str
) -> tuple[ClientVerdict, ClientVerdict]:
    """The verdicts, without steps, on the target before and after its features are finalized; the same one twice for a
    rollback.
    """
    source, target = _upgrade(from_release, to_release)
    case = Case.of(evidence, source, target)
    finalized = conclude(case)
    if releases.is_rollback(source, target):
        return finalized, finalized
    return _at_levels(case, finalized, levels_before(evidence, source, target)), finalized


def levels_before(evidence: ClientEvidence, source: str, target: str) -> Mapping[str, int]:
    """The levels on the target's brokers before its features are finalized: those of the source as it reports them, or its
    defaults or, where brokers answered requests that need more (a preview that somebody enabled), what that proves.
    """
    levels = feature_levels.not_finalized(source, target, evidence.source_features)
    if evidence.source_features is not None:
        return levels
    failed = {failed.api_key for failed in evidence.failed_apis}
    answered = {
        (use[0], use[1]) for use in evidence.api_uses if ApiUse(*use).requests > 0 and use[0] not in failed
    }
    return feature_levels.raised(levels, feature_levels.proven(source, answered), target)


def _at_levels(case: Case, verdict: ClientVerdict, levels: Mapping[str, int]) -> ClientVerdict:
    """The verdict at other feature levels: unchanged if neither the client's requests, those that its role needs nor an
    issue of its library depends on the difference. What a client of unseen role sends one day may.
    """
    if levels == case.levels:
        return verdict
    closed = set(feature_levels.closed(case.target, case.levels))
    gates = {gate.api_key for gate in closed ^ set(feature_levels.closed(case.target, levels))}
    requests = case.tried.union(*(roles.needed_by(role, case.tried) for role in case.seen_roles))
    if (
        case.seen_roles
        and not gates & requests
        and not known_issues.wait_for_features(case.libraries, case.tried, case.target)
    ):
        return verdict
    return conclude(case.at(levels))


@cache
def what_decides(
    from_release: str, to_release: str, source_features: tuple[tuple[str, int], ...] | None = None
) -> Hashable:
    """Everything about a target that verdicts depend on, except its name: two targets that agree here give each client
    the same verdict. `source_features`: as in ClientEvidence.
    """
    source, target = _upgrade(from_release, to_release)
    before = feature_levels.not_finalized(source, target, source_features)
    issues = (*known_issues.brought_by(source, target), *known_issues.kept_by(source, target))
    return (
        tuple(sorted(served.by(target).items())),
        tuple(sorted(feature_levels.newest(target).items())),
        feature_levels.closed(target, feature_levels.newest(target)),
        tuple(sorted(before.items())),
        feature_levels.closed(target, before),
        tuple(issue.rule_id for issue in issues),
        releases.is_rollback(source, target),
        releases.what_is_not_known(target),
    )


@cache
def _upgrade(from_release: str, to_release: str) -> tuple[str, str]:
    return releases.upgrade(from_release, to_release)
