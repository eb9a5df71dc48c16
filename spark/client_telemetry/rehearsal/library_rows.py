"""Rows of the knowledge base about a library version that it does not have, from measuring it and the newest one that it has.

Both run the same program against the same broker. Where both send the same, the newest row holds for the new version too; where the
new version sends a higher request version, it gets a row of its own. What the program does not send was not measured: such rows are
continued with the confidence `low`, unless the jars say that they are the same. Anything else (an API that is new or gone, a lower version) is for a person, and nothing is
written.
"""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass

from client_telemetry import knowledge
from client_telemetry.compatibility import fingerprints
from client_telemetry.knowledge import apis, client_ranges, client_versions, releases, served, software
from client_telemetry.knowledge.software import JAVA_LIBRARY
from client_telemetry.rehearsal.measured import Measured
from client_telemetry.rehearsal.subjects import known_versions

Row = dict[str, str]
_HIGH, _LOW = "high", "low"


@dataclass(frozen=True)
class Compared:
    """`texts`: file of the knowledge base -> its text with the new rows; empty if nothing is written."""

    texts: Mapping[str, str]
    said: tuple[str, ...]
    for_a_person: tuple[str, ...]


def compared(library: str, new: Measured, known: Measured) -> Compared:
    """`library`: as in the knowledge base. `known`: the newest version that it has."""
    version = library_version(library, new)
    open_questions = _for_a_person(library, version, new, known) or _not_continued(library, known)
    if open_questions:
        return Compared({}, (), tuple(open_questions))
    file = file_of(library)
    text, said = _continued(file, library, version, new, known)
    return Compared({file: text} | _with_binding(new, version), tuple(said), ())


def carried(library: str, new: Measured) -> Compared | None:
    """The row of a binding whose library is known: what that sends is in the table, whatever the newest one does. None if it is not a
    binding, or carries a version that is newer, or does not say which.
    """
    version = library_version(library, new)
    if new.subject.program == library or not version or not _rows_of(library, version):
        return None
    if failed := new.failed:
        return Compared({}, (), (f"{new.subject.text} failed at {failed}",))
    said = (f"carries {library} {version}", *beside_the_table(library, new))
    return Compared(_with_binding(new, version), said, ())


def library_version(library: str, measured: Measured) -> str:
    """The version of the library itself: of librdkafka the one that its binding declares."""
    if measured.subject.program == library:
        return measured.subject.version
    for name, version in measured.software:
        identity = software.identify_name(name, version)
        if identity and identity.library == library and identity.version:
            return client_versions.text(identity.version)
    return ""


def _for_a_person(library: str, version: str, new: Measured, known: Measured) -> list[str]:
    if not version:
        return [f"{new.subject.text} does not say which {library} it has: {new.software}"]
    if failed := new.failed:
        return [f"{new.subject.text} failed at {failed}"]
    found = [
        f"{new.subject.text} sends {_name(key)} v{sent}, which {known.subject.text} does not send"
        for key, sent in new.sent.items()
        if key not in known.sent
    ]
    for key, before in known.sent.items():
        sent = new.sent.get(key)
        if sent is None:
            found.append(
                f"{new.subject.text} sends no {_name(key)}, and {known.subject.text} sends v{before}"
            )
        elif sent < before:
            found.append(f"{new.subject.text} sends {_name(key)} v{sent}, and {known.subject.text} v{before}")
    if {name for name, _ in new.software} != {name for name, _ in known.software}:
        found.append(f"{new.subject.text} declares {new.software}, and {known.subject.text} {known.software}")
    return found


def _not_continued(library: str, known: Measured) -> list[str]:
    """Why one run of each says too little about the newest rows."""
    newest = known_versions()[library][1]
    rows = [
        row
        for row in client_ranges.read(file_of(library))
        if row.library == library and row.version_to == newest
    ]
    configurations = {row.configuration for row in rows}
    if not configurations <= {"", "any"}:
        return [
            f"what {library} sends depends on more than one run shows: {', '.join(sorted(configurations))}"
        ]
    since, measured = max(row.version_from for row in rows), library_version(library, known)
    if client_versions.parse(measured or "0") < since:
        return [
            f"{known.subject.text} is older than rows that are known, since {client_versions.text(since)}"
        ]
    return []


def _continued(
    file: str, library: str, version: str, new: Measured, known: Measured
) -> tuple[str, list[str]]:
    """The text of the file, in which lines that stay are as they were written."""
    lines = knowledge.texts()[file].splitlines()
    newest = known_versions()[library][1]
    said: list[str] = []
    for line, cells in reversed(list(knowledge.shipped_rows(file, client_ranges.COLUMNS))):
        row = dict(zip(client_ranges.COLUMNS, cells, strict=True))
        is_newest = row["library"] == library and client_versions.parse(row["version_to"]) == newest
        if is_newest and client_versions.parse(version) > newest:
            more, sentence = _next(row, version, new, known)
            lines[line - 1 : line] = [_line(each) if each is not row else lines[line - 1] for each in more]
            said = sentence + said
    return "\n".join([*lines, ""]), said


def _line(row: Row) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow([row[name] for name in client_ranges.COLUMNS])
    return text.getvalue()


def _next(row: Row, version: str, new: Measured, known: Measured) -> tuple[list[Row], list[str]]:
    """What follows on the newest row of an API."""
    key = int(row["api_key"])
    own = {**row, "version_from": version, "version_to": version}
    if key not in new.sent:
        if row["confidence"] == _LOW or _is_same_in_jars(row, version):
            return [{**row, "version_to": version}], []
        source = f"not sent when {new.subject.text} was measured: as in {row['version_to']}"
        return [row, {**own, "confidence": _LOW, "source": source}], []
    if new.sent[key] == known.sent[key]:
        return [{**row, "version_to": version}], []
    source = f"measured: {new.subject.text} on Kafka {new.broker} (knowledge build --library)"
    changed = {**own, "max_version": str(new.sent[key]), "confidence": _HIGH, "source": source}
    return [row, changed], [
        f"{row['api_name']}: up to v{row['max_version']} before, v{new.sent[key]} in {version}"
    ]


def _is_same_in_jars(row: Row, version: str) -> bool:
    """kafka-clients is the jar that brokers read requests with: what a release accepts is what its client can send."""
    if row["library"] != JAVA_LIBRARY or version not in releases.known():
        return False
    key, before = int(row["api_key"]), served.by(row["version_to"])
    now = served.by(version)
    return key in before and key in now and before[key].advertised == now[key].advertised


def _with_binding(new: Measured, version: str) -> dict[str, str]:
    """The row that says which librdkafka a binding has, if the knowledge base lacks it."""
    binding = new.subject.program
    if new.subject.version in software.bindings().get(binding, {}) or binding not in software.bindings():
        return {}
    lines = knowledge.texts()[software.BINDINGS_FILE].splitlines()
    rows = knowledge.shipped_rows(software.BINDINGS_FILE, software.BINDINGS_COLUMNS)
    own = client_versions.parse(new.subject.version)
    of_binding = [(line, client_versions.parse(cells[1])) for line, cells in rows if cells[0] == binding]
    last = max((line for line, each in of_binding if each < own), default=min(of_binding)[0] - 1)
    source = f"declared by {new.subject.text} when it was run"
    lines.insert(last, ",".join([binding, new.subject.version, version, "", source]))
    return {software.BINDINGS_FILE: "\n".join([*lines, ""])}


def beside_the_table(library: str, measured: Measured) -> list[str]:
    """Where what was sent differs from what the knowledge base lets one expect of a version that it has: libraries may hold back."""
    ranges = {row.api_key: row.versions for row in _rows_of(library, library_version(library, measured))}
    offered = served.by(measured.broker)
    found = []
    for key, sent in measured.sent.items():
        if key not in ranges:
            found.append(f"{_name(key)} v{sent}: not in the table")
        elif key in fingerprints.TAKES_LOWER.get(library, ()):
            continue
        elif (expected := min(ranges[key].max, offered[key].advertised.max)) != sent:
            found.append(f"{_name(key)} v{sent}: v{expected} by the table")
    return found


def _rows_of(library: str, version: str) -> list[client_ranges.Row]:
    """What is known of one version; nothing of one that does not say what it is."""
    exact = client_versions.parse(version or "0")
    return [
        row
        for row in client_ranges.read(file_of(library))
        if row.library == library and row.version_from <= exact <= row.version_to
    ]


def file_of(library: str) -> str:
    """The file that has the newest versions of a library."""
    newest = {
        file: max((row.version_to for row in client_ranges.read(file) if row.library == library), default=())
        for file in (client_ranges.FILE, client_ranges.UNNAMED_FILE)
    }
    return max(newest, key=lambda file: newest[file])


def _name(key: int) -> str:
    return apis.name(key) or f"API {key}"
