"""Files about releases that were read one by one: a list of these, and rows whose ranges cover them alone, whatever releases lie
between. An empty end of a range is the newest release of the list.
"""

from collections.abc import Iterator, Sequence

from client_telemetry.knowledge import DamagedKnowledge, due, releases, rows_if_there

COLUMNS = ("release", "source")
"""Of a list."""


def listed(file: str) -> dict[str, str]:
    """Release -> source, oldest first. Raises DamagedKnowledge."""
    lines: dict[str, int] = {}
    sources: dict[str, str] = {}
    for line, (release, source) in rows_if_there(file, COLUMNS):
        if release not in releases.known():
            raise DamagedKnowledge(file, line, f"release {release} is not in {releases.FILE}")
        if lines.setdefault(release, line) != line:
            raise DamagedKnowledge(file, line, f"release {release} is already in line {lines[release]}")
        due(file, line, source=source)
        sources[release] = source
    return {release: sources[release] for release in sorted(sources, key=releases.parse)}


def places(file: str, line: int, read: Sequence[str], list_file: str, first: str, last: str) -> range:
    """Where a row's range lies in `read`; empty if it ends before it begins. Raises DamagedKnowledge for a release that is not there."""
    for release in filter(None, (first, last)):
        if release not in read:
            raise DamagedKnowledge(file, line, f"release {release} is not in {list_file}")
    return range(read.index(first), (read.index(last) if last else len(read) - 1) + 1)


def runs(values: Sequence[object | None]) -> Iterator[tuple[int, int]]:
    """First and last place of each run of equal values that are not None.

    >>> list(runs([1, 1, None, 2, 3]))
    [(0, 1), (3, 3), (4, 4)]
    """
    first = 0
    for place in range(1, len(values) + 1):
        if place == len(values) or values[place] != values[first]:
            if values[first] is not None:
                yield first, place - 1
            first = place


def ends(in_order: Sequence[str], first: int, last: int) -> tuple[str, str]:
    """A range in a row, open at its end if it reaches the newest release."""
    return in_order[first], "" if last == len(in_order) - 1 else in_order[last]
