"""The verdict on the release that was asked about, compared with nearby releases: where a client fares otherwise."""

from typing import Any, NamedTuple

from client_telemetry.compatibility import ClientEvidence, ClientVerdict, apis, judge, targets
from client_telemetry.compatibility.judgement import ends_of_an_upgrade, levels_before, what_decides
from client_telemetry.compatibility.verdict import (
    AT_ONCE,
    BREAKS,
    LATENT,
    NOT_FINALIZED,
    PRECEDENCE,
    Outlook,
)

COUNTED_AS = ("breaks_at_once", "breaks_latent", *PRECEDENCE[1:])
"""The fields of upgrade_reports.targets: `breaks` is split by its `when`."""


class Judged(NamedTuple):
    """In short, how a client fares on a release."""

    verdict: str
    when: str | None
    decided_by: str
    works_again: bool

    @property
    def counted_as(self) -> str:
        if self.verdict != BREAKS:
            return self.verdict
        return "breaks_latent" if self.when == LATENT else "breaks_at_once"

    @property
    def seriousness(self) -> tuple[int, bool]:
        return PRECEDENCE.index(self.verdict), self.when != AT_ONCE


def on_the_way(evidence: ClientEvidence, from_release: str, to_release: str) -> ClientVerdict:
    """The verdict on an upgrade in place: the most serious one of what happens before and after the features of the new
    release are finalized. Both come: an upgraded broker keeps the old levels until somebody raises them."""
    finalized = judge(evidence, from_release, to_release)
    before = finalized.steps.get(NOT_FINALIZED)
    if before is None or not _is_worse(before, finalized):
        return finalized
    return judge(
        evidence, from_release, to_release, features=levels_before(evidence, from_release, to_release)
    )


def _is_worse(before: Outlook | ClientVerdict, after: ClientVerdict) -> bool:
    return (PRECEDENCE.index(before.verdict), before.when != AT_ONCE) < (
        PRECEDENCE.index(after.verdict),
        after.when != AT_ONCE,
    )


def on_nearby_targets(
    evidence: ClientEvidence, from_release: str, to_release: str, asked: ClientVerdict
) -> dict[str, Judged]:
    """Release to how the client fares there: the one that was asked about and those compared with it."""
    found = {to_release: _in_short(asked)}
    alike = {what_decides(from_release, to_release): found[to_release]}
    for release in targets.nearby(from_release, to_release):
        key = what_decides(from_release, release)
        if key not in alike:
            before, finalized = ends_of_an_upgrade(evidence, from_release, release)
            alike[key] = _in_short(before if _is_worse(before, finalized) else finalized)
        found[release] = alike[key]
    return found


def differing(judged: dict[str, Judged], to_release: str) -> list[dict[str, Any]]:
    """upgrade_verdicts.other_targets."""
    asked, found = judged[to_release], []
    for release, there in judged.items():
        if (there.verdict, there.when) != (asked.verdict, asked.when):
            reason = min(asked, there, key=lambda each: each.seriousness).decided_by
            found.append(
                {"to_release": release, "verdict": there.verdict, "when": there.when, "reason": reason}
            )
    return found


def _in_short(verdict: ClientVerdict) -> Judged:
    return Judged(verdict.verdict, verdict.when, decided_by(verdict), verdict.works_again)


def decided_by(verdict: ClientVerdict) -> str:
    """The requests that make a verdict what it is ("JoinGroup v1"), or the rules where it is no request."""
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
