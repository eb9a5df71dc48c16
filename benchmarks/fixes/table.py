"""The two tables: plan.csv, how each recommendation is run, and fixes.csv, what came of it."""

import csv
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from benchmarks.fixes.clients import STEPS

FOLDER = Path(__file__).parent
PLAN, RESULTS = FOLDER / "plan.csv", FOLDER / "fixes.csv"
TARGETS = ("4.0.1", "4.3.1")
"""Brokers of a plan that names none: the first release of 4.x to be upgraded to, and the newest."""


@dataclass(frozen=True)
class Plan:
    """One way to run a recommendation; without a program there is a reason not to run it."""

    recommendation: str
    program: str
    version: str
    configuration: str
    """As the program takes it, such as config.Version=2.1.0."""
    mechanism: str
    brokers: str
    """As broker.running takes them, joined by blanks; empty: TARGETS."""
    expected: str
    """works, or fails: the version before a fix, and a fix that does not help with this mechanism."""
    not_run: str

    @property
    def releases(self) -> tuple[str, ...]:
        return tuple(self.brokers.split()) or TARGETS

    @property
    def client(self) -> tuple[str, str, str, str]:
        return self.program, self.version, self.configuration, self.mechanism


@dataclass(frozen=True)
class Result:
    """What a client did at a broker. Each step: ok, failed, n/a (the library has no such thing), or empty (not reached)."""

    program: str
    version: str
    configuration: str
    mechanism: str
    broker: str
    connect: str
    produce: str
    consume: str
    group: str
    commit: str
    txn: str
    create: str
    error: str
    """The first failed step with the library's words."""
    ran_on: str
    """Day."""

    @property
    def client(self) -> tuple[str, str, str, str]:
        return self.program, self.version, self.configuration, self.mechanism

    @property
    def works(self) -> bool:
        return all(getattr(self, step) in ("ok", "n/a", "") for step in STEPS) and self.connect == "ok"


def plans() -> list[Plan]:
    return [Plan(**row) for row in _rows(PLAN)]


def results() -> list[Result]:
    return [Result(**row) for row in _rows(RESULTS)]


def write(found: Iterable[Result]) -> None:
    """Replaces the table, in an order that does not depend on what was run when."""
    with RESULTS.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        writer.writerow([each.name for each in fields(Result)])
        writer.writerows(sorted(astuple(each) for each in found))


def _rows(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))
