"""Clients of a day by software and version, those that tell none, and what is new or gone against other days."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import astuple
from datetime import date

from client_telemetry.compatibility import fingerprints
from client_telemetry.compatibility.evidence import ApiUse
from client_telemetry.console.grouped import grouped
from client_telemetry.formats.typed_values import of_row, typed
from client_telemetry.identity.applications import NO_CLIENT_ID
from client_telemetry.identity.client_families import family
from client_telemetry.identity.client_key import ClientKey, client_key
from client_telemetry.knowledge import client_versions, releases
from client_telemetry.knowledge.broker_guess import oldest_release
from client_telemetry.knowledge.kip511 import declared
from client_telemetry.knowledge.software import identify_name
from client_telemetry.reports.evidence import RelatedClient
from client_telemetry.reports.fleet.model import (
    ApplicationSeen,
    Changes,
    Family,
    FleetClient,
    FleetSoftware,
    FleetVersion,
    Unnamed,
    VersionSeen,
)
from client_telemetry.reports.fleet.request_versions import applications, deprecated_uses, first_ids
from client_telemetry.reports.versions import version_order
from client_telemetry.tables.rows import ClientRow

FAMILIES_LISTED = APPLICATIONS_LISTED = 1000


def is_client(row: ClientRow) -> bool:
    """Whether a row of `clients` is a client. One that is flagged `unidentified` stands for connections that were
    rejected before authentication, and may belong to any of the others."""
    return "unidentified" not in row["flags"]


def fleet_clients(
    rows: Iterable[ClientRow], asked_without_push: Mapping[ClientKey, int], release: str | None
) -> tuple[FleetClient, ...]:
    """Rows of `clients` of the day, without the unidentified; `asked_without_push`: by client_key, where not 0;
    `release`: the oldest that a broker ran."""
    found = (_client(row, asked_without_push, release) for row in rows if is_client(row))
    return tuple(sorted(found, key=_order))


def _order(client: FleetClient) -> tuple[object, ...]:
    name = declared(client.client_software_name)
    version = _age(name, declared(client.client_software_version))
    return name is None, name or "", version, client.client_id or "", client.principal or ""


def _age(name: str | None, version: str | None) -> tuple[object, ...]:
    """Sort key of a software's versions: by the library's version that they stand for, those that stand for none that
    is known last."""
    identity = identify_name(name or "", version or "")
    stands_for = identity.version if identity else ()
    return version is None, stands_for is None, stands_for or (), version_order(version)


def _stands_for(name: str, version: str | None) -> str | None:
    identity = identify_name(name, version or "")
    if identity is None or version is None:
        return None
    shows = identity.version is not None and client_versions.text(identity.version) in version
    return None if shows else identity.text


def _could_be(row: ClientRow, release: str | None) -> tuple[str, ...]:
    """By what brokers answered, on the oldest release of those that this client talked to."""
    answered = [ApiUse(use["api_key"], use["version"]) for use in row["api_uses"] if use["requests"]]
    of_brokers = map(oldest_release, row.get("broker_software_versions") or ())
    oldest = min(filter(None, of_brokers), key=releases.parse, default=release)
    if not answered or oldest is None or declared(row["client_software_name"]):
        return ()
    uses = grouped(answered, lambda use: use.api_key)
    return tuple(sorted(fingerprints.libraries_that_explain(uses, oldest)))


def _client(row: ClientRow, asked_without_push: Mapping[ClientKey, int], release: str | None) -> FleetClient:
    related = typed(tuple[RelatedClient, ...], row["related"])
    looks_like, reasons = row["looks_like"], tuple(row["looks_like_because"] or ())
    same = next((each for each in related if each.relation == "one_application"), None)
    if same and declared(row["client_software_name"]) is None:
        version = declared(same.client_software_version) or ""
        looks_like, reasons = f"{same.client_software_name} {version}".strip(), (same.because,)
    return of_row(
        FleetClient,
        row,
        looks_like=looks_like,
        looks_like_reasons=reasons,
        could_be=() if looks_like else _could_be(row, release),
        related=related,
        # Rows that were written before there were applications have none.
        application=row.get("application") or row["client_id"] or NO_CLIENT_ID,
        application_kind=row.get("application_kind") or "application",
        requests=sum(use["requests"] for use in row["api_uses"]),
        asked_without_push=asked_without_push.get(client_key(row), 0),
        deprecated=deprecated_uses(row["api_uses"], release),
    )


def software_of_the_day(
    clients: Sequence[FleetClient], before: Iterable[ClientRow] | None
) -> tuple[FleetSoftware, ...]:
    """`before`: rows of `clients` of the day before; None = that day is not known."""
    seen_before = None if before is None else set(_versions(before))
    by_name = grouped(clients, lambda client: declared(client.client_software_name))
    result = []
    for name, theirs in by_name.items():
        by_version = grouped(theirs, lambda client: declared(client.client_software_version))
        versions: list[FleetVersion] = []
        up_to_here: list[FleetClient] = []
        for version in sorted(by_version, key=lambda each: _age(name, each)) if name else []:
            same = by_version[version]
            up_to_here += same
            versions.append(
                FleetVersion(
                    version=version,
                    stands_for=_stands_for(name or "", version),
                    applications=applications(same),
                    applications_up_to_here=applications(up_to_here),
                    clients=len(same),
                    clients_up_to_here=len(up_to_here),
                    **sums(same),
                    deprecated_applications=applications(client for client in same if client.deprecated),
                    deprecated_clients=sum(bool(client.deprecated) for client in same),
                    owners=tuple(sorted({client.owner for client in same if client.owner})),
                    is_new=None if seen_before is None else (name, version) not in seen_before,
                )
            )
        result.append(
            FleetSoftware(name, applications(theirs), len(theirs), **sums(theirs), versions=tuple(versions))
        )
    return tuple(
        sorted(
            result, key=lambda each: (each.name is None, -each.applications, -each.clients, each.name or "")
        )
    )


def sums(clients: Iterable[FleetClient]) -> dict[str, int]:
    """Instances, connections and requests."""
    found = Counter(instances=0, connections=0, requests=0)
    for client in clients:
        for what in found:
            found[what] += getattr(client, what)
    return dict(found)


def unnamed(clients: Iterable[FleetClient]) -> tuple[Unnamed, ...]:
    """Clients that declare no software, by what they look like, most first; then those that are not narrowed down, by what
    they can be, the fewer the earlier; last those that nothing known explains."""
    nameless = (client for client in clients if declared(client.client_software_name) is None)
    groups = grouped(nameless, lambda client: (client.looks_like, client.could_be))
    found = [
        Unnamed(
            looks_like,
            could_be,
            applications(group),
            len(group),
            sum(client.connections for client in group),
            first_ids(client.client_id for client in group),
        )
        for (looks_like, could_be), group in groups.items()
    ]
    return tuple(sorted(found, key=_how_well_known))


def _how_well_known(group: Unnamed) -> tuple[object, ...]:
    is_narrowed_down = group.looks_like is not None
    return (
        not is_narrowed_down,
        *(() if is_narrowed_down else (not group.could_be, len(group.could_be))),
        -group.applications,
        -group.clients,
        group.looks_like or "",
        group.could_be,
    )


def changes(
    rows: Iterable[ClientRow],
    other_rows: Iterable[ClientRow] | None,
    against: date,
    words: str,
    release: str | None,
) -> Changes:
    """What `clients` of the day has that the other day has not, and the other way round. `other_rows` None = the
    other day was not processed."""
    if other_rows is None:
        return Changes(against, words, False, 0, 0, 0, (), (), 0)
    rows, others = ([row for row in each if is_client(row)] for each in (rows, other_rows))
    now, then = ({_family(row) for row in each} for each in (rows, others))
    programs_now, programs_then = ({_application(row) for row in each} for each in (rows, others))
    versions_now, versions_then = _versions(rows), _versions(others)
    old_versions = [row for row in others if deprecated_uses(row["api_uses"], release)]
    return Changes(
        against=against,
        words=words,
        is_known=True,
        clients=len(others),
        new_families=len(now - then),
        gone_families=len(then - now),
        new_versions=_seen(versions_now, versions_then),
        gone_versions=_seen(versions_then, versions_now),
        deprecated_clients=len(old_versions),
        new_clients=_listed(now - then),
        gone_clients=_listed(then - now),
        applications=len(programs_then),
        new_applications=len(programs_now - programs_then),
        gone_applications=len(programs_then - programs_now),
        deprecated_applications=len({_application(row) for row in old_versions}),
        new_named=_first(programs_now - programs_then),
        gone_named=_first(programs_then - programs_now),
    )


def _application(row: ClientRow) -> ApplicationSeen:
    """As `client-telemetry history` names it. Rows that were written before there were applications have families only."""
    name = row.get("application")
    shown = family(name).text if name else row["client_family"] or row["client_id"] or NO_CLIENT_ID
    return ApplicationSeen(row["principal"], shown)


def _first(programs: Iterable[ApplicationSeen]) -> tuple[ApplicationSeen, ...]:
    in_order = sorted(programs, key=lambda each: (each.application, each.principal or ""))
    return tuple(in_order[:APPLICATIONS_LISTED])


def _family(row: ClientRow) -> Family:
    """What survives a restart with a generated client id and an upgrade of the library."""
    return Family(row["principal"], row["client_family"] or row["client_id"], row["client_software_name"])


def _listed(families: Iterable[Family]) -> tuple[Family, ...]:
    by_name = sorted(families, key=lambda each: [value or "" for value in astuple(each)])
    return tuple(by_name[:FAMILIES_LISTED])


def _versions(rows: Iterable[ClientRow]) -> Mapping[tuple[str, str | None], list[ApplicationSeen]]:
    """(name, version) -> the application of each client, of those that tell a name."""
    found: dict[tuple[str, str | None], list[ApplicationSeen]] = defaultdict(list)
    for row in rows:
        if is_client(row) and (name := declared(row["client_software_name"])):
            found[name, declared(row["client_software_version"])].append(_application(row))
    return found


def _seen(
    here: Mapping[tuple[str, str | None], list[ApplicationSeen]], there: Container[object]
) -> tuple[VersionSeen, ...]:
    found = [VersionSeen(*key, len(set(of)), len(of)) for key, of in here.items() if key not in there]
    return tuple(sorted(found, key=lambda each: (each.name, _age(each.name, each.version))))
