"""The join for a terminal: what contradicts what first, then what was proved, then what only one side has."""

from collections.abc import Iterator
from textwrap import wrap

from client_telemetry.artefacts.found import Unread
from client_telemetry.formats.written_file import FINDINGS
from client_telemetry.inventory.client_rows import MOST_SHOWN, ClientRow
from client_telemetry.inventory.joined import ArtefactRow, Joined, sentence
from client_telemetry.inventory.vulnerable import Vulnerable
from client_telemetry.reports.artefacts.text import WIDTH, paragraph
from client_telemetry.reports.client_strings import client_label, without_invisible

VULNERABILITIES = "known vulnerabilities of client libraries, apart from every verdict"


def lines(joined: Joined, unread: tuple[Unread, ...]) -> Iterator[str]:
    for kind in FINDINGS:
        count = joined.tally.clients[kind]
        if count:
            yield f"{kind} ({count})"
        for row in joined.tally.first[kind]:
            yield from _client(row, kind)
        yield from _more(count)
    yield from _artefacts("written, and seen by no broker", joined.not_seen)
    yield from _artefacts("written, cannot be compared with what was seen", joined.not_comparable)
    if joined.not_written:
        yield f"seen, in no artefact that was read ({len(joined.not_written)})"
        for client in joined.not_written[:MOST_SHOWN]:
            yield f"  {client.verdict:<22}{_label(client.client_id, client.principal)}"
        yield from _more(len(joined.not_written))
    yield from _vulnerabilities(joined.vulnerable)
    for each in unread:
        yield f"not read: {without_invisible(each.file)}: {without_invisible(each.reason)}"
    yield from wrap(without_invisible(sentence(joined)), WIDTH)


def _more(count: int) -> Iterator[str]:
    if count > MOST_SHOWN:
        yield f"  {count - MOST_SHOWN} more are not shown: --format json has all"
    if count:
        yield ""


def _label(client_id: str | None, principal: str | None) -> str:
    return f"{client_label(client_id)} ({without_invisible(principal or 'no principal')})"


def _client(row: ClientRow, kind: str) -> Iterator[str]:
    yield f"  {row.client.verdict:<22}{_label(row.client.client_id, row.client.principal)}"
    for finding in row.findings:
        if finding.kind != kind:
            continue
        yield from _paragraph(finding.text)
        yield from _paragraph(f"{finding.certainty}: {'; '.join(_because(row, finding.certainty))}")
        yield from _paragraph(f"written in {finding.evidence}")


def _because(row: ClientRow, certainty: str) -> tuple[str, ...]:
    """Why the client is linked, by the first link of that certainty."""
    return next((link.because for link in row.links if link.certainty == certainty), row.links[0].because)


def _artefacts(heading: str, rows: tuple[ArtefactRow, ...]) -> Iterator[str]:
    if rows:
        yield f"{heading} ({len(rows)})"
    for row in rows[:MOST_SHOWN]:
        found = row.artefact.clients[0]
        yield f"  {row.verdict:<22}{without_invisible(found.client.text)}  {without_invisible(str(found.place))}"
        yield from _paragraph(row.why)
        if row.artefact.owner:
            yield from _paragraph(f"owner: {row.artefact.owner}")
    yield from _more(len(rows))


def _vulnerabilities(rows: tuple[Vulnerable, ...]) -> Iterator[str]:
    if rows:
        yield f"{VULNERABILITIES} ({len(rows)})"
    for row in rows[:MOST_SHOWN]:
        yield f"  {row.vulnerability.id:<22}{_label(row.application, row.principal)}"
        roles = ", ".join(row.roles) or "no role was seen"
        yield from _paragraph(f"{row.library} ({row.certainty}), {roles}; {row.vulnerability.what}")
        if row.owner:
            yield from _paragraph(f"owner: {row.owner}")
    yield from _more(len(rows))


def _paragraph(text: str) -> Iterator[str]:
    return paragraph(text, "      ")
