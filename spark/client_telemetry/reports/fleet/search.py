"""search.json: what a client instance, a client or an address of the day is found by; and two small files that say whether it
is worth reading. Columns: docs/fleet-page.md."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import TypedDict

from client_telemetry.identity.hosts import NO_HOSTS, HostNames, parsed_address
from client_telemetry.knowledge.kip511 import software
from client_telemetry.reports.client_strings import client_label, shown
from client_telemetry.reports.json_text import timestamp
from client_telemetry.subscriptions.instances import kafka_uuid

SCHEMA_VERSION = 2
NEVER_PUSHED = "never_pushed"
"""In place of a session's end: it asked for its subscription and did not push."""


@dataclass(frozen=True)
class SearchIndex:
    """`clients`, `instances`: entries as JSON. `ids`: of instances, as Kafka writes them, sorted. `names`: sorted. Each is gone
    through once, so none needs to be in memory."""

    cluster_name: str
    day: str
    clients: Iterable[str]
    instances: Iterable[str]
    ids: Iterable[str]
    names: Iterable[str]

    def files(self) -> Iterator[tuple[str, Iterable[str]]]:
        """Name and content in pieces. `search.instances.txt`: the instance ids, sorted as text, 22 characters and a line feed each,
        so that a part of the file can be read. `search.names.txt`: a line for each name that a query may be a part of, case-folded, and
        for each address."""
        yield "search.json", self._document()
        yield "search.instances.txt", (f"{each}\n" for each in self.ids)
        yield "search.names.txt", chain(("\n",), (f"{each}\n" for each in self.names))

    def _document(self) -> Iterator[str]:
        head = {"schema_version": SCHEMA_VERSION, "cluster": self.cluster_name, "day": self.day}
        yield as_json(head)[:-1] + ',"clients":['
        yield from _with_commas(self.clients)
        yield '],"instances":['
        yield from _with_commas(self.instances)
        yield "]}\n"


def _with_commas(entries: Iterable[str]) -> Iterator[str]:
    comma = ""
    for entry in entries:
        yield comma + entry
        comma = ","


def as_json(document: object) -> str:
    """ASCII, without white space."""
    return json.dumps(document, allow_nan=False, separators=(",", ":"))


class SearchedRow(TypedDict, total=False):
    """Columns of a client or an instance; those of the other kind are not there."""

    client_id: str | None
    principal: str | None
    client_software_name: str | None
    client_software_version: str | None
    client_addresses: list[str]
    group_ids: list[str] | None
    transactional_ids: list[str] | None
    owner: str | None
    application: str | None
    connections: int
    instances: int
    first_seen_at: datetime
    last_seen_at: datetime
    client_instance_id: bytes
    racks: list[str] | None
    broker_ids: list[int]
    pushes: int
    first_evidence_at: datetime
    last_evidence_at: datetime
    end_reason: str


def client_entry(row: SearchedRow, hosts: HostNames = NO_HOSTS) -> dict[str, object]:
    """A row of `clients`, with all `addresses` of the client. Client-supplied strings come twice: as they are, to be compared,
    and `shown`, to be displayed."""
    # Rows that were written before there were applications have none.
    application = row.get("application") or row["client_id"]
    return {
        **_identity(row),
        "owner": row["owner"],
        "application": application,
        "application_shown": client_label(application),
        **_groups(row),
        "connections": row["connections"],
        "instances": row["instances"],
        "addresses": sorted(row["client_addresses"]),
        "hosts": hosts.of_all(row["client_addresses"]),
        "first_seen_at": timestamp(row["first_seen_at"]),
        "last_seen_at": timestamp(row["last_seen_at"]),
    }


def instance_entry(row: SearchedRow, hosts: HostNames = NO_HOSTS) -> dict[str, object]:
    """A row of `client_sessions` with the labels of the instance (fleet/instances.resource_labels); of one that got an
    id and did not push, a row of fleet/instances.given_instances with NEVER_PUSHED as `end_reason`."""
    return {
        **_identity(row),
        "client_instance_id": kafka_uuid(bytes(row["client_instance_id"])),
        **_groups(row),
        "racks": list(row["racks"] or ()),
        "addresses": list(row["client_addresses"]),
        "hosts": hosts.of_all(row["client_addresses"]),
        "broker_ids": list(row["broker_ids"]),
        "pushes": row["pushes"],
        "first_seen_at": timestamp(row["first_evidence_at"]),
        "last_seen_at": timestamp(row["last_evidence_at"]),
        "end_reason": row["end_reason"],
    }


def names_of(row: SearchedRow, hosts: HostNames = NO_HOSTS) -> set[str]:
    """What search.names.txt has of a row of either kind: names as a query is compared with them, host names too, and
    addresses."""
    addresses = row["client_addresses"]
    own = (row["client_id"], row["principal"], row.get("application"))
    lists = (
        own,
        row.get("group_ids"),
        row.get("transactional_ids"),
        row.get("racks"),
        hosts.of_all(addresses),
    )
    names = {name.casefold() for some in lists for name in some or () if name}
    return names | {str(parsed_address(each) or each) for each in addresses}


def _groups(row: SearchedRow) -> dict[str, list[str]]:
    """Groups and transactional ids that requests or pushes tell."""
    return {
        "group_ids": list(row.get("group_ids") or ()),
        "transactional_ids": list(row.get("transactional_ids") or ()),
    }


def _identity(row: SearchedRow) -> dict[str, object]:
    return {
        "client_id": row["client_id"],
        "client_id_shown": client_label(row["client_id"]),
        "principal": row["principal"],
        "principal_shown": shown(row["principal"] or ""),
        "software_shown": shown(software(row["client_software_name"], row["client_software_version"])),
    }
