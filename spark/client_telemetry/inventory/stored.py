"""Artefacts from rows of the table `artefacts`, with the verdicts for an upgrade that is asked about later."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from client_telemetry.artefacts import judged, libraries
from client_telemetry.artefacts.code import CodeSeen, Pin
from client_telemetry.artefacts.found import Found, worst_first
from client_telemetry.artefacts.libraries import Client
from client_telemetry.artefacts.packages import Package, Place
from client_telemetry.artefacts.readers import package_urls
from client_telemetry.artefacts.subjects import Subject
from client_telemetry.inventory.artefact import CLIENT_ID, GROUP, PRINCIPAL, Artefact, Name, Written
from client_telemetry.knowledge.software import WrittenLibrary
from client_telemetry.tables.rows import ArtefactRow


def written(rows: Iterable[ArtefactRow], source: str, target: str) -> Written:
    """Of one day of a cluster, for an upgrade between two exact releases. What was not read then is in no row."""
    found = tuple(_artefacts(rows, source, target))
    files = {client.place.file for each in found for client in each.clients}
    return Written(found, (), len(files))


def _artefacts(rows: Iterable[ArtefactRow], source: str, target: str) -> Iterator[Artefact]:
    by_name = itemgetter("artefact")
    for name, of_one in groupby(sorted(rows, key=by_name), key=by_name):
        same = list(of_one)
        first = same[0]
        repository = first["repository"] or ""
        subject = Subject(
            frozenset(first["digests"]),
            frozenset(first["image_names"]),
            frozenset([repository] if repository else []),
        )
        clients = [_found(row, source, target) for row in same if row["purl"]]
        clients.sort(key=worst_first)
        names = _names(first)
        unread = tuple(row["why_unknown"] for row in same if not row["purl"] and row["why_unknown"])
        yield Artefact(name, first["kind"], subject, repository, tuple(clients), names, unread)


def _names(row: ArtefactRow) -> tuple[Name, ...]:
    if row["names"] is not None:
        return tuple(Name(each["kind"], each["value"], each["written_in"]) for each in row["names"])
    # Rows of before they were kept say the values alone.
    values = {CLIENT_ID: row["client_ids"], GROUP: row["group_ids"], PRINCIPAL: row["principals"]}
    return tuple(Name(kind, value, row["artefact"]) for kind in values for value in values[kind])


def _found(row: ArtefactRow, source: str, target: str) -> Found:
    client = _client(row)
    place = Place(row["file"] or "", row["line"], row["inside"] or "")
    code = CodeSeen(
        frozenset([client.library] if row["code_was_read"] else []),
        tuple(
            Pin(client.library, each["value"], each["release"], each["written_in"])
            for each in row["pinned_versions"] or ()
        ),
        tuple((each["mechanism"], each["written_in"]) for each in row["sasl_mechanisms"] or ()),
    )
    verdict = judged.of(client, source, target, code)
    return Found(place, client, verdict, row["owner"] or "", code=code)


def _client(row: ArtefactRow) -> Client:
    """What is known today of the package; of one that is not known any more, what the row says."""
    named = package_urls.parse(row["purl"] or "")
    kind, name, version = named or ("generic", row["purl"] or "", None)
    package = Package(
        kind,
        name,
        version,
        row["line"],
        row["why_unknown"] or "",
        row["inside"] or "",
        through=row["version_from"] or "",
        doubt=row["doubt"] or "",
        left_out=row["left_out"] or "",
    )
    known = libraries.of(package)
    if known is not None:
        version = row["library_version"]
        return known.with_own_version(version) if version else known
    library = row["library"] or ""
    if library and row["library_version"]:
        return Client(package, library, WrittenLibrary(library, row["library_version"]))
    return Client(package, library, None, row["why_unknown"] or "its version is not known")
