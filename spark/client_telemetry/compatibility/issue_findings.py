"""The rules on known issues: what is documented of a client version and a broker release.

Whether an issue was seen does not matter: a known-bad library is never cancelled by a quiet window.
"""

from dataclasses import replace
from typing import NamedTuple

from client_telemetry.compatibility import apis, fixes, known_issues
from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.evidence import format_versions
from client_telemetry.compatibility.known_issues import ANY_LIBRARY, KnownIssue
from client_telemetry.compatibility.request_findings import earliest, latest
from client_telemetry.compatibility.verdict import (
    AT_ONCE,
    BREAKS,
    CONDITION_UNKNOWN,
    INFERRED,
    LATENT,
    OBSERVED,
    UNSUPPORTED,
    Finding,
)

_BEFORE_LOGIN = frozenset((17, 18, 36))
"""SaslHandshake, ApiVersions, SaslAuthenticate."""
_FETCH, _MEMBERSHIP = 1, frozenset((11, 12, 14))


class Suspect(NamedTuple):
    """The library that an issue may concern."""

    name: str
    """For people."""
    library: str
    oldest: tuple[int, ...]
    newest: tuple[int, ...]
    confidence: str


def of(case: Case) -> list[Finding]:
    """One finding for each known issue of the client's library that the upgrade brings in.

    An unnamed client gets it, as inferred, when its default client id names the library, or when no other
    library explains what was seen, and every version that does has the issue.
    """
    found, library = [], _library(case)
    for issue in known_issues.brought_by(case.source, case.target):
        who = _any_library(case, issue) if issue.library == ANY_LIBRARY else library
        if who is library and case.identity is None and issue.verdict == UNSUPPORTED:
            who = None
        if who and issue.concerns(who.library, who.oldest, who.newest, case.roles, case.target):
            found.append(_finding(case, issue, who))
        elif who is None and (perhaps := _perhaps_unsupported(case, issue)):
            found.append(perhaps)
    for issue in known_issues.kept_by(case.source, case.target):
        if issue.library == ANY_LIBRARY or library is None:
            continue
        if issue.concerns(library.library, library.oldest, library.newest, case.roles, case.target):
            kept = _kept(case, _finding(case, issue, library), issue)
            found += [kept] if kept else []
    return found


def _kept(case: Case, found: Finding, issue: KnownIssue) -> Finding | None:
    """The finding for an issue that the source has too; None where what the source answered speaks against it.

    Who was answered has logged in; who was answered in the very requests has not this trouble. A latent one is none of
    this upgrade's doing, unless the client is a group member that reads nothing: then its event has come.
    """
    requests = set(case.uses) - _BEFORE_LOGIN
    if issue.when == LATENT:
        stopped = bool(_MEMBERSHIP & requests) and _FETCH not in requests and issue.api_key not in requests
        speaks_against = not (found.decides and stopped)
    else:
        speaks_against = bool(requests & {issue.api_key} if issue.api_key is not None else requests)
    if speaks_against or not (found.decides or found.could_be_met):
        return None
    explanation = f"{found.explanation} (as on {case.source} already)"
    return replace(found, already=found.decides, explanation=explanation, when=AT_ONCE, trigger="")


def _any_library(case: Case, issue: KnownIssue) -> Suspect | None:
    """A client that was seen to use the API, in one of the issue's versions, whatever its library is."""
    wanted = issue.versions.split()
    uses = case.uses.get(issue.api_key, []) if issue.api_key is not None else []
    if not any(not wanted or str(use.version) in wanted for use in uses):
        return None
    return Suspect("it", ANY_LIBRARY, issue.version_from, issue.version_to, OBSERVED)


def _library(case: Case) -> Suspect | None:
    identity, fingerprint = case.identity, case.fingerprint
    if identity and identity.version and identity.version_decides:
        return Suspect(
            identity.text, identity.library, identity.version, identity.version, case.identity_confidence
        )
    if identity is None and fingerprint and fingerprint.of_one_library:
        oldest, newest = fingerprint.oldest_and_newest
        library = fingerprint.profiles[0].library
        named = case.looks_like.named if case.looks_like else None
        return Suspect(
            f"what looks like {named.text if named else library}", library, oldest, newest, INFERRED
        )
    return None


def _perhaps_unsupported(case: Case, issue: KnownIssue) -> Finding | None:
    """For an unnamed client whose every request one library explains exactly, better than all others: what is
    documented of that library, as a condition that decides nothing. The same for a default client id and one of its own:
    neither shows the release."""
    fingerprint = case.fingerprint
    if issue.verdict != UNSUPPORTED or fingerprint is None or not fingerprint.is_one_exact_guess:
        return None
    best = fingerprint.guesses[0]
    if not issue.concerns(best.library, best.since, best.until, case.roles, case.target):
        return None
    found = _finding(case, issue, Suspect("it", best.library, best.since, best.until, INFERRED))
    return replace(found, condition=f"it is {best.text}, as it looks like", condition_met=CONDITION_UNKNOWN)


def _finding(case: Case, issue: KnownIssue, who: Suspect) -> Finding:
    uses = []
    if issue.api_key is not None:
        wanted = issue.versions.split()
        uses = [use for use in case.uses.get(issue.api_key, []) if not wanted or str(use.version) in wanted]
    return Finding(
        rule_id=issue.rule_id,
        verdict=issue.verdict,
        confidence=OBSERVED if uses and case.identity else who.confidence,
        explanation=f"{who.name} {issue.explanation}",
        source=issue.source,
        when=issue.when,
        trigger=issue.trigger,
        condition=issue.condition,
        condition_met=issue.condition_met(case.circumstances),
        could_be_met=issue.verdict == BREAKS and issue.condition_test.could_be_met_now(case.circumstances),
        settled_by=issue.condition_test.settled_by(case.circumstances),
        api_key=issue.api_key,
        api_name="" if issue.api_key is None else apis.name(issue.api_key),
        versions=format_versions(
            [use.version for use in uses] or [int(each) for each in issue.versions.split()]
        ),
        requests=sum(use.requests for use in uses),
        first_seen=earliest(uses),
        last_seen=latest(uses),
        fix=fixes.for_issue(issue, case),
    )
