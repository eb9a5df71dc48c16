"""The verdict engine: one client's evidence and an upgrade in, a verdict with its findings and steps out."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from client_telemetry.compatibility import explanations, known_issues, releases, steps
from client_telemetry.compatibility import features as feature_levels
from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.conclusion import conclude
from client_telemetry.compatibility.conditions import APACHE_KAFKA
from client_telemetry.compatibility.evidence import ClientEvidence
from client_telemetry.compatibility.verdict import ClientVerdict


def judge(
    evidence: ClientEvidence,
    from_release: str,
    to_release: str,
    *,
    features: Mapping[str, int] | None = None,
    vendor: str | None = APACHE_KAFKA,
) -> ClientVerdict:
    """What happens to a client when its brokers go from one exact release to another, newer or older.

    The evidence is of brokers on `from_release`. `features`: levels finalized on the target's brokers while the question
    is asked; those left out, and all by default, are the target's newest. `vendor`: whose build the target is (one of
    conditions.VENDORS); None where that is not known. Raises NotAnExactRelease, UnknownRelease, NothingToUpgrade or
    UnusableFeatures.
    """
    source, target = _upgrade(from_release, to_release)
    levels = feature_levels.complete(features, target)
    closed = feature_levels.closed(target, levels)
    case = Case.of(evidence, source, target, levels, vendor)
    verdict = conclude(case)
    if releases.is_rollback(source, target):
        return verdict

    def at_levels(other: Mapping[str, int]) -> ClientVerdict:
        gates = {gate.api_key for gate in set(closed) ^ set(feature_levels.closed(target, other))}
        if not gates & case.tried and not known_issues.wait_for_features(case.identity, target):
            return verdict
        return conclude(Case.of(evidence, source, target, other, vendor))

    before = at_levels(feature_levels.not_finalized(source, target))
    until = explanations.until_finalized(source, target, before, verdict)
    return replace(
        verdict,
        steps=steps.of(evidence, source, target, before, at_levels(feature_levels.newest(target))),
        condition="; ".join(filter(None, (until, verdict.condition))),
        explanation=f"{verdict.explanation} {explanations.capitalised(until)}."
        if until
        else verdict.explanation,
    )


@cache
def _upgrade(from_release: str, to_release: str) -> tuple[str, str]:
    return releases.upgrade(from_release, to_release)
