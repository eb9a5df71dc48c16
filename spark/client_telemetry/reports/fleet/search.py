"""search.json: what a client instance, a client or an address of the day is found by; and two small files that say whether it
is worth reading. Columns: docs/fleet-page.md."""

import ipaddress
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from client_telemetry.identity.kip511 import declared
from client_telemetry.reports.client_key import client_key
from client_telemetry.reports.client_strings import client_label, shown
from client_telemetry.reports.upgrade.document import timestamp
from client_telemetry.reports.upgrade.wording import NOT_DECLARED

SCHEMA_VERSION = 1
NEVER_PUSHED = "never_pushed"
"""In place of a session's end: it asked for its subscription and did not push."""


@dataclass(frozen=True)
class SearchIndex:
    """`clients`: rows of `clients`; `instances`: rows of `client_sessions`; `addresses`: key of a client (client_key)
    to all of its addresses, where they are known. `never_pushed`: instances that got an id and did not push, rows of
    publish/fleet_instances.given_instances."""

    cluster_name: str
    day: str
    clients: Sequence[Mapping[str, Any]]
    instances: Sequence[Mapping[str, Any]]
    addresses: Mapping[tuple[Any, ...], Iterable[str]]
    never_pushed: Sequence[Mapping[str, Any]] = ()

    def document(self) -> str:
        """Client-supplied strings come twice: as they are, to be compared, and `shown`, to be displayed."""
        document = {
            "schema_version": SCHEMA_VERSION,
            "cluster": self.cluster_name,
            "day": self.day,
            "clients": [self._client(row) for row in self.clients],
            "instances": [self._instance(row) for row in (*self.instances, *map(_silent, self.never_pushed))],
        }
        return json.dumps(document, allow_nan=False, separators=(",", ":")) + "\n"

    def files(self) -> dict[str, str]:
        """`search.ids.txt`: the instance ids, sorted, 32 hex digits and a line feed each, so that a part of the file can be
        read. `search.names.txt`: a line for each name that a query may be a part of, case-folded, and for each address."""
        instances = (*self.instances, *self.never_pushed)
        names = {name.casefold() for row in (*self.clients, *instances) for name in _names(row)}
        addresses = {_shortest(each) for row in self.clients for each in self._addresses(row)}
        addresses |= {_shortest(each) for row in instances for each in row["client_addresses"]}
        ids = sorted({bytes(row["client_instance_id"]).hex() for row in instances})
        return {
            "search.json": self.document(),
            "search.ids.txt": "".join(f"{each}\n" for each in ids),
            "search.names.txt": "\n" + "".join(f"{each}\n" for each in sorted(names | addresses)),
        }

    def _addresses(self, row: Mapping[str, Any]) -> Iterable[str]:
        return self.addresses.get(client_key(row), row["address_sample"])

    def _client(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **_identity(row),
            "owner": row["owner"],
            **_groups(row),
            "connections": row["connections"],
            "instances": row["instances"],
            "addresses": sorted(self._addresses(row)),
            "first_seen_at": timestamp(row["first_seen_at"]),
            "last_seen_at": timestamp(row["last_seen_at"]),
        }

    def _instance(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **_identity(row),
            "client_instance_id": bytes(row["client_instance_id"]).hex(),
            **_groups(row),
            "racks": list(row.get("racks") or ()),
            "addresses": list(row["client_addresses"]),
            "broker_ids": list(row["broker_ids"]),
            "pushes": row["pushes"],
            "first_seen_at": timestamp(row["first_evidence_at"]),
            "last_seen_at": timestamp(row["last_evidence_at"]),
            "end_reason": row["end_reason"],
        }


def _names(row: Mapping[str, Any]) -> Iterable[str]:
    lists = (row.get(name) or () for name in ("group_ids", "transactional_ids", "racks"))
    yield from filter(
        None, (row["client_id"], row["principal"], *(each for names in lists for each in names))
    )


def _shortest(address: str) -> str:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(getattr(found, "ipv4_mapped", None) or found)


def _silent(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "pushes": 0, "end_reason": NEVER_PUSHED}


def _groups(row: Mapping[str, Any]) -> dict[str, list[str]]:
    """Groups and transactional ids that requests or pushes tell."""
    return {name: list(row.get(name) or ()) for name in ("group_ids", "transactional_ids")}


def _identity(row: Mapping[str, Any]) -> dict[str, Any]:
    software = [row["client_software_name"], row["client_software_version"]]
    known = " ".join(filter(None, map(declared, software)))
    return {
        "client_id": row["client_id"],
        "client_id_shown": client_label(row["client_id"]),
        "principal": row["principal"],
        "principal_shown": shown(row["principal"] or ""),
        "software_shown": shown(known) or NOT_DECLARED,
    }
