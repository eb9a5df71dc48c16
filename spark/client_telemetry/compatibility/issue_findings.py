"""The rules on known issues: what is documented of a client version and a broker release.

Whether an issue was seen does not matter: a known-bad library is never cancelled by a quiet window.
"""

from client_telemetry.compatibility import apis, fixes, known_issues
from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.known_issues import KnownIssue
from client_telemetry.compatibility.request_findings import earliest, latest
from client_telemetry.compatibility.verdict import OBSERVED, Finding


def of(case: Case) -> list[Finding]:
    """One finding for each known issue of the client's library that the upgrade brings in."""
    if case.identity is None:
        return []
    return [
        _finding(case, issue, case.identity.text)
        for issue in known_issues.known()
        if issue.concerns(case.identity, case.roles, case.source, case.target)
    ]


def _finding(case: Case, issue: KnownIssue, who: str) -> Finding:
    uses = []
    if issue.api_key is not None:
        uses = [use for use in case.uses.get(issue.api_key, []) if str(use.version) in issue.versions.split()]
    return Finding(
        rule_id=issue.rule_id,
        verdict=issue.verdict,
        confidence=OBSERVED if uses else case.identity_confidence,
        explanation=f"{who} {issue.explanation}",
        source=issue.source,
        when=issue.when,
        trigger=issue.trigger,
        condition=issue.condition,
        condition_met=issue.condition_met(case.evidence, case.seen_roles),
        api_key=issue.api_key,
        api_name="" if issue.api_key is None else apis.name(issue.api_key),
        versions=issue.versions,
        requests=sum(use.requests for use in uses),
        first_seen=earliest(uses),
        last_seen=latest(uses),
        fix=fixes.for_issue(issue, case.identity, case.target) if case.identity else "",
    )
