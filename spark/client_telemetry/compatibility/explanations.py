"""Verdicts in words: one sentence that a person can act on, and what is not known."""

from collections.abc import Mapping

from client_telemetry.compatibility import apis, features, inference
from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.verdict import (
    BREAKS,
    CONDITION_UNKNOWN,
    INFERRED,
    INSUFFICIENT_EVIDENCE,
    LATENT,
    OBSERVED,
    PRECEDENCE,
    SAFE,
    ClientVerdict,
    Finding,
)

ASK = "ask its owner for library, version and configuration"


def missing(case: Case, findings: list[Finding]) -> tuple[str, ...]:
    """What is not known of a client and what would settle it, most important first."""
    found = []
    if not case.roles and case.dropped and not inference.greets_as_of_0_11(case):
        settled_by = "watch it longer, or "
        if _only_asks_for_versions(case):
            # A check whether brokers answer would look the same for as long as it is watched.
            settled_by = f"{case.target} answers this too, so if it only checks that brokers answer, nothing changes for it; otherwise "
        found.append(f"what this client does and with which library: {_seen_so_far(case)}; {settled_by}{ASK}")
    if case.contradiction:
        found.append(f"which library it really is: {case.contradiction}; {ASK}")
    for each in findings:
        if each.verdict == INSUFFICIENT_EVIDENCE:
            watch = f"watch it through: {each.trigger}" if each.trigger else "watch it longer"
            found.append(f"which version of {each.api_name} it uses: {each.explanation}; {watch}, or {ASK}")
    if found and case.looks_like and case.roles:
        found.append(f"which library it is: it {_looks_like(case)}; {ASK}")
    found += [
        _whether(each)
        for each in sorted(findings, key=lambda each: not each.could_be_met)
        if each.condition_met == CONDITION_UNKNOWN
    ]
    return tuple(dict.fromkeys(found))


def _only_asks_for_versions(case: Case) -> bool:
    """Whether ApiVersions is all that it ever sent, in versions that the target has."""
    target = case.target_api(apis.API_VERSIONS)
    return (
        case.tried == {apis.API_VERSIONS}
        and target is not None
        and all(
            target.served.min <= use.version <= target.served.max
            for use in case.uses.get(apis.API_VERSIONS, ())
        )
    )


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
    """What a verdict depends on that is not known: `breaks if it uses SCRAM (to be settled by …)`."""
    return "; ".join(
        dict.fromkeys(
            f"{each.verdict}{' later' if each.when == LATENT else ''} if {each.condition}"
            + (f" (settled by {each.settled_by})" if each.settled_by else "")
            for each in findings
            if each.condition_met == CONDITION_UNKNOWN
        )
    )


def until_finalized(
    target: str, levels: Mapping[str, int], before: ClientVerdict, verdict: ClientVerdict
) -> str:
    """What is worse at the levels before the features of the target are finalized (`before`) than in the verdict; empty where
    nothing is."""
    if PRECEDENCE.index(before.verdict) >= PRECEDENCE.index(verdict.verdict):
        return ""
    concerned = {each.api_key for each in before.findings if each.verdict == before.verdict}
    levels = {
        gate.feature: gate.level for gate in features.closed(target, levels) if gate.api_key in concerned
    }
    waits = " and ".join(f"{name} {level}" for name, level in levels.items())
    until = f"{waits} is finalized" if waits else "the new feature levels are finalized"
    word = "undecided" if before.verdict == INSUFFICIENT_EVIDENCE else before.verdict
    return f"{word} until {until} on {target}: {before.explanation.rstrip('.')}"


def already(case: Case, findings: list[Finding], works_again: bool, said: str) -> str:
    """That a client fails on the source already, and why, as far as it is not `said` yet; empty for one that does not."""
    why = [*case.failing, *(each.explanation for each in findings if each.already)]
    if not why:
        return ""
    then = f", and works again on {case.target}" if works_again else ""
    unsaid = "; ".join(dict.fromkeys(each for each in why if each not in said))
    return f"It fails on {case.source} already{then}{': ' if unsaid else ''}{unsaid}."


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def sentence(case: Case, verdict: str, findings: list[Finding], not_known: tuple[str, ...]) -> str:
    """The conclusion in one sentence; of a safe client also the conditions, not known, under which it breaks and
    that can be settled."""
    reasons = [each for each in findings if each.decides and each.verdict == verdict]
    if verdict == SAFE:
        unless = [
            _whether(each)
            for each in findings
            if each.condition_met == CONDITION_UNKNOWN and each.verdict == BREAKS and each.settled_by
        ]
        but = f" Not known: {'; '.join(unless)}." if unless else ""
        return f"{_why_safe(case, reasons)}.{but}"
    if verdict == INSUFFICIENT_EVIDENCE:
        open_ = [each for each in findings if each.could_be_met]
        if open_ and not any(each.verdict == INSUFFICIENT_EVIDENCE for each in findings):
            conditions = [
                f"Breaks if {each.condition}: {each.explanation}; settled by {each.settled_by}."
                for each in open_
            ]
            return " ".join(conditions)
        return f"Not known: {not_known[0]}."
    refused = [each for each in reasons if each.rule_id.endswith("_refused")]
    others = [each for each in reasons if not each.rule_id.endswith("_refused")]
    parts = [_in_words(each) for each in others]
    if len(refused) == 1:
        parts.append(_in_words(refused[0]))
    elif refused:
        guessed = all(each.confidence == INFERRED for each in refused) and case.looks_like
        parts.append((f"it {_looks_like(case)} and " if guessed else "") + _together(case, refused))
    return "; also ".join(parts) + "."


def _why_safe(case: Case, reasons: list[Finding]) -> str:
    if not case.dropped:
        return f"{case.target} accepts every request version that {case.source} accepts"
    if reasons:
        served = _listed([apis.request(each.api_key or 0, _works_with(case, each)) for each in reasons])
        return f"{case.target} accepts what it uses or needs: {served}"
    return f"{case.target} removes nothing that it uses or that its role needs"


def _works_with(case: Case, finding: Finding) -> str:
    """The versions that were seen; of a range that is known by name and version the one that will be chosen."""
    declared, target = case.declared(finding.api_key or 0), case.target_api(finding.api_key or 0)
    if finding.confidence == OBSERVED or target is None:
        return finding.versions
    if declared:
        return str(min(declared.max, target.advertised.max))
    if finding.api_key in case.uses:  # in a rollback: it takes the highest that is left
        return str(target.advertised.max)
    return finding.versions


def _in_words(finding: Finding) -> str:
    return finding.explanation + (f" (trigger: {finding.trigger})" if finding.trigger else "")


def _together(case: Case, refused: list[Finding]) -> str:
    """Several refused APIs of one client in one sentence."""
    sends = _listed(
        [
            f"{apis.purpose(each.api_key or 0)} with {apis.request(each.api_key or 0, each.versions)}"
            for each in refused
        ]
    )
    ranges = [
        apis.request(each.api_key or 0, api.served if (api := case.target_api(each.api_key or 0)) else "none")
        for each in refused
    ]
    return f"{sends}; {case.target} accepts {_listed(ranges)}"


def _listed(words: list[str]) -> str:
    """['a', 'b', 'c'] -> 'a, b and c'."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""
