"""The join as GitHub Flavored Markdown."""

from collections.abc import Iterable, Iterator

from client_telemetry.artefacts.found import Unread
from client_telemetry.formats.written_file import FINDINGS
from client_telemetry.inventory.client_rows import MOST_SHOWN
from client_telemetry.inventory.joined import ArtefactRow, Joined, sentence
from client_telemetry.reports.client_strings import client_label
from client_telemetry.reports.markdown import code, prose, table


def lines(joined: Joined, unread: tuple[Unread, ...]) -> Iterator[str]:
    yield prose(sentence(joined))
    for kind in FINDINGS:
        found = [
            (row.client, each)
            for row in joined.tally.first[kind]
            for each in row.findings
            if each.kind == kind
        ]
        cells = [
            (
                client.verdict,
                code(client_label(client.client_id)),
                code(client.principal or ""),
                prose(finding.text),
                finding.certainty,
                code(finding.evidence, 120),
            )
            for client, finding in found
        ]
        heading = f"{kind[:1].upper()}{kind[1:]}"
        yield from _table(
            heading,
            ("Verdict", "Client", "Principal", "What", "Certainty", "Written in"),
            cells,
            joined.tally.findings[kind],
        )
    columns = ("Verdict", "Library", "Where", "Why", "Owner")
    yield from _table("Written, and seen by no broker", columns, map(_artefact, joined.not_seen))
    heading = "Written, cannot be compared with what was seen"
    yield from _table(heading, columns, map(_artefact, joined.not_comparable))
    unwritten = [
        (
            client.verdict,
            code(client_label(client.client_id)),
            code(client.principal or ""),
            prose(client.identified_as),
        )
        for client in joined.not_written
    ]
    heading = "Seen, in no artefact that was read"
    yield from _table(heading, ("Verdict", "Client", "Principal", "Library"), unwritten)
    vulnerabilities = [
        (
            code(each.vulnerability.id),
            code(each.application),
            prose(each.vulnerability.what),
            code(each.library),
            each.certainty,
            prose(", ".join(each.roles)),
            code(each.owner) if each.owner else "",
        )
        for each in joined.vulnerable
    ]
    of_vulnerabilities = ("Id", "Application", "What", "Library", "Known by", "Roles seen", "Owner")
    yield from _table("Known vulnerabilities, apart from every verdict", of_vulnerabilities, vulnerabilities)
    for file in unread:
        yield ""
        yield f"Not read: {code(file.file, 120)}: {prose(file.reason)}"


def _artefact(of: ArtefactRow) -> tuple[str, ...]:
    found = of.artefact.clients[0]
    owner = code(of.artefact.owner) if of.artefact.owner else ""
    return of.verdict, code(found.client.text), code(str(found.place), 120), prose(of.why), owner


def _table(
    heading: str, columns: tuple[str, ...], cells: Iterable[tuple[str, ...]], count: int | None = None
) -> Iterator[str]:
    """`count`: of all rows, where `cells` has the first of them."""
    rows = list(cells)
    if not rows:
        return
    count = len(rows) if count is None else count
    yield from ("", f"## {heading} ({count})", "", *table(columns, rows[:MOST_SHOWN]))
    if count > MOST_SHOWN:
        yield from ("", f"{count - MOST_SHOWN} more are not shown.")
