"""The verdict engine: one client's evidence and an upgrade in, a verdict with its findings out.

Evidence is combined per API, never per client (request_findings), known issues of the library are added
(issue_findings), and the findings that decide are weighed here:

* Precedence: breaks, insufficient_evidence, degrades, unsupported, safe. The lower findings stay listed.
* A finding whose condition cannot be shown by the data is listed and named as missing; it does not decide.
* A client of which neither a role nor a known library is known gets insufficient_evidence, unless the
  target serves all that the source serves.
"""

from functools import cache

from client_telemetry.compatibility import (
    apis,
    explanations,
    fixes,
    issue_findings,
    releases,
    request_findings,
)
from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.evidence import ClientEvidence
from client_telemetry.compatibility.verdict import (
    AT_ONCE,
    BREAKS,
    CONFIDENCES,
    INSUFFICIENT_EVIDENCE,
    NONE,
    OBSERVED,
    PRECEDENCE,
    SAFE,
    ClientVerdict,
    Finding,
)


def judge(evidence: ClientEvidence, from_release: str, to_release: str) -> ClientVerdict:
    """What happens to a client when its brokers go from one exact release to another, newer or older.

    The evidence is of brokers on `from_release`. Raises NotAnExactRelease, UnknownRelease or NothingToUpgrade.
    """
    case = Case.of(evidence, *_upgrade(from_release, to_release))
    findings = _without_repetitions(request_findings.of(case), issue_findings.of(case))
    findings.sort(key=_strongest_first)
    verdict = min((each.verdict for each in findings if each.decides), key=PRECEDENCE.index, default=SAFE)
    if not case.roles and case.dropped and verdict != BREAKS:
        verdict = INSUFFICIENT_EVIDENCE
    reasons = [each for each in findings if each.decides and each.verdict == verdict]
    missing = explanations.missing(case, findings)
    return ClientVerdict(
        verdict=verdict,
        confidence=_confidence(case, verdict, reasons),
        when=None if verdict in (SAFE, INSUFFICIENT_EVIDENCE) else _when(reasons),
        roles=case.seen_roles,
        findings=tuple(findings),
        explanation=explanations.sentence(case, verdict, findings, missing),
        fix=fixes.for_verdict(reasons, case),
        missing=missing,
        identified_as=_identified_as(case),
    )


@cache
def _upgrade(from_release: str, to_release: str) -> tuple[str, str]:
    return releases.upgrade(from_release, to_release)


def _without_repetitions(by_versions: list[Finding], by_issues: list[Finding]) -> list[Finding]:
    """A deciding known issue says more of an API than its refused versions do: it stands for both."""
    told = {each.api_key for each in by_issues if each.decides and each.api_key is not None}
    refused = (BREAKS, "degrades")
    return [
        each for each in by_versions if each.api_key not in told or each.verdict not in refused
    ] + by_issues


def _strongest_first(finding: Finding) -> tuple[bool, int, bool, int, str]:
    return (
        not finding.decides,
        PRECEDENCE.index(finding.verdict),
        finding.when != AT_ONCE,
        -1 if finding.api_key is None else finding.api_key,
        finding.rule_id,
    )


def _when(reasons: list[Finding]) -> str | None:
    return min((each.when for each in reasons if each.when), key=lambda when: when != AT_ONCE, default=None)


def _confidence(case: Case, verdict: str, reasons: list[Finding]) -> str:
    """Of harm the surest reason counts; `safe` is as sure as the least sure API of it."""
    if verdict == INSUFFICIENT_EVIDENCE:
        return NONE
    found = [each.confidence for each in reasons]
    if verdict != SAFE:
        return min(found, key=CONFIDENCES.index)
    if found:
        return max(found, key=CONFIDENCES.index)
    if set(case.uses) - {apis.API_VERSIONS}:
        return OBSERVED
    return case.identity_confidence if case.identity else NONE


def _identified_as(case: Case) -> str:
    if case.identity:
        return case.identity.text
    return case.fingerprint.text if case.fingerprint else ""
