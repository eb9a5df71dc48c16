"""From one client's evidence and one target to a verdict with its findings.

Evidence is combined per API, never per client (request_findings), known issues of the library are added
(issue_findings), and the deciding findings are weighed here:

* Precedence: breaks, insufficient_evidence, degrades, unsupported, safe. The lower findings stay listed.
* A finding whose condition the data cannot show is listed and named as missing. If it would break the client and
  depends only on how client and brokers are set up today (a SASL mechanism), the client is not called safe. Nor is a
  client that would lose a function if it were of a version that it may be of.
* A client with neither a known role nor a known library gets insufficient_evidence, unless the target serves all that
  the source serves. So do several programs that nothing tells apart: what one of them does may not have been seen.
"""

from client_telemetry.compatibility import (
    asked_once,
    explanations,
    fixes,
    inference,
    issue_findings,
    measured_logins,
    request_findings,
)
from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.verdict import NOT_IDENTIFIED, ClientVerdict, Finding
from client_telemetry.knowledge import apis
from client_telemetry.knowledge.vocabulary import CONFIDENCES, PRECEDENCE, Confidence, Verdict, When

_HARM = (Verdict.BREAKS, Verdict.DEGRADES)


def conclude(case: Case) -> ClientVerdict:
    """The verdict for the target and the feature levels of the case."""
    findings = _without_repetitions(request_findings.of(case), issue_findings.of(case))
    findings += [*measured_logins.of(case), *asked_once.of(case)]
    findings.sort(key=_strongest_first)
    verdict = min(
        (finding.verdict for finding in findings if finding.decides),
        key=PRECEDENCE.index,
        default=Verdict.SAFE,
    )
    nothing_shown = not case.roles and bool(case.dropped) and not inference.greets_as_of_0_11(case)
    not_told_apart = inference.several_programs(case) if case.may_lose_anything else ""
    # A condition that may be met would make the verdict worse.
    rank = PRECEDENCE.index(verdict)
    worse = any(finding.could_be_met and PRECEDENCE.index(finding.verdict) < rank for finding in findings)
    if verdict != Verdict.BREAKS and (nothing_shown or not_told_apart or worse):
        verdict = Verdict.INSUFFICIENT_EVIDENCE
    reasons = [finding for finding in findings if finding.decides and finding.verdict == verdict]
    fix = fixes.for_verdict(reasons, case)
    missing = explanations.missing(case, findings, not_told_apart, nothing_shown=nothing_shown)
    if verdict == Verdict.BREAKS and fix and not fix.startswith(NOT_IDENTIFIED):
        missing = explanations.without_library(missing)
    refused = bool(case.failing) or any(finding.already for finding in findings)
    helped = all(failing.upgrade_helps for failing in case.failing_by_answers)
    failing = refused or bool(case.failing_by_answers)
    works_again = failing and helped and verdict not in (Verdict.BREAKS, Verdict.INSUFFICIENT_EVIDENCE)
    sentence = explanations.sentence(case, verdict, findings, missing)
    return ClientVerdict(
        verdict=verdict,
        confidence=_confidence(case, verdict, reasons),
        when=None if verdict in (Verdict.SAFE, Verdict.INSUFFICIENT_EVIDENCE) else _when(reasons),
        roles=case.seen_roles,
        findings=tuple(findings),
        explanation=" ".join(
            filter(
                None,
                (
                    sentence,
                    explanations.in_its_log(case, reasons) if verdict in _HARM else "",
                    explanations.newer_than_known(case, reasons),
                    explanations.already(case, findings, works_again, sentence),
                ),
            )
        ),
        fix=fix,
        missing=missing,
        identified_as=_identified_as(case),
        already_failing=failing,
        works_again=works_again,
        as_before=bool(reasons) and all(reason.as_before for reason in reasons),
        condition=explanations.condition(findings),
    )


def _without_repetitions(by_versions: list[Finding], by_issues: list[Finding]) -> list[Finding]:
    """A deciding known issue says more about an API than its refused versions do, and replaces them."""
    decided_apis = {
        finding.api_key for finding in by_issues if finding.decides and finding.api_key is not None
    }
    return [
        finding
        for finding in by_versions
        if finding.api_key not in decided_apis or finding.verdict not in _HARM
    ] + by_issues


def _strongest_first(finding: Finding) -> tuple[bool, int, bool, int, str]:
    return (
        not finding.decides,
        PRECEDENCE.index(finding.verdict),
        finding.when != When.AT_ONCE,
        -1 if finding.api_key is None else finding.api_key,
        finding.rule_id,
    )


def _when(reasons: list[Finding]) -> When | None:
    return min(
        (reason.when for reason in reasons if reason.when),
        key=lambda when: when != When.AT_ONCE,
        default=None,
    )


def _confidence(case: Case, verdict: Verdict, reasons: list[Finding]) -> Confidence:
    """For harm the surest reason counts; `safe` is only as sure as its least sure API."""
    if verdict == Verdict.INSUFFICIENT_EVIDENCE:
        return Confidence.NONE
    confidences = [reason.confidence for reason in reasons]
    if verdict != Verdict.SAFE:
        return min(confidences, key=CONFIDENCES.index)
    if confidences:
        return max(confidences, key=CONFIDENCES.index)
    if set(case.uses) - {apis.API_VERSIONS}:
        return Confidence.OBSERVED
    return case.identity_confidence if case.identity else Confidence.NONE


def _identified_as(case: Case) -> str:
    if case.identity:
        return case.identity.text
    return case.looks_like.text if case.looks_like else ""
