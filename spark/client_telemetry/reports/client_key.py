"""What tells the clients of one cluster apart in rows of the tables (tables/clients.py, which needs Spark)."""

from collections.abc import Mapping
from typing import Any

CLIENT_KEY = ("principal", "client_id", "client_software_name", "client_software_version")


def client_key(row: Mapping[str, Any]) -> tuple[str | None, ...]:
    """Values of CLIENT_KEY. Null, empty and `unknown` are values of their own."""
    return tuple(row[column] for column in CLIENT_KEY)
