"""The verdict on the release that was asked about, compared with nearby releases: where a client fares otherwise."""

from typing import NamedTuple

from client_telemetry.compatibility import ClientEvidence, ClientVerdict, judge, targets
from client_telemetry.compatibility.verdict import AT_ONCE, BREAKS, LATENT, PRECEDENCE

COUNTED_AS = ("breaks_at_once", "breaks_latent", *PRECEDENCE[1:])
"""The fields of upgrade_reports.targets: `breaks` is split by its `when`."""


class Judged(NamedTuple):
    """In short, how a client fares on a release."""

    verdict: str
    when: str | None
    decided_by: str

    @property
    def counted_as(self) -> str:
        if self.verdict != BREAKS:
            return self.verdict
        return "breaks_latent" if self.when == LATENT else "breaks_at_once"

    @property
    def seriousness(self) -> tuple[int, bool]:
        return PRECEDENCE.index(self.verdict), self.when != AT_ONCE


def on_nearby_targets(
    evidence: ClientEvidence, from_release: str, to_release: str, asked: ClientVerdict
) -> dict[str, Judged]:
    """Release to how the client fares there: the one that was asked about and those compared with it."""
    compared = targets.nearby(from_release, to_release)
    others = {release: _in_short(judge(evidence, from_release, release)) for release in compared}
    return {to_release: _in_short(asked), **others}


def differing(judged: dict[str, Judged], to_release: str) -> list[dict]:
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
    return Judged(verdict.verdict, verdict.when, decided_by(verdict))


def decided_by(verdict: ClientVerdict) -> str:
    """The requests that make a verdict what it is ("JoinGroup 1"), or the rules where it is no request."""
    deciding = [
        finding
        for finding in verdict.findings
        if finding.decides and (finding.verdict, finding.when) == (verdict.verdict, verdict.when)
    ]
    names = [
        f"{finding.api_name} {finding.versions}".strip() if finding.api_name else finding.rule_id
        for finding in deciding
    ]
    return ", ".join(dict.fromkeys(names))
