"""Whom a library asks which request versions there are, and how often (version_negotiation.csv).

It matters while brokers differ. A library without a row, or of a version that no row has, was not read.
"""

from enum import StrEnum
from functools import cache
from typing import Final, NamedTuple

from client_telemetry.knowledge import client_versions, due, one_of, rows_if_there

FILE: Final = "version_negotiation.csv"
COLUMNS: Final = ("library", "version_from", "version_to", "asks", "source")


class Asks(StrEnum):
    FIRST_BROKER = "first_broker"
    """One broker, whose answer decides what all brokers are sent until the client is started anew."""
    FIRST_BROKER_UNTIL_DISCONNECTED = "first_broker_until_disconnected"
    """Likewise, until it is connected to no broker: then it asks another first one."""
    EACH_BROKER = "each_broker"
    """Each broker once, and not again when it connects to the same broker anew."""
    EACH_CONNECTION = "each_connection"

    @property
    def keeps_for_all(self) -> bool:
        """Whether what one broker answers decides what others are sent."""
        return self in (Asks.FIRST_BROKER, Asks.FIRST_BROKER_UNTIL_DISCONNECTED)


class Negotiation(NamedTuple):
    library: str
    version_from: tuple[int, ...]
    version_to: tuple[int, ...]
    asks: Asks
    source: str


def of(library: str, version: tuple[int, ...]) -> Negotiation | None:
    """None: not known."""
    for row in every():
        if row.library == library and row.version_from <= version <= row.version_to:
            return row
    return None


@cache
def every() -> tuple[Negotiation, ...]:
    """Raises DamagedKnowledge. A package that was built before there was this file has none."""
    return tuple(_row(line, cells) for line, cells in rows_if_there(FILE, COLUMNS))


def _row(line: int, cells: list[str]) -> Negotiation:
    library, first, last, asks, source = cells
    due(FILE, line, library=library, source=source)
    one_of(FILE, line, "asks", asks, tuple(Asks))
    return Negotiation(library, *client_versions.range_of(FILE, line, first, last), Asks(asks), source)
