"""What tells the clients of one cluster apart."""

from typing import TypedDict

CLIENT_KEY = ("principal", "client_id", "client_software_name", "client_software_version")
"""Columns of the tables that have clients."""

ClientKey = tuple[str | None, str | None, str | None, str | None]
"""Their values."""


class HasClientKey(TypedDict):
    """A row with at least these columns."""

    principal: str | None
    client_id: str | None
    client_software_name: str | None
    client_software_version: str | None


def client_key(row: HasClientKey) -> ClientKey:
    """Values of CLIENT_KEY. Null, empty and `unknown` are values of their own."""
    return row["principal"], row["client_id"], row["client_software_name"], row["client_software_version"]
