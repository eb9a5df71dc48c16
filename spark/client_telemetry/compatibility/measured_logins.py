"""Logins on a measured target: a mechanism that its listener does not enable."""

from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.verdict import Finding
from client_telemetry.knowledge import measured_target
from client_telemetry.knowledge.vocabulary import Answer, Confidence, Verdict, When

RULE = "mechanism_not_enabled"


def of(case: Case) -> list[Finding]:
    """One listener of the target was measured, and a cluster can have others: the client breaks if it is to use this one. Nothing
    follows where the listener has no logins, or where it is not known how the client logs in.
    """
    target = measured_target(case.target)
    if target is None or not target.mechanisms:
        return []
    enabled = frozenset(target.mechanisms)
    refused = sorted(
        {
            name
            for mechanisms in case.evidence.possible_mechanisms
            if mechanisms and not mechanisms & enabled
            for name in mechanisms
        }
    )
    if not refused:
        return []
    names = " or ".join(refused)
    return [
        Finding(
            rule_id=RULE,
            verdict=Verdict.BREAKS,
            confidence=Confidence.OBSERVED,
            explanation=f"it logs in with {names}, and that listener enables {', '.join(target.mechanisms)}",
            source=f"measured at {target.bootstrap}, {target.measured_at} (SaslHandshake)",
            when=When.AT_ONCE,
            condition=f"it is to use the listener that was measured ({target.bootstrap})",
            condition_met=Answer.UNKNOWN,
            could_be_met=True,
            settled_by="the listener that it is given, and sasl.enabled.mechanisms of that",
            fix=f"enable {names} there, or let it log in with {' or '.join(target.mechanisms)}",
        )
    ]
