"""Clients that may be one application: listed next to each other, never merged. Part of the stage profile;
compatibility/applications.py decides about unnamed connections.

Everything here looks at bounded lists: however many software versions a client id shows, and however many clients a
principal has, the work grows linearly with the clients.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypedDict

from client_telemetry.compatibility.applications import Connections, relation
from client_telemetry.identity.client_key import HasClientKey
from client_telemetry.knowledge import kip511
from client_telemetry.knowledge.broker_guess import oldest_release
from client_telemetry.tables.clients import MAX_RELATED
from client_telemetry.tables.rows import RelatedRecord

_ANONYMOUS = "User:ANONYMOUS"


class Asked(TypedDict):
    api_key: int
    version: int


class Sibling(TypedDict):
    """A client with the same principal and client id."""

    client_software_name: str | None
    client_software_version: str | None
    api_uses: list[Asked]
    broker_software_versions: list[str]
    first_seen_at: datetime
    last_seen_at: datetime


class ProfiledClient(HasClientKey, Sibling):
    """`default_id_of`: the library whose default the client id is. `could_be`: libraries that can have sent an unnamed client's
    requests."""

    client_addresses: list[str]
    default_id_of: str | None
    could_be: list[str]


def related(clients: Sequence[ProfiledClient]) -> tuple[list[int], list[list[RelatedRecord]]]:
    """Of all clients of one principal: for each the number of clients with its client id, itself included, and the elements of
    `related`."""
    by_id: dict[str | None, list[int]] = {}
    for place, client in enumerate(clients):
        by_id.setdefault(client["client_id"], []).append(place)
    softwares, found = [0] * len(clients), [list[RelatedRecord]() for _ in clients]
    for client_id, places in by_id.items():
        first = sorted(places, key=lambda place: (_is_named(clients[place]), _software(clients[place])))
        siblings = [clients[place] for place in first[:MAX_RELATED]]
        for place in places:
            softwares[place] = len(places)
            own = clients[place]
            if client_id is not None and own["principal"] and len(places) > 1:
                software = own["client_software_name"], own["client_software_version"]
                found[place] = related_by_client_id(client_id, software, siblings)
    for place, beside in _neighbours(clients).items():
        distinct = [*found[place], *(each for each in beside if each not in found[place])]
        found[place] = distinct
    return softwares, [each[:MAX_RELATED] for each in found]


def _is_named(client: Sibling) -> bool:
    return kip511.is_known(client["client_software_name"])


def _software(client: Sibling | RelatedRecord) -> tuple[tuple[bool, str], ...]:
    """To be sorted by: nulls first."""
    return tuple(
        (text is not None, text or "")
        for text in (client["client_software_name"], client["client_software_version"])
    )


def related_by_client_id(
    client_id: str | None, own: tuple[str | None, str | None], siblings: Sequence[Sibling]
) -> list[RelatedRecord]:
    """Elements of `related`: for an unnamed client the named ones of its principal and client id, for a named one the
    unnamed. `own`: its software name and version.
    """
    each = {(part["client_software_name"], part["client_software_version"]): part for part in siblings}
    if own not in each:
        return []
    is_named = kip511.is_known(own[0])
    found = []
    for software, part in each.items():
        if kip511.is_known(software[0]) == is_named:
            continue
        named, unnamed = (each[own], part) if is_named else (part, each[own])
        judged = relation(_connections(named), _connections(unnamed))
        found.append(
            RelatedRecord(
                relation=judged.kind,
                client_id=client_id,
                client_software_name=software[0],
                client_software_version=software[1],
                because=judged.because,
            )
        )
    return sorted(
        found, key=lambda other: (other["client_software_name"] or "", other["client_software_version"] or "")
    )


def _connections(part: Sibling) -> Connections:
    versions: dict[int, set[int]] = {}
    for use in part["api_uses"]:
        versions.setdefault(use["api_key"], set()).add(use["version"])
    return Connections(
        part["client_software_name"] or "",
        part["client_software_version"] or "",
        {key: frozenset(of_api) for key, of_api in versions.items()},
        tuple(oldest_release(each) or each for each in part["broker_software_versions"]),
        part["first_seen_at"],
        part["last_seen_at"],
    )


def _neighbours(clients: Sequence[ProfiledClient]) -> dict[int, list[RelatedRecord]]:
    """Place of a client -> the clients at the same address: for one under a library's default client id, those of its
    principal and address that can be this library. Some libraries use their default on part of the connections
    (kafka-node does). Only for unnamed clients; an anonymous principal proves nothing.
    """
    eligible = sorted(
        (
            place
            for place, client in enumerate(clients)
            if not _is_named(client)
            and client["client_id"] is not None
            and client["principal"] not in (None, "", _ANONYMOUS)
        ),
        key=lambda place: (clients[place]["client_id"] or "", _software(clients[place])),
    )
    defaults = [place for place in eligible if clients[place]["default_id_of"] is not None]
    few_defaults = defaults[:MAX_RELATED]
    own_defaults = {
        place: own
        for place in eligible
        if clients[place]["default_id_of"] is None
        and (own := [each for each in few_defaults if _could_be(clients[place], clients[each])])
    }
    found = {
        place: _sorted(_beside(clients[other], clients[other]) for other in own)
        for place, own in own_defaults.items()
    }
    few_configured = list(own_defaults)[:MAX_RELATED]
    for place in defaults:
        default = clients[place]
        mine = [
            other
            for other in few_configured
            if any(clients[each]["client_id"] == default["client_id"] for each in own_defaults[other])
        ]
        found[place] = _sorted(_beside(clients[other], default) for other in mine)
    return found


def _could_be(client: ProfiledClient, default: ProfiledClient) -> bool:
    return default["default_id_of"] in client["could_be"] and not set(client["client_addresses"]).isdisjoint(
        default["client_addresses"]
    )


def _beside(other: ProfiledClient, default: ProfiledClient) -> RelatedRecord:
    return RelatedRecord(
        relation="same_principal_and_address",
        client_id=other["client_id"],
        client_software_name=other["client_software_name"],
        client_software_version=other["client_software_version"],
        because=f"same principal and address; {default['client_id']} is what {default['default_id_of']} sends where no client id is "
        "configured, and some libraries beside the configured one",
    )


def _sorted(records: Iterable[RelatedRecord]) -> list[RelatedRecord]:
    return sorted(records, key=lambda each: (each["client_id"] or "", _software(each), each["because"]))
