"""Assigns the rows of a clients table to applications. Pure; the stages profile and impact call it from Spark."""

from collections.abc import Iterable
from datetime import datetime
from typing import NotRequired, TypedDict

from client_telemetry.identity.applications import Client, applications
from client_telemetry.identity.client_key import HasClientKey

PROGRAM = "program"
"""Optional column, set on rows of one program behind a shared client id, otherwise empty."""
_ADDRESSES = 64
"""How many addresses of a client are compared with those of others."""


class Use(TypedDict):
    api_key: int
    version: int


class Related(TypedDict):
    relation: str
    client_id: str | None
    client_software_name: str | None
    client_software_version: str | None


class Row(HasClientKey):
    """Columns of `clients`, and PROGRAM."""

    owner: str | None
    first_seen_at: datetime
    last_seen_at: datetime
    client_addresses: list[str] | None
    group_ids: list[str] | None
    answered: list[Use] | None
    related: list[Related] | None
    broker_software_versions: list[str] | None
    program: NotRequired[str]


READ = tuple(column for column in Row.__annotations__ if column != PROGRAM)
"""Columns of `clients`, including `client_addresses`, and `answered`: structs of api_key and version."""


def application_columns(rows: Iterable[Row]) -> dict[str, list[object]]:
    """`application`, `application_kind`, `product` and `application_notes` of each row, in row order. All rows are of
    one cluster.
    """
    by_row = applications([_client(row) for row in rows])
    return {
        "application": [application.name for application in by_row],
        "application_kind": [application.kind for application in by_row],
        "product": [application.product for application in by_row],
        "application_notes": [list(application.notes) for application in by_row],
    }


def _client(row: Row) -> Client:
    versions: dict[int, set[int]] = {}
    for use in row["answered"] or ():
        versions.setdefault(use["api_key"], set()).add(use["version"])
    software: dict[str, set[tuple[str | None, str | None]]] = {}
    beside = set()
    for related in row["related"] or ():
        if related["relation"] == "same_principal_and_address":
            beside.add(related["client_id"])
        else:
            pair = (related["client_software_name"], related["client_software_version"])
            software.setdefault(related["relation"], set()).add(pair)
    return Client(
        row["principal"],
        row["client_id"],
        row["client_software_name"],
        row["client_software_version"],
        row["owner"],
        row["first_seen_at"],
        row["last_seen_at"],
        frozenset((row["client_addresses"] or ())[:_ADDRESSES]),
        frozenset(row["group_ids"] or ()),
        {key: frozenset(of_api) for key, of_api in versions.items()},
        same_as=frozenset(software.get("one_application", ())),
        not_same_as=frozenset(software.get("two_applications", ())),
        doubtful=frozenset(software.get("doubtful", ())),
        beside=frozenset(beside),
        on_one_release=len(row["broker_software_versions"] or ()) <= 1,
        program=row.get("program") or "",
    )
