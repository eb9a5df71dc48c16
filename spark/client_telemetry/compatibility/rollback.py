"""Rollback: what happens to a client when upgraded brokers return to the release they came from.

This is not the question that `judge` answers for a pair of releases with an older target: there the client was watched
on the newer one. Here it was watched on the older one, before the upgrade. Once the brokers are back, a client meets
the same brokers as before and negotiates again, so what was seen to work is the evidence. What can differ is what
changed in the meantime: its library, or its group's protocol.
"""

from collections.abc import Collection
from functools import cache

from client_telemetry.compatibility import asked_once, issue_findings
from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.evidence import (
    ApiUse,
    ClientEvidence,
    declared_library,
    format_versions,
    versions_in_use,
)
from client_telemetry.compatibility.verdict import ClientVerdict, Finding, Outlook
from client_telemetry.console.counted import first_of
from client_telemetry.knowledge import apis, declared_versions, known_issues, releases, served
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.knowledge.known_issues import KnownIssue
from client_telemetry.knowledge.software import Identity
from client_telemetry.knowledge.vocabulary import PRECEDENCE, Confidence, Role, Verdict

_GROUPS_BY_DEFAULT = (4, 0, 0)
"""Brokers serve KIP-848 groups by default from 4.0.0 on; 3.7 to 3.9 advertise and refuse them (preview)."""
_MOST_NAMED = 4
"""APIs that a sentence names."""


def seen_requests(evidence: ClientEvidence) -> dict[int, list[ApiUse]]:
    """API key -> its uses, without the question for versions, which says nothing about what comes after."""
    return {key: of_api for key, of_api in versions_in_use(evidence).items() if key != apis.API_VERSIONS}


def outlook(evidence: ClientEvidence, from_release: str, to_release: str, upgraded: ClientVerdict) -> Outlook:
    """As `judge_rollback`, of a client that was seen to send requests."""
    uses = seen_requests(evidence)
    brought = _issues_it_has_again(evidence, uses, from_release, to_release)
    if brought:
        worst = min(brought, key=lambda finding: PRECEDENCE.index(finding.verdict))
        return Outlook(
            worst.verdict, worst.confidence, f"As today on {from_release}: {worst.explanation}.", worst.when
        )
    requests = [
        apis.request(key, format_versions([use.version for use in of_api]))
        for key, of_api in sorted(uses.items())
    ]
    named = first_of(requests, _MOST_NAMED)
    sentences = [f"{from_release} answered its requests ({named}) and accepts the same again."]
    if upgraded.verdict in (Verdict.BREAKS, Verdict.DEGRADES):
        sentences.append(f"What stops working on {to_release} works again.")
    sentences += _meanwhile(evidence, upgraded, from_release, to_release)
    sentences += [
        f"If it was started in between: {finding.explanation}."
        for finding in asked_once.of(Case.of_rollback(evidence, from_release, to_release))
    ]
    return Outlook(Verdict.SAFE, Confidence.OBSERVED, " ".join(sentences), None)


def _issues_it_has_again(
    evidence: ClientEvidence, uses: Collection[int], from_release: str, to_release: str
) -> list[Finding]:
    """Deciding findings of known issues that the older brokers have and the newer ones do not."""
    issues = known_issues.brought_by(to_release, from_release)
    if all(issue.library == known_issues.ANY_LIBRARY and issue.api_key not in uses for issue in issues):
        return []
    findings = issue_findings.of(Case.of_rollback(evidence, from_release, to_release))
    return [finding for finding in findings if finding.decides and not finding.already]


def _meanwhile(
    evidence: ClientEvidence, upgraded: ClientVerdict, from_release: str, to_release: str
) -> list[str]:
    """What must not change between the upgrade and the rollback."""
    identity = declared_library(evidence)
    sentences: list[str] = []
    if identity is None:
        return sentences
    if Role.GROUP_CONSUMER in upgraded.roles and _could_change_its_group(identity, from_release, to_release):
        sentences.append(
            f"Its consumers stay with group.protocol=classic until then: {from_release} does not take groups "
            "of the new protocol (KIP-848)."
        )
    sentences += [
        f"Its library is not taken to {identity.library} "
        f"{known_issues.versions_of(issue)} until then: it {issue.explanation}."
        for issue in _issues_of_newer_versions(identity, from_release, to_release)
    ]
    return sentences


def _could_change_its_group(identity: Identity, from_release: str, to_release: str) -> bool:
    there = served.by(to_release).get(ApiKey.CONSUMER_GROUP_HEARTBEAT)
    return (
        there is not None
        and releases.parse(from_release) < _GROUPS_BY_DEFAULT <= releases.parse(to_release)
        and declared_versions.declared(identity, ApiKey.CONSUMER_GROUP_HEARTBEAT) is not None
    )


@cache
def _issues_of_newer_versions(
    identity: Identity, from_release: str, to_release: str
) -> tuple[KnownIssue, ...]:
    """Unconditional issues with the older brokers that only newer versions of its library have."""
    return tuple(
        issue
        for issue in known_issues.brought_by(to_release, from_release)
        if identity.version is not None
        and issue.library == identity.library
        and issue.version_from > identity.version
        and not issue.condition
    )
