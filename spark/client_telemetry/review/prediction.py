"""What an upgrade was predicted to do to a client, and how that compares with what happened. Pure.

foreseen.py predicts what no report did.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from client_telemetry.knowledge import known_issues
from client_telemetry.knowledge.vocabulary import Answer, Verdict, When
from client_telemetry.review import functions, outcome, phases, signs
from client_telemetry.review.outcome import Happened, Kind, Outcome
from client_telemetry.tables.rows import UpgradeFindingRow, UpgradeVerdictRow


class Comparison(StrEnum):
    """What became of a prediction, over all phases of an upgrade."""

    HAPPENED = "happened"
    DID_NOT_HAPPEN = "did_not_happen"
    UNEXPECTED = "unexpected"
    AS_SAFE = "as_predicted"
    NOT_TRIGGERED = "not_triggered"
    FIXED_MEANWHILE = "fixed_meanwhile"
    CANNOT_TELL = "cannot_tell"
    NOT_COUNTED = "not_counted"


@dataclass(frozen=True)
class FoundRule:
    """A finding, as far as the review needs it."""

    rule_id: str
    verdict: str
    when: str | None
    api_key: int | None
    condition_met: str | None
    explanation: str
    fix: str

    @property
    def decides(self) -> bool:
        """See compatibility.Finding."""
        return self.condition_met in (None, Answer.YES)


@dataclass(frozen=True)
class Knowledge:
    """What is known about a client's library for this upgrade. `breaks_login`: the rules by which it may be unable to log in, if
    the evidence does not show how it does, as sentences. `breaking_apis`: APIs that break or degrade according to a finding.
    """

    breaks_login: tuple[str, ...] = ()
    breaking_apis: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Prediction:
    """`by_phase`: verdict by phase of the upgrade."""

    verdict: str
    confidence: str
    when: str | None
    explanation: str
    fix: str
    by_phase: Mapping[str, str]
    rules: tuple[FoundRule, ...]

    @property
    def knowledge(self) -> Knowledge:
        apis = {
            rule.api_key
            for rule in self.rules
            if rule.api_key is not None and rule.verdict in (Verdict.BREAKS, Verdict.DEGRADES)
        }
        login = tuple(
            rule.explanation
            for rule in self.rules
            if rule.verdict == Verdict.BREAKS
            and rule.rule_id in known_issues.login_rules()
            and rule.condition_met != Answer.NO
        )
        return Knowledge(login, frozenset(apis))


NOTHING = Prediction("", "", None, "", "", {}, ())
"""For a client that was not there before."""


def from_report(row: UpgradeVerdictRow, findings: Sequence[UpgradeFindingRow]) -> Prediction:
    """From a row of upgrade_verdicts and its rows of upgrade_findings."""
    rules = tuple(
        FoundRule(
            f["rule_id"],
            f["verdict"],
            f["when"],
            f["api_key"],
            f["condition_met"],
            f["explanation"] or "",
            f["fix"] or "",
        )
        for f in findings
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
    )


def compared(prediction: Prediction | None, happened: Sequence[Outcome]) -> Comparison:
    """Over all phases of an upgrade."""
    words = {phase_outcome.outcome for phase_outcome in happened}
    if Happened.FAILING_BEFORE in words or prediction is None:  # without one, it was not there to be judged
        return Comparison.NOT_COUNTED
    foreseen = prediction.verdict in (Verdict.BREAKS, Verdict.DEGRADES) or any(
        verdict in (Verdict.BREAKS, Verdict.DEGRADES)
        for phase, verdict in prediction.by_phase.items()
        if phase != phases.ROLLED_BACK
    )
    if Happened.FAILING in words:
        return _compared_with_failure(prediction, happened, foreseen=foreseen or _suspected(prediction))
    if words <= {Happened.GONE, Happened.NOT_SEEN, Happened.NEW}:
        return Comparison.CANNOT_TELL
    if any(phase_outcome.kind == Kind.WORSE for phase_outcome in happened):
        return Comparison.CANNOT_TELL if foreseen else Comparison.NOT_COUNTED
    if foreseen:
        return _compared_with_health(prediction, happened)
    if prediction.verdict == Verdict.INSUFFICIENT_EVIDENCE:
        return (
            Comparison.FIXED_MEANWHILE
            if Happened.CHANGED in words and _suspected(prediction)
            else Comparison.NOT_COUNTED
        )
    return (
        Comparison.AS_SAFE
        if prediction.verdict in (Verdict.SAFE, Verdict.UNSUPPORTED)
        else Comparison.NOT_COUNTED
    )


def _compared_with_health(prediction: Prediction, happened: Sequence[Outcome]) -> Comparison:
    """For a client of which harm was foreseen and that did not fail in any phase."""
    words = {each.outcome for each in happened}
    if Happened.CHANGED in words:
        return Comparison.FIXED_MEANWHILE
    if any((each.outcome, each.confidence) == (Happened.UNAFFECTED, signs.POSSIBLE) for each in happened):
        return Comparison.CANNOT_TELL  # it may have been replaced
    if prediction.when == When.LATENT:
        return Comparison.NOT_TRIGGERED
    return Comparison.CANNOT_TELL if Happened.NOT_TESTED in words else Comparison.DID_NOT_HAPPEN


def _compared_with_failure(
    prediction: Prediction, happened: Sequence[Outcome], *, foreseen: bool
) -> Comparison:
    """For a client that failed in some phase. One that failed only during the roll, without being refused anything or a
    rule that says so, and is well again does not count: brokers restarted.
    """
    if foreseen and _explained(prediction, happened):
        return Comparison.HAPPENED
    failed = [each for each in happened if each.outcome == Happened.FAILING]
    by_restarts = all(each.phase == phases.ROLLING and each.kind != Kind.REFUSED for each in failed)
    if by_restarts and outcome.is_well_again(happened) and happened[-1].phase != phases.ROLLED_BACK:
        return Comparison.NOT_COUNTED
    return Comparison.NOT_TRIGGERED if foreseen and prediction.when == When.LATENT else Comparison.UNEXPECTED


def _explained(prediction: Prediction, happened: Sequence[Outcome]) -> bool:
    """Whether what failed may be what was predicted, which belongs to a cause: a client may fail for another reason."""
    harmful = [rule for rule in prediction.rules if rule.verdict in (Verdict.BREAKS, Verdict.DEGRADES)]
    harmful = [rule for rule in harmful if rule.decides] or harmful
    failed = [each for each in happened if each.outcome == Happened.FAILING]
    return not harmful or any(_is_cause(rule, failed) for rule in harmful)


def _is_cause(rule: FoundRule, failed: Sequence[Outcome]) -> bool:
    """Whether a rule is about what failed: logging in, an API that was refused, or a function that stopped."""
    kinds = {each.kind for each in failed}
    if rule.rule_id in known_issues.login_rules():
        return Kind.AUTHENTICATION_FAILED in kinds
    if kinds == {Kind.AUTHENTICATION_FAILED}:
        return False
    lost = {name for each in failed for name in each.lost}
    apis_lost = {key for each in failed for key in each.api_keys}
    if rule.api_key is None or not (lost or apis_lost):
        return True
    suffers = {functions.served(rule.api_key, is_tool=is_tool) for is_tool in (False, True)}
    return rule.api_key in apis_lost or bool(suffers & lost)


def _suspected(prediction: Prediction) -> bool:
    """Whether a rule says that it breaks under a condition that the evidence does not show."""
    return any(
        rule.verdict == Verdict.BREAKS and rule.when in (When.AT_ONCE, When.LATENT)
        for rule in prediction.rules
    )
