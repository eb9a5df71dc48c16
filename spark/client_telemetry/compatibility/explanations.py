"""Verdicts in words: one sentence to act on, and what is unknown."""

from collections.abc import Mapping

from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.verdict import ClientVerdict, Finding
from client_telemetry.knowledge import apis, client_messages, client_ranges, client_versions, features
from client_telemetry.knowledge.vocabulary import PRECEDENCE, Answer, Confidence, Verdict, When

ASK = "ask its owner for library, version and configuration"


def missing(
    case: Case, findings: list[Finding], not_told_apart: str, *, nothing_shown: bool
) -> tuple[str, ...]:
    """What is unknown about a client and what would settle it, most important first. `not_told_apart`: what shows that it may be
    several programs. `nothing_shown`: no request shows what it does.
    """
    gaps = []
    if nothing_shown:
        settled_by = "watch it longer, or "
        if _only_asks_for_versions(case):
            # A check whether brokers answer would look the same however long it is watched.
            settled_by = f"{case.target} answers this too, so if it only checks that brokers answer, nothing changes for it; otherwise "
        gaps.append(f"what this client does and with which library: {_seen_so_far(case)}; {settled_by}{ASK}")
    if not_told_apart:
        gaps.append(
            f"whether several programs share its client id, or one replaced another, as {not_told_apart}"
        )
    if case.contradiction:
        gaps.append(f"which library it really is: {case.contradiction}; {ASK}")
    for finding in findings:
        if finding.verdict == Verdict.INSUFFICIENT_EVIDENCE:
            watch = f"watch it through: {finding.trigger}" if finding.trigger else "watch it longer"
            gaps.append(
                f"which version of {finding.api_name} it uses: {finding.explanation}; {watch}, or {ASK}"
            )
    if gaps and case.looks_like and case.roles:
        gaps.append(f"which library it is: it {_looks_like(case)}; {ASK}")
    gaps += [
        _whether(finding)
        for finding in sorted(findings, key=lambda finding: not finding.could_be_met)
        if finding.condition_met == Answer.UNKNOWN
    ]
    return tuple(dict.fromkeys(gaps))


def without_library(gaps: tuple[str, ...]) -> tuple[str, ...]:
    """For a client that has to change what it is: nobody needs to be asked for its library and version as well."""
    return tuple(gap for gap in gaps if not gap.endswith(ASK))


def _only_asks_for_versions(case: Case) -> bool:
    """Whether it only ever sent ApiVersions, in versions that the target has."""
    target = case.target_api(apis.API_VERSIONS)
    uses = case.uses.get(apis.API_VERSIONS, ())
    has_all = target is not None and all(target.served.has(use.version) for use in uses)
    return case.tried == {apis.API_VERSIONS} and has_all


def _seen_so_far(case: Case) -> str:
    software = "it declares no known software name"
    if case.looks_like and case.looks_like.candidates:
        software += f" and {_looks_like(case)}"
    if not case.uses:
        return f"no answered request of it was seen and {software}"
    names = _listed([apis.name(key) for key in sorted(case.uses)])
    were = "was" if len(case.uses) == 1 else "were"
    return f"only {names} {were} seen, as of connections that close before they are used, and {software}"


def _looks_like(case: Case) -> str:
    return case.looks_like.looks_like if case.looks_like else ""


def _whether(finding: Finding) -> str:
    settled = f"; settled by {finding.settled_by}" if finding.settled_by else ""
    return f"whether {finding.condition}; if so: {finding.explanation}{settled}"


def condition(findings: list[Finding]) -> str:
    """The unknown conditions that a verdict depends on: `breaks if it uses SCRAM (to be settled by …)`."""
    return "; ".join(
        dict.fromkeys(
            f"{finding.verdict}{' later' if finding.when == When.LATENT else ''} if {finding.condition}"
            + (f" (settled by {finding.settled_by})" if finding.settled_by else "")
            for finding in findings
            if finding.condition_met == Answer.UNKNOWN
        )
    )


def until_finalized(
    target: str, levels: Mapping[str, int], before: ClientVerdict, verdict: ClientVerdict
) -> str:
    """What is worse at the levels before the features of the target are finalized (`before`) than in the verdict; empty where
    nothing is."""
    if PRECEDENCE.index(before.verdict) >= PRECEDENCE.index(verdict.verdict):
        return ""
    concerned = {finding.api_key for finding in before.findings if finding.verdict == before.verdict}
    levels = {
        gate.feature: gate.level for gate in features.closed(target, levels) if gate.api_key in concerned
    }
    waits = " and ".join(f"{name} {level}" for name, level in levels.items())
    until = f"{waits} is finalized" if waits else "the new feature levels are finalized"
    word = "undecided" if before.verdict == Verdict.INSUFFICIENT_EVIDENCE else before.verdict
    return f"{word} until {until} on {target}: {before.explanation.rstrip('.')}"


def already(case: Case, findings: list[Finding], works_again: bool, explained: str) -> str:
    """That a client already fails on the source, and why, except what `explained` says; empty if it does not fail."""
    why = [*case.failing, *(finding.explanation for finding in findings if finding.already)]
    why += [failing.reason for failing in case.failing_by_answers]
    if not why:
        return ""
    then = f", and works again on {case.target}" if works_again else ""
    unsaid = "; ".join(dict.fromkeys(reason for reason in why if reason not in explained))
    return f"It fails on {case.source} already{then}{': ' if unsaid else ''}{unsaid}."


def newer_than_known(case: Case, reasons: list[Finding]) -> str:
    """That the verdict rests on an older version of the library than the declared one; empty if it does not."""
    rests_on_it = not reasons or any(reason.confidence != Confidence.OBSERVED for reason in reasons)
    judged_as = client_ranges.judged_as(case.identity)
    return f"{capitalised(judged_as)}." if judged_as and rests_on_it else ""


def in_its_log(case: Case, reasons: list[Finding]) -> str:
    """What its library says when it is refused so, where that was measured; empty otherwise. Owners recognise the words."""
    refused = [reason for reason in reasons if reason.rule_id.endswith("_version_refused")]
    looks_like = case.looks_like.named if case.looks_like else None
    if case.identity:
        library, version = case.identity.library, case.identity.version
    elif looks_like:
        library, version = looks_like.library, looks_like.until
    else:
        return ""
    if not refused:
        return ""
    keys = {reason.api_key for reason in refused if reason.api_key is not None}
    negotiates = any(reason.rule_id == "declared_version_refused" for reason in refused)
    message = client_messages.of(library, version, case.roles, case.target, keys, gives_up=negotiates)
    if message is None:
        return ""
    who = "It" if message.version == version else f"{library} {client_versions.text(message.version)}"
    return f"{who} says then: “{message.says}”."


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def sentence(case: Case, verdict: str, findings: list[Finding], not_known: tuple[str, ...]) -> str:
    """The conclusion in one sentence; for a safe client also the unknown conditions under which it breaks, if they can
    be settled.
    """
    reasons = [finding for finding in findings if finding.decides and finding.verdict == verdict]
    if verdict == Verdict.SAFE:
        unless = [
            _whether(finding)
            for finding in findings
            if finding.condition_met == Answer.UNKNOWN
            and finding.verdict == Verdict.BREAKS
            and finding.settled_by
        ]
        but = f" Not known: {'; '.join(unless)}." if unless else ""
        return f"{_why_safe(case, reasons)}.{but}"
    if verdict == Verdict.INSUFFICIENT_EVIDENCE:
        open_ = [finding for finding in findings if finding.could_be_met]
        if open_ and not any(finding.verdict == Verdict.INSUFFICIENT_EVIDENCE for finding in findings):
            conditions = [
                f"{capitalised(finding.verdict)} if {finding.condition}: {finding.explanation}; settled by {finding.settled_by}."
                for finding in open_
            ]
            return " ".join(conditions)
        return f"Not known: {not_known[0]}."
    refused = [reason for reason in reasons if reason.rule_id.endswith("_refused")]
    other_reasons = [reason for reason in reasons if not reason.rule_id.endswith("_refused")]
    parts = [_in_words(reason) for reason in other_reasons]
    if len(refused) == 1:
        parts.append(_in_words(refused[0]))
    elif refused:
        guessed = all(finding.confidence == Confidence.INFERRED for finding in refused) and case.looks_like
        parts.append(
            (f"it {_looks_like(case)} and " if guessed else "") + _refused_in_one_sentence(case, refused)
        )
    return "; also ".join(parts) + "."


def _why_safe(case: Case, reasons: list[Finding]) -> str:
    if not case.dropped:
        return f"{case.target} accepts every request version that {case.source} accepts"
    if reasons:
        served = _listed(
            [apis.request(finding.api_key or 0, _works_with(case, finding)) for finding in reasons]
        )
        return f"{case.target} accepts what it uses or needs: {served}"
    return f"{case.target} removes nothing that it uses or that its role needs"


def _works_with(case: Case, finding: Finding) -> str:
    """The versions that were seen; where only a range is known by name and version, the one that will be chosen."""
    declared, target = case.declared(finding.api_key or 0), case.target_api(finding.api_key or 0)
    if finding.confidence == Confidence.OBSERVED or target is None:
        return finding.versions
    if declared:
        return str(min(declared.max, target.advertised.max))
    if finding.api_key in case.uses:  # in a rollback the client takes the highest that remains
        return str(target.advertised.max)
    return finding.versions


def _in_words(finding: Finding) -> str:
    return finding.explanation + (f" (trigger: {finding.trigger})" if finding.trigger else "")


def _refused_in_one_sentence(case: Case, refused: list[Finding]) -> str:
    """Several refused APIs of a client in one sentence."""
    sends = _listed(
        [
            f"{apis.purpose(finding.api_key or 0)} with {apis.request(finding.api_key or 0, finding.versions)}"
            for finding in refused
        ]
    )
    ranges = [
        apis.request(
            finding.api_key or 0, api.served if (api := case.target_api(finding.api_key or 0)) else "none"
        )
        for finding in refused
    ]
    return f"{sends}; {case.target} accepts {_listed(ranges)}"


def _listed(words: list[str]) -> str:
    """['a', 'b', 'c'] -> 'a, b and c'."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""
