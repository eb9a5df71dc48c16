"""The phases of a rolling upgrade, from the broker incarnations. Pure.

    before          until the first broker of the from-release stops
    rolling         brokers run both releases, or are being exchanged
    not_finalized   all run the target, the features are still the old ones
    finalized       the feature levels were raised
    rolled_back     a broker went back to the from-release

The first minute after a change shows only the change itself, and so does the preferred leader election: the controller
checks every five minutes (leader.imbalance.check.interval.seconds) and moves leaders and coordinators back.
"""

from collections.abc import Sequence
from typing import NamedTuple

from client_telemetry.review.activity import BrokerRun, FeatureLevels

BEFORE, ROLLING, NOT_FINALIZED = "before", "rolling", "not_finalized"
FINALIZED, ROLLED_BACK = "finalized", "rolled_back"
AFTER = (ROLLING, NOT_FINALIZED, FINALIZED, ROLLED_BACK)
"""In chronological order."""

SETTLING_SECONDS = 60.0
ELECTION_AFTER_SECONDS = 300.0
ELECTION_SECONDS = 30.0
"""How long after the last start leaders move back, and how long clients need to follow."""


class NoSuchUpgrade(ValueError):
    """The brokers did not go from one release to the other; the message says what they did."""


class Phase(NamedTuple):
    """`settled`: from when on events belong to the phase itself, and not to the change before it."""

    name: str
    since: float
    until: float
    settled: float


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


def upgrade_of(
    runs: Sequence[BrokerRun],
    features: Sequence[FeatureLevels],
    from_release: str,
    to_release: str,
    until: float | None = None,
) -> Upgrade:
    """The upgrade that the runs show. `until`: later records are ignored. Raises NoSuchUpgrade."""
    ordered = sorted(runs, key=lambda run: (run.started, run.broker_id))
    if until is not None:
        ordered = [run for run in ordered if run.started < until]
    old = [run for run in ordered if from_release in run.releases and to_release not in run.releases]
    new = [run for run in ordered if to_release in run.releases and from_release not in run.releases]
    if not old or not new:
        raise NoSuchUpgrade(f"no broker went from {from_release} to {to_release}: {_what_ran(ordered)}")
    first_new = min(run.started for run in new)
    stopped = [run for run in old if run.started < first_new]
    if not stopped:
        raise NoSuchUpgrade(
            f"the brokers went from {to_release} to {from_release}, not the other way: {_what_ran(ordered)}"
        )
    began = _first_stop(stopped, new, first_new)
    left_at = _left(ordered, old, new, began)
    end = min(left_at, _watched_until(ordered)) if until is None else min(left_at, until)

    back = [run for run in old if run.started > first_new and run.started < end]
    returned = _returned(back, new)
    upgraded = {
        broker: min(run.started for run in new if run.broker_id == broker)
        for broker in {r.broker_id for r in new}
    }
    all_brokers = {run.broker_id for run in stopped if run.until >= began}
    last_first_start = max(upgraded.values())
    is_complete = all_brokers <= set(upgraded) and not returned
    phases = [Phase(BEFORE, min(run.started for run in stopped), began, min(run.started for run in stopped))]
    back_began = min((_stop_before(run, new) for run in returned), default=end)
    if all_brokers <= set(upgraded) and last_first_start < back_began:
        phases.append(Phase(ROLLING, began, min(last_first_start, end), began))
        _add_after(
            phases, features, frozenset(run.incarnation for run in old), began, last_first_start, back_began
        )
    else:
        phases.append(Phase(ROLLING, began, back_began, began))
    if returned:
        settled = max(run.started for run in returned) + SETTLING_SECONDS
        phases.append(Phase(ROLLED_BACK, back_began, end, min(settled, end)))
    in_time = [phase for phase in phases if phase.until > phase.since]
    starts = [run.started for run in ordered if began < run.started < end]
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


def _is_mixed(
    ordered: Sequence[BrokerRun], old: Sequence[BrokerRun], new: Sequence[BrokerRun], end: float
) -> bool:
    latest = {run.broker_id: run.incarnation for run in ordered if run.started < end}
    ours = ({run.incarnation for run in old}, {run.incarnation for run in new})
    return all(any(incarnation in side for incarnation in latest.values()) for side in ours)


def upgrades(runs: Sequence[BrokerRun]) -> list[tuple[str, str]]:
    """Pairs of releases that brokers went from and to, in order of time; only if each is known exactly."""
    began_at: dict[tuple[str, str], float] = {}
    last: dict[int, str] = {}
    for run in sorted(runs, key=lambda run: (run.started, run.broker_id)):
        if len(run.releases) != 1:
            continue
        (release,) = run.releases
        before = last.get(run.broker_id)
        if before is not None and before != release:
            began_at.setdefault((before, release), run.started)
        last[run.broker_id] = release
    return sorted(began_at, key=lambda pair: began_at[pair])


def _first_stop(stopped: Sequence[BrokerRun], new: Sequence[BrokerRun], otherwise: float) -> float:
    """When the first of the brokers that came back on the target stopped. Earlier restarts on the from-release are not
    part of the upgrade.
    """
    stops = []
    for run in new:
        before = [
            stopped_run
            for stopped_run in stopped
            if stopped_run.broker_id == run.broker_id and stopped_run.started < run.started
        ]
        if before:
            stops.append(min(max(stopped_run.until for stopped_run in before), run.started))
    return min(stops, default=otherwise)


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
    stops = []
    for run in third_release_runs:
        before = [
            new_run.until
            for new_run in new
            if new_run.broker_id == run.broker_id and new_run.started < run.started
        ]
        stops.append(min(max(before), run.started) if before else run.started)
    return min(stops, default=float("inf"))


def _returned(back: Sequence[BrokerRun], new: Sequence[BrokerRun]) -> list[BrokerRun]:
    """Runs of the from-release on brokers that had been on the target."""
    return [
        run
        for run in back
        if any(new_run.broker_id == run.broker_id and new_run.started < run.started for new_run in new)
    ]


def _stop_before(run: BrokerRun, new: Sequence[BrokerRun]) -> float:
    """When the run on the target that it replaced stopped."""
    before = [
        new_run for new_run in new if new_run.broker_id == run.broker_id and new_run.started < run.started
    ]
    return min(max(new_run.until for new_run in before), run.started)


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
