"""Applications of a report, from its clients: one verdict each, the worst of its clients', by the same precedence."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from client_telemetry.console.grouped import grouped
from client_telemetry.formats.typed_values import of_row
from client_telemetry.reports.evidence import DaySeen
from client_telemetry.reports.names import anchor
from client_telemetry.reports.outcomes import OUTCOMES, outcome
from client_telemetry.reports.upgrade.client_verdicts import seen_rarely
from client_telemetry.reports.upgrade.model import Application, Assessed, ClientVerdict, OtherTarget, Step

_ORDER = {name: place for place, name in enumerate(OUTCOMES)}
_VERDICTS = {verdict: place for place, verdict in enumerate(dict.fromkeys(["breaks", *list(OUTCOMES)[2:]]))}


def applications(
    clients: Sequence[ClientVerdict], begin: datetime | None, end: datetime | None
) -> tuple[Application, ...]:
    """By outcome, then as their first clients. `clients`: worst first. `begin`, `end`: of the evidence."""
    groups = grouped(clients, lambda client: (client.principal, client.owner, client.application))
    if not groups:
        return ()
    begin = begin or min(client.first_seen_at for client in clients)
    end = end or max(client.last_seen_at for client in clients)
    return tuple(_application(tuple(group), begin, end) for group in groups.values())


def _application(clients: tuple[ClientVerdict, ...], begin: datetime, end: datetime) -> Application:
    worst = clients[0]
    first, last = min(c.first_seen_at for c in clients), max(c.last_seen_at for c in clients)
    fixes = Counter(client.fix for client in clients if client.outcome == worst.outcome and client.fix)
    mixed = _worst(clients, lambda client: client.mixed_verdict)
    back = _worst(clients, lambda client: client.rollback_verdict)
    return of_row(
        Application,
        vars(worst),
        anchor=anchor("application", worst.principal, worst.owner, worst.application),
        name=worst.application,
        kind=worst.application_kind,
        product=next((client.product for client in clients if client.product), None),
        notes=tuple(sorted({note for client in clients for note in client.application_notes})),
        fix="; ".join(fixes) or worst.fix,
        roles=tuple(sorted({role for client in clients for role in client.roles})),
        already_failing=any(client.already_failing for client in clients),
        works_again=any(client.works_again for client in clients),
        as_before=all(client.as_before for client in clients if client.outcome == worst.outcome),
        steps=_steps(clients),
        rollback_verdict=back.rollback_verdict,
        rollback_explanation=back.rollback_explanation,
        mixed_verdict=mixed.mixed_verdict,
        mixed_explanation=mixed.mixed_explanation,
        other_targets=_other_targets(clients),
        connections=sum(client.connections for client in clients),
        requests=sum(client.requests for client in clients),
        broker_ids=tuple(sorted({broker for client in clients for broker in client.broker_ids})),
        first_seen_at=first,
        last_seen_at=last,
        safe_so_far=all(client.safe_so_far for client in clients),
        seen_rarely=seen_rarely(first, last, begin, end),
        changes=tuple(sorted({client.change for client in clients if client.change})),
        days_seen=_days_seen(clients),
        counts=counts(clients),
        clients=clients,
    )


def _days_seen(clients: Sequence[ClientVerdict]) -> tuple[DaySeen, ...]:
    days = grouped((day for client in clients for day in client.days_seen), lambda seen: seen.dt)
    return tuple(
        DaySeen(
            day,
            min(seen.first_seen_at for seen in of_day),
            max(seen.last_seen_at for seen in of_day),
            sum(seen.connections for seen in of_day),
        )
        for day, of_day in sorted(days.items())
    )


def counts(some: Iterable[Assessed]) -> dict[str, int]:
    """How many per outcome, all of OUTCOMES."""
    found = Counter(each.outcome for each in some)
    return {name: found[name] for name in OUTCOMES}


def outcome_on(each: Assessed, release: str) -> str:
    """Its outcome on a compared release; that on the release asked about where it does not differ."""
    other = next((other for other in each.other_targets if other.to_release == release), None)
    return outcome(other.verdict, other.when) if other else each.outcome


def _worst(clients: Sequence[ClientVerdict], verdict: Callable[[ClientVerdict], str | None]) -> ClientVerdict:
    return min(clients, key=lambda client: _VERDICTS.get(verdict(client) or "safe", len(_VERDICTS)))


def _steps(clients: Sequence[ClientVerdict]) -> tuple[Step, ...]:
    """At each step the worst of what happens to a client; steps are the same for all clients of a report."""
    found: dict[str, Step] = {}
    for step in (step for client in clients for step in client.steps):
        before = found.get(step.step)
        if before is None or _VERDICTS[step.verdict] < _VERDICTS[before.verdict]:
            found[step.step] = step
    return tuple(found.values())


def _other_targets(clients: Sequence[ClientVerdict]) -> tuple[OtherTarget, ...]:
    """Releases on which the application fares otherwise; the reason is that of the client that decides there."""
    asked = clients[0].outcome
    releases = dict.fromkeys(other.to_release for client in clients for other in client.other_targets)
    found = []
    for release in releases:
        deciding = min(clients, key=lambda client: _ORDER[outcome_on(client, release)])
        there = outcome_on(deciding, release)
        if there == asked:
            continue
        others = [
            o for client in (deciding, *clients) for o in client.other_targets if o.to_release == release
        ]
        reason = next((other.reason for other in others if other.reason), "")
        verdict, when = deciding.verdict, deciding.when
        if own := next((o for o in deciding.other_targets if o.to_release == release), None):
            verdict, when = own.verdict, own.when
        found.append(OtherTarget(release, verdict, when, reason))
    return tuple(found)
