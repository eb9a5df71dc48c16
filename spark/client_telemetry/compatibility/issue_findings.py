"""The rules on known issues: what is documented of a client version and a broker release.

Whether an issue was seen does not matter: a known-bad library is never cancelled by a quiet window.
"""

from client_telemetry.compatibility import apis, fixes, known_issues
from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.known_issues import KnownIssue
from client_telemetry.compatibility.request_findings import earliest, latest
from client_telemetry.compatibility.verdict import INFERRED, OBSERVED, Finding


def of(case: Case) -> list[Finding]:
    """One finding for each known issue of the client's library that the upgrade brings in.

    An unnamed client gets it, as inferred, when its default client id names the library and every version that
    explains what was seen has the issue.
    """
    found = _library(case)
    if found is None:
        return []
    who, library, oldest, newest, confidence = found
    return [
        _finding(case, issue, who, confidence)
        for issue in known_issues.known()
        if issue.concerns(library, oldest, newest, case.roles, case.source, case.target)
    ]


def _library(case: Case) -> tuple[str, str, tuple[int, ...], tuple[int, ...], str] | None:
    """Name for people, library, oldest and newest version that it may be, and how surely."""
    identity, fingerprint = case.identity, case.fingerprint
    if identity and identity.version and identity.version_decides:
        return identity.text, identity.library, identity.version, identity.version, case.identity_confidence
    if identity is None and fingerprint and fingerprint.by_client_id:
        oldest, newest = fingerprint.oldest_and_newest
        return (
            f"what looks like {fingerprint.names}",
            fingerprint.profiles[0].library,
            oldest,
            newest,
            INFERRED,
        )
    return None


def _finding(case: Case, issue: KnownIssue, who: str, confidence: str) -> Finding:
    uses = []
    if issue.api_key is not None:
        uses = [use for use in case.uses.get(issue.api_key, []) if str(use.version) in issue.versions.split()]
    return Finding(
        rule_id=issue.rule_id,
        verdict=issue.verdict,
        confidence=OBSERVED if uses and case.identity else confidence,
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
        fix=fixes.for_issue(issue, case),
    )
