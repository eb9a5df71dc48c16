"""The verdict engine: one client's evidence and an upgrade in, a verdict with its findings out.

Evidence is combined per API, never per client. For each API that the client used or that its role needs:
the observed versions if it was seen, otherwise the declared range of its library, otherwise unknown.

* Only an API of which the target drops versions that the source serves can hurt; every other request that
  works today works tomorrow, seen or not.
* An observed version below what the target serves counts as refused if the source offered a version that
  the target serves (a client that negotiates would have taken it) or if the library does not negotiate.
  Otherwise it proves nothing, and the declared range decides.
* A client chooses by what the target advertises and works by what it serves (KAFKA-18659: 4.x advertises
  Produce 0 and refuses 0-2).
* A known issue of a library is never cancelled by not having been seen.
* A finding whose condition cannot be shown by the data is listed and named as missing; it does not decide.
* Precedence of the deciding findings: breaks, insufficient_evidence, degrades, unsupported, safe.
"""

from functools import cache

from client_telemetry.compatibility import (
    apis,
    client_ranges,
    fixes,
    known_issues,
    releases,
    roles,
    served,
    software,
)
from client_telemetry.compatibility.evidence import ApiUse, ClientEvidence, format_versions, versions_in_use
from client_telemetry.compatibility.served import BrokerApi, Versions
from client_telemetry.compatibility.software import Identity
from client_telemetry.compatibility.verdict import (
    AT_ONCE,
    BREAKS,
    CONDITION_UNKNOWN,
    CONFIDENCES,
    DECLARED,
    INSUFFICIENT_EVIDENCE,
    NONE,
    OBSERVED,
    PRECEDENCE,
    SAFE,
    ClientVerdict,
    Finding,
)

_RULES = "KIP-896 (4.x), ApiVersions negotiation KIP-35; ranges: "


def judge(evidence: ClientEvidence, from_release: str, to_release: str) -> ClientVerdict:
    """What happens to a client when its brokers go from one exact release to a newer one.

    Raises NotAnExactRelease, UnknownRelease, NothingToUpgrade or RollbackNotAssessed.
    """
    return _Case(evidence, *_upgrade(from_release, to_release)).verdict()


@cache
def _upgrade(from_release: str, to_release: str) -> tuple[str, str]:
    return releases.upgrade(from_release, to_release)


class _Case:
    """One client and one upgrade, while it is judged."""

    def __init__(self, evidence: ClientEvidence, source: str, target: str) -> None:
        self.evidence, self.source, self.target = evidence, source, target
        self.uses = versions_in_use(evidence)
        self.identity = software.identify(evidence)
        self.seen_roles = roles.seen_in(self.uses)
        self.roles = self.seen_roles or (roles.ASSUMED if self.identity else ())
        self.missing: list[str] = []

    def verdict(self) -> ClientVerdict:
        findings = [*self.request_versions(), *self.issues()]
        findings = _without_repetitions(findings)
        deciding = [each for each in findings if each.decides]
        verdict = min((each.verdict for each in deciding), key=PRECEDENCE.index, default=SAFE)
        dropped = self.dropped()
        if not self.roles and dropped and verdict != BREAKS:
            verdict = INSUFFICIENT_EVIDENCE
            self.missing.insert(0, self.nothing_to_go_by())
        reasons = [each for each in deciding if each.verdict == verdict]
        findings.sort(
            key=lambda each: (
                not each.decides,
                PRECEDENCE.index(each.verdict),
                each.when != AT_ONCE,
                -1 if each.api_key is None else each.api_key,
                each.rule_id,
            )
        )
        self.missing += [
            f"whether {each.condition}: {each.explanation}"
            for each in findings
            if each.condition_met == CONDITION_UNKNOWN
        ]
        return ClientVerdict(
            verdict=verdict,
            confidence=self.confidence(verdict, reasons),
            when=_when(reasons) if verdict not in (SAFE, INSUFFICIENT_EVIDENCE) else None,
            roles=self.seen_roles,
            findings=tuple(findings),
            explanation=self.explanation(verdict, findings, dropped),
            fix=_first_of_each(each.fix for each in findings if each.decides and each.verdict == verdict),
            missing=tuple(dict.fromkeys(self.missing)),
            identified_as=self.identity.text if self.identity else "",
        )

    # Request versions

    def dropped(self) -> frozenset[int]:
        return served.dropped(self.source, self.target)

    def request_versions(self) -> list[Finding]:
        keys = set(self.uses)
        for role in self.roles:
            keys |= set(roles.needed_by(role, self.uses))
        findings = []
        for key in sorted(keys):
            if key == apis.API_VERSIONS:
                continue
            found = self.observed(key, self.uses[key]) if key in self.uses else self.unseen(key)
            if found:
                findings.append(found)
        return findings

    def observed(self, key: int, uses: list[ApiUse]) -> Finding | None:
        """The finding for an API that was seen; None where the upgrade takes nothing of it away."""
        target = served.by(self.target).get(key)
        source = served.by(self.source).get(key)
        if target is None and source is None:
            return None  # between brokers, or not known: no statement
        outside = [use for use in uses if target is None or not _within(use.version, target.served)]
        if not outside:
            if key not in self.dropped() or target is None:
                return None
            return self.request_finding(key, SAFE, OBSERVED, uses)
        if target is None or self.counts_as_refused(outside, source, target):
            return self.request_finding(key, BREAKS, OBSERVED, outside)
        declared = self.declared(key)
        if declared is None:
            return self.not_known(
                key,
                f"only {format_versions([use.version for use in uses])} was seen, which is all that {self.source} offers",
            )
        return self.by_declared_range(key, declared)

    def counts_as_refused(self, outside: list[ApiUse], source: BrokerApi | None, target: BrokerApi) -> bool:
        if self.identity and self.identity.negotiates is False:
            return True
        below = [use for use in outside if use.version < target.served.min]
        return bool(below) and source is not None and source.advertised.max >= target.served.min

    def unseen(self, key: int) -> Finding | None:
        """The finding for an API that the role needs and that was not seen."""
        if key not in self.dropped():
            return None
        declared = self.declared(key)
        if declared is None:
            return self.not_known(key, "was not seen")
        return self.by_declared_range(key, declared)

    def declared(self, key: int) -> Versions | None:
        """The range that name and version tell; None where they tell none."""
        identity = self.identity
        if identity is None or identity.version is None or not identity.version_decides:
            return None
        found = client_ranges.of(identity.library, identity.version, key)
        return found.versions if found else None

    def by_declared_range(self, key: int, declared: Versions) -> Finding:
        target = served.by(self.target).get(key)
        works = target is not None and fixes.works(declared, target)
        return self.request_finding(key, SAFE if works else BREAKS, DECLARED, [], declared)

    def request_finding(
        self, key: int, verdict: str, confidence: str, uses: list[ApiUse], declared: Versions | None = None
    ) -> Finding:
        name, target = apis.name(key), served.by(self.target).get(key)
        now = f"{self.target} serves {target.served}" if target else f"{self.target} does not serve it"
        versions = str(declared) if declared else format_versions([use.version for use in uses])
        if declared:
            told = f"{self.identity.text if self.identity else ''} can use {name} {versions}"
        else:
            told = f"uses {name} {versions}"
        loss = roles.loss(key, self.roles)
        if verdict == BREAKS:
            verdict = loss.without_it
        harmless = verdict == SAFE
        return Finding(
            rule_id=f"{'declared' if declared else 'observed'}_version_{'served' if harmless else 'refused'}",
            verdict=verdict,
            confidence=confidence,
            explanation=f"{told}; {now}",
            source=_RULES + (client_ranges.FILE if declared else served.FILE),
            when=None if harmless else loss.when,
            trigger="" if harmless else loss.trigger,
            api_key=key,
            api_name=name,
            versions=versions,
            requests=sum(use.requests for use in uses),
            first_seen=min((use.first_seen for use in uses if use.first_seen is not None), default=None),
            last_seen=max((use.last_seen for use in uses if use.last_seen is not None), default=None),
            fix="" if harmless else fixes.for_refused(key, versions, self.identity, self.roles, self.target),
        )

    def not_known(self, key: int, why: str) -> Finding:
        name, target = apis.name(key), served.by(self.target).get(key)
        loss = roles.loss(key, self.roles)
        serves = f"serves {target.served}" if target else "does not serve it"
        self.missing.append(
            f"which version of {name} it uses ({why}; {self.target} {serves}): "
            + (f"watch it through: {loss.trigger}" if loss.trigger else "watch it longer")
            + ", or ask its owner for library, version and configuration"
        )
        return Finding(
            rule_id="version_not_known",
            verdict=INSUFFICIENT_EVIDENCE,
            confidence=NONE,
            explanation=f"{name} {why}, and its role needs it; {self.target} {serves}",
            source=f"knowledge base: {roles.FILE}, {served.FILE}",
            when=loss.when,
            trigger=loss.trigger,
            api_key=key,
            api_name=name,
            requests=sum(use.requests for use in self.uses.get(key, [])),
        )

    # Known issues

    def issues(self) -> list[Finding]:
        if self.identity is None:
            return []
        return [
            self.issue_finding(issue)
            for issue in known_issues.known()
            if issue.concerns(self.identity, self.roles, self.source, self.target)
        ]

    def issue_finding(self, issue: known_issues.KnownIssue) -> Finding:
        identity: Identity = self.identity  # type: ignore[assignment]
        uses = [
            use
            for use in self.uses.get(issue.api_key if issue.api_key is not None else -1, [])
            if str(use.version) in issue.versions.split()
        ]
        return Finding(
            rule_id=issue.rule_id,
            verdict=issue.verdict,
            confidence=OBSERVED if uses else DECLARED,
            explanation=f"{identity.text} {issue.explanation}",
            source=issue.source,
            when=issue.when,
            trigger=issue.trigger,
            condition=issue.condition,
            condition_met=issue.condition_met(self.evidence),
            api_key=issue.api_key,
            api_name=apis.name(issue.api_key) if issue.api_key is not None else "",
            versions=issue.versions,
            requests=sum(use.requests for use in uses),
            first_seen=min((use.first_seen for use in uses if use.first_seen is not None), default=None),
            last_seen=max((use.last_seen for use in uses if use.last_seen is not None), default=None),
            fix=fixes.for_issue(issue.fixed_in, identity),
        )

    # The verdict in words

    def nothing_to_go_by(self) -> str:
        if not self.uses:
            return "what this client does and with which library: no request of it was seen and it told no known name"
        return (
            f"what this client does: only {', '.join(apis.name(key) for key in sorted(self.uses))} was seen "
            "and it told no known name (connections that close before they are used look like this): "
            "watch it longer or ask its owner for library and version"
        )

    def confidence(self, verdict: str, reasons: list[Finding]) -> str:
        if verdict == INSUFFICIENT_EVIDENCE:
            return NONE
        found = [each.confidence for each in reasons]
        if verdict == SAFE:
            if not found:
                return OBSERVED if self.seen_roles else DECLARED if self.identity else NONE
            return max(found, key=CONFIDENCES.index)  # as sure as the least sure part of it
        return min(found, key=CONFIDENCES.index)

    def explanation(self, verdict: str, findings: list[Finding], dropped: frozenset[int]) -> str:
        reasons = [each for each in findings if each.decides and each.verdict == verdict]
        if verdict == SAFE:
            if not dropped:
                return f"{self.target} serves every request version that {self.source} serves"
            if reasons:
                return f"{self.target} serves every request version that it uses or that its role needs"
            return f"{self.target} takes away nothing that it uses or that its role needs"
        if verdict == INSUFFICIENT_EVIDENCE:
            return "Not enough evidence: " + self.missing[0]
        first = reasons[0]
        more = f", and {len(reasons) - 1} more like it" if len(reasons) > 1 else ""
        happens = f" (happens at: {first.trigger})" if first.trigger else ""
        return f"{first.explanation}{more}{happens}"


def _within(version: int, versions: Versions) -> bool:
    return versions.min <= version <= versions.max


def _when(reasons: list[Finding]) -> str | None:
    return min((each.when for each in reasons if each.when), key=lambda when: when != AT_ONCE, default=None)


def _first_of_each(texts) -> str:
    return "; ".join(dict.fromkeys(text for text in texts if text))


def _without_repetitions(findings: list[Finding]) -> list[Finding]:
    """A known issue says more of an API than its refused range does: one finding stays, with the evidence."""
    by_issue = {
        each.api_key: each
        for each in findings
        if not each.rule_id.startswith(("observed_", "declared_", "version_"))
    }
    return [
        each
        for each in findings
        if each is by_issue.get(each.api_key)
        or each.api_key not in by_issue
        or each.api_key is None
        or each.verdict in (SAFE, INSUFFICIENT_EVIDENCE)
        or not by_issue[each.api_key].decides
        or not each.rule_id.startswith(("observed_", "declared_"))
    ]
