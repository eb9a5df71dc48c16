"""Outcomes of runs on a release, kept in a cache so that each is run once: by library, version, configuration, mechanism and what it
was run against.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from client_telemetry.console.output_file import replace_file
from client_telemetry.rehearsal.client_runs import NOT_AVAILABLE, OK, digest
from client_telemetry.rehearsal.library_programs import BY_NAME
from client_telemetry.rehearsal.sandbox_broker import OF_BROKERS
from client_telemetry.rehearsal.subjects import Subject
from client_telemetry.rehearsal.workplace import PROGRAMS

ROLE_STEPS: Mapping[str, tuple[str, ...]] = {
    "producer": ("produce",),
    "group_consumer": ("group", "commit"),
    "assigned_consumer": ("consume",),
    "transactional_producer": ("txn",),
    "admin": ("create",),
}
"""Role -> the steps that it needs. Others have no program."""


@dataclass(frozen=True)
class Told:
    """What the steps of one run say about a role. `refused`: the client's own words; `reason`: why they say nothing."""

    works: bool = False
    refused: str = ""
    reason: str = ""


def told(steps: Mapping[str, str], role: str) -> Told:
    """
    >>> told({"connect": "ok", "produce": "ok"}, "producer")
    Told(works=True, refused='', reason='')
    >>> told({"connect": "ok", "group": "KafkaError: closed"}, "group_consumer").refused
    'group: KafkaError: closed'
    """
    needed = ROLE_STEPS.get(role)
    if needed is None:
        return Told(reason=f"there is no program for the role {role}")
    if (connected := steps.get("connect", OK)) != OK:
        return Told(refused=f"connect: {connected}")
    for step in needed:
        outcome = steps.get(step)
        if outcome is None or outcome == NOT_AVAILABLE:
            return Told(reason=f"its program has no step for the role {role}")
        if outcome != OK:
            return Told(refused=f"{step}: {outcome}")
    return Told(works=True)


@dataclass(frozen=True)
class Sandbox:
    """What clients are run against. `level`: the release whose feature levels are finalized; empty: the newest levels. `restarted`:
    the broker, since it was formatted.
    """

    release: str
    level: str = ""
    restarted: bool = False

    @property
    def text(self) -> str:
        """
        >>> Sandbox("4.3.1", "3.9", restarted=True).text
        '4.3.1 with the features of 3.9, restarted'
        """
        features = f" with the features of {self.level}" if self.level else ""
        return f"{self.release}{features}{', restarted' if self.restarted else ''}"


@dataclass(frozen=True)
class OutcomeCache:
    folder: Path

    def read(self, subject: Subject, sandbox: Sandbox) -> dict[str, str] | None:
        """Step -> outcome; None: not run yet, or with another program. A damaged file counts as none."""
        try:
            kept = json.loads(self._file(subject, sandbox).read_text(encoding="utf-8"))
            return {str(step): str(outcome) for step, outcome in kept["steps"].items()}
        except (OSError, ValueError, TypeError, LookupError, AttributeError):
            return None

    def write(self, subject: Subject, sandbox: Sandbox, steps: Mapping[str, str]) -> None:
        file = self._file(subject, sandbox)
        file.parent.mkdir(parents=True, exist_ok=True)
        document = {"subject": asdict(subject), "sandbox": asdict(sandbox), "steps": dict(steps)}
        replace_file(file, json.dumps(document, indent=1).encode())

    def _file(self, subject: Subject, sandbox: Sandbox) -> Path:
        made_of = [digest(PROGRAMS / BY_NAME[subject.program].source), digest(OF_BROKERS)]
        key = json.dumps([asdict(subject), asdict(sandbox), made_of], sort_keys=True)
        return self.folder / "outcomes" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
