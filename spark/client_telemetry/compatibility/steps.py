"""What happens to a client at each step of an upgrade, derived from its verdicts at the two ends.

The steps: brokers roll; all run the target with the source's feature levels; the levels are raised; and the rollback
from either state. Features that are not finalized yet keep request versions closed that the target serves later
(features.closed).
"""

from functools import cache

from client_telemetry.compatibility.mixed_window import judge_mixed_window
from client_telemetry.compatibility.verdict import ClientVerdict, Outlook
from client_telemetry.knowledge import features
from client_telemetry.knowledge.vocabulary import Confidence, Step, Verdict, When


def of(
    source: str, target: str, not_finalized: ClientVerdict, finalized: ClientVerdict, back: Outlook
) -> dict[str, Outlook]:
    """Step (vocabulary.STEPS) -> what happens then, from the verdicts on the target before and after finalization, and
    after a rollback.
    """
    return {
        Step.ROLLING: judge_mixed_window(source, target, not_finalized),
        Step.NOT_FINALIZED: not_finalized.outlook,
        Step.FINALIZED: finalized.outlook,
        Step.ROLLBACK_BEFORE_FINALIZATION: back,
        Step.ROLLBACK_AFTER_FINALIZATION: _rollback_is_impossible(source, target) or back,
    }


@cache
def _rollback_is_impossible(source: str, target: str) -> Outlook | None:
    """The outlook for every client if the source's brokers cannot read what the target has finalized."""
    level = features.newest(target).get(features.METADATA_VERSION)
    levels = features.of(source).get(features.METADATA_VERSION)
    if level is None:
        return None
    if levels is not None and level <= levels.max:
        if features.are_known(target):
            return None
        not_known = (
            f"Whether brokers on {source} start on metadata that {target} has finalized is not known, as its levels of "
            "metadata.version are not."
        )
        return Outlook(Verdict.INSUFFICIENT_EVIDENCE, Confidence.NONE, not_known, When.AT_ONCE)
    explanation = (
        f"Brokers on {source} do not start on metadata that is finalized at metadata.version {level} "
        f"(they end at {levels.max}): a rollback after finalization is not possible."
        if levels
        else f"Brokers on {source} do not know metadata.version: a rollback after finalization is not possible."
    )
    return Outlook(Verdict.BREAKS, Confidence.NONE, explanation, When.AT_ONCE)
