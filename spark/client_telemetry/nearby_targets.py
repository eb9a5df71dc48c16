"""The verdict on the release that was asked about, compared with nearby releases: where a client fares otherwise.

Clients whose evidence is the same in what the engine looks at have the same verdict: each distinct evidence is
judged once per release. A hundred thousand clients have some thousand distinct evidences.
"""

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

from client_telemetry.compatibility import ClientEvidence, ClientVerdict, fingerprints, judge, targets
from client_telemetry.compatibility.releases import parse
from client_telemetry.compatibility.verdict import AT_ONCE, BREAKS, LATENT, PRECEDENCE


class _Judged(NamedTuple):
    verdict: str
    when: str | None
    decided_by: str

    @property
    def counted_as(self) -> str:
        """The field of upgrade_reports.targets."""
        if self.verdict != BREAKS:
            return self.verdict
        return "breaks_latent" if self.when == LATENT else "breaks_at_once"

    @property
    def seriousness(self) -> tuple[int, bool]:
        return PRECEDENCE.index(self.verdict), self.when != AT_ONCE


class NearbyTargets:
    """Counts what it is shown: one for each question, and every client once."""

    def __init__(self, from_release: str, to_release: str):
        """Raises as releases.upgrade does."""
        self.from_release, self.to_release = from_release, to_release
        self.compared = targets.nearby(from_release, to_release)
        self._known: dict[ClientEvidence, tuple[ClientVerdict, _Judged, dict[str, _Judged]]] = {}
        self._counts = {release: Counter() for release in (to_release, *self.compared)}

    def judged(self, evidence: ClientEvidence) -> tuple[ClientVerdict, list[dict]]:
        """The verdict on the release that was asked about, and upgrade_verdicts.other_targets.

        Whether a finding rests on requests is right in the verdict; how many there were and when is not, as clients
        whose evidence is alike share it.
        """
        key = what_decides_of(evidence)
        if key not in self._known:
            verdict = judge(key, self.from_release, self.to_release)
            there = {r: _in_short(judge(key, self.from_release, r)) for r in self.compared}
            self._known[key] = verdict, _in_short(verdict), there
        verdict, asked, others = self._known[key]
        self._counts[self.to_release][asked.counted_as] += 1
        differing = []
        for release, there in others.items():
            self._counts[release][there.counted_as] += 1
            if (there.verdict, there.when) != (asked.verdict, asked.when):
                reason = min(asked, there, key=lambda judged: judged.seriousness).decided_by
                differing.append(
                    {"to_release": release, "verdict": there.verdict, "when": there.when, "reason": reason}
                )
        return verdict, differing

    def counts(self) -> list[dict]:
        """upgrade_reports.targets of the clients so far."""
        fields = ("breaks_at_once", "breaks_latent", *PRECEDENCE[1:])
        return [
            {"to_release": release} | {field: self._counts[release][field] for field in fields}
            for release in sorted(self._counts, key=parse)
        ]


def what_decides_of(evidence: ClientEvidence) -> ClientEvidence:
    """The evidence without what no verdict depends on: how often and when, and a client id that no library has as
    its default. Findings and sentences do tell these."""
    return replace(
        evidence,
        client_id=evidence.client_id if fingerprints.by_client_id(evidence.client_id)[0] else None,
        api_uses=tuple(
            sorted(
                use._replace(requests=1, rejected=0, first_seen=None, last_seen=None)
                for use in evidence.api_uses
                if use.requests
            )
        ),
    )


def _in_short(verdict: ClientVerdict) -> _Judged:
    return _Judged(verdict.verdict, verdict.when, decided_by(verdict))


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
