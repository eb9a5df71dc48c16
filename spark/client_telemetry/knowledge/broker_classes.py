"""Classes of Kafka that a value in a broker's configuration can name (authorizers, callback handlers, reporters, …), by release.

The file is written by knowledge_package/configuration.py from the jars of the releases in broker_configuration_releases.csv, whose
ranges its rows have. A broker does not start with the name of a class that it does not have.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from client_telemetry.knowledge import (
    DamagedKnowledge,
    broker_configuration,
    due,
    read_releases,
    releases,
    rows_if_there,
)

FILE = "broker_classes.csv"
COLUMNS = ("class", "release_from", "release_to", "source")


class _Row(NamedTuple):
    name: str
    covered: range
    """Places in the releases that were read."""
    jar: str


@cache
def of(release: str) -> Mapping[str, str]:
    """Class -> coordinates of a jar that has it. Empty: not known, as of a package that is older than the file."""
    read = broker_configuration.read()
    place = read.index(release) if release in read else -1
    return {row.name: row.jar for row in _rows() if place in row.covered}


@cache
def ever() -> frozenset[str]:
    """The classes of all releases that were read."""
    return frozenset(row.name for row in _rows())


def before(release: str) -> frozenset[str]:
    """The classes of all older releases that were read."""
    older = [each for each in broker_configuration.read() if releases.parse(each) < releases.parse(release)]
    return frozenset(name for each in older for name in of(each))


@cache
def _rows() -> tuple[_Row, ...]:
    found: list[_Row] = []
    read = broker_configuration.read()
    for line, (name, first, last, source) in rows_if_there(FILE, COLUMNS):
        due(FILE, line, **{"class": name}, release_from=first, source=source)
        covered = read_releases.places(FILE, line, read, broker_configuration.RELEASES_FILE, first, last)
        if not covered:
            raise DamagedKnowledge(FILE, line, f"release_from {first} is newer than release_to {last}")
        if found and (found[-1].name, found[-1].covered.stop) > (name, covered.start):
            raise DamagedKnowledge(
                FILE, line, f"rows are sorted by class and release, and do not overlap: {name} {first}"
            )
        found.append(_Row(name, covered, source))
    return tuple(found)


def rows_of(known: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, ...]]:
    """The rows of FILE for release -> class -> coordinates of its jar."""
    in_order = sorted(known, key=releases.parse)
    for name in sorted({name for release in in_order for name in known[release]}):
        has_it = [True if name in known[release] else None for release in in_order]
        for first, last in read_releases.runs(has_it):
            yield name, *read_releases.ends(in_order, first, last), known[in_order[first]][name]
