"""What a rehearsal says about each application of a report, beside its verdict: it changes none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from client_telemetry.formats.report_file import Client
from client_telemetry.knowledge.vocabulary import Verdict, When
from client_telemetry.rehearsal.outcomes import Told, told
from client_telemetry.rehearsal.rehearsing import Alternatives, Outcome
from client_telemetry.rehearsal.subjects import Wanted

WORKS, REFUSED, NOT_REHEARSED = "works", "refused", "not_rehearsed"
_TRIGGER = "a new group"
"""Part of the trigger of a latent break that a rehearsal pulls: its consumers are new groups, and begin at the beginning."""


@dataclass(frozen=True)
class ClientResult:
    outcome: str
    said: str
    """The refusal in the client's words, or why it was not rehearsed; empty: it works."""
    ran: tuple[str, ...]
    """Libraries as they were run, such as `kafka-python 2.0.2`."""
    contradicts: bool = False


def of_client(client: Client, wanted: Wanted, outcomes: Mapping[Alternatives, Outcome]) -> ClientResult:
    """`client`: one of a report.json. `outcomes`: of all that was wanted."""
    if wanted.reason:
        return ClientResult(NOT_REHEARSED, wanted.reason, ())
    ends = [outcomes[alternatives] for alternatives in wanted.subjects]
    ran = tuple(outcome.subject.text for outcome in ends if outcome.steps)
    results = [_of_outcome(outcome, client["roles"]) for outcome in ends]
    reasons = [each.reason for each in results if each.reason]
    refused = [each.refused for each in results if each.refused]
    if reasons:
        return ClientResult(NOT_REHEARSED, reasons[0], ran)
    if refused and len(refused) < len(results):
        differing = "; ".join(
            f"{end.subject.text}: {each.refused or WORKS}" for end, each in zip(ends, results, strict=True)
        )
        return ClientResult(
            NOT_REHEARSED, f"it depends on its version, which is not known ({differing})", ran
        )
    outcome = REFUSED if refused else WORKS
    return ClientResult(outcome, refused[0] if refused else "", ran, _contradicts(client, outcome, wanted))


def _of_outcome(outcome: Outcome, roles: Sequence[str]) -> Told:
    if outcome.not_run:
        return Told(reason=outcome.not_run)
    if not roles:
        return Told(reason="its role is not known")
    found = [(told(steps, role), role) for steps in outcome.steps.values() for role in roles]
    refused = next(((each.refused, role) for each, role in found if each.refused), None)
    if refused is not None:
        words, role = refused
        if outcome.control is not None and (before := told(outcome.control, role).refused):
            return Told(
                reason=f"its program fails on a release that accepts the old requests, too ({before})"
            )
        return Told(refused=words)
    reasons = [each.reason for each, _ in found if each.reason]
    return Told(reason=reasons[0]) if reasons else Told(works=True)


def _contradicts(client: Client, outcome: str, wanted: Wanted) -> bool:
    """Whether rule and rehearsal cannot both be right. A client that is said to break and works here does not contradict if its
    library was inferred, as its own configuration is not known then, or if nothing here pulls the trigger.
    """
    if outcome == REFUSED:
        return client["verdict"] in (Verdict.SAFE, Verdict.UNSUPPORTED)
    if client["verdict"] != Verdict.BREAKS or wanted.is_inferred:
        return False
    return client["when"] != When.LATENT or _TRIGGER in (client["trigger"] or "")


def of_application(results: Sequence[ClientResult]) -> ClientResult:
    """Of the results of its clients: it works if all of them do."""
    ran = tuple(dict.fromkeys(name for each in results for name in each.ran))
    contradicts = any(each.contradicts for each in results)
    for outcome in (REFUSED, NOT_REHEARSED):
        said = next((each.said for each in results if each.outcome == outcome), None)
        if said is not None:
            return ClientResult(outcome, said, ran, contradicts)
    return ClientResult(WORKS, "", ran, contradicts)
