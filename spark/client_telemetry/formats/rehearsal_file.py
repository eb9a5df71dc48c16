"""`rehearsal.json`, beside the report that it is about (docs/rehearse.md): what is needed to read it."""

import json
from pathlib import Path
from typing import Any

SCHEMA_VERSION = 1
FILE = "rehearsal.json"


class NotARehearsal(ValueError):
    """The file is not one that this version can read, or is about another report; the message has one line."""


def read(file: Path, report_id: str) -> dict[str, Any]:
    """Raises NotARehearsal or OSError."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        version, about = content["schema_version"], content["report_id"]
        applications = [
            {
                name: each[name]
                for name in ("anchor", "name", "safe_so_far", "outcome", "said", "ran", "contradicts")
            }
            for each in content["applications"]
        ]
        target = str(content["target"])
    except (ValueError, LookupError, TypeError) as error:
        raise NotARehearsal(f"{file} is not the file of a rehearsal: {error}") from error
    if version != SCHEMA_VERSION:
        raise NotARehearsal(f"{file} has schema version {version}: this program reads {SCHEMA_VERSION}")
    if about != report_id:
        raise NotARehearsal(f"{file} is about the report {about}, not {report_id}")
    return {**content, "target": target, "applications": applications}
