"""The rules on known issues: what is documented about a client version and a broker release.

Whether an issue was observed does not matter: a quiet window never clears a library known to be bad.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import NamedTuple

from client_telemetry.compatibility import fingerprints, fixes, inference
from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.evidence import ApiUse, ClientEvidence, earliest, format_versions, latest
from client_telemetry.compatibility.verdict import Finding
from client_telemetry.knowledge import apis, known_issues
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.knowledge.known_issues import ANY_LIBRARY, UNKNOWN_LIBRARY, KnownIssue
from client_telemetry.knowledge.vocabulary import Answer, Confidence, Verdict, When


class Suspect(NamedTuple):
    """The library that an issue may concern."""

    name: str
    """As readers see it."""
    library: str
    oldest: tuple[int, ...]
    newest: tuple[int, ...]
    confidence: Confidence


def _any_version(issue: KnownIssue, confidence: Confidence = Confidence.INFERRED) -> Suspect:
    """Of those that have the issue."""
    return Suspect("it", issue.library, issue.version_from, issue.version_to, confidence)


def of(case: Case) -> list[Finding]:
    """One finding for each known issue of the client's library that the upgrade introduces.

    An unnamed client gets it, as inferred, if its default client id names the library, or if no other library explains
    what was seen and every version that does has the issue.
    """
    findings, library = [], _library(case)
    for issue in known_issues.brought_by(case.source, case.target):
        who = _suspect(case, issue, library)
        if who and _concerns(case, issue, who):
            findings.append(_finding(case, issue, who))
        elif who is None and (perhaps := _possibly_unsupported(case, issue)):
            findings.append(perhaps)
    for issue in known_issues.kept_by(case.source, case.target):
        who = _suspect(case, issue, library)
        if who and _concerns(case, issue, who):
            finding = _on_both_releases(case, _finding(case, issue, who), issue)
            findings += [finding] if finding else []
    rules_found = {finding.rule_id for finding in findings}
    possible = (*_possible_issues(case), *_issues_of_unseen_roles(case))
    return findings + [finding for finding in possible if finding.rule_id not in rules_found]


def _suspect(case: Case, issue: KnownIssue, library: Suspect | None) -> Suspect | None:
    """`library`: that of the client, which is not called unsupported unless it says what it is."""
    if issue.library == ANY_LIBRARY:
        return _any_library(case, issue)
    return None if case.identity is None and issue.verdict == Verdict.UNSUPPORTED else library


def _concerns(case: Case, issue: KnownIssue, who: Suspect) -> bool:
    return issue.concerns(
        who.library, who.oldest, who.newest, case.roles, case.target
    ) and not issue.condition_test.is_of_the_unseen(case.circumstances)


def _issues_of_unseen_roles(case: Case) -> Iterator[Finding]:
    """What would break a client whose role was not seen in a role that it may have: issues of its library and version, and
    what the target's vendor does not serve. They decide nothing, but keep it from being called safe.
    """
    if case.seen_roles:
        return
    for issue in known_issues.brought_by(case.source, case.target):
        if issue.verdict != Verdict.BREAKS or issue.when != When.AT_ONCE:
            continue
        what = _what_it_may_do(case, issue)
        if not what:
            continue
        finding = _finding(case, issue, _any_version(issue))
        if finding.condition_met in (None, Answer.YES) or finding.could_be_met:
            yield replace(
                finding,
                condition=" and ".join(filter(None, (what, issue.condition))),
                condition_met=Answer.UNKNOWN,
                could_be_met=True,
                settled_by="; ".join(filter(None, ("what it does with Kafka", finding.settled_by))),
            )


def _what_it_may_do(case: Case, issue: KnownIssue) -> str:
    """The role or request that an issue is about, if nothing shows that the client does not have it; otherwise empty."""
    identity = case.identity
    if issue.library == ANY_LIBRARY:
        key = issue.api_key
        may = issue.condition_test.is_about_vendor and key is not None and not case.never_used(key)
        return f"it sends {apis.name(key)}" if may and key is not None and key not in case.tried else ""
    if identity is None or identity.version is None or not identity.version_decides or case.contradiction:
        return ""
    version = identity.version
    other_roles = issue.roles - set(case.roles)
    if other_roles and issue.concerns(identity.library, version, version, other_roles, case.target):
        return f"it is a {' or '.join(sorted(role.replace('_', ' ') for role in other_roles))}"
    return ""


def _possible_issues(case: Case) -> Iterator[Finding]:
    """What would harm a client of unknown library or version: the issues of every library that it can be. They decide
    nothing, but keep it from being called safe.
    """
    who = case.identity
    if who is not None and who.version is not None and who.version_decides and not case.contradiction:
        return
    for issue in known_issues.brought_by(case.source, case.target):
        if issue.verdict == Verdict.UNSUPPORTED or not _can_be_of(case, issue):
            continue
        if issue.roles and not issue.roles & set(case.roles):
            continue
        finding = _finding(case, issue, _any_version(issue))
        if finding.condition_met == Answer.NO or (
            finding.condition_met == Answer.UNKNOWN and not (finding.could_be_met or finding.settled_by)
        ):
            continue
        which = ""
        if issue.library != UNKNOWN_LIBRARY:
            which = f"it is {issue.library} {known_issues.versions_of(issue)}"
        yield replace(
            finding,
            condition=" and ".join(filter(None, (which, issue.condition))),
            condition_met=Answer.UNKNOWN,
            could_be_met=finding.could_be_met or finding.condition_met != Answer.UNKNOWN,
            settled_by="; ".join(filter(None, ("its library and version", finding.settled_by))),
        )


def _can_be_of(case: Case, issue: KnownIssue) -> bool:
    """Whether a client of unknown library or version can be one that an issue is about.

    If the library is known, it can be any of its versions. If not, only issues count that no request shows: about how a
    program builds a request that was seen, about logging in, for clients that may log in, and about connecting, for those
    that were not seen to ask for versions as the target has them. A client that declares a
    name which the knowledge base does not have can be any library missing there, or a known one under another name; one
    whose requests no known library sends is missing there; any other is one of those that send them, or the one whose
    default client id it has.
    """
    identity, evidence = case.identity, case.evidence
    if identity is not None and not case.contradiction:
        if issue.library != identity.library:
            return False
        if identity.version_decides:
            return identity.version is None and not _sends_too_little(case, issue)
        return any(_is_of(issue, profile) for profile in _that_send_it(identity.library, case))
    by_code = issue.condition_test.is_about_code and issue.api_key in case.uses
    by_greeting = issue.is_about_connecting and _asks_above(case)
    if (
        not by_code
        and not by_greeting
        and not (issue.condition_test.is_about_login and _may_log_in(evidence))
    ):
        return False
    if issue.library == UNKNOWN_LIBRARY and (case.contradiction or evidence.declares_software):
        return True
    profiles = inference.candidates_by_library(case)
    of_library = profiles.get(issue.library, ())
    has_issue = any(_is_of(issue, profile) for profile in of_library)
    if issue.library == fingerprints.by_client_id(evidence.client_id)[0]:
        return not of_library or has_issue
    if not profiles:
        return issue.library == UNKNOWN_LIBRARY
    named = case.looks_like.library if case.looks_like and case.looks_like.named else None
    return has_issue and (named == issue.library or named not in profiles)


def _asks_above(case: Case) -> bool:
    """Whether it asks for request versions in a version that the target does not have, or was not seen to ask."""
    target, uses = case.target_api(apis.API_VERSIONS), case.uses.get(apis.API_VERSIONS, [])
    return target is not None and (not uses or any(use.version > target.served.max for use in uses))


def _sends_too_little(case: Case, issue: KnownIssue) -> bool:
    """Whether an issue about requests that a program builds itself is of versions that negotiate higher ones than this
    client sends: it is older, or limits them, and then limits them on the target too.
    """
    profiles = [profile for profile in fingerprints.every_profile() if _is_of(issue, profile)]
    return (
        issue.condition_test.is_about_code
        and bool(profiles)
        and all(fingerprints.holds_back(profile, case.seen, case.source) for profile in profiles)
    )


def _that_send_it(library: str, case: Case) -> tuple[fingerprints.Profile, ...]:
    """The versions of a library that send what was seen, or all if none does: the version that Sarama declares is that of
    the application, so that only requests narrow it.
    """
    profiles = tuple(profile for profile in fingerprints.every_profile() if profile.library == library)
    return tuple(each for each in profiles if fingerprints.explains(each, case.seen)) or profiles


def _is_of(issue: KnownIssue, profile: fingerprints.Profile) -> bool:
    """Whether some version of a profile has the issue."""
    return (
        profile.library == issue.library
        and profile.since <= issue.version_to
        and issue.version_from <= profile.until
    )


def _may_log_in(evidence: ClientEvidence) -> bool:
    """Whether the client may use SASL: only a known protocol without it, or a listener that offers none, says no."""
    return any(
        login.uses_sasl or (login.uses_sasl is None and mechanisms != frozenset())
        for login, mechanisms in zip(evidence.logins, evidence.possible_mechanisms, strict=True)
    )


def _on_both_releases(case: Case, finding: Finding, issue: KnownIssue) -> Finding | None:
    """The finding for an issue that the source has too; None if what the source answered refutes it.

    A client that was answered has logged in, and one whose very requests were answered does not have the issue. A
    latent issue waits for its event as before, unless the client is a group member that reads nothing: then the event
    has happened.
    """
    requests = set(case.uses) - apis.SET_UP
    finding = replace(finding, explanation=f"{finding.explanation} (as on {case.source} already)")
    if issue.verdict != Verdict.BREAKS:
        is_so = finding.decides and (issue.verdict == Verdict.UNSUPPORTED or issue.when == When.LATENT)
        return _latent_on_both(finding, issue, requests) if is_so else None
    if issue.when == When.LATENT:
        stopped = (
            bool(apis.MEMBERSHIP & requests)
            and ApiKey.FETCH not in requests
            and issue.api_key not in requests
        )
        if not (finding.decides and stopped):
            return _latent_on_both(finding, issue, requests)
    elif requests & {issue.api_key} if issue.api_key is not None else requests:
        return None
    if not (finding.decides or finding.could_be_met):
        return None
    return replace(finding, already=finding.decides, when=When.AT_ONCE, trigger="")


def _latent_on_both(finding: Finding, issue: KnownIssue, requests: Collection[int]) -> Finding | None:
    """The finding for an issue of both releases that stops nothing today; None if its event has passed, never comes, or
    nothing would settle whether it does. What depends on how client and brokers are set up today keeps no client
    from being safe: it already works that way on the source.
    """
    passed = issue.when == When.LATENT and not issue.condition and issue.api_key in requests
    if passed or finding.condition_met == Answer.NO or not (finding.decides or finding.settled_by):
        return None
    return replace(finding, as_before=True, could_be_met=False)


def _any_library(case: Case, issue: KnownIssue) -> Suspect | None:
    """A client that used the API in one of the issue's versions, or that is known to log in as the issue says, whatever
    its library. (A note of the cluster tells of those of which it is not known.)
    """
    if issue.condition_test.is_about_vendor and issue.condition_met(case.circumstances) == Answer.NO:
        return None
    if issue.api_key is None:
        is_so = issue.condition_test.mechanism_met(case.circumstances) == Answer.YES
        return _any_version(issue) if is_so else None
    return _any_version(issue, Confidence.OBSERVED) if _uses_of(case, issue) else None


def _uses_of(case: Case, issue: KnownIssue) -> list[ApiUse]:
    """Its requests that an issue is about."""
    versions, uses = issue.versions.split(), case.uses.get(-1 if issue.api_key is None else issue.api_key, [])
    return [use for use in uses if not versions or str(use.version) in versions]


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
            f"what looks like {named.text if named else library}",
            library,
            oldest,
            newest,
            Confidence.INFERRED,
        )
    return None


def _possibly_unsupported(case: Case, issue: KnownIssue) -> Finding | None:
    """For an unnamed client whose every request one library explains exactly, and better than all others: that
    library's documented limits, as a condition that decides nothing. The same holds for a default client id and for
    one of its own: neither shows the release.
    """
    fingerprint = case.fingerprint
    if issue.verdict != Verdict.UNSUPPORTED or fingerprint is None or not fingerprint.is_one_exact_guess:
        return None
    best = fingerprint.guesses[0]
    if not issue.concerns(best.library, best.since, best.until, case.roles, case.target):
        return None
    finding = _finding(case, issue, Suspect("it", best.library, best.since, best.until, Confidence.INFERRED))
    return replace(finding, condition=f"it is {best.text}, as it looks like", condition_met=Answer.UNKNOWN)


def _finding(case: Case, issue: KnownIssue, who: Suspect) -> Finding:
    uses = _uses_of(case, issue)
    return Finding(
        rule_id=issue.rule_id,
        verdict=issue.verdict,
        confidence=Confidence.OBSERVED if uses and case.identity else who.confidence,
        explanation=f"{who.name} {issue.explanation}",
        source=issue.source,
        when=issue.when,
        trigger=issue.trigger,
        condition=issue.condition,
        condition_met=issue.condition_met(case.circumstances),
        could_be_met=issue.verdict == Verdict.BREAKS
        and issue.condition_test.could_be_met_now(case.circumstances),
        settled_by=issue.condition_test.settled_by(case.circumstances),
        api_key=issue.api_key,
        api_name="" if issue.api_key is None else apis.name(issue.api_key),
        versions=format_versions(
            [use.version for use in uses] or [int(version) for version in issue.versions.split()]
        ),
        requests=sum(use.requests for use in uses),
        first_seen=earliest(uses),
        last_seen=latest(uses),
        fix=fixes.for_issue(issue, case),
    )
