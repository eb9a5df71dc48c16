"""Rollback: what happens to a client when brokers that were upgraded return to the release they came from.

Not the question `judge` answers for a pair of releases with an older target: there the client was watched on
the newer one. Here it was watched on the older one, before the upgrade. Once the brokers are back a client
finds what it found before and negotiates again, so what was seen to work is the evidence. What can differ is
what changed in the meantime: its library, or its group's protocol.
"""

from collections.abc import Collection
from dataclasses import replace
from functools import cache

from client_telemetry.compatibility import (
    apis,
    client_ranges,
    issue_findings,
    known_issues,
    releases,
    served,
    software,
)
from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.conclusion import conclude
from client_telemetry.compatibility.evidence import ClientEvidence, format_versions, versions_in_use
from client_telemetry.compatibility.known_issues import KnownIssue
from client_telemetry.compatibility.software import Identity
from client_telemetry.compatibility.verdict import (
    BREAKS,
    DEGRADES,
    OBSERVED,
    PRECEDENCE,
    SAFE,
    ClientVerdict,
    Finding,
    Outlook,
)

_CONSUMER_GROUP_HEARTBEAT = 68
_GROUPS_BY_DEFAULT = (4, 0, 0)
"""Brokers serve KIP-848 groups by default from 4.0.0 on; 3.7 to 3.9 advertise and refuse them (preview)."""
_TOLD = 4
"""APIs that a sentence names."""


def judge_rollback(
    evidence: ClientEvidence, from_release: str, to_release: str, upgraded: ClientVerdict
) -> Outlook:
    """What happens to a client when brokers return from `to_release` to `from_release`.

    The evidence is of brokers on `from_release`, `upgraded` what `judge` says of it for the same pair.
    """
    uses = {key: of_api for key, of_api in versions_in_use(evidence).items() if key != apis.API_VERSIONS}
    if not uses:
        back = conclude(Case.of(replace(evidence, api_uses=()), to_release, from_release))
        return Outlook(back.verdict, back.confidence, back.explanation, back.when)
    brought = _issues_it_has_again(evidence, uses, from_release, to_release)
    if brought:
        worst = min(brought, key=lambda each: PRECEDENCE.index(each.verdict))
        return Outlook(
            worst.verdict, worst.confidence, f"As today on {from_release}: {worst.explanation}.", worst.when
        )
    seen = [
        apis.request(key, format_versions([use.version for use in of_api]))
        for key, of_api in sorted(uses.items())
    ]
    named = ", ".join(seen[:_TOLD]) + (f" and {len(seen) - _TOLD} more" if len(seen) > _TOLD else "")
    sentences = [f"{from_release} answered its requests ({named}) and accepts the same again."]
    if upgraded.verdict in (BREAKS, DEGRADES):
        sentences.append(f"What stops working on {to_release} works again.")
    sentences += _meanwhile(evidence, upgraded, from_release, to_release)
    return Outlook(SAFE, OBSERVED, " ".join(sentences), None)


def _issues_it_has_again(
    evidence: ClientEvidence, uses: Collection[int], from_release: str, to_release: str
) -> list[Finding]:
    """Deciding findings of known issues that the older brokers have and the newer ones have not."""
    issues = known_issues.brought_by(to_release, from_release)
    if all(each.library == known_issues.ANY_LIBRARY and each.api_key not in uses for each in issues):
        return []
    found = issue_findings.of(Case.of_rollback(evidence, from_release, to_release))
    return [each for each in found if each.decides and not each.already]


def _meanwhile(
    evidence: ClientEvidence, upgraded: ClientVerdict, from_release: str, to_release: str
) -> list[str]:
    """What must not change between the upgrade and the rollback."""
    identity = software.identify(evidence)
    sentences: list[str] = []
    if identity is None:
        return sentences
    if "group_consumer" in upgraded.roles and _could_change_its_group(identity, from_release, to_release):
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
    there = served.by(to_release).get(_CONSUMER_GROUP_HEARTBEAT)
    return (
        there is not None
        and releases.parse(from_release) < _GROUPS_BY_DEFAULT <= releases.parse(to_release)
        and client_ranges.declared(identity, _CONSUMER_GROUP_HEARTBEAT) is not None
    )


@cache
def _issues_of_newer_versions(
    identity: Identity, from_release: str, to_release: str
) -> tuple[KnownIssue, ...]:
    """Issues with the older brokers that only newer versions of its library have, without condition."""
    return tuple(
        issue
        for issue in known_issues.brought_by(to_release, from_release)
        if identity.version is not None
        and issue.library == identity.library
        and issue.version_from > identity.version
        and not issue.condition
    )
