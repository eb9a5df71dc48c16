"""`rehearsal.json`, beside the report that it is about (docs/rehearse.md): what is needed to read it."""

import json
from pathlib import Path
from typing import TypedDict, cast

SCHEMA_VERSION = 1
FILE = "rehearsal.json"


class NotARehearsal(ValueError):
    """The file is not one that this version can read, or is about another report; the message has one line."""


class Application(TypedDict):
    """`ran`: libraries as they were run, such as `kafka-python 2.0.2`."""

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


class Rehearsal(TypedDict):
    """Counts are by outcome. `libraries`: each that was run, with its steps."""

    schema_version: int
    report_id: str
    cluster_id: str
    target: str
    ran_on: list[str]
    rehearsed_at: str
    counts: dict[str, int]
    with_known_library: dict[str, int]
    safe: dict[str, int]
    applications: list[Application]
    libraries: list[dict[str, object]]


_SHOWN = ("anchor", "name", "safe_so_far", "outcome", "said", "ran", "contradicts")
"""Of an application: what a page shows."""


def read(file: Path, report_id: str) -> Rehearsal:
    """Raises NotARehearsal or OSError."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        version, about = content["schema_version"], content["report_id"]
        applications = [{name: each[name] for name in _SHOWN} for each in content["applications"]]
        target = str(content["target"])
    except (ValueError, LookupError, TypeError) as error:
        raise NotARehearsal(f"{file} is not the file of a rehearsal: {error}") from error
    if version != SCHEMA_VERSION:
        raise NotARehearsal(f"{file} has schema version {version}: this program reads {SCHEMA_VERSION}")
    if about != report_id:
        raise NotARehearsal(f"{file} is about the report {about}, not {report_id}")
    return cast("Rehearsal", {**content, "target": target, "applications": applications})
