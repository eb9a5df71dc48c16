"""During the roll: go on with the next broker, stop, or cannot tell, for each upgraded broker. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from client_telemetry.activity.records import clock
from client_telemetry.review import applications
from client_telemetry.review.model import Review, ReviewedClient
from client_telemetry.review.outcome import Happened
from client_telemetry.review.phases import SETTLING_SECONDS
from client_telemetry.review.prediction import Comparison

GO, STOP, CANNOT_TELL = "go", "stop", "cannot_tell"
EXIT_CODES = {GO: 0, STOP: 3, CANNOT_TELL: 4}


class Decision(NamedTuple):
    """`clients`: (client id, principal) of the clients that decide it. `tested`: how many clients the broker has
    answered. The reason counts applications.
    """

    broker_id: int
    decision: str
    reason: str
    clients: tuple[tuple[str | None, str], ...]
    tested: int


def decisions(review: Review) -> tuple[Decision, ...]:
    """One per broker that runs the target, in order of its start."""
    upgrade = review.upgrade
    failing_at_end = [client for client in review.clients if client.is_failing]
    decided = []
    for broker, started in sorted(upgrade.upgraded.items(), key=lambda item: item[1]):
        up_for = upgrade.ended - started
        watched_for = upgrade.recorded_until - started
        answered = review.answered.get(broker, frozenset())
        tested = [client for client in review.clients if (client.client_id, client.principal) in answered]
        failing = [client for client in failing_at_end if _stops(client, started)]
        word = STOP if failing else CANNOT_TELL
        if failing:
            reason = f"{_counted(failing)} failing since it was upgraded"
        elif up_for < SETTLING_SECONDS:
            reason = f"up for {up_for:.0f} s: wait {SETTLING_SECONDS - up_for:.0f} s more"
        elif watched_for < SETTLING_SECONDS:
            reason = f"all requests are known only until {clock(upgrade.recorded_until)}: ask again after the brokers' next snapshot (every five minutes)"
        elif not tested:
            reason = "has not answered any application yet"
        else:
            word = GO
            untested = [c for c in review.clients if c.last_outcome.outcome == Happened.NOT_TESTED]
            more = f"; {len(applications.keys(untested))} not tested yet" if untested else ""
            reason = f"{_counted(tested)} answered, none failing since its upgrade{more}"
        clients = tuple((client.client_id, client.principal) for client in failing)
        decided.append(Decision(broker, word, reason, clients, len(tested)))
    return tuple(decided)


def overall(decided: Sequence[Decision]) -> str:
    words = {decision.decision for decision in decided}
    return STOP if STOP in words else CANNOT_TELL if CANNOT_TELL in words or not words else GO


def _counted(clients: Sequence[ReviewedClient]) -> str:
    count = len(applications.keys(clients))
    return f"{count:,} application{'s' * (count != 1)}"


def _stops(client: ReviewedClient, started: float) -> bool:
    """Whether a client has been failing since this broker changed, in a way that the upgrade may have caused."""
    last = client.last_outcome
    if last.confidence == "possible" and client.comparison == Comparison.UNEXPECTED:
        return False
    return last.since is None or last.since >= started - SETTLING_SECONDS
