"""Requests that a library replaces by an older one where brokers do not have them (api_fallbacks.csv): an administrator's program
loses nothing that it had before there was the newer request.
"""

from functools import cache
from typing import Final, NamedTuple

from client_telemetry.knowledge import DamagedKnowledge, apis, client_versions, due, rows_if_there, whole

FILE: Final = "api_fallbacks.csv"
COLUMNS: Final = (
    "library",
    "version_from",
    "version_to",
    "api_key",
    "api_name",
    "instead_key",
    "instead_name",
    "source",
)


class Fallback(NamedTuple):
    library: str
    version_from: tuple[int, ...]
    version_to: tuple[int, ...]
    api_key: int
    instead_key: int


def instead(library: str, version: tuple[int, ...], key: int) -> int | None:
    """The key of the request that this version sends to brokers without the API; None if it has none to fall back to."""
    for row in every():
        if (row.library, row.api_key) == (library, key) and row.version_from <= version <= row.version_to:
            return row.instead_key
    return None


@cache
def every() -> tuple[Fallback, ...]:
    """Raises DamagedKnowledge. A package that was built before there was this file has none."""
    return tuple(_row(line, cells) for line, cells in rows_if_there(FILE, COLUMNS))


def _row(line: int, cells: list[str]) -> Fallback:
    library, first, last, key, name, instead_key, instead_name, source = cells
    due(FILE, line, library=library, source=source)
    return Fallback(
        library,
        client_versions.of_cell(FILE, line, "version_from", first),
        client_versions.of_cell(FILE, line, "version_to", last),
        _key(line, "api_key", key, name),
        _key(line, "instead_key", instead_key, instead_name),
    )


def _key(line: int, column: str, key_text: str, api_name: str) -> int:
    key = whole(FILE, line, column, key_text)
    if apis.name(key) != api_name:
        raise DamagedKnowledge(FILE, line, f"{column} {key} is {apis.name(key)}, not {api_name}")
    return key
