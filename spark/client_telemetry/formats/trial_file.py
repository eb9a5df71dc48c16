"""Files beside a report with what was tried (docs/rehearse.md, docs/probe.md): `rehearsal.json`, what the libraries of its clients did on
the target, and `replay.json`, which of their requests other brokers answer.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypedDict, cast

from client_telemetry import Unusable
from client_telemetry.console.output_file import replace_file
from client_telemetry.formats import report_file

SCHEMA_VERSION = 1
REHEARSAL = "rehearsal.json"
REPLAY = "replay.json"


class NotATrial(Unusable):
    """The file is not one that this version can read, or is about another report; the message has one line."""


class Application(TypedDict):
    """`ran`: libraries as they were run, such as `kafka-python 2.0.2`; empty in a replay."""

    anchor: str
    name: str
    owner: str | None
    verdict_outcome: str
    safe_so_far: bool
    outcome: str
    said: str
    known_by: list[str]
    ran: list[str]
    contradicts: bool


class Trial(TypedDict):
    """What both have. Counts are by outcome."""

    schema_version: int
    report_id: str
    cluster_id: str
    target: str
    counts: dict[str, int]
    safe: dict[str, int]
    applications: list[Application]


class Rehearsal(Trial):
    """`libraries`: each that was run, with its steps."""

    ran_on: list[str]
    rehearsed_at: str
    with_known_library: dict[str, int]
    libraries: list[dict[str, object]]


class Replay(Trial):
    """`target`: addresses of its brokers; `answers_like`: releases of Apache Kafka that advertise what they do."""

    answers_like: list[str]
    measured_at: str
    replayed_at: str


def tried(
    application: report_file.Application,
    outcome: str,
    said: str,
    *,
    known_by: list[str],
    contradicts: bool,
    ran: Sequence[str] = (),
) -> Application:
    """What became of an application of the report."""
    return {
        "anchor": application["anchor"],
        "name": application["name"],
        "owner": application["owner"],
        "verdict_outcome": application["outcome"],
        "safe_so_far": application["safe_so_far"],
        "outcome": outcome,
        "said": said,
        "known_by": known_by,
        "ran": list(ran),
        "contradicts": contradicts,
    }


def counts(applications: Iterable[Application], outcomes: Sequence[str]) -> dict[str, int]:
    """Applications by outcome, those without any too."""
    counted = Counter(each["outcome"] for each in applications)
    return {outcome: counted[outcome] for outcome in outcomes}


def write(folder: Path, name: str, content: Trial) -> Path:
    """`name`: REHEARSAL or REPLAY. Gives the file."""
    file = folder / name
    replace_file(file, (json.dumps(content, indent=1) + "\n").encode())
    return file


_SHOWN = ("anchor", "name", "safe_so_far", "outcome", "said", "ran", "contradicts")
"""Of an application: what a page shows."""


def read(file: Path, report_id: str) -> Trial:
    """Raises NotATrial or OSError."""
    what = file.name.removesuffix(".json")
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        version, about = content["schema_version"], content["report_id"]
        applications = [{name: each[name] for name in _SHOWN} for each in content["applications"]]
        target = str(content["target"])
    except (ValueError, LookupError, TypeError) as error:
        raise NotATrial(f"{file} is not the file of a {what}: {error}") from error
    if version != SCHEMA_VERSION:
        raise NotATrial(f"{file} has schema version {version}: this program reads {SCHEMA_VERSION}")
    if about != report_id:
        raise NotATrial(f"{file} is about the report {about}, not {report_id}")
    return cast("Trial", {**content, "target": target, "applications": applications})
