"""What the table `clients` says of a client over the days of evidence: where it sits, its groups, its relatives, when it
was seen, and which library it can be where it declares none."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

from client_telemetry.compatibility import identification
from client_telemetry.compatibility.evidence import ApiUse
from client_telemetry.console.grouped import grouped
from client_telemetry.identity.client_key import CLIENT_KEY, client_key
from client_telemetry.identity.hosts import HostNames
from client_telemetry.knowledge.kip511 import declared
from client_telemetry.reports.evidence import DaySeen, RelatedClient
from client_telemetry.reports.upgrade.model import CandidateLibrary, ClientProfile
from client_telemetry.tables.rows import ClientRow

COLUMNS = (
    *CLIENT_KEY,
    "dt",
    "addresses",
    "address_sample",
    "listeners",
    "group_ids",
    "transactional_ids",
    "topics",
    "related",
    "connections",
    "first_seen_at",
    "last_seen_at",
)
USE_COLUMNS = (*CLIENT_KEY, "api_uses")
ADDRESSES_NAMED = 5
IDS_NAMED = 64
"""As many as a row of the table has."""


def client_profiles(
    rows: Iterable[ClientRow],
    use_rows: Iterable[ClientRow],
    until: datetime | None,
    from_release: str,
    hosts: HostNames,
) -> dict[tuple[str | None, ...], ClientProfile]:
    """By client. `rows`: COLUMNS of `clients`, one row per client and day; `use_rows`: USE_COLUMNS of those that declare no
    software. `until`: days on which a client was first seen at this time or later are left out, as its evidence is."""
    days = grouped((row for row in rows if until is None or row["first_seen_at"] < until), client_key)
    answered: dict[tuple[str | None, ...], set[ApiUse]] = defaultdict(set)
    for row in use_rows:
        if declared(row["client_software_name"]) is None:
            answered[client_key(row)] |= {
                ApiUse(use["api_key"], use["version"]) for use in row["api_uses"] if use["requests"]
            }
    return {
        key: _profile(of_days, answered.get(key), until, from_release, hosts) for key, of_days in days.items()
    }


def _profile(
    days: Sequence[ClientRow],
    answered: set[ApiUse] | None,
    until: datetime | None,
    release: str,
    hosts: HostNames,
) -> ClientProfile:
    days = sorted(days, key=lambda row: row["dt"])
    uses = grouped(sorted(answered or ()), lambda use: use.api_key)
    who = identification.of(days[0]["client_id"], uses, release) if answered else None
    latest = days[-1]
    addresses = _union(days, "address_sample")[:ADDRESSES_NAMED]
    return ClientProfile(
        candidates=tuple(CandidateLibrary(each.library, each.text, each.exact) for each in who.candidates)
        if who
        else (),
        candidates_because=who.reasons if who else (),
        addresses=max(row["addresses"] for row in days),
        address_sample=addresses,
        hosts=tuple(dict.fromkeys(filter(None, map(hosts.of, addresses)))),
        listeners=_union(days, "listeners"),
        group_ids=_union(days, "group_ids")[:IDS_NAMED],
        transactional_ids=_union(days, "transactional_ids")[:IDS_NAMED],
        topics=_union(days, "topics")[:IDS_NAMED],
        related=tuple(RelatedClient(**each) for each in latest["related"] or ()),
        days_seen=tuple(
            DaySeen(
                row["dt"],
                row["first_seen_at"],
                min(row["last_seen_at"], until) if until else row["last_seen_at"],
                row["connections"],
            )
            for row in days
        ),
    )


_Lists = Literal["address_sample", "listeners", "group_ids", "transactional_ids", "topics"]


def _union(days: Iterable[ClientRow], column: _Lists) -> tuple[str, ...]:
    return tuple(sorted({value for row in days for value in row[column] or ()}))
