"""Artefacts as rows of the table `artefacts`."""

import datetime as dt
from collections.abc import Iterable, Iterator

from client_telemetry.artefacts.found import Found
from client_telemetry.artefacts.readers import package_urls
from client_telemetry.inventory.artefact import CLIENT_ID, GROUP, PRINCIPAL, Artefact
from client_telemetry.inventory.workloads import Workloads
from client_telemetry.tables.rows import ArtefactRow

_MOST_REASONS = 3
_NULLS = dict.fromkeys(ArtefactRow.__annotations__)


def rows(
    artefacts: Iterable[Artefact], cluster_id: str, day: dt.date, workloads: Workloads | None
) -> Iterator[ArtefactRow]:
    """Files often name one library several times in a place: that is one row."""
    for artefact in artefacts:
        shared = _shared(artefact, cluster_id, day, workloads)
        named = {repr(row): row for row in (_client(found) for found in artefact.clients)}
        nothing = {**_NO_CLIENT, "why_unknown": "; ".join(artefact.unread[:_MOST_REASONS]) or None}
        for client in named.values() or (nothing,):
            yield {**_NULLS, **shared, **client}  # type: ignore[typeddict-item]


def _shared(
    artefact: Artefact, cluster_id: str, day: dt.date, workloads: Workloads | None
) -> dict[str, object]:
    def written(kind: str) -> list[str]:
        return sorted({name.value for name in artefact.names if name.kind == kind})

    return {
        "cluster_id": cluster_id,
        "dt": day,
        "artefact": artefact.name,
        "kind": artefact.kind,
        "digests": sorted(artefact.subject.digests),
        "image_names": sorted(artefact.subject.names),
        "repository": artefact.repository or None,
        "owner": artefact.owner or None,
        "client_ids": written(CLIENT_ID),
        "group_ids": written(GROUP),
        "principals": written(PRINCIPAL),
        "seen_on": _seen_on(artefact, workloads),
        "names": [
            {"kind": name.kind, "value": name.value, "written_in": name.where} for name in artefact.names
        ],
    }


def _seen_on(artefact: Artefact, workloads: Workloads | None) -> list[str] | None:
    if workloads is None or not artefact.subject.digests:
        return None
    return sorted(
        {each.name for digest in artefact.subject.digests for each in workloads.by_digest.get(digest, ())}
    )


_NO_CLIENT: dict[str, object] = {"code_was_read": False, "pinned_versions": [], "sasl_mechanisms": []}


def _client(found: Found) -> dict[str, object]:
    client, place = found.client, found.place
    return {
        "library": client.library or None,
        "library_version": client.written.version if client.written else None,
        "why_unknown": client.why_unknown or (None if client.written else "its version is not known"),
        "purl": package_urls.text(client.package.type, client.package.name, client.package.version),
        "file": place.file,
        "line": place.line,
        "inside": place.inside or None,
        "version_from": client.package.through or None,
        "doubt": client.package.doubt or None,
        "left_out": client.package.left_out or None,
        "code_was_read": client.library in found.code.libraries,
        "pinned_versions": [
            {"value": pin.text, "release": pin.release, "written_in": pin.where} for pin in found.code.pins
        ],
        "sasl_mechanisms": [
            {"mechanism": mechanism, "written_in": where} for mechanism, where in found.code.mechanisms
        ],
    }
