"""Configuration keys of brokers and topics with their defaults, as the code of each release defines them (its ConfigDef), and what
differs between two releases.

The files are written by knowledge_package/configuration.py. A range of releases covers those alone whose configuration was read: one
that was not has no known keys, whatever the releases around it have.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from client_telemetry.knowledge import DamagedKnowledge, due, read_releases, releases, rows_if_there

FILE = "broker_configuration.csv"
COLUMNS = (
    "scope",
    "key",
    "release_from",
    "release_to",
    "type",
    "default",
    "valid_range",
    "internal",
    "source",
)
RELEASES_FILE = "broker_configuration_releases.csv"
RELEASES_COLUMNS = read_releases.COLUMNS
BROKER, TOPIC = "broker", "topic"
SCOPES = (BROKER, TOPIC)
NULL, REQUIRED = "null", "(required)"
"""In place of a default: the key has the value null, or must be set."""
INTERNAL = "yes"
_MAP = "listener.security.protocol.map"
"""Kafka writes its default in an order of its own, another one since 3.8."""
RANGE = re.compile(r"\[(?:(-?[\d.eE+-]+),)?\.\.\.(?:,(-?[\d.eE+-]+))?\]")
"""As `ConfigDef.Range` writes itself: `[1,...]`, `[...,10]`, `[1,...,10]`."""


class Key(NamedTuple):
    type: str
    """As `ConfigDef.Type`, in lower case."""
    default: str
    """As Kafka writes it, NULL or REQUIRED; empty: the empty text or list."""
    valid_range: str
    """RANGE; empty: another check of the value, or none."""
    is_internal: bool
    """Kafka does not document it."""


class ChangedKey(NamedTuple):
    key: str
    before: Key
    after: Key


class Changes(NamedTuple):
    """Between two releases whose configuration is known, each by key. Internal keys are left out."""

    gone: tuple[tuple[str, Key], ...]
    new: tuple[tuple[str, Key], ...]
    defaults: tuple[ChangedKey, ...]
    """Whose default differs."""
    ranges: tuple[ChangedKey, ...]
    """Whose range of valid values differs."""


class _Row(NamedTuple):
    scope: str
    key: str
    covered: range
    """Places in `read`."""
    definition: Key


@cache
def read() -> tuple[str, ...]:
    """The releases whose configuration is known, oldest first."""
    return tuple(sources())


def not_known_for(*of_releases: str) -> tuple[str, ...]:
    """Those whose configuration was not read: also a release that was added from a jar alone, and a measured target."""
    return tuple(release for release in of_releases if release not in read())


@cache
def of(scope: str, release: str) -> Mapping[str, Key]:
    """Key -> definition. Raises KeyError for a release of `not_known_for`."""
    if release not in read():
        raise KeyError(release)
    place = read().index(release)
    return {row.key: row.definition for row in _rows() if row.scope == scope and place in row.covered}


@cache
def ever(scope: str) -> frozenset[str]:
    """The keys of all releases that were read."""
    return frozenset(row.key for row in _rows() if row.scope == scope)


@cache
def changes(scope: str, from_release: str, to_release: str) -> Changes:
    """Raises KeyError for a release of `not_known_for`."""
    before, after = of(scope, from_release), of(scope, to_release)
    both = [ChangedKey(key, before[key], after[key]) for key in sorted(before.keys() & after.keys())]
    documented = [each for each in both if not each.after.is_internal]
    return Changes(
        gone=_only_in(before, after),
        new=_only_in(after, before),
        defaults=tuple(
            each for each in documented if _default(each.key, each.before) != _default(each.key, each.after)
        ),
        ranges=tuple(each for each in documented if each.before.valid_range != each.after.valid_range),
    )


def _default(key: str, definition: Key) -> str | list[str]:
    return sorted(definition.default.split(",")) if key == _MAP else definition.default


def _only_in(one: Mapping[str, Key], other: Mapping[str, Key]) -> tuple[tuple[str, Key], ...]:
    return tuple((key, one[key]) for key in sorted(one.keys() - other.keys()) if not one[key].is_internal)


@cache
def _rows() -> tuple[_Row, ...]:
    found: list[_Row] = []
    for line, (scope, key, first, last, kind, default, valid, internal, source) in rows_if_there(
        FILE, COLUMNS
    ):
        due(FILE, line, scope=scope, key=key, release_from=first, type=kind, source=source)
        covered = read_releases.places(FILE, line, read(), RELEASES_FILE, first, last)
        if scope not in SCOPES:
            raise DamagedKnowledge(FILE, line, f"scope {scope!r} is not {' or '.join(SCOPES)}")
        if internal not in ("", INTERNAL):
            raise DamagedKnowledge(FILE, line, f"internal {internal!r} is neither empty nor {INTERNAL}")
        if valid and not RANGE.fullmatch(valid):
            raise DamagedKnowledge(FILE, line, f"valid_range {valid!r} is not like [1,...,10]")
        if not covered:
            raise DamagedKnowledge(FILE, line, f"release_from {first} is newer than release_to {last}")
        found.append(_Row(scope, key, covered, Key(kind, default, valid, internal == INTERNAL)))
        _check_overlap(line, found)
    return tuple(found)


def _check_overlap(line: int, found: Sequence[_Row]) -> None:
    """Rows of a key stand together, oldest first."""
    previous, row = found[-2] if len(found) > 1 else None, found[-1]
    if previous is None or (previous.scope, previous.key) < (row.scope, row.key):
        return
    if (previous.scope, previous.key) > (row.scope, row.key):
        raise DamagedKnowledge(FILE, line, f"rows are sorted by scope and key: {row.key} comes too late")
    if previous.covered.stop > row.covered.start:
        raise DamagedKnowledge(
            FILE,
            line,
            f"{row.scope} key {row.key} of {read()[row.covered.start]} is already in the row before",
        )


def sources() -> dict[str, str]:
    """Release -> coordinates and class of what was read for each scope, in order of SCOPES, separated by a blank."""
    return read_releases.listed(RELEASES_FILE)


def rows_of(
    known: Mapping[str, Mapping[str, Mapping[str, Key]]], sources_by_release: Mapping[str, str]
) -> Iterator[tuple[str, ...]]:
    """The rows of FILE for release -> scope -> key -> definition: a range as long as the definition is the same, open at its end if it
    holds for the newest release.
    """
    in_order = sorted(known, key=releases.parse)
    for place, scope in enumerate(SCOPES):
        for key in sorted({key for release in in_order for key in known[release][scope]}):
            defined = [known[release][scope].get(key) for release in in_order]
            for first, last in read_releases.runs(defined):
                definition = defined[first]
                assert definition is not None
                yield (
                    scope,
                    key,
                    *read_releases.ends(in_order, first, last),
                    *definition[:3],
                    INTERNAL if definition.is_internal else "",
                    sources_by_release[in_order[first]].split(" ")[place],
                )
