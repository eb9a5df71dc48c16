"""What an upgrade was predicted to do to a client, and how that compares with what happened. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from client_telemetry.compatibility import ApiUse, ClientEvidence, ClientVerdict, judge
from client_telemetry.knowledge import kip511, known_issues, served
from client_telemetry.knowledge.vocabulary import (
    AT_ONCE,
    BREAKS,
    DEGRADES,
    INSUFFICIENT_EVIDENCE,
    LATENT,
    NO,
    ROLLBACK_BEFORE_FINALIZATION,
    SAFE,
    UNSUPPORTED,
)
from client_telemetry.review import functions, outcome, phases, signs
from client_telemetry.review.judge_client import Knowledge
from client_telemetry.review.outcome import Outcome
from client_telemetry.review.tracks import Track

HAPPENED, DID_NOT_HAPPEN, UNEXPECTED, AS_SAFE = "happened", "did_not_happen", "unexpected", "as_predicted"
NOT_TRIGGERED, FIXED_MEANWHILE, CANNOT_TELL, NOT_COUNTED = (
    "not_triggered",
    "fixed_meanwhile",
    "cannot_tell",
    "not_counted",
)
COMPARISONS = (
    HAPPENED,
    DID_NOT_HAPPEN,
    UNEXPECTED,
    AS_SAFE,
    NOT_TRIGGERED,
    FIXED_MEANWHILE,
    CANNOT_TELL,
    NOT_COUNTED,
)


@dataclass(frozen=True)
class FoundRule:
    """A finding, as far as the review needs it. `decides`: see compatibility.Finding."""

    rule_id: str
    verdict: str
    when: str | None
    api_key: int | None
    decides: bool
    explanation: str
    fix: str


@dataclass(frozen=True)
class Prediction:
    """`by_phase`: verdict by phase of the upgrade. `breaks_login`: sentences of the rules by which it may be unable to
    log in, if the evidence does not show how it logs in.
    """

    verdict: str
    confidence: str
    when: str | None
    explanation: str
    fix: str
    by_phase: Mapping[str, str]
    rules: tuple[FoundRule, ...]
    breaks_login: tuple[str, ...]

    @property
    def knowledge(self) -> Knowledge:
        apis = {
            rule.api_key
            for rule in self.rules
            if rule.api_key is not None and rule.verdict in (BREAKS, DEGRADES)
        }
        return Knowledge(self.breaks_login, frozenset(apis))


NOTHING = Prediction("", "", None, "", "", {}, (), ())
"""For a client that was not there before."""


def evidence_of(
    track: Track,
    old: Iterable[str],
    until: float,
    scram_users: frozenset[str] | None = None,
    offered: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> ClientEvidence:
    """The evidence about a track's client on the incarnations `old` before `until`, when the first broker changed. `offered`:
    SASL mechanisms of the listeners, by security protocol.
    """
    incarnations = frozenset(old)
    uses: dict[tuple[int, int], ApiUse] = {}
    software: tuple[str, str] | None = None
    protocol: str | None = None
    for activity in track.activities:
        if activity.incarnation not in incarnations or activity.since >= until:
            continue
        client = activity.client
        if software is None or kip511.is_known(client.software_name):
            software = client.software_name, client.software_version
        protocol = client.security_protocol or protocol
        for (key, version), use in activity.uses.items():
            before = uses.get((key, version), ApiUse(key, version, 0))
            times = [at for at in (use.first, use.failed_first) if at is not None]
            ends = [at for at in (use.last, use.failed_last) if at is not None]
            uses[key, version] = ApiUse(
                key,
                version,
                before.requests + use.answered + use.failed,
                before.rejected + use.refused,
                _earliest(before.first_seen, times),
                _latest(before.last_seen, ends),
            )
    name, version_text = software or (None, None)
    return ClientEvidence(
        client_software_name=name,
        client_software_version=version_text,
        client_id=track.key.client_id,
        api_uses=tuple(uses[key] for key in sorted(uses)),
        security_protocol=protocol,
        offered_sasl_mechanisms=offered.get(protocol or ""),
        principal_has_scram=_has_scram(track.key.principal, scram_users),
    )


def of_cause(
    track: Track, refusals: Iterable[signs.Refusal], from_release: str, to_release: str
) -> Prediction | None:
    """What would have been predicted of a client that came after the upgrade began, had it sent the same requests before:
    those that brokers of the from-release accept, refused or answered since. None if that is nothing.
    """
    accepted = served.by(from_release)
    requests = dict.fromkeys(track.used, 1)
    requests |= {
        (failure.api_key, failure.version): failure.refused for failure in track.failures if failure.refused
    }
    requests |= {(refusal.api_key, refusal.version): refusal.requests for refusal in refusals}
    uses = tuple(
        ApiUse(key, version, count)
        for (key, version), count in sorted(requests.items())
        if key in accepted and accepted[key].served.min <= version <= accepted[key].served.max
    )
    name, version_text = track.software
    protocol = min(track.protocols, default=None) or None
    evidence = ClientEvidence(name, version_text, track.key.client_id, uses, security_protocol=protocol)
    return predict(evidence, from_release, to_release)


def _has_scram(principal: str, scram_users: frozenset[str] | None) -> bool | None:
    if scram_users is None or (scram_users and not principal):
        return None
    return principal in scram_users


def _earliest(before: int | None, times: list[float]) -> int | None:
    micros = [int(at * 1e6) for at in times] + ([before] if before is not None else [])
    return min(micros, default=None)


def _latest(before: int | None, times: list[float]) -> int | None:
    micros = [int(at * 1e6) for at in times] + ([before] if before is not None else [])
    return max(micros, default=None)


def predict(evidence: ClientEvidence, from_release: str, to_release: str) -> Prediction | None:
    """None for a client without evidence."""
    if not evidence.api_uses:
        return None
    return predicted(judge(evidence, from_release, to_release))


def predicted(verdict: ClientVerdict) -> Prediction:
    steps = {name: outlook.verdict for name, outlook in verdict.steps.items()}
    by_phase = {
        name: steps[name]
        for name in (phases.ROLLING, phases.NOT_FINALIZED, phases.FINALIZED)
        if name in steps
    }
    if ROLLBACK_BEFORE_FINALIZATION in steps:
        by_phase[phases.ROLLED_BACK] = steps[ROLLBACK_BEFORE_FINALIZATION]
    rules = tuple(
        FoundRule(f.rule_id, f.verdict, f.when, f.api_key, f.decides, f.explanation, f.fix)
        for f in verdict.findings
    )
    login = tuple(
        f.explanation
        for f in verdict.findings
        if f.verdict == BREAKS and f.rule_id in known_issues.login_rules() and f.condition_met != NO
    )
    return Prediction(
        verdict.verdict,
        verdict.confidence,
        verdict.when,
        verdict.explanation,
        verdict.fix,
        by_phase,
        rules,
        login,
    )


def from_report(row: Mapping[str, Any], findings: Iterable[Mapping[str, Any]]) -> Prediction:
    """From a row of upgrade_verdicts and its rows of upgrade_findings."""
    rows = list(findings)
    rules = tuple(
        FoundRule(
            f["rule_id"],
            f["verdict"],
            f["when"],
            f["api_key"],
            f["condition_met"] in (None, "yes"),
            f["explanation"] or "",
            f["fix"] or "",
        )
        for f in rows
    )
    login = tuple(
        f["explanation"]
        for f in rows
        if f["verdict"] == BREAKS and f["rule_id"] in known_issues.login_rules() and f["condition_met"] != NO
    )
    by_phase = {phases.ROLLING: row["mixed_verdict"]}
    if row["rollback_verdict"]:
        by_phase[phases.ROLLED_BACK] = row["rollback_verdict"]
    return Prediction(
        row["verdict"],
        row["confidence"],
        row["when"],
        row["explanation"],
        row["fix"] or "",
        by_phase,
        rules,
        login,
    )


def compared(prediction: Prediction | None, happened: Sequence[Outcome]) -> str:
    """One of COMPARISONS, over all phases of an upgrade."""
    words = {phase_outcome.outcome for phase_outcome in happened}
    failed = outcome.FAILING in words
    if outcome.FAILING_BEFORE in words:
        return NOT_COUNTED
    if prediction is None:  # it was not there to be judged
        return NOT_COUNTED
    foreseen = prediction.verdict in (BREAKS, DEGRADES) or any(
        verdict in (BREAKS, DEGRADES)
        for phase, verdict in prediction.by_phase.items()
        if phase != phases.ROLLED_BACK
    )
    if failed:
        return _compared_with_failure(prediction, happened, foreseen=foreseen or _suspected(prediction))
    if words <= {outcome.GONE, outcome.NOT_SEEN, outcome.NEW}:
        return CANNOT_TELL
    if any(phase_outcome.kind == outcome.WORSE for phase_outcome in happened):
        return CANNOT_TELL if foreseen else NOT_COUNTED
    if foreseen:
        if outcome.CHANGED in words:
            return FIXED_MEANWHILE
        if any(
            (phase_outcome.outcome, phase_outcome.confidence) == (outcome.UNAFFECTED, signs.POSSIBLE)
            for phase_outcome in happened
        ):  # it may have been replaced
            return CANNOT_TELL
        if prediction.when == LATENT:
            return NOT_TRIGGERED
        if words & {outcome.NOT_TESTED}:
            return CANNOT_TELL
        return DID_NOT_HAPPEN
    if prediction.verdict == INSUFFICIENT_EVIDENCE:
        return FIXED_MEANWHILE if outcome.CHANGED in words and _suspected(prediction) else NOT_COUNTED
    return AS_SAFE if prediction.verdict in (SAFE, UNSUPPORTED) else NOT_COUNTED


def _compared_with_failure(prediction: Prediction, happened: Sequence[Outcome], *, foreseen: bool) -> str:
    """For a client that failed in some phase. One that failed only during the roll, without being refused anything or a
    rule that says so, and is well again does not count: brokers restarted.
    """
    if foreseen and _explained(prediction, happened):
        return HAPPENED
    failed = [each for each in happened if each.outcome == outcome.FAILING]
    by_restarts = all(each.phase == phases.ROLLING and each.kind != outcome.REFUSED for each in failed)
    if by_restarts and outcome.is_well_again(happened) and happened[-1].phase != phases.ROLLED_BACK:
        return NOT_COUNTED
    return NOT_TRIGGERED if foreseen and prediction.when == LATENT else UNEXPECTED


def _explained(prediction: Prediction, happened: Sequence[Outcome]) -> bool:
    """Whether what failed may be what was predicted, which belongs to a cause: a client may fail for another reason."""
    harmful = [rule for rule in prediction.rules if rule.verdict in (BREAKS, DEGRADES)]
    harmful = [rule for rule in harmful if rule.decides] or harmful
    failed = [each for each in happened if each.outcome == outcome.FAILING]
    return not harmful or any(_is_cause(rule, failed) for rule in harmful)


def _is_cause(rule: FoundRule, failed: Sequence[Outcome]) -> bool:
    """Whether a rule is about what failed: logging in, an API that was refused, or a function that stopped."""
    kinds = {each.kind for each in failed}
    if rule.rule_id in known_issues.login_rules():
        return outcome.AUTHENTICATION_FAILED in kinds
    if kinds == {outcome.AUTHENTICATION_FAILED}:
        return False
    lost = {name for each in failed for name in each.lost}
    apis_lost = {key for each in failed for key in each.api_keys}
    if rule.api_key is None or not (lost or apis_lost):
        return True
    suffers = {functions.served(rule.api_key, is_tool=is_tool) for is_tool in (False, True)}
    return rule.api_key in apis_lost or bool(suffers & lost)


def _suspected(prediction: Prediction) -> bool:
    """Whether a rule says that it breaks under a condition that the evidence does not show."""
    return any(rule.verdict == BREAKS and rule.when in (AT_ONCE, LATENT) for rule in prediction.rules)
