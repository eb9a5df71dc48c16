"""The join as data. Names of clients, packages and files are as they came: whoever shows them has to escape them."""

from collections.abc import Iterator
from typing import cast

from client_telemetry.artefacts import found as scanned
from client_telemetry.artefacts.found import Unread
from client_telemetry.formats.written_file import (
    FORMAT,
    Artefact,
    ArtefactRead,
    Client,
    Finding,
    Found,
    Name,
    Vulnerable,
    Written,
)
from client_telemetry.inventory import artefact as inventory
from client_telemetry.inventory import vulnerable
from client_telemetry.inventory.client_rows import ClientRow
from client_telemetry.inventory.joined import ArtefactRow, Joined, sentence
from client_telemetry.reports.json_text import json_pieces


def as_json(joined: Joined, unread: tuple[Unread, ...], decision: str | None = None) -> Written:
    """`decision`: of a command with verdicts that stop an upgrade; None where nothing is decided."""
    document = _document(joined, unread, decision)
    return cast(Written, {k: list(v) if isinstance(v, Iterator) else v for k, v in document.items()})


def as_text(joined: Joined, unread: tuple[Unread, ...], decision: str | None = None) -> Iterator[str]:
    """The pieces of `json.dumps(as_json(…), indent=1)`, one row of a list after the other: a report of many clients needs no more
    memory than one of few.
    """
    return json_pieces(_document(joined, unread, decision))


def _document(joined: Joined, unread: tuple[Unread, ...], decision: str | None) -> dict[str, object]:
    """Its lists are iterators."""
    return {
        "format": FORMAT,
        "cluster": joined.seen.cluster,
        "report_id": joined.seen.report_id,
        "from": joined.seen.source,
        "to": joined.seen.target,
        "sentence": sentence(joined),
        "decision": decision,
        "clients": map(_client, joined.rows),
        "written_not_seen": map(_artefact_row, joined.not_seen),
        "written_not_comparable": map(_artefact_row, joined.not_comparable),
        "seen_not_written": (client.anchor for client in joined.not_written),
        "vulnerabilities": map(_vulnerable, joined.vulnerable),
        "not_read": ({"file": each.file, "reason": each.reason} for each in unread),
    }


def _vulnerable(each: vulnerable.Vulnerable) -> Vulnerable:
    known = each.vulnerability
    return {
        "id": known.id,
        "aliases": list(known.aliases),
        "summary": known.summary,
        "condition": known.condition,
        "hits": known.hits,
        "fixed_in": known.fixed_in,
        "source": known.source,
        "application": each.application,
        "principal": each.principal or None,
        "owner": each.owner or None,
        "roles": list(each.roles),
        "library": each.library,
        "certainty": each.certainty,
        "evidence": each.evidence or None,
        "clients": list(each.anchors),
    }


def _client(row: ClientRow) -> Client:
    client = row.client
    return {
        "client_id": client.client_id,
        "principal": client.principal,
        "application": client.application,
        "owner": client.owner,
        "verdict": client.verdict,
        "identified_as": client.identified_as,
        "anchor": client.anchor,
        "artefacts": [
            {
                "artefact": link.artefact.name,
                "repository": link.artefact.repository or None,
                "workload": link.workload or None,
                "certainty": link.certainty,
                "because": list(link.because),
            }
            for link in row.links
        ],
        "findings": [
            Finding(kind=each.kind, text=each.text, certainty=each.certainty, evidence=each.evidence)
            for each in row.findings
        ],
    }


def _artefact_row(row: ArtefactRow) -> Artefact:
    return {**artefact(row.artefact), "verdict": row.verdict, "why": row.why}


def artefact(of: inventory.Artefact) -> ArtefactRead:
    return {
        "artefact": of.name,
        "kind": of.kind,
        "digests": sorted(of.subject.digests),
        "repository": of.repository or None,
        "owner": of.owner or None,
        "names": [Name(kind=each.kind, value=each.value, where=each.where) for each in of.names],
        "clients": [_found(found) for found in of.clients],
    }


def _found(found: scanned.Found) -> Found:
    written = found.client.written
    return {
        "library": found.client.library or None,
        "library_version": written.version if written else None,
        "client": found.client.text,
        "verdict": found.judged.verdict,
        "explanation": found.judged.explanation,
        "fix": found.judged.fix,
        "file": found.place.file,
        "line": found.place.line,
        "inside": found.place.inside or None,
    }
