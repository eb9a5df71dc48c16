"""The phases of a rolling upgrade, from the broker incarnations. Pure.

    before          until the first broker of the from-release stops
    rolling         brokers run both releases, or are being exchanged
    not_finalized   all run the target, the features are still the old ones
    finalized       the feature levels were raised
    rolled_back     a broker went back to the from-release

An upgrade ends when no broker runs the target any more; the next broker that starts on the target begins another one.

The first minute after a change shows only the change itself, and so does the preferred leader election: the controller
checks every five minutes (leader.imbalance.check.interval.seconds) and moves leaders and coordinators back.
"""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from client_telemetry import Unusable
from client_telemetry.activity.records import BrokerRun, FeatureLevels
from client_telemetry.knowledge import releases
from client_telemetry.knowledge.measured_targets import may_be

BEFORE, ROLLING, NOT_FINALIZED = "before", "rolling", "not_finalized"
FINALIZED, ROLLED_BACK = "finalized", "rolled_back"
AFTER = (ROLLING, NOT_FINALIZED, FINALIZED, ROLLED_BACK)
"""In chronological order."""

SETTLING_SECONDS = 60.0
ELECTION_AFTER_SECONDS = 300.0
ELECTION_SECONDS = 30.0
"""How long after the last start leaders move back, and how long clients need to follow."""


class NoSuchUpgrade(Unusable):
    """The brokers did not go from one release to the other; the message says what they did."""


class Phase(NamedTuple):
    """`settled`: from when on events belong to the phase itself, and not to the change before it. `requests_until`: see
    Evidence.
    """

    name: str
    since: float
    until: float
    settled: float
    requests_until: float = inf

    @property
    def recorded_until(self) -> float:
        """Until when silence shows that nothing was requested; may be before the phase."""
        return min(self.until, self.requests_until)


class Upgrade(NamedTuple):
    """`phases`: those that were seen, in order; `upgraded`: broker -> when it started on the target; `is_complete`: no
    broker runs the from-release at the end. `old`, `new`: the incarnations on each side.
    """

    from_release: str
    to_release: str
    phases: tuple[Phase, ...]
    upgraded: dict[int, float]
    is_complete: bool
    old: frozenset[str]
    new: frozenset[str]
    last_start: float | None
    is_mixed: bool = False
    """Whether brokers of both releases run at the end: the roll is in progress."""

    def phase(self, name: str) -> Phase | None:
        return next((phase for phase in self.phases if phase.name == name), None)

    @property
    def began(self) -> float:
        """When the first broker stopped."""
        return self.phases[1].since

    @property
    def ended(self) -> float:
        return self.phases[-1].until

    @property
    def recorded_until(self) -> float:
        return self.phases[-1].recorded_until


class Change(NamedTuple):
    """Brokers changed their release. `began`: when the first of them stopped."""

    from_release: str
    to_release: str
    began: float

    @property
    def is_way_back(self) -> bool:
        try:
            return releases.is_rollback(self.from_release, self.to_release)
        except releases.UnknownRelease:
            return False


class _Roll(NamedTuple):
    """Runs of the from-release (`old`) and of the target (`new`) in and around one upgrade. `since`: when all brokers
    had returned from the upgrade before it; `until`: when the next one began.
    """

    old: list[BrokerRun]
    new: list[BrokerRun]
    since: float
    began: float
    until: float


def upgrade_of(
    runs: Sequence[BrokerRun],
    features: Sequence[FeatureLevels],
    from_release: str,
    to_release: str,
    began: float | None = None,
    requests_until: float = inf,
) -> Upgrade:
    """The upgrade that the runs show; of several between the same releases, the newest that had begun by `began`.
    `requests_until`: see Evidence. Raises NoSuchUpgrade.
    """
    ordered = sorted(runs, key=lambda run: (run.started, run.broker_id))
    rolls = _rolls(ordered, from_release, to_release)
    if not rolls:
        old, new = _on_one_side(ordered, from_release, to_release)
        if not old or not new:
            raise NoSuchUpgrade(f"no broker went from {from_release} to {to_release}: {_what_ran(ordered)}")
        raise NoSuchUpgrade(
            f"the brokers went from {to_release} to {from_release}, not the other way: {_what_ran(ordered)}"
        )
    roll = next(
        (roll for roll in reversed(rolls) if began is None or roll.began <= began + 1.0),
        rolls[0],
    )
    old, new = roll.old, roll.new
    of_others = {run.incarnation for side in _on_one_side(ordered, from_release, to_release) for run in side}
    of_others -= {run.incarnation for run in (*old, *new)}
    ordered = [
        run
        for run in ordered
        if run.incarnation not in of_others and run.started < roll.until and run.until > roll.since
    ]
    first_new = min(run.started for run in new)
    stopped = [run for run in old if run.started < first_new]
    first_stop = roll.began
    left_at = _left(ordered, old, new, first_stop)
    end = min(left_at, roll.until, _watched_until(ordered))

    back = [run for run in old if run.started > first_new and run.started < end]
    upgraded = {broker: _upgraded_at(broker, old, new) for broker in {r.broker_id for r in new}}
    returned = [run for run in _returned(back, new) if run.started > upgraded[run.broker_id]]
    all_brokers = {run.broker_id for run in stopped if run.until >= first_stop}
    last_first_start = max(upgraded.values())
    is_complete = all_brokers <= set(upgraded) and not returned
    since = max(min(run.started for run in stopped), roll.since)
    phases = [Phase(BEFORE, since, first_stop, since)]
    back_began = min((_stop_before(run, new, run.started) for run in returned), default=end)
    if all_brokers <= set(upgraded) and last_first_start < back_began:
        phases.append(Phase(ROLLING, first_stop, min(last_first_start, end), first_stop))
        _add_after(
            phases,
            features,
            frozenset(run.incarnation for run in old),
            first_stop,
            last_first_start,
            back_began,
        )
    else:
        phases.append(Phase(ROLLING, first_stop, back_began, first_stop))
    if returned:
        settled = max(run.started for run in returned) + SETTLING_SECONDS
        phases.append(Phase(ROLLED_BACK, back_began, end, min(settled, end)))
    in_time = [phase._replace(requests_until=requests_until) for phase in phases if phase.until > phase.since]
    starts = [run.started for run in ordered if first_stop < run.started < end]
    return Upgrade(
        from_release,
        to_release,
        tuple(in_time),
        upgraded,
        is_complete,
        frozenset(run.incarnation for run in old),
        frozenset(run.incarnation for run in new),
        max(starts, default=None),
        _is_mixed(ordered, old, new, end),
    )


def _on_one_side(
    ordered: Sequence[BrokerRun], from_release: str, to_release: str
) -> tuple[list[BrokerRun], list[BrokerRun]]:
    """Runs of the from-release, and of the target."""

    def ran_only(one: str, other: str) -> list[BrokerRun]:
        return [run for run in ordered if may_be(one, run.releases) and not may_be(other, run.releases)]

    return ran_only(from_release, to_release), ran_only(to_release, from_release)


def _rolls(ordered: Sequence[BrokerRun], from_release: str, to_release: str) -> list[_Roll]:
    """The upgrades between two releases, in order of time. `ordered`: runs by start."""
    old, new = _on_one_side(ordered, from_release, to_release)
    first_old = min((run.started for run in old), default=float("inf"))
    groups: list[list[BrokerRun]] = []
    until = float("-inf")
    for run in new:
        if run.started <= first_old:
            continue
        returned = _returned(
            [other for other in old if other.started < run.started], groups[-1] if groups else ()
        )
        if not groups or (run.started > until and returned):
            groups.append([])
        groups[-1].append(run)
        until = max(until, _on_target_until(run, ordered, new))
    rolls: list[_Roll] = []
    for group in reversed(groups):
        first_new = group[0].started
        next_began = rolls[-1].began if rolls else float("inf")
        before = [run for run in old if run.started < first_new]
        earlier = [run for run in new if first_old < run.started < first_new]
        since = max((run.started for run in _returned(before, earlier)), default=float("-inf"))
        rolls.append(
            _Roll(
                [run for run in old if run.until > since and run.started < next_began],
                group,
                since,
                _first_stop(before, group, first_new),
                next_began,
            )
        )
    return rolls[::-1]


def _on_target_until(run: BrokerRun, ordered: Sequence[BrokerRun], new: Sequence[BrokerRun]) -> float:
    """Until when the run's broker was on the target: a restart there does not end it."""
    later = [other for other in ordered if other.broker_id == run.broker_id and other.started > run.started]
    if not later:
        return float("inf") if run.is_running else run.until
    return later[0].started if later[0] in new else min(run.until, later[0].started)


def _is_mixed(
    ordered: Sequence[BrokerRun], old: Sequence[BrokerRun], new: Sequence[BrokerRun], end: float
) -> bool:
    latest = {run.broker_id: run.incarnation for run in ordered if run.started < end}
    ours = ({run.incarnation for run in old}, {run.incarnation for run in new})
    return all(any(incarnation in side for incarnation in latest.values()) for side in ours)


def upgrades(runs: Sequence[BrokerRun]) -> list[Change]:
    """The changes of release that brokers went through, in order of time; only if each release is known exactly. A way
    back is a phase of the upgrade that it ends, and none of its own.
    """
    pairs: dict[tuple[str, str], None] = {}
    last: dict[int, str] = {}
    ordered = sorted(runs, key=lambda run: (run.started, run.broker_id))
    for run in ordered:
        if len(run.releases) != 1:
            continue
        (release,) = run.releases
        before = last.get(run.broker_id)
        if before is not None and before != release:
            pairs[before, release] = None
        last[run.broker_id] = release
    changes = [Change(*pair, roll.began) for pair in pairs for roll in _rolls(ordered, *pair)]
    return sorted(
        (change for change in changes if not _is_taken_back(change, changes)),
        key=lambda change: change.began,
    )


def _is_taken_back(change: Change, changes: Sequence[Change]) -> bool:
    """Whether the change goes back from one that brokers had made before."""
    return change.is_way_back and any(
        (other.to_release, other.from_release) == change[:2] and other.began < change.began
        for other in changes
    )


def _first_stop(stopped: Sequence[BrokerRun], new: Sequence[BrokerRun], otherwise: float) -> float:
    """When the first of the brokers that came back on the target stopped. Earlier restarts on the from-release are not
    part of the upgrade.
    """
    first = min((_stop_before(run, stopped, inf) for run in new), default=inf)
    return otherwise if first == inf else first


def _watched_until(runs: Sequence[BrokerRun]) -> float:
    """Until when clients could continue: if all brokers were shut down at the end, until the first of them was."""
    last = [
        max((run for run in runs if run.broker_id == broker), key=lambda run: run.started)
        for broker in {run.broker_id for run in runs}
    ]
    if any(run.is_running for run in last):
        return max(run.until for run in last)
    return min(run.until for run in last)


def _left(
    ordered: Sequence[BrokerRun], old: Sequence[BrokerRun], new: Sequence[BrokerRun], began: float
) -> float:
    """When the first broker on the target stopped for a third release: the next upgrade. Infinity if none did."""
    ours = {run.incarnation for run in (*old, *new)}
    third_release_runs = [
        run for run in ordered if run.incarnation not in ours and run.started > began and run.releases
    ]
    return min((_stop_before(run, new, run.started) for run in third_release_runs), default=inf)


def _returned(back: Sequence[BrokerRun], new: Sequence[BrokerRun]) -> list[BrokerRun]:
    """Runs of the from-release on brokers that had been on the target."""
    return [
        run
        for run in back
        if any(new_run.broker_id == run.broker_id and new_run.started < run.started for new_run in new)
    ]


def _upgraded_at(broker: int, old: Sequence[BrokerRun], new: Sequence[BrokerRun]) -> float:
    """When a broker started on the target; if it went back in between, when it did again."""
    starts = sorted(run.started for run in new if run.broker_id == broker)
    back = [run.started for run in old if run.broker_id == broker and starts[0] < run.started < starts[-1]]
    return next(at for at in starts if at > max(back, default=starts[0] - 1))


def _stop_before(run: BrokerRun, earlier: Sequence[BrokerRun], otherwise: float) -> float:
    """When the run of these that it replaced stopped. `otherwise`: if there is none."""
    stops = [
        other.until for other in earlier if other.broker_id == run.broker_id and other.started < run.started
    ]
    return min(max(stops), run.started) if stops else otherwise


def _add_after(
    phases: list[Phase],
    features: Sequence[FeatureLevels],
    old: frozenset[str],
    began: float,
    complete_at: float,
    end: float,
) -> None:
    levels_before: dict[str, int] = {}
    in_order = sorted(features, key=lambda report: report.at)
    for report in in_order:
        if report.at < began or report.incarnation in old:
            levels_before = dict(report.levels)
    raised = [
        report.at
        for report in in_order
        if began <= report.at < end
        and report.incarnation not in old
        and any(level > levels_before.get(name, 0) for name, level in report.levels.items())
    ]
    finalized = min(raised, default=None) if levels_before else None
    if finalized is None:
        phases.append(Phase(NOT_FINALIZED, complete_at, end, min(complete_at + SETTLING_SECONDS, end)))
        return
    if finalized > complete_at:
        phases.append(
            Phase(NOT_FINALIZED, complete_at, finalized, min(complete_at + SETTLING_SECONDS, finalized))
        )
    since = max(finalized, complete_at)
    phases.append(Phase(FINALIZED, since, end, min(since + SETTLING_SECONDS, end)))


def _what_ran(runs: Sequence[BrokerRun]) -> str:
    texts: dict[int, list[str]] = {}
    for run in runs:
        text = " or ".join(run.releases) or "an unknown release"
        if not texts.setdefault(run.broker_id, []) or texts[run.broker_id][-1] != text:
            texts[run.broker_id].append(text)
    return "; ".join(f"broker {broker}: {', then '.join(ran)}" for broker, ran in sorted(texts.items()))
