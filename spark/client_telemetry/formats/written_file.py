"""written.json beside an upgrade report: what artefacts say of its clients (docs/join.md), as it is written and read. Names of clients,
packages and files are as they came: whoever shows them has to escape them.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Final, NotRequired, TypedDict, cast

from client_telemetry import Unusable

NAME: Final = "written.json"
FORMAT: Final = 1

PROVED: Final = "library proved"
PROBABLE: Final = "library likely"
NOT_DEPLOYED: Final = "fixed in the repository, not deployed"
NOT_WRITTEN: Final = "deployed, not in the repository"
TWO_VERSIONS: Final = "image has two versions"
CONTRADICTION: Final = "what is written does not fit what was seen"
FINDINGS: Final = (NOT_DEPLOYED, NOT_WRITTEN, TWO_VERSIONS, CONTRADICTION, PROVED, PROBABLE)
"""Kinds of findings, in the order in which they are shown."""


class Link(TypedDict):
    """`because`: what shows that the client comes from the artefact."""

    artefact: str
    repository: str | None
    workload: str | None
    certainty: str
    because: list[str]


class Finding(TypedDict):
    """`certainty`: that of the link on which it rests. `evidence`: where it is written."""

    kind: str
    text: str
    certainty: str
    evidence: str


class Client(TypedDict):
    """`anchor`: as in report.json."""

    client_id: str | None
    principal: str | None
    application: str
    owner: str | None
    verdict: str
    identified_as: str
    anchor: str
    artefacts: list[Link]
    findings: list[Finding]


class Found(TypedDict):
    """A client that is written in the artefact. `inside`: the archive or package that has `file`."""

    library: str | None
    library_version: str | None
    client: str
    verdict: str
    explanation: str
    fix: str | None
    file: str
    line: int | None
    inside: str | None


class Name(TypedDict):
    """A literal by which brokers see a client. `where`: file and line."""

    kind: str
    value: str
    where: str


class ArtefactRead(TypedDict):
    artefact: str
    kind: str
    digests: list[str]
    repository: str | None
    owner: str | None
    names: list[Name]
    clients: list[Found]


class Artefact(ArtefactRead):
    """One that no client comes from. `verdict`: the worst of its clients."""

    verdict: str
    why: str


class Vulnerable(TypedDict):
    """An application that a known vulnerability hits. `hits`: producer, connect or empty; `clients`: anchors."""

    id: str
    aliases: list[str]
    summary: str
    condition: str
    hits: str
    fixed_in: str
    source: str
    application: str
    principal: str | None
    owner: str | None
    roles: list[str]
    library: str
    certainty: str
    evidence: str | None
    clients: list[str]


class NotRead(TypedDict):
    file: str
    reason: str


Written = TypedDict(
    "Written",
    {
        "format": int,
        "cluster": str,
        "report_id": str,
        "from": str,
        "to": str,
        "sentence": str,
        "decision": str | None,
        "clients": list[Client],
        "written_not_seen": list[Artefact],
        "written_not_comparable": list[Artefact],
        "seen_not_written": list[str],
        "vulnerabilities": list[Vulnerable],
        "not_read": list[NotRead],
        "inventory": NotRequired[str],
    },
)
"""The whole document. `seen_not_written`: anchors of clients. `inventory`: day of the table `artefacts` that it comes from."""


class NotWritten(Unusable):
    """The file is not a join that this version can read, or is about another report; the message has one line."""


def read(file: Path, report_id: str) -> Written:
    """Raises NotWritten or OSError."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        version, about = document["format"], document["report_id"]
    except (ValueError, LookupError, TypeError) as error:
        raise NotWritten(f"{file} is not the file of a join: {error}") from error
    if version != FORMAT:
        raise NotWritten(f"{file} has format {version}: this program reads {FORMAT}")
    if about != report_id:
        raise NotWritten(f"{file} is about the report {about}, not {report_id}")
    return cast("Written", document)


def beside(report: Path, report_id: str) -> Written | None:
    """That of a report, which is named by its folder or its report.json; None without one. Raises NotWritten and OSError."""
    file = (report if report.is_dir() else report.parent) / NAME
    return read(file, report_id) if file.is_file() else None


def not_seen(document: Written) -> Counter[str]:
    """Verdicts of the artefacts that brokers should have seen and did not."""
    return Counter(each["verdict"] for each in document["written_not_seen"])


def file_text(document: Written) -> str:
    """Of written.json."""
    return json.dumps(document, indent=1) + "\n"
