"""The rules on request versions: what the target serves, held against what the client sends or can send.

* Only an API of which the target drops versions that the source serves can hurt; every other request that
  works today works tomorrow, seen or not.
* An observed version below what the target serves counts as refused if the source offered a version that
  the target serves (a client that negotiates would have taken it) or if the library does not negotiate.
  Otherwise it proves nothing, and the declared range decides.
* A version above the target's maximum (a rollback) matters only for a client that does not negotiate, or that
  has no lower one: the declared range decides, and without one that it asks brokers for their versions (KIP-35).
* An API that was not seen and that the role needs: the declared range, and without one it is not known.
"""

from collections.abc import Iterable
from dataclasses import replace

from client_telemetry.compatibility import apis, client_ranges, fixes, roles, served
from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.evidence import ApiUse, format_versions
from client_telemetry.compatibility.served import Versions
from client_telemetry.compatibility.verdict import (
    BREAKS,
    INFERRED,
    INSUFFICIENT_EVIDENCE,
    NONE,
    OBSERVED,
    SAFE,
    Finding,
)

_SOURCE = "KIP-896 (removed request versions), KIP-35 (ApiVersions); knowledge base: "


def of(case: Case) -> list[Finding]:
    """One finding for each API that the upgrade could take away from this client, by API key."""
    keys = set(case.uses) - {apis.API_VERSIONS}
    for role in case.roles:
        keys |= set(roles.needed_by(role, case.uses))
    found = (_observed(case, key) if key in case.uses else _unseen(case, key) for key in sorted(keys))
    return [finding for finding in found if finding]


def _observed(case: Case, key: int) -> Finding | None:
    """The finding for an API that was seen; None where the upgrade takes nothing of it away."""
    uses, target, source = case.uses[key], case.target_api(key), case.source_api(key)
    if target is None and source is None:
        return None  # between brokers, or newer than the knowledge base: no statement
    outside = [use for use in uses if target is None or not _within(use.version, target.served)]
    if not outside:
        return _finding(case, key, SAFE, OBSERVED, uses) if key in case.dropped else None
    if target is None:
        return _finding(case, key, BREAKS, OBSERVED, outside)
    if case.identity and case.identity.negotiates is False:
        return _finding(case, key, BREAKS, OBSERVED, outside)
    below = [use for use in outside if use.version < target.served.min]
    if below and source and source.advertised.max >= target.served.min:
        return _finding(case, key, BREAKS, OBSERVED, below)
    declared = case.declared(key)
    if declared is not None:
        return _by_range(case, key, declared)
    if not below and case.asks_for_versions:
        found = _finding(case, key, SAFE, INFERRED, uses)
        return replace(found, explanation=f"{found.explanation}, and it asks brokers for their versions")
    seen = format_versions([use.version for use in uses])
    why = f"as {case.source} offers no better" if below else "and whether it has a lower one is not known"
    return _not_known(case, key, f"was seen with version {seen} only, {why}")


def _unseen(case: Case, key: int) -> Finding | None:
    """The finding for an API that the role needs and that was not seen."""
    if key not in case.dropped or case.never_used(key):
        return None
    declared = case.declared(key)
    if declared is not None:
        return _by_range(case, key, declared)
    if case.asks_for_versions and case.loses_only_newer_versions(key):
        return None
    return _by_fingerprint(case, key) or _not_known(case, key, "was not seen")


def _by_fingerprint(case: Case, key: int) -> Finding | None:
    """A refusal, when every library that the client looks like ends below what the target serves."""
    fingerprint, target = case.fingerprint, case.target_api(key)
    if fingerprint is None or target is None:
        return None
    range_of_all = fingerprint.refused_by_all(key, target.served.min)
    if range_of_all is None:
        return None
    found = _finding(case, key, BREAKS, INFERRED, [], range_of_all)
    told = f"it looks like {fingerprint.names} ({'; '.join(fingerprint.reasons)}) and can use {apis.name(key)} {range_of_all}"
    return replace(found, rule_id="fingerprint_version_refused", explanation=f"{told}; {_serves(case, key)}")


def _by_range(case: Case, key: int, declared: Versions) -> Finding:
    target = case.target_api(key)
    works = target is not None and target.works_with(declared)
    return _finding(case, key, SAFE if works else BREAKS, case.identity_confidence, [], declared)


def _finding(
    case: Case, key: int, verdict: str, confidence: str, uses: list[ApiUse], declared: Versions | None = None
) -> Finding:
    name, loss = apis.name(key), roles.loss(key, case.roles)
    versions = str(declared) if declared else format_versions([use.version for use in uses])
    if declared:
        told = f"{case.identity.text if case.identity else ''} can use {name} {versions}"
    else:
        told = f"{apis.purpose(key)} with {name} {versions}"
    harmless = verdict == SAFE
    return Finding(
        rule_id=f"{'declared' if declared else 'observed'}_version_{'served' if harmless else 'refused'}",
        verdict=SAFE if harmless else loss.without_it,
        confidence=confidence,
        explanation=f"{told}; {_serves(case, key)}",
        source=_SOURCE + (f"{client_ranges.FILE}, " if declared else "") + served.FILE,
        when=None if harmless else loss.when,
        trigger="" if harmless else loss.trigger,
        api_key=key,
        api_name=name,
        versions=versions,
        requests=sum(use.requests for use in uses),
        first_seen=earliest(uses),
        last_seen=latest(uses),
        fix="" if harmless else fixes.for_refused([key], case),
    )


def _not_known(case: Case, key: int, why: str) -> Finding:
    loss, uses = roles.loss(key, case.roles), case.uses.get(key, [])
    return Finding(
        rule_id="version_not_known",
        verdict=INSUFFICIENT_EVIDENCE,
        confidence=NONE,
        explanation=f"its role needs {apis.name(key)}, which {why}; {_serves(case, key)}",
        source=f"knowledge base: {roles.FILE}, {served.FILE}",
        when=loss.when,
        trigger=loss.trigger,
        api_key=key,
        api_name=apis.name(key),
        versions=format_versions([use.version for use in uses]),
        requests=sum(use.requests for use in uses),
        first_seen=earliest(uses),
        last_seen=latest(uses),
    )


def _serves(case: Case, key: int) -> str:
    target = case.target_api(key)
    return f"{case.target} serves {target.served}" if target else f"{case.target} does not serve it"


def _within(version: int, versions: Versions) -> bool:
    return versions.min <= version <= versions.max


def earliest(uses: Iterable[ApiUse]) -> int | None:
    return min((use.first_seen for use in uses if use.first_seen is not None), default=None)


def latest(uses: Iterable[ApiUse]) -> int | None:
    return max((use.last_seen for use in uses if use.last_seen is not None), default=None)
