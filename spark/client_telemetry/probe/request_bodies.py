"""The requests that a probe can send: bytes of each version, and the APIs that it may ask at all.

request_bodies.csv is generated (request_shapes.py); request_permissions.csv is written by hand, with the reason for each API.
A request is sent only if its API is permitted there, so that what a probe does is readable in a file.
"""

import csv
import struct
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from client_telemetry.knowledge import apis

FILE = "request_bodies.csv"
COLUMNS = ("api_key", "api_name", "version", "flexible", "body", "error_at", "source")
PERMISSIONS_FILE = "request_permissions.csv"
PERMISSIONS_COLUMNS = ("api_key", "api_name", "from_version", "permitted", "reason", "source")

CLIENT_ID: Final = "client-telemetry-probe"
YES, NO, WITH_OFFSETS_TOPIC = "yes", "no", "with __consumer_offsets"


class Request(NamedTuple):
    """One version of one request, in its default form."""

    api_key: int
    api_name: str
    version: int
    flexible: bool
    body: bytes
    error_at: int | None
    """Where the error code of the answer begins, counted from the correlation id; None if it has none of its own."""

    def frame(self, correlation_id: int) -> bytes:
        """With header (version 1, or 2 if flexible) and length, as it goes over the wire."""
        client = CLIENT_ID.encode()
        header = struct.pack(">hhih", self.api_key, self.version, correlation_id, len(client)) + client
        message = header + (b"\0" if self.flexible else b"") + self.body
        return struct.pack(">i", len(message)) + message


class Permission(NamedTuple):
    permitted: str
    """YES, NO or WITH_OFFSETS_TOPIC: only where that topic exists, which the request would create otherwise."""
    reason: str


@cache
def requests() -> dict[tuple[int, int], Request]:
    """(API key, version) -> request, in that order, of all versions that any release of Kafka has had."""
    return {
        (int(key), int(version)): Request(
            int(key),
            name,
            int(version),
            flexible == "yes",
            bytes.fromhex(body),
            int(error_at) if error_at else None,
        )
        for key, name, version, flexible, body, error_at, _ in _rows(FILE, COLUMNS)
    }


@cache
def _permissions() -> dict[int, list[tuple[int, Permission]]]:
    """API key -> (first version, permission), the highest version first."""
    rows: dict[int, list[tuple[int, Permission]]] = {}
    for key, _, from_version, permitted, reason, _ in _rows(PERMISSIONS_FILE, PERMISSIONS_COLUMNS):
        rows.setdefault(int(key), []).insert(0, (int(from_version), Permission(permitted, reason)))
    return rows


def permission(api_key: int, version: int) -> Permission:
    """NO for an API that the file does not have: what is not known to change nothing is not sent."""
    api = apis.by_key().get(api_key)
    if api and api.used_by == "broker":
        return Permission(NO, "brokers use it among themselves")
    for from_version, permission_ in _permissions().get(api_key, []):
        if version >= from_version:
            return permission_
    return Permission(NO, "not known to change nothing")


def _rows(file: str, columns: tuple[str, ...]) -> list[list[str]]:
    header, *rows = csv.reader((files(__package__) / file).read_text(encoding="utf-8").splitlines())
    assert tuple(header) == columns
    return rows
