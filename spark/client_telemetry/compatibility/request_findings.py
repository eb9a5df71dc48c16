"""The rules on request versions: what the target serves compared with what the client sends or can send.

* Only an API of which the target drops versions that the source serves can hurt; every other request that works today
  works tomorrow, seen or not.
* An observed version below what the target serves counts as refused if the source offered a version that the target
  serves (a client that negotiates would have taken it) or if the library does not negotiate. Otherwise it proves
  nothing, and the declared range decides.
* A version above the target's maximum (a rollback) matters only for a client that does not negotiate or has no lower
  one: the declared range decides, and without one, whether the client asks brokers for their versions (KIP-35).
* For an API that the role needs but that was not seen, the declared range decides; without one it is unknown.
"""

from collections.abc import Iterator
from dataclasses import replace

from client_telemetry.compatibility import failures, fixes, inference
from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.evidence import ApiUse, earliest, format_versions, latest
from client_telemetry.compatibility.verdict import Finding
from client_telemetry.knowledge import (
    api_fallbacks,
    apis,
    client_ranges,
    known_issues,
    releases,
    roles,
    served,
)
from client_telemetry.knowledge.apis import Versions
from client_telemetry.knowledge.served import BrokerApi
from client_telemetry.knowledge.vocabulary import Confidence, Role, Verdict, When

GREETING_NOT_KNOWN = "greeting_not_known"

_SOURCE = "KIP-896 (removed request versions), KIP-35 (ApiVersions); knowledge base: "


def of(case: Case) -> list[Finding]:
    """One finding for each API that the upgrade could take away from this client, by API key."""
    refused = failures.refused(case.evidence, case.uses)
    keys = (set(case.uses) | set(refused)) - {apis.API_VERSIONS}
    for role in case.roles:
        keys |= set(roles.needed_by(role, case.uses))
    findings = []
    for key in sorted(keys):
        if key in case.uses:
            findings.append(_observed(case, key))
        elif key in refused:
            findings.append(_refused(case, key, refused[key]))
        else:
            findings.append(_unseen(case, key))
    return [finding for finding in (_greeting(case), *_of_unseen_roles(case), *findings) if finding]


def _of_unseen_roles(case: Case) -> Iterator[Finding]:
    """Findings about what a client may do unseen: another role if none was seen (transactions,
    another kind of group), and what its role can do without (idempotence). These requests work on the source, and the
    target refuses them. What an administrator may call one day is left out: it is anything.
    """
    handled = case.tried.union(*(roles.needed_by(role, case.tried) for role in case.roles))
    of_roles = case.seen_roles or (roles.ROLES if case.is_identified else ())
    for role in (role for role in of_roles if role != Role.ADMIN):
        for key in sorted(roles.may_use(role, case.tried) - handled):
            if case.identity is None and inference.may_lose(case, key):
                handled |= {key}
                yield _not_known(case, key, "was not seen")
            elif _would_be_refused(case, key):
                handled |= {key}
                who = f"if it is a {role.replace('_', ' ')} that needs {apis.name(key)}"
                range_of_it = f"{case.identity.text if case.identity else 'it'} can use {apis.in_words(case.declared(key))}"
                finding = _not_known(case, key, "was not seen")
                yield replace(finding, explanation=f"{who}: {range_of_it}, and {_accepts(case, key)}")


def _would_be_refused(case: Case, key: int) -> bool:
    """Whether the known library works with this API where it was seen, and not on the target."""
    declared, seen, target = case.declared(key), served.by(case.seen_on).get(key), case.target_api(key)
    if declared is None or seen is None or not seen.works_with(declared):
        return False
    if key in known_issues.refused_by(case.seen_on):
        return False
    return target is None or key in known_issues.refused_by(case.target) or not target.works_with(declared)


def _greeting(case: Case) -> Finding | None:
    """The finding for ApiVersions of a client of unknown library that is rolled back to brokers without its version.
    They answer with error 35 and their ranges, in version 0 (KIP-511), and the client should ask again with a
    version that they have; whether this one does is unknown unless an ApiVersions request of it was refused before.
    (franz-go 1.19.0 takes the error for an answer.)
    """
    target, uses = case.target_api(apis.API_VERSIONS), case.uses.get(apis.API_VERSIONS, [])
    above = [use for use in uses if target is not None and use.version > target.served.max]
    fell_back = any(use[0] == apis.API_VERSIONS and ApiUse(*use).rejected for use in case.evidence.api_uses)
    if case.identity is not None:
        return _greeting_of_known(case, target) if target else None
    if not above or fell_back or target is None:
        return None
    if not case.evidence.declares_software and inference.candidates(case):
        return None
    finding = _not_known(case, apis.API_VERSIONS, "")
    return replace(
        finding,
        rule_id=GREETING_NOT_KNOWN,
        explanation=f"it asks for request versions with {apis.request(apis.API_VERSIONS, finding.versions)}, which {case.target} answers with error "
        f"35 and its own ranges ({apis.in_words(target.served)}); whether it then asks again, as KIP-511 says, was not seen, and its library "
        "is not known",
        source="KIP-511 (ApiVersions falls back to version 0 at error 35)",
    )


def _greeting_of_known(case: Case, target: BrokerApi) -> Finding | None:
    """The finding for a library that has only newer versions of ApiVersions than the target: it has none to fall back to."""
    declared = case.declared(apis.API_VERSIONS)
    if declared is None or declared.min <= target.served.max or case.identity is None:
        return None
    uses = case.uses.get(apis.API_VERSIONS, [])
    return replace(
        _finding(
            case,
            apis.API_VERSIONS,
            Verdict.BREAKS,
            Confidence.OBSERVED if uses else case.identity_confidence,
            uses,
        ),
        explanation=f"{case.identity.text} asks for request versions with {apis.request(apis.API_VERSIONS, declared.min)} "
        f"only, which {case.target} answers with error 35 ({apis.in_words(target.served)})",
    )


def _refused(case: Case, key: int, uses: list[ApiUse]) -> Finding | None:
    """The finding for an API of which the source refused every request."""
    target = case.target_api(key)
    if target is None and case.source_api(key) is None:
        return None
    again = [use for use in uses if target is None or not target.served.has(use.version)]
    finding = _finding(
        case, key, Verdict.BREAKS if again else Verdict.SAFE, Confidence.OBSERVED, again or uses
    )
    versions = format_versions([use.version for use in again or uses])
    use = f"{apis.purpose(key)} with {apis.request(key, versions)}, which {case.source} refuses already"
    requests = sum(use.rejected for use in again or uses)
    return replace(
        finding,
        requests=requests,
        explanation=f"{use}; {_accepts(case, key)}",
        when=finding.when and When.AT_ONCE,
        trigger="",
    )


def _observed(case: Case, key: int) -> Finding | None:
    """The finding for an API that was seen; None if the upgrade removes nothing that it needs."""
    uses, target, source = case.uses[key], case.target_api(key), case.source_api(key)
    if target is None and source is None:
        return _answered_beyond_the_release(case, key)
    outside = [use for use in uses if target is None or not target.served.has(use.version)]
    if not outside:
        return _still_served(case, key)
    if target is None and _falls_back(case, key):
        return None
    if target is None or (case.identity and case.identity.negotiates is False):
        return _finding(case, key, Verdict.BREAKS, Confidence.OBSERVED, outside)
    below = [use for use in outside if use.version < target.served.min]
    if below and source and source.advertised.max >= target.served.min:
        return _finding(case, key, Verdict.BREAKS, Confidence.OBSERVED, below)
    declared = case.declared(key)
    if declared is not None:
        return _by_range(case, key, declared)
    if not below and any(target.advertised.has(use.version) for use in outside):
        # A client that goes by what brokers advertise would send one of these again.
        sent = apis.in_words(format_versions([use.version for use in outside]))
        return _not_known(case, key, f"was seen with {sent}; {case.target} advertises that, and refuses it")
    if not below and case.asks_for_versions and inference.every_candidate_works(case, key, target):
        finding = _finding(case, key, Verdict.SAFE, Confidence.INFERRED, uses)
        return replace(finding, explanation=f"{finding.explanation}, and it asks brokers for their versions")
    sent = apis.in_words(format_versions([use.version for use in uses]))
    why = f"as {case.source} offers no better" if below else "and whether it has a lower one is not known"
    return _not_known(case, key, f"was seen with {sent} only, {why}")


def _falls_back(case: Case, key: int) -> bool:
    """Whether its library sends an older request, which the target has, to brokers that do not have this one."""
    who = case.identity
    if who is None or who.version is None or not who.version_decides or case.contradiction:
        return False
    instead = api_fallbacks.instead(who.library, who.version, key)
    return instead is not None and case.target_api(instead) is not None


def _still_served(case: Case, key: int) -> Finding | None:
    """The finding for an API that was seen in versions that the target serves."""
    uses = case.uses[key]
    if _may_choose_what_is_refused(case, key):
        sent = apis.in_words(format_versions([use.version for use in uses]))
        why = f"was seen with {sent}; {case.target} offers higher ones, and refuses them"
        return _not_known(case, key, why)
    if refused := _chooses_what_is_refused(case, key):
        return _by_range(case, key, refused)
    return _finding(case, key, Verdict.SAFE, Confidence.OBSERVED, uses) if key in case.dropped else None


def _answered_beyond_the_release(case: Case, key: int) -> Finding | None:
    """The finding for an API that brokers answered although neither their release nor the target's serves it: a preview
    (unstable.api.versions.enable), a vendor's build, or newer than the knowledge base. None for inter-broker APIs
    and where losing it does no harm. Going back to an older line loses it: that line did not have the preview.
    """
    api = apis.by_key().get(key)
    if api is not None and api.used_by in ("broker", "telemetry"):
        return None
    if (
        api is not None
        and releases.is_rollback(case.source, case.target)
        and releases.line(case.source) != releases.line(case.target)
    ):
        return _finding(case, key, Verdict.BREAKS, Confidence.OBSERVED, case.uses[key])
    return _not_known(
        case,
        key,
        f"was answered although {case.source} as released does not have it (a preview by unstable.api.versions.enable, a "
        "vendor's build, or newer than what is known here)",
    )


def _may_choose_what_is_refused(case: Case, key: int) -> bool:
    """Whether a client of unknown library may choose a version that the target advertises but refuses, such as one that
    depends on a feature level. That it did not on the source proves nothing: franz-go 1.19.0 goes by the finalized
    features.
    """
    target = case.target_api(key)
    return (
        (case.identity is None or case.identity.version is None)
        and target is not None
        and target.advertised.max > target.served.max
        and not inference.takes_what_is_served(case, key)
    )


def _chooses_what_is_refused(case: Case, key: int) -> Versions | None:
    """The range of a known library that takes a higher version where brokers advertise one, and which the target then
    refuses until a feature is finalized: @platformatic/kafka sent AddPartitionsToTxn 3 to brokers that ended there,
    and sends 5 to 4.x (KIP-890, transaction.version 0).
    """
    target, declared = case.target_api(key), case.declared(key)
    if target is None or declared is None or case.identity is None or case.identity.negotiates is not True:
        return None
    return declared if target.served.max < min(declared.max, target.advertised.max) else None


def _unseen(case: Case, key: int) -> Finding | None:
    """The finding for an API that the role needs but that was not seen."""
    if case.never_used(key):
        return None
    if key not in case.dropped:
        return _as_before(case, key)
    declared = case.declared(key)
    if declared is not None:
        return _by_range(case, key, declared)
    if case.asks_for_versions and not case.failing and case.loses_only_newer_versions(key):
        return None
    return (
        _by_other_releases(case, key)
        or _by_fingerprint(case, key)
        or _by_inference(case, key)
        or _not_known(case, key, "was not seen")
    )


def _as_before(case: Case, key: int) -> Finding | None:
    """A refusal that waits for the role's event on the source as on the target, by the declared library or, if none is
    declared, every library that the client looks like; None if either release serves it.
    """
    source, target, loss = case.source_api(key), case.target_api(key), roles.loss(key, case.roles, case.tried)
    if source is None or target is None or loss.when != When.LATENT or loss.without_it != Verdict.BREAKS:
        return None
    declared = case.declared(key)
    if declared is not None:
        finding = None if target.works_with(declared) else _by_range(case, key, declared)
        refused_before = not source.works_with(declared)
    else:
        finding = _by_fingerprint(case, key)
        refused_before = bool(case.fingerprint and case.fingerprint.refused_by_all(key, source.served.min))
    if finding is None or not refused_before:
        return None
    return replace(
        finding, as_before=True, explanation=f"{finding.explanation} (as on {case.source} already)"
    )


def _by_other_releases(case: Case, key: int) -> Finding | None:
    """From what the same client sent to brokers of other releases: a refusal if those offered a version that the target
    serves and the client did not take it.
    """
    sent, target = case.sent_elsewhere(key), case.target_api(key)
    if not sent or target is None:
        return None
    refused = [
        ApiUse(key, version)
        for release, version in sent
        if not target.served.has(version)
        and key in served.by(release)
        and served.by(release)[key].advertised.max >= target.served.min
    ]
    if not refused and not all(target.served.has(version) for _, version in sent):
        return None
    uses = refused or [ApiUse(key, version) for _, version in sent]
    finding = _finding(case, key, Verdict.BREAKS if refused else Verdict.SAFE, Confidence.INFERRED, uses)
    where = ", ".join(dict.fromkeys(release for release, _ in sent))
    return replace(finding, requests=0, explanation=f"{finding.explanation} (seen with brokers on {where})")


def _by_inference(case: Case, key: int) -> Finding | None:
    """A request that was not seen but works, as the other requests prove."""
    why = inference.works_unseen(case, key)
    if not why:
        return None
    finding = _finding(case, key, Verdict.SAFE, Confidence.INFERRED, [])
    explanation = f"{apis.name(key)} was not seen, and {why}; {_accepts(case, key)}"
    return replace(finding, rule_id="inferred_version_served", explanation=explanation)


def _by_fingerprint(case: Case, key: int) -> Finding | None:
    """A refusal if every library that the client looks like ends below what the target serves."""
    fingerprint, target = case.fingerprint, case.target_api(key)
    if fingerprint is None or target is None:
        return None
    range_of_all = fingerprint.refused_by_all(key, target.served.min)
    if range_of_all is None:
        return None
    finding = _finding(case, key, Verdict.BREAKS, Confidence.INFERRED, [], range_of_all)
    who = case.looks_like.looks_like if case.looks_like else f"looks like {fingerprint.names}"
    use = f"it {who} and can use {apis.request(key, range_of_all)}"
    return replace(
        finding, rule_id="fingerprint_version_refused", explanation=f"{use}; {_accepts(case, key)}"
    )


def _by_range(case: Case, key: int, declared: Versions) -> Finding:
    target = case.target_api(key)
    works = target is not None and target.works_with(declared)
    return _finding(
        case, key, Verdict.SAFE if works else Verdict.BREAKS, case.identity_confidence, [], declared
    )


def _finding(
    case: Case,
    key: int,
    verdict: Verdict,
    confidence: Confidence,
    uses: list[ApiUse],
    declared: Versions | None = None,
) -> Finding:
    loss = roles.loss(key, case.roles, case.tried)
    versions = str(declared) if declared else format_versions([use.version for use in uses])
    if declared:
        use = f"{case.identity.text if case.identity else ''} can use {apis.request(key, versions)}"
    else:
        use = f"{apis.purpose(key)} with {apis.request(key, versions)}"
    harmless = verdict == Verdict.SAFE
    when, trigger = loss.when, loss.trigger
    if any(use.is_frequent for use in uses):
        when, trigger = When.AT_ONCE, ""  # polled, not just sent at an event
    return Finding(
        rule_id=f"{'declared' if declared else 'observed'}_version_{'served' if harmless else 'refused'}",
        verdict=Verdict.SAFE if harmless else loss.without_it,
        confidence=confidence,
        explanation=f"{use}; {_accepts(case, key)}",
        source=_SOURCE + (f"{client_ranges.FILE}, " if declared else "") + served.FILE,
        when=None if harmless else when,
        trigger="" if harmless else trigger,
        api_key=key,
        api_name=apis.name(key),
        versions=versions,
        requests=sum(use.requests for use in uses),
        first_seen=earliest(uses),
        last_seen=latest(uses),
        fix="" if harmless else fixes.for_refused([key], case),
    )


def _not_known(case: Case, key: int, why: str) -> Finding:
    loss, uses = roles.loss(key, case.roles, case.tried), case.uses.get(key, [])
    return Finding(
        rule_id="version_not_known",
        verdict=Verdict.INSUFFICIENT_EVIDENCE,
        confidence=Confidence.NONE,
        explanation=f"its role needs {apis.name(key)}, which {why}; {_accepts(case, key)}",
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


def _accepts(case: Case, key: int) -> str:
    target = case.target_api(key)
    if target is None:
        return f"{case.target} does not have it"
    gated = " and ".join(
        f"{apis.in_words(Versions(gate.min_version, gate.max_version))} after {gate.feature} {gate.level} is finalized"
        for gate in case.closed_gates(key)
    )
    if not target.serves_any:
        return f"{case.target} accepts {gated} and the program is restarted"
    return f"{case.target} accepts {apis.in_words(target.served)}{f', {gated}' if gated else ''}"
