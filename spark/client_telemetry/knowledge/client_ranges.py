"""Request versions that a client library can use, by library version: what a declared name and version imply.

Rows of the same library and API never overlap. A version newer than the newest known one is treated like that one:
libraries add request versions at the top, and upgrades remove them at the bottom.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from client_telemetry.knowledge import DamagedKnowledge, apis, client_versions, due, rows, whole
from client_telemetry.knowledge.apis import Versions
from client_telemetry.knowledge.software import Identity

FILE = "client_api_versions.csv"
UNNAMED_FILE = "unnamed_client_api_versions.csv"
COLUMNS = (
    "library",
    "version_from",
    "version_to",
    "configuration",
    "api_key",
    "api_name",
    "min_version",
    "max_version",
    "also_sends",
    "confidence",
    "before_runs",
    "source",
)


KNOWN_ON = "2026-11-29"
"""When the newest versions of the libraries were last looked up."""
MOST = 2**15 - 1
"""Request versions are 16-bit integers."""


class Row(NamedTuple):
    """One line of a file of client ranges."""

    library: str
    configuration: str
    version_from: tuple[int, ...]
    version_to: tuple[int, ...]
    api_key: int
    versions: Versions
    also_sends: Versions | None
    """Versions that it sends for another purpose: they explain requests that were seen, but do not help the client."""
    confidence: str
    source: str


@cache
def read(file: str) -> tuple[Row, ...]:
    """The rows of a file of client ranges, checked one by one and for overlaps."""
    rows_by_api: dict[tuple[str, str, int], list[Row]] = {}
    for line, cells in rows(file, COLUMNS):
        library, first, last, configuration, key_text, api_name, low_text, high_text, *rest = cells
        also_text, confidence, before_runs, source = rest
        key = whole(file, line, "api_key", key_text)
        low, high = whole(file, line, "min_version", low_text), whole(file, line, "max_version", high_text)
        if apis.name(key) != api_name:
            reason = f"api {key} {api_name} is not in {apis.FILE}"
            api = apis.by_key().get(key)
            raise DamagedKnowledge(file, line, f"{reason}: {key} is {api.name}" if api else reason)
        due(file, line, library=library, source=source)
        since, until = client_versions.range_of(file, line, first, last)
        if high > MOST:
            raise DamagedKnowledge(file, line, f"max_version {high} is more than a request can carry")
        if low > high:
            raise DamagedKnowledge(file, line, f"min_version {low} is above max_version {high}")
        if confidence not in ("high", "medium", "low") or not source:
            raise DamagedKnowledge(file, line, "confidence is high, medium or low, and a source is required")
        if not re.fullmatch(r"(\d+-\d+|none)?", before_runs):
            raise DamagedKnowledge(file, line, "before_runs is a range, none, or empty")
        also = Versions(*[whole(file, line, "also_sends", also_text)] * 2) if also_text else None
        row = Row(library, configuration, since, until, key, Versions(low, high), also, confidence, source)
        siblings = rows_by_api.setdefault((library, configuration, key), [])
        for sibling in siblings:
            if row.version_from <= sibling.version_to and sibling.version_from <= row.version_to:
                raise DamagedKnowledge(
                    file, line, f"{library} {api_name} {first}..{last} overlaps another row"
                )
        siblings.append(row)
    return tuple(row for of_api in rows_by_api.values() for row in of_api)


def every() -> tuple[Row, ...]:
    """The rows of libraries that declare a name, and of those that do not."""
    return read(FILE) + read(UNNAMED_FILE)


def can_send(version: int, versions: Versions, also_sends: Versions | None) -> bool:
    return versions.has(version) or (also_sends is not None and also_sends.has(version))


@cache
def _ranges_by_library() -> dict[str, dict[int, tuple[Row, ...]]]:
    """Library -> API key -> rows, oldest first."""
    ranges: dict[str, dict[int, list[Row]]] = {}
    for row in read(FILE):
        ranges.setdefault(row.library, {}).setdefault(row.api_key, []).append(row)
    return {
        library: {key: tuple(sorted(of_api)) for key, of_api in by_api.items()}
        for library, by_api in ranges.items()
    }


@cache
def newest(library: str) -> tuple[int, ...]:
    """The newest version of a library that the knowledge base has rows for."""
    return max(row.version_to for ranges in _ranges_by_library()[library].values() for row in ranges)


def known(library: str) -> bool:
    return library in _ranges_by_library()


@cache
def named(library: str) -> bool:
    """Whether any file of ranges has this library, even one that declares no name."""
    return known(library) or any(row.library == library for row in read(UNNAMED_FILE))


def covers(library: str, version: tuple[int, ...]) -> bool:
    """Whether this version is at least as new as the oldest known version of the library, and none that is beyond it."""
    return known(library) and version >= steps(library)[0] and not _is_beyond(library, version)


def _is_beyond(library: str, version: tuple[int, ...]) -> bool:
    """Whether a version is newer than what can follow the newest known one: of a line after the next. It was mistyped
    (10.2.0 for 0.10.2.0), counts something else (2021.3), or nothing is known of it.
    """
    return version[0] > newest(library)[0] + 1


def judged_as(identity: Identity | None) -> str:
    """In words, for a version newer than all known ones, which version it is taken for; empty for all others."""
    if identity is None or not identity.version_decides or not is_newer_than_known(identity):
        return ""
    version = client_versions.text(newest(identity.library))
    return f"judged as {identity.library} {version}, the newest known on {KNOWN_ON}"


def is_newer_than_known(identity: Identity) -> bool:
    return (
        identity.version is not None
        and known(identity.library)
        and identity.version > newest(identity.library)
        and not _is_beyond(identity.library, identity.version)
    )


def of(library: str, version: tuple[int, ...], key: int) -> Row | None:
    """What this library version can use of an API; None if that is unknown or it does not use it."""
    if not known(library) or _is_beyond(library, version):
        return None
    return _covering(_ranges_by_library()[library], min(version, newest(library)), key)


def _covering(ranges: Mapping[int, Sequence[Row]], version: tuple[int, ...], key: int) -> Row | None:
    fitting = (row for row in ranges.get(key, ()) if row.version_from <= version <= row.version_to)
    return next(fitting, None)


@cache
def steps(library: str) -> tuple[tuple[int, ...], ...]:
    """Versions at which any range of the library begins, oldest first."""
    return tuple(
        sorted({row.version_from for ranges in _ranges_by_library()[library].values() for row in ranges})
    )


@cache
def _unnamed(library: str, configuration: str) -> dict[int, tuple[Row, ...]]:
    """API key -> rows of a library that declares no name, in one configuration."""
    ranges: dict[int, list[Row]] = {}
    for row in read(UNNAMED_FILE):
        if row.library == library and row.configuration == configuration:
            ranges.setdefault(row.api_key, []).append(row)
    return {key: tuple(sorted(of_api)) for key, of_api in ranges.items()}


def of_unnamed(identity: Identity, key: int) -> Row | None:
    """Like `of`, for a library that is written down and may declare no name. A version newer than the newest known one
    counts as that one.
    """
    if identity.configuration is None or identity.version is None:
        return None
    ranges = _unnamed(identity.library, identity.configuration)
    newest_known = max((row.version_to for of_api in ranges.values() for row in of_api), default=())
    return _covering(ranges, min(identity.version, newest_known), key)
