"""The rules on known issues: what is documented of a client version and a broker release.

Whether an issue was seen does not matter: a known-bad library is never cancelled by a quiet window.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import NamedTuple

from client_telemetry.compatibility import apis, conditions, fingerprints, fixes, inference, known_issues
from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.evidence import ClientEvidence, format_versions
from client_telemetry.compatibility.known_issues import ANY_LIBRARY, UNKNOWN_LIBRARY, KnownIssue
from client_telemetry.compatibility.request_findings import earliest, latest
from client_telemetry.compatibility.verdict import (
    AT_ONCE,
    BREAKS,
    CONDITION_UNKNOWN,
    INFERRED,
    LATENT,
    NO,
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
        who = _any_library(case, issue) if issue.library == ANY_LIBRARY else library
        if who is library and case.identity is None and issue.verdict == UNSUPPORTED:
            who = None
        if who and issue.concerns(who.library, who.oldest, who.newest, case.roles, case.target):
            kept = _kept(case, _finding(case, issue, who), issue)
            found += [kept] if kept else []
    rules_found = {each.rule_id for each in found}
    return found + [each for each in _perhaps(case) if each.rule_id not in rules_found]


def _perhaps(case: Case) -> Iterator[Finding]:
    """What would break a client at once, whose library, or its version, is not known: the issues of each library that it
    can be. They decide nothing, and keep it from being called safe."""
    who = case.identity
    if who is not None and who.version is not None and who.version_decides and not case.contradiction:
        return
    for issue in known_issues.brought_by(case.source, case.target):
        if issue.verdict != BREAKS or issue.when != AT_ONCE or not _can_be_of(case, issue):
            continue
        if issue.roles and not issue.roles & set(case.roles):
            continue
        found = _finding(
            case, issue, Suspect("it", issue.library, issue.version_from, issue.version_to, INFERRED)
        )
        if found.condition_met == NO or (found.condition_met == CONDITION_UNKNOWN and not found.could_be_met):
            continue
        which = ""
        if issue.library != UNKNOWN_LIBRARY:
            which = f"it is {issue.library} {known_issues.versions_of(issue)}"
        yield replace(
            found,
            condition=" and ".join(filter(None, (which, issue.condition))),
            condition_met=CONDITION_UNKNOWN,
            could_be_met=True,
            settled_by="; ".join(filter(None, ("its library and version", found.settled_by))),
        )


def _can_be_of(case: Case, issue: KnownIssue) -> bool:
    """Whether a client whose library, or its version, is not known can be one that an issue is about.

    Where the library is known, each version of it can be. Where it is not, only what concerns logging in counts, which no
    request shows, and only for clients that log in: one that declares a name which the knowledge base does not have can be
    any library that it does not have either, and so can one whose requests no known library sends; any other is one of
    those that send them, or the one whose default client id it has.
    """
    identity, evidence = case.identity, case.evidence
    if identity is not None and not case.contradiction:
        return issue.library == identity.library and (
            identity.version is None
            or (not identity.version_decides and issue.version_from <= identity.version <= issue.version_to)
        )
    if not (issue.condition_test.is_about_login and _logs_in(evidence)):
        return False
    if case.contradiction or evidence.declares_software:
        return issue.library == UNKNOWN_LIBRARY
    if issue.library == fingerprints.by_client_id(evidence.client_id)[0]:
        return True
    profiles = inference.candidates(case)
    if case.looks_like and case.looks_like.named:
        profiles = tuple(each for each in profiles if each.library == case.looks_like.library) or profiles
    if not profiles:
        return issue.library == UNKNOWN_LIBRARY
    return any(
        each.library == issue.library and each.since <= issue.version_to and issue.version_from <= each.until
        for each in profiles
    )


def _logs_in(evidence: ClientEvidence) -> bool:
    protocol = (evidence.security_protocol or "").upper()
    return protocol.startswith("SASL") or bool(not protocol and conditions.possible_mechanisms(evidence))


def _kept(case: Case, found: Finding, issue: KnownIssue) -> Finding | None:
    """The finding for an issue that the source has too; None where what the source answered speaks against it.

    Who was answered has logged in; who was answered in the very requests has not this trouble. A latent one waits for
    its event as before, unless the client is a group member that reads nothing: then its event has come.
    """
    requests = set(case.uses) - _BEFORE_LOGIN
    found = replace(found, explanation=f"{found.explanation} (as on {case.source} already)")
    if issue.verdict != BREAKS:
        is_so = found.decides and (issue.verdict == UNSUPPORTED or issue.when == LATENT)
        return _waiting(found, issue, requests) if is_so else None
    if issue.when == LATENT:
        stopped = bool(_MEMBERSHIP & requests) and _FETCH not in requests and issue.api_key not in requests
        if not (found.decides and stopped):
            return _waiting(found, issue, requests)
    elif requests & {issue.api_key} if issue.api_key is not None else requests:
        return None
    if not (found.decides or found.could_be_met):
        return None
    return replace(found, already=found.decides, when=AT_ONCE, trigger="")


def _waiting(found: Finding, issue: KnownIssue, requests: Collection[int]) -> Finding | None:
    """The finding for an issue of both releases that stops nothing today; None where its event has been and gone, or never
    comes, or where nothing would settle whether it does. What hangs on how client and brokers are set up today keeps no
    client from being safe: it works so on the source."""
    passed = issue.when == LATENT and not issue.condition and issue.api_key in requests
    if passed or found.condition_met == NO or not (found.decides or found.settled_by):
        return None
    return replace(found, as_before=True, could_be_met=False)


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
