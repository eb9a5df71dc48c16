"""The join as data. Names of clients, packages and files are as they came: whoever shows them has to escape them."""

from client_telemetry.artefacts.found import Found, Unread
from client_telemetry.inventory.artefact import Artefact
from client_telemetry.inventory.joined import ArtefactRow, ClientRow, Joined, sentence

FORMAT = 1


def as_json(joined: Joined, unread: tuple[Unread, ...], decision: str | None = None) -> dict[str, object]:
    """`decision`: of a command with verdicts that stop an upgrade; None where nothing is decided."""
    return {
        "format": FORMAT,
        "cluster": joined.seen.cluster,
        "report_id": joined.seen.report_id,
        "from": joined.seen.source,
        "to": joined.seen.target,
        "sentence": sentence(joined),
        "decision": decision,
        "clients": [_client(row) for row in joined.rows],
        "written_not_seen": [_artefact_row(row) for row in joined.not_seen],
        "written_not_comparable": [_artefact_row(row) for row in joined.not_comparable],
        "seen_not_written": [client.anchor for client in joined.not_written],
        "not_read": [{"file": each.file, "reason": each.reason} for each in unread],
    }


def _client(row: ClientRow) -> dict[str, object]:
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
        "findings": [finding.__dict__ for finding in row.findings],
    }


def _artefact_row(row: ArtefactRow) -> dict[str, object]:
    return {**artefact(row.artefact), "verdict": row.verdict, "why": row.why}


def artefact(of: Artefact) -> dict[str, object]:
    return {
        "artefact": of.name,
        "kind": of.kind,
        "digests": sorted(of.subject.digests),
        "repository": of.repository or None,
        "owner": of.owner or None,
        "names": [name.__dict__ for name in of.names],
        "clients": [_found(found) for found in of.clients],
    }


def _found(found: Found) -> dict[str, object]:
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
