"""What an upgrade was predicted to do to a client, and how that compares with what happened. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from client_telemetry.compatibility import ApiUse, ClientEvidence, ClientVerdict, judge, known_issues
from client_telemetry.compatibility.verdict import (
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
from client_telemetry.identity import kip511
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
    track: Track, old: Iterable[str], until: float, scram_users: frozenset[str] | None = None
) -> ClientEvidence:
    """The evidence about a track's client on the incarnations `old` before `until`, when the first broker changed."""
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
        principal_has_scram=_has_scram(track.key.principal, scram_users),
    )


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
        if not foreseen and not _suspected(prediction):
            return UNEXPECTED
        return HAPPENED if _explained(prediction, happened) else NOT_TRIGGERED
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


def _explained(prediction: Prediction, happened: Sequence[Outcome]) -> bool:
    """Whether what stopped may be what was predicted: a latent rule is about an API, and another one may have failed
    for another reason while the rule waits for its trigger.
    """
    harmful = [rule for rule in prediction.rules if rule.verdict in (BREAKS, DEGRADES)]
    harmful = [rule for rule in harmful if rule.decides] or harmful
    if any(rule.when != LATENT for rule in harmful) or not harmful:
        return True
    lost = {name for phase_outcome in happened for name in phase_outcome.lost}
    apis_lost = {key for phase_outcome in happened for key in phase_outcome.api_keys}
    return any(
        rule.api_key is None
        or rule.api_key in apis_lost
        or functions.served(rule.api_key, is_tool=False) in lost
        for rule in harmful
    )


def _suspected(prediction: Prediction) -> bool:
    """Whether a rule says that it breaks under a condition that the evidence does not show."""
    return any(rule.verdict == BREAKS and rule.when in (AT_ONCE, LATENT) for rule in prediction.rules)
