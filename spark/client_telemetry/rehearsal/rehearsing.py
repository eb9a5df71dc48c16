"""Runs the libraries of a report against brokers in a sandbox, within limits of time and disk; what was run before is not run again.

The target is run with the feature levels of the release that is left, as the brokers are after the last of them was upgraded, and with
those of the target; each before and after a restart of the broker. What fails there is run once more on a release that still accepts the old requests: a program
that fails there too says nothing about the target.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from client_telemetry.console.progress import Progress
from client_telemetry.knowledge import releases
from client_telemetry.knowledge_package import confinement
from client_telemetry.rehearsal import client_runs, sandbox_broker
from client_telemetry.rehearsal.client_runs import NOT_AVAILABLE, OK
from client_telemetry.rehearsal.library_programs import BY_NAME
from client_telemetry.rehearsal.outcomes import OutcomeCache, Sandbox
from client_telemetry.rehearsal.subjects import Subject
from client_telemetry.rehearsal.workplace import NotInstalled

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_MEASURED_EVERY_S = 20
Alternatives = tuple[Subject, ...]
"""Of which the first that can be installed is run."""
_FIRST_LEVEL = (3, 3)
"""Metadata version from which brokers of 4.x start; StorageTool takes a release for it."""


@dataclass(frozen=True)
class Limits:
    minutes: float = 30
    gigabytes: float = 5
    jobs: int = 2


@dataclass
class Outcome:
    """Of one subject; `not_run`: why there are no steps."""

    subject: Subject
    not_run: str = ""
    steps: dict[Sandbox, dict[str, str]] = field(default_factory=dict)
    control: dict[str, str] | None = None

    @property
    def failed(self) -> bool:
        outcomes = {outcome for steps in self.steps.values() for outcome in steps.values()}
        return not outcomes <= {OK, NOT_AVAILABLE}


def sandboxes(target: str, from_release: str) -> list[Sandbox]:
    """Those of an upgrade in place; only the target where the features of the old release are not those of a KRaft cluster."""
    old, new = releases.parse(from_release), releases.parse(target)
    in_place = _FIRST_LEVEL <= old[:2] < new[:2]
    levels = [".".join(map(str, old[:2])), ""] if in_place else [""]
    return [Sandbox(target, level, restarted) for level in levels for restarted in (False, True)]


def control() -> Sandbox:
    """The newest release before 4.0, which removed the old request versions (KIP-896)."""
    return Sandbox([release for release in releases.known() if releases.parse(release) < (4, 0)][-1])


class Rehearsing:
    """Installs and runs; `progress` says what is being done."""

    def __init__(self, cache: Path, limits: Limits, progress: Progress) -> None:
        self.cache, self.limits, self.progress = cache, limits, progress
        self.outcomes = OutcomeCache(cache)
        self.deadline = time.monotonic() + limits.minutes * 60
        self._bytes, self._measure_again = 0, 0.0

    def rehearse(
        self, wanted: Iterable[Alternatives], target: str, from_release: str
    ) -> dict[Alternatives, Outcome]:
        """By what was wanted. Raises BrokerDidNotStart or NotInstalled if there is no broker to run against."""
        on = sandboxes(target, from_release)
        found = dict(
            self._in_parallel(
                "installing client libraries", lambda each: self._prepared(each, on), sorted(set(wanted))
            )
        )
        for _, of_broker in groupby(on, lambda sandbox: (sandbox.release, sandbox.level)):
            for outcome, sandbox, steps in self._run_all(found.values(), list(of_broker)):
                outcome.steps[sandbox] = steps
        failed = [outcome for outcome in found.values() if outcome.failed]
        for outcome, _, steps in self._run_all(failed, [control()]):
            outcome.control = steps
        return found

    def _prepared(self, alternatives: Alternatives, on: Sequence[Sandbox]) -> Outcome:
        """The first that was run before or that can be installed."""
        reasons = []
        for subject in alternatives:
            kept = {sandbox: self.outcomes.read(subject, sandbox) for sandbox in on}
            if all(kept.values()):
                return Outcome(subject)
            program = BY_NAME[subject.program]
            if not client_runs.is_installed(subject.program, program, subject.version, self.cache) and (
                reason := self._over_budget()
            ):
                return Outcome(subject, reason)
            try:
                self._install(subject)
            except NotInstalled as error:
                reasons.append(f"{subject.program} {subject.version} could not be installed: {error}")
            else:
                return Outcome(subject)
        return Outcome(alternatives[0], reasons[0])

    def _install(self, subject: Subject) -> Path:
        program = BY_NAME[subject.program]
        folder = client_runs.install(subject.program, program, subject.version, self.cache)
        if subject.mechanism == sandbox_broker.GSSAPI:
            client_runs.install_gssapi(program, folder, self.cache)
        return folder

    def _over_budget(self) -> str:
        if time.monotonic() > self.deadline:
            return f"left out: {self.limits.minutes:g} minutes are over (--budget-minutes)"
        if self._used() > self.limits.gigabytes * 2**30:
            return f"left out: {self.cache} has more than {self.limits.gigabytes:g} GB (--budget-gb)"
        return ""

    def _used(self) -> int:
        """Bytes of the cache, which may have a hundred thousand files: looked at now and then."""
        if time.monotonic() >= self._measure_again:
            self._bytes = confinement.bytes_below(self.cache)
            self._measure_again = time.monotonic() + _MEASURED_EVERY_S
        return self._bytes

    def _run_all(
        self, outcomes: Iterable[Outcome], on: Sequence[Sandbox]
    ) -> list[tuple[Outcome, Sandbox, dict[str, str]]]:
        """Steps of those that can be run, from the cache or a broker that is started for them. `on`: of one broker, those after its
        restart last.
        """
        runnable = [outcome for outcome in outcomes if not outcome.not_run]
        done, left = [], {}
        for sandbox in on:
            kept = [(outcome, self.outcomes.read(outcome.subject, sandbox)) for outcome in runnable]
            done += [(outcome, sandbox, steps) for outcome, steps in kept if steps is not None]
            if missing := [outcome for outcome, steps in kept if steps is None]:
                left[sandbox] = missing
        if not left:
            return done
        level = on[0].level
        self.progress(f"starting a broker of {on[0].text}")
        formatting = ("--release-version", level) if level else ()
        subjects = [outcome.subject for missing in left.values() for outcome in missing]
        tls = any(subject.tls for subject in subjects)
        kerberos = any(subject.mechanism == sandbox_broker.GSSAPI for subject in subjects)
        with sandbox_broker.running(
            on[0].release, self.cache, *formatting, tls=tls, kerberos=kerberos
        ) as broker:
            for sandbox, missing in left.items():
                if sandbox.restarted:
                    broker.restart()
                done += [
                    (outcome, sandbox, steps) for outcome, steps in self._run_on(broker, sandbox, missing)
                ]
        return done

    def _run_on(
        self, broker: sandbox_broker.Broker, sandbox: Sandbox, outcomes: Sequence[Outcome]
    ) -> list[tuple[Outcome, dict[str, str]]]:
        topics = {id(outcome): f"topic-{uuid4().hex[:8]}" for outcome in outcomes}
        broker.seed(list(topics.values()))
        run = self._in_parallel(
            f"running client libraries on {sandbox.text}",
            lambda outcome: self._run(outcome, sandbox, broker, topics[id(outcome)]),
            outcomes,
        )
        return [(outcome, steps) for outcome, steps in run if steps is not None]

    def _run(
        self, outcome: Outcome, sandbox: Sandbox, broker: sandbox_broker.Broker, topic: str
    ) -> dict[str, str] | None:
        subject = outcome.subject
        if time.monotonic() > self.deadline:
            outcome.not_run = self._over_budget()
            return None
        settings = broker.settings(subject.mechanism, tls=subject.tls)
        settings |= client_runs.settings(topic, subject.configuration)
        try:
            steps = client_runs.steps(BY_NAME[subject.program], self._install(subject), settings)
        except NotInstalled as error:
            outcome.not_run = f"{subject.text} could not be installed: {error}"
            return None
        self.outcomes.write(subject, sandbox, steps)
        return steps

    def _in_parallel(
        self, doing: str, work: Callable[[_Item], _Result], items: Sequence[_Item]
    ) -> list[tuple[_Item, _Result]]:
        with ThreadPoolExecutor(max(1, self.limits.jobs)) as pool:
            results = pool.map(work, items)
            return list(zip(self.progress.counted(doing, items), results, strict=True))
