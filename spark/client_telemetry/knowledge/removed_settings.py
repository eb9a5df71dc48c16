"""Keys of a broker's configuration, and classes that its values can name, that a release has removed: what a broker loses without them,
and what takes their place. Written by people from Kafka's documents.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from client_telemetry.knowledge import DamagedKnowledge, due, releases, rows_if_there

FILE: Final = "removed_settings.csv"
COLUMNS: Final = ("name", "gone_in", "lost", "instead", "source")
_ANY = "*"
"""At the end of a name: the keys that begin so and have no row of their own."""


class Removed(NamedTuple):
    gone_in: str
    """The first release without it."""
    lost: str
    """What a broker in KRaft mode no longer has; empty: nothing."""
    instead: str
    """What to set; empty: nothing."""


def of(name: str) -> Removed | None:
    """None: no row says that a release has removed it."""
    starts = (each for each in known() if each.endswith(_ANY) and name.startswith(each.removesuffix(_ANY)))
    return known().get(name) or next((known()[each] for each in starts), None)


def from_release(name: str, release: str) -> Removed | None:
    """None: no row says that this release no longer has it."""
    removed = of(name)
    is_gone = removed is not None and releases.parse(release) >= releases.parse(removed.gone_in)
    return removed if is_gone else None


@cache
def known() -> Mapping[str, Removed]:
    """By name. Raises DamagedKnowledge. A package that was built before there was this file has none."""
    found: dict[str, Removed] = {}
    for line, (name, gone_in, lost, instead, source) in rows_if_there(FILE, COLUMNS):
        due(FILE, line, name=name, source=source)
        if gone_in not in releases.known():
            raise DamagedKnowledge(FILE, line, f"gone_in {gone_in!r} is not in {releases.FILE}")
        if name in found:
            raise DamagedKnowledge(FILE, line, f"{name} is there twice")
        found[name] = Removed(gone_in, lost, instead)
    return found
