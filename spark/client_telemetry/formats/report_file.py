"""report.json of an upgrade report (docs/report-format.md), as its readers need it: gates, joins, rehearsals, campaigns."""

import argparse
import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Final, NotRequired, TypedDict, TypeVar

from client_telemetry import Unusable

NAME: Final = "report.json"
LARGEST_BYTES: Final = 2**30
_T = TypeVar("_T")


class NotAReport(Unusable):
    """A document is not the report.json of an upgrade report; the message has one line."""


class Question(TypedDict):
    """Days are `YYYY-MM-DD`, times ISO 8601."""

    cluster_id: str
    cluster_name: str
    report_id: str
    from_release: str
    to_release: str
    first_dt: str
    last_dt: str
    created_at: str
    knowledge_version: str


class Finding(TypedDict):
    rule_id: str
    verdict: str
    api_key: int | None
    versions: str | None


class Candidate(TypedDict):
    library: str


class Client(TypedDict):
    """One of `clients`."""

    anchor: str
    principal: str | None
    client_id: str | None
    client_software_name: str | None
    client_software_version: str | None
    application: str
    owner: str | None
    verdict: str
    when: str | None
    trigger: str | None
    explanation: str
    fix: str | None
    roles: list[str]
    identified_as: str | None
    is_unidentified: bool
    candidates: list[Candidate]
    already_failing: NotRequired[bool]
    addresses: int
    address_sample: list[str]
    hosts: list[str]
    group_ids: list[str]
    first_seen_at: str
    last_seen_at: str
    findings: list[Finding]


class Application(TypedDict):
    """One of `applications`; `clients`: places in the list of clients."""

    anchor: str
    name: str
    principal: str | None
    owner: str | None
    owner_contact: str | None
    outcome: str
    safe_so_far: bool
    clients: list[int]


class CoverageRun(TypedDict):
    broker_id: int
    completeness: list[str]


class Watched(TypedDict):
    start: str
    end: str


class Coverage(TypedDict):
    complete_share: float | None
    broker_ids: list[int]
    runs: list[CoverageRun]
    watched: list[Watched] | None


class Blocker(TypedDict):
    subject: str


class Report(TypedDict):
    """Of schema version 3. Files of older versions lack what is `NotRequired`, and perhaps more: who reads one says that by a
    LookupError (`read`)."""

    schema_version: int
    question: Question
    sentence: str
    coverage: Coverage
    clients: list[Client]
    applications: NotRequired[list[Application]]
    blockers: NotRequired[list[Blocker]]
    incomplete: NotRequired[str | None]
    written_not_seen: NotRequired[dict[str, int] | None]
    """Of answer.json: verdicts of artefacts that no broker saw."""
    asked_by: NotRequired[str | None]
    planned_for: NotRequired[str | None]


def read(named: Path, meaning: Callable[[Report], _T]) -> _T:
    """What `meaning` makes of a report.json, which is named itself or by the folder of its report. Where `meaning` misses something
    in it, it is none. Raises NotAReport.
    """
    file = named / NAME if named.is_dir() else named
    try:
        if file.stat().st_size > LARGEST_BYTES:
            reason = "is larger than 1 GiB"
        else:
            return meaning(json.loads(file.read_text(encoding="utf-8-sig")))
    except OSError as error:
        raise NotAReport(
            f"{file}: {error.strerror}: name the report.json of an upgrade report, or its folder"
        ) from None
    except NotAReport as error:
        reason = f"is {error}"
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        reason = "is not the report.json of an upgrade report"
    raise NotAReport(f"{file} {reason}: name that file, or the folder of the report")


def days(question: Question) -> list[dt.date]:
    """Of its evidence."""
    first, last = dt.date.fromisoformat(question["first_dt"]), dt.date.fromisoformat(question["last_dt"])
    return [first + dt.timedelta(days=number) for number in range((last - first).days + 1)]


def add_report(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """The argument REPORT, for `read`."""
    parser.add_argument(
        "report",
        type=Path,
        nargs="?" if optional else None,
        metavar="REPORT",
        help="report.json of an upgrade report, or its folder",
    )
