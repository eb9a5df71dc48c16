"""The outcome for one client in each phase of an upgrade, from the signs of harm. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from client_telemetry.activity.records import FailedLogin, clock, in_order
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.review import functions, outcome, signs
from client_telemetry.review.client_change import ClientChange, changed, may_have_changed
from client_telemetry.review.hosts import Hosts
from client_telemetry.review.outcome import FunctionRates, Happened, Kind, Outcome
from client_telemetry.review.phases import (
    ELECTION_AFTER_SECONDS,
    FINALIZED,
    ROLLED_BACK,
    ROLLING,
    Phase,
    Upgrade,
)
from client_telemetry.review.prediction import Knowledge
from client_telemetry.review.regularity import LEAST_TOLERANCE_SECONDS
from client_telemetry.review.signs import Baseline, Exactness, Refusal, Sign
from client_telemetry.review.tracks import Track, last_before, per_second, within

JUST_BEFORE_SECONDS = 120.0
"""Before a client's last request: other clients of its address that cannot log in had failed by then, too."""


_BEGINS: dict[int, str] = {
    ApiKey.JOIN_GROUP: functions.MEMBERSHIP,
    ApiKey.SYNC_GROUP: functions.MEMBERSHIP,
    ApiKey.INIT_PRODUCER_ID: functions.TRANSACT,
}
"""Requests without which a function that ended does not begin again."""


@dataclass(frozen=True)
class Surroundings:
    """What is the same for all clients. `changes`: when brokers stopped and started, features were raised, leaders
    moved.
    """

    upgrade: Upgrade
    changes: tuple[float, ...]
    failed_logins: dict[str, list[FailedLogin]]
    has_failed_logins: bool
    exactness: Exactness
    data_from: float

    @property
    def recorded_before(self) -> tuple[float, float]:
        """The time before the upgrade, as far as it was recorded: brokers may have run for months before."""
        before = self.upgrade.phases[0]
        return max(before.since, self.data_from), before.recorded_until

    @staticmethod
    def of(
        upgrade: Upgrade,
        failed_logins: Sequence[FailedLogin],
        exactness: Exactness,
        *,
        stops_and_starts: Sequence[float],
        data_from: float,
        has_failed_logins: bool = True,
    ) -> "Surroundings":
        by_address: dict[str, list[FailedLogin]] = {}
        for failed_login in sorted(failed_logins, key=in_order):
            by_address.setdefault(failed_login.address, []).append(failed_login)
        changes = [at for at in stops_and_starts if upgrade.began - 1 <= at <= upgrade.ended]
        finalized = upgrade.phase(FINALIZED)
        if finalized is not None:
            changes.append(finalized.since)
        if upgrade.last_start is not None:
            changes.append(upgrade.last_start + ELECTION_AFTER_SECONDS)
        return Surroundings(
            upgrade, tuple(sorted(changes)), by_address, has_failed_logins, exactness, data_from
        )


def outcomes(
    track: Track,
    refusals: Sequence[Refusal],
    library: Knowledge,
    around: Surroundings,
    hosts: Hosts | None = None,
) -> list[Outcome]:
    """One for each phase after `before`. `hosts`: if the track is one of the hosts of a client."""
    refusals = signs.merged(signs.named_refusals(track), refusals)
    before = around.upgrade.phases[0]
    earlier = _failing_before(track, refusals, before, around, hosts)
    base = signs.baseline(track, before.since, before.recorded_until, around.exactness)
    return [
        _in_phase(_known(track, refusals, library, around, base, phase, hosts), earlier)
        for phase in around.upgrade.phases[1:]
    ]


def _failing_before(
    track: Track, refusals: Sequence[Refusal], before: Phase, around: Surroundings, hosts: Hosts | None
) -> Sign | None:
    """Harm from before the first broker changed. It is compared with what the client did on releases before the
    from-release, if that was seen. What a host stopped by then may have moved to another.
    """
    tolerance = LEAST_TOLERANCE_SECONDS
    harm = signs.refused(track, refusals, before, max(tolerance, 60.0))
    harm = [sign for sign in harm if sign.kind == Kind.REFUSED]
    if not harm and (jam := signs.stuck(track, before.until, tolerance, before.since)):
        harm.append(jam)
    if not harm and hosts is None and around.data_from < before.since - 60:
        base = signs.baseline(track, around.data_from, before.since, around.exactness)
        harm += signs.silent(track, base, before.recorded_until, (before.since,))
    if (
        not harm
        and hosts is None
        and (gave_up := signs.without_fetch(track, before.since, before.recorded_until))
    ):
        harm.append(gave_up)
    return _strongest(harm)


@dataclass(frozen=True)
class _InPhase:
    """What is known about a client in one phase, before it is judged."""

    track: Track
    refusals: Sequence[Refusal]
    library: Knowledge
    around: Surroundings
    base: Baseline
    phase: Phase
    hosts: Hosts | None
    rates: tuple[FunctionRates, ...]
    tolerance: float
    answered_until: float | None
    seen_until: float | None
    change: ClientChange | None
    harm: tuple[Sign, ...]
    """What refusals and errors show; what is missing is looked for where the client still sends requests."""

    def outcome(
        self,
        word: Happened,
        reasons: Sequence[str],
        kind: Kind | None = None,
        at: float | None = None,
        confidence: str = signs.CERTAIN,
    ) -> Outcome:
        return Outcome(self.phase.name, word, kind, at, confidence, tuple(reasons), self.rates)

    def of_sign(self, word: Happened, sign: Sign, all_signs: Sequence[Sign] = ()) -> Outcome:
        in_order = [sign, *(other for other in all_signs if other is not sign)]
        return Outcome(
            self.phase.name,
            word,
            sign.kind,
            min(each.since for each in in_order),
            sign.confidence,
            tuple(dict.fromkeys(each.reason for each in in_order)),
            self.rates,
            tuple(dict.fromkeys(name for each in in_order for name in each.functions)),
            tuple(dict.fromkeys(key for each in in_order for key in each.api_keys)),
        )

    @property
    def is_silent(self) -> bool:
        """Whether no request came any more, or none was answered, for longer than a pause may last."""
        return (
            self.seen_until is None
            or self.phase.recorded_until - self.seen_until > self.tolerance
            or _only_refused(self)
        )


def _in_phase(here: _InPhase, earlier: Sign | None) -> Outcome:
    """Signs in the order of their weight: harm from before, nothing to compare with, silence or harm, and what is left."""
    if earlier is not None:
        return _as_before(here, earlier)
    if here.base.overall is None:
        return _of_new(here)
    return (_vanished(here) if here.is_silent else _harmed(here)) or _unharmed(here)


def _known(
    track: Track,
    refusals: Sequence[Refusal],
    library: Knowledge,
    around: Surroundings,
    base: Baseline,
    phase: Phase,
    hosts: Hosts | None,
) -> _InPhase:
    tolerance = LEAST_TOLERANCE_SECONDS
    if base.overall is not None and base.overall.tolerance is not None:
        tolerance = base.overall.tolerance
    # After a rollback, what the other release refused is over.
    of_refusals = phase._replace(since=phase.settled) if phase.name == ROLLED_BACK else phase
    harm = signs.refused(track, refusals, of_refusals, min(tolerance, 60.0))
    jam = signs.stuck(track, phase.until, tolerance, phase.since)
    return _InPhase(
        track,
        refusals,
        library,
        around,
        base,
        phase,
        hosts,
        rates=_rates(track, around.recorded_before, phase),
        tolerance=tolerance,
        answered_until=_last_answered(track, phase.until),
        seen_until=last_before(track.all_requests, phase.until),
        change=changed(track, refusals, around.upgrade, around.exactness.slot_seconds, phase.until),
        harm=(*harm, jam) if jam else tuple(harm),
    )


def _as_before(here: _InPhase, earlier: Sign) -> Outcome:
    phase = here.phase
    works = any(
        phase.recorded_until - span.last <= 60.0
        for name in earlier.functions
        for span in within(here.track.answered.get(name, ()), phase.settled, phase.until)
    )
    if works and not here.harm:
        return here.outcome(Happened.FAILING_BEFORE, (earlier.reason,), Kind.WORKS_AGAIN)
    return here.of_sign(Happened.FAILING_BEFORE, earlier)


def _harmed(here: _InPhase) -> Outcome | None:
    """The outcome of a client that still sends requests and lacks something; None if it lacks nothing."""
    change = here.change
    harm = _confirmed(here, [*here.harm, *_missing(here)])
    if change is not None:
        worse = _worse(here, harm, change)
        if (worst := _strongest(worse)) is not None:
            happened = here.of_sign(Happened.CHANGED, worst, worse)
            return replace(happened, kind=Kind.WORSE, reasons=(change.reason, *happened.reasons))
    worst = _strongest(harm)
    if worst is None:
        return None
    if change is not None:
        worst = worst._replace(reason=f"{worst.reason}; {change.reason}")
        harm = [worst, *(sign for sign in harm if sign.kind != worst.kind)]
    locked_out = _partly_locked_out(here, worst)
    if locked_out is not None and locked_out.kind == Kind.FAILED_LOGINS:
        return here.of_sign(Happened.GONE, locked_out)
    return here.of_sign(Happened.FAILING, locked_out or worst, harm)


def _missing(here: _InPhase) -> list[Sign]:
    """Functions that stopped, and a consumer that no longer fetches."""
    track, phase, base, hosts = here.track, here.phase, here.base, here.hosts
    missing = signs.silent(
        track,
        base,
        phase.recorded_until,
        here.around.changes,
        [refusal.api_key for refusal in here.refusals],
        hosts.elsewhere(track, phase) if hosts else (),
    )
    if hosts is None and (base.regular(functions.FETCH) or not track.is_tool):
        gave_up = signs.without_fetch(track, phase.settled, phase.recorded_until)
        fetches = track.by_api.get(ApiKey.FETCH, ())
        if gave_up is not None and not within(fetches, phase.recorded_until - 60.0, phase.until):
            missing.append(gave_up)
    return missing


def _unharmed(here: _InPhase) -> Outcome:
    """The outcome where nothing shows harm: not seen, changed, not tested yet, or unaffected."""
    phase, change = here.phase, here.change
    denied = signs.not_authorized(here.track, phase.until)
    if here.answered_until is None or here.answered_until < phase.since:
        if denied:
            return here.outcome(Happened.UNAFFECTED, tuple(denied.values()))
        return here.outcome(Happened.NOT_SEEN, (_why_not_seen(here),))
    if change is not None and change.at >= phase.since:
        return here.outcome(Happened.CHANGED, (change.reason,), Kind.FIXED, change.at, change.confidence)
    if untested := _untested(here):
        reason = f"still {functions.does(untested)}, but so far only on brokers that are not upgraded yet"
        return here.outcome(Happened.NOT_TESTED, (reason,))
    notes = (*denied.values(), *_notes(here, denied))
    perhaps = may_have_changed(here.track, here.refusals, here.around.upgrade, phase.until)
    if perhaps is not None:
        return here.outcome(Happened.UNAFFECTED, (perhaps, *notes), confidence=signs.POSSIBLE)
    return here.outcome(Happened.UNAFFECTED, notes)


def _why_not_seen(here: _InPhase) -> str:
    phase, overall = here.phase, here.base.overall
    if phase.recorded_until < phase.settled:
        return f"all requests are known only until {clock(phase.recorded_until)}, the last snapshot of the brokers"
    if overall is not None and overall.tolerance is None:
        return (
            f"seen only at {clock(overall.last)} before the upgrade: too few requests to know its normal rate"
        )
    again = (
        ""
        if overall is None
        else f"; check again after {clock((here.seen_until or phase.since) + here.tolerance)}"
    )
    last = clock(here.seen_until or here.base.until)
    return f"last seen at {last}; a pause of this length is normal for it{again}"


def _of_new(here: _InPhase) -> Outcome:
    track, phase, upgrade = here.track, here.phase, here.around.upgrade
    first = track.all_requests[0].first if track.all_requests else phase.until
    if first < upgrade.phases[0].since and not within(track.all_requests, phase.since, phase.until):
        reason = f"last seen at {clock(track.all_requests[0].last)}, on an earlier release: too few requests to know its normal rate"
        return here.outcome(Happened.NOT_SEEN, (reason,))
    if first >= phase.until:
        return here.outcome(Happened.NOT_SEEN, ("first seen after this phase",))
    gave_up = signs.without_fetch(track, first, phase.recorded_until)
    harm = here.harm if gave_up is None else (*here.harm, gave_up)
    worst = _strongest(harm)
    if worst is not None:
        return here.of_sign(Happened.FAILING, worst, harm)
    reason = f"not seen on {upgrade.from_release}, so there is nothing to compare with"
    return here.outcome(Happened.NEW, (reason,), at=first)


def _only_refused(here: _InPhase) -> bool:
    """Whether requests still come and none is answered any more, not even with an error."""
    until = here.phase.until
    answered = [here.answered_until]
    answered += [
        min(failure.last, until)
        for failure in here.track.failures
        if failure.failed and failure.first < until
    ]
    last = max((at for at in answered if at is not None), default=None)
    return last is None or here.phase.recorded_until - last > here.tolerance


def _vanished(here: _InPhase) -> Outcome | None:
    """The outcome if none of the client's requests is answered any more. None if its usual pace is unknown: it then
    counts as not seen.
    """
    track, around, overall, last = here.track, here.around, here.base.overall, here.answered_until
    worst = _strongest(here.harm)
    if overall is None or overall.tolerance is None:
        return here.of_sign(Happened.FAILING, worst, here.harm) if worst else None
    if last is None:
        return None
    before_the_roll = here.base.until - last > here.tolerance
    if worst is not None and last >= here.base.until - here.tolerance:
        return here.of_sign(Happened.FAILING, worst, here.harm)
    if _left_group(track, last):
        reason = f"left its group at {clock(last)}, as a client does when it is shut down"
        return here.outcome(Happened.GONE, (reason,), Kind.LEFT_GROUP, last)
    rose = _failed_logins_rose(here, last)
    if rose and not before_the_roll:
        why = f"last request answered at {clock(last)}; {rose}"
        breaks_login = here.library.breaks_login
        if breaks_login and not _is_let_in(track, around):
            reasons = (why, *breaks_login)
            return here.outcome(Happened.FAILING, reasons, Kind.AUTHENTICATION_FAILED, last, signs.LIKELY)
        why += "; no known issue in its library explains this, so its credentials may have been changed"
        return here.outcome(Happened.GONE, (why,), Kind.FAILED_LOGINS, last, signs.POSSIBLE)
    why = f"no requests since {clock(last)}"
    if before_the_roll:
        why += ", before the first broker was upgraded"
    if not around.has_failed_logins and _may_log_in(track):
        why += "; no record has failed logins, so it may be locked out"
    return here.outcome(Happened.GONE, (why,), Kind.SILENT, last, signs.POSSIBLE)


def _partly_locked_out(here: _InPhase, sign: Sign) -> Sign | None:
    """Whether a function stopped because new connections are not let in: open ones continue until their broker stops.
    No upgraded broker has answered it then.
    """
    if sign.kind != Kind.SILENT_FUNCTION:
        return None
    rose = _failed_logins_rose(here, sign.since)
    if not rose or _is_let_in(here.track, here.around):
        return None
    if here.library.breaks_login:
        reason = f"{rose}; {'; '.join(here.library.breaks_login)}"
        return Sign(Kind.AUTHENTICATION_FAILED, sign.since, signs.LIKELY, reason, sign.functions, ())
    reason = f"{sign.reason}; {rose}; no known issue in its library explains this"
    return Sign(Kind.FAILED_LOGINS, sign.since, signs.POSSIBLE, reason, sign.functions, ())


def _left_group(track: Track, last: float) -> bool:
    spans = track.by_api.get(ApiKey.LEAVE_GROUP, ())
    return any(last - 30 <= span.last <= last + 1 for span in spans)


def _may_log_in(track: Track) -> bool:
    return any(protocol.startswith("SASL") or not protocol for protocol in track.protocols)


def _is_let_in(track: Track, around: Surroundings) -> bool:
    """Whether an upgraded broker has answered the client: connections to it were opened since, so its logins succeed
    there.
    """
    return any(span.incarnation in around.upgrade.new for span in track.all_requests)


def _failed_logins_rose(here: _InPhase, last: float) -> str:
    """Describes whether more logins failed from the client's addresses after its last request than before: per minute,
    half as many again and three more. "Before" is the time before the upgrade, and for a client that upgraded
    brokers let in, whose own logins succeeded until then, also the minutes just before its last request. Empty if
    not.
    """
    track, around = here.track, here.around
    if not _may_log_in(track):
        return ""
    logins = [login for address in track.addresses for login in around.failed_logins.get(address, ())]
    since, until_before = around.recorded_before
    earlier = _count(logins, since, until_before) / max((until_before - since) / 60, 1 / 6)
    if _is_let_in(track, around):
        just_before = max(last - JUST_BEFORE_SECONDS, since)
        earlier = max(earlier, _count(logins, just_before, last) / max((last - just_before) / 60, 1 / 6))
    window = min(here.phase.until, last + 300.0)
    later = _count(logins, last, window) / max((window - last) / 60, 1 / 6)
    if later < 1.5 * earlier + 3:
        return ""
    mechanisms = sorted({login.mechanism for login in logins if login.mechanism and login.last >= last})
    named = f" with {', '.join(mechanisms)}" if mechanisms else ""
    return f"failed logins{named} from its address rose from {earlier:.0f} to {later:.0f} a minute after {clock(last)}"


def _count(logins: Sequence[FailedLogin], since: float, until: float) -> int:
    return sum(login.connections for login in logins if login.first >= since and login.first < until)


def _last_answered(track: Track, until: float) -> float | None:
    last_times = [last_before(spans, until) for spans in track.by_api.values()]
    return max((at for at in last_times if at is not None), default=None)


def _worse(here: _InPhase, harm: Sequence[Sign], change: ClientChange) -> list[Sign]:
    """The signs of harm if all of them began with the client's own change; otherwise none. What stopped when both the
    client and a broker changed may have either reason.
    """

    def is_from_it(sign: Sign) -> bool:
        if sign.kind in (Kind.REFUSED, Kind.PARTLY):
            own = [r for r in here.refusals if r.api_key in sign.api_keys and r.last >= here.phase.since]
            return all(refusal.first >= change.at - here.around.exactness.slot_seconds for refusal in own)
        return sign.since >= change.ended - 10 and not any(
            at - 10 <= sign.since <= at + signs.FOLLOWS_SECONDS for at in here.around.changes
        )

    if not all(is_from_it(sign) for sign in harm):
        return []
    stopped = {name for sign in harm for name in sign.functions}
    silent = signs.silent(here.track, here.base, here.phase.recorded_until, (change.ended,))
    return [*harm, *(sign for sign in silent if is_from_it(sign) and not stopped & set(sign.functions))]


def _untested(here: _InPhase) -> tuple[str, ...]:
    """Functions that no upgraded broker has answered yet, while the roll is halted: all of them, or those that would
    stop according to a finding.
    """
    track, phase, upgrade = here.track, here.phase, here.around.upgrade
    if phase.name != ROLLING or upgrade.is_complete:
        return ()
    regular = [name for name in here.base.by_function if here.base.regular(name)]
    untested = [
        name
        for name in regular
        if not any(
            span.incarnation in upgrade.new
            for span in within(track.answered.get(name, ()), phase.since, phase.until)
        )
    ]
    at_risk = {functions.served(key, is_tool=track.is_tool) for key in here.library.breaking_apis}
    if untested and (len(untested) == len(regular) or at_risk & set(untested)):
        return tuple(sorted(untested))
    return ()


def _notes(here: _InPhase, explained: Collection[str]) -> tuple[str, ...]:
    """What stopped but is not attributed to the upgrade."""
    notes = []
    for name in sorted(set(here.base.by_function).difference(explained)):
        before = here.base.regular(name)
        last = last_before(here.track.answered[name], here.phase.until)
        if before is None or before.tolerance is None or last is None:
            continue
        if here.phase.recorded_until - last > before.tolerance:
            notes.append(
                f"stopped {functions.doing(name)} at {clock(last)}, which is not when a broker changed; everything else goes on"
            )
    return tuple(notes)


def _strongest(harm: Sequence[Sign]) -> Sign | None:
    confidences = (signs.CERTAIN, signs.LIKELY, signs.POSSIBLE)
    return min(
        harm,
        key=lambda sign: (
            sign.confidence == signs.POSSIBLE,
            outcome.FAILURE_KINDS.index(sign.kind),
            confidences.index(sign.confidence),
            sign.since,
            sign.reason,
        ),
        default=None,
    )


def _confirmed(here: _InPhase, found: Sequence[Sign]) -> list[Sign]:
    """A request that may have been refused to one of several clients was, likely, to the one whose function has stopped since
    and does not go on without it. Reading may go on without ListOffsets: that one may not have been sent again."""
    stopped = {
        name: sign.since
        for sign in found
        if sign.kind == Kind.SILENT_FUNCTION and sign.confidence != signs.POSSIBLE
        for name in sign.functions
    }

    def is_why(api_key: int) -> bool:
        name = functions.function(api_key, is_tool=here.track.is_tool) or _BEGINS.get(api_key)
        before = here.base.regular(name) if name is not None else None
        if name not in stopped or before is None or before.tolerance is None:
            return False
        refused_from = min(each.first for each in here.refusals if each.api_key == api_key)
        return stopped[name] >= refused_from - before.tolerance

    return [
        sign._replace(confidence=signs.LIKELY)
        if sign.kind == Kind.REFUSED
        and sign.confidence == signs.POSSIBLE
        and any(is_why(key) for key in sign.api_keys)
        else sign
        for sign in found
    ]


def _rates(track: Track, before: tuple[float, float], phase: Phase) -> tuple[FunctionRates, ...]:
    since = min(phase.settled, phase.until - 1) if phase.name in (FINALIZED, ROLLED_BACK) else phase.settled
    if phase.recorded_until <= phase.since:
        return ()
    return tuple(
        (
            name,
            per_second(spans, *before) * 60,
            per_second(spans, since, phase.recorded_until) * 60,
        )
        for name, spans in sorted(track.answered.items())
    )
