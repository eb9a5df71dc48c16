"""The verdict on the requested release compared with nearby releases: where a client's verdict differs."""

from typing import NamedTuple

from client_telemetry.compatibility import targets
from client_telemetry.compatibility.evidence import ClientEvidence
from client_telemetry.compatibility.judgement import ends_of_an_upgrade, judge, levels_before, what_decides
from client_telemetry.compatibility.verdict import ClientVerdict, Outlook
from client_telemetry.knowledge import apis
from client_telemetry.knowledge.vocabulary import PRECEDENCE, Step, Verdict, When
from client_telemetry.tables.rows import OtherTargetRecord

COUNTED_AS = ("breaks_at_once", "breaks_latent", *PRECEDENCE[1:])
"""The fields of upgrade_reports.targets: `breaks` is split by its `when`."""


class Judged(NamedTuple):
    """Summary of a client's verdict on a release."""

    verdict: str
    when: str | None
    decided_by: str
    works_again: bool

    @property
    def counted_as(self) -> str:
        if self.verdict != Verdict.BREAKS:
            return self.verdict
        return "breaks_latent" if self.when == When.LATENT else "breaks_at_once"

    @property
    def seriousness(self) -> tuple[int, bool]:
        return PRECEDENCE.index(self.verdict), self.when != When.AT_ONCE


def on_the_way(evidence: ClientEvidence, from_release: str, to_release: str) -> ClientVerdict:
    """The verdict on an in-place upgrade: the more serious one of before and after the features of the new release are
    finalized. Both happen: an upgraded broker keeps the old levels until somebody raises them.
    """
    finalized = judge(evidence, from_release, to_release)
    before = finalized.steps.get(Step.NOT_FINALIZED)
    if before is None or not _is_worse(before, finalized):
        return finalized
    return judge(
        evidence, from_release, to_release, features=levels_before(evidence, from_release, to_release)
    )


def _is_worse(before: Outlook | ClientVerdict, after: ClientVerdict) -> bool:
    return (PRECEDENCE.index(before.verdict), before.when != When.AT_ONCE) < (
        PRECEDENCE.index(after.verdict),
        after.when != When.AT_ONCE,
    )


def on_nearby_targets(
    evidence: ClientEvidence, from_release: str, to_release: str, verdict: ClientVerdict
) -> dict[str, Judged]:
    """Release -> the client's verdict there, for the requested release and those compared with it."""
    judged = {to_release: _in_short(verdict)}
    alike = {what_decides(from_release, to_release, evidence.source_features): judged[to_release]}
    for release in targets.nearby(from_release, to_release):
        key = what_decides(from_release, release, evidence.source_features)
        if key not in alike:
            before, finalized = ends_of_an_upgrade(evidence, from_release, release)
            alike[key] = _in_short(before if _is_worse(before, finalized) else finalized)
        judged[release] = alike[key]
    return judged


def differing(judged: dict[str, Judged], to_release: str) -> list[OtherTargetRecord]:
    """upgrade_verdicts.other_targets."""
    target, differences = judged[to_release], []
    for release, there in judged.items():
        if (there.verdict, there.when) != (target.verdict, target.when):
            reason = min(target, there, key=lambda summary: summary.seriousness).decided_by
            differences.append(
                OtherTargetRecord(to_release=release, verdict=there.verdict, when=there.when, reason=reason)
            )
    return differences


def _in_short(verdict: ClientVerdict) -> Judged:
    return Judged(verdict.verdict, verdict.when, decided_by(verdict), verdict.works_again)


def decided_by(verdict: ClientVerdict) -> str:
    """The requests that decide a verdict ("JoinGroup v1"), or the rules if no request does."""
    deciding = [
        finding
        for finding in verdict.findings
        if finding.decides and (finding.verdict, finding.when) == (verdict.verdict, verdict.when)
    ]
    names = [
        finding.rule_id if finding.api_key is None else apis.request(finding.api_key, finding.versions)
        for finding in deciding
    ]
    return ", ".join(dict.fromkeys(names))
