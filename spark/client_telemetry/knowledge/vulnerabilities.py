"""Known vulnerabilities of client libraries, by version and by what a client has to be or do to be hit.

Apart from every verdict. Only releases of the library's own project are compared: a vendor's build (7.6.1-ccs,
3.9.1.redhat-00001) may have a fix, or lack one, that its number does not tell.
"""

import re
from collections.abc import Collection
from functools import cache
from typing import Final, NamedTuple

from client_telemetry.knowledge import DamagedKnowledge, client_versions, due, rows
from client_telemetry.knowledge.vocabulary import Role

FILE: Final = "vulnerabilities.csv"
PRODUCER, CONNECT = "producer", "connect"
_HITS: Final = ("", PRODUCER, CONNECT)
_PRODUCING: Final = frozenset((Role.PRODUCER, Role.TRANSACTIONAL_PRODUCER))
_RELEASE: Final = re.compile(r"\d+(?:\.\d+)+")


class Vulnerability(NamedTuple):
    """One affected range. `version_to` is affected, too."""

    id: str
    aliases: tuple[str, ...]
    library: str
    version_from: tuple[int, ...]
    version_to: tuple[int, ...]
    fixed_in: str
    hits: str
    """What a client has to be; empty: anything that uses the library."""
    condition: str
    """What else has to be; empty if the record names nothing."""
    summary: str
    source: str

    @property
    def what(self) -> str:
        """As readers see it: 'producers: records can …, if …; fixed in 3.9.2'."""
        who = {PRODUCER: "producers: ", CONNECT: "Kafka Connect: "}.get(self.hits, "")
        condition = f", if {self.condition}" if self.condition else ""
        return f"{who}{self.summary}{condition}; fixed in {self.fixed_in}"


COLUMNS: Final = Vulnerability._fields


@cache
def every() -> tuple[Vulnerability, ...]:
    """Raises DamagedKnowledge."""
    return tuple(_row(line, cells) for line, cells in rows(FILE, COLUMNS))


def _row(line: int, cells: list[str]) -> Vulnerability:
    name, aliases, library, since, until, fixed_in, hits, condition, summary, source = cells
    due(FILE, line, id=name, library=library, fixed_in=fixed_in, summary=summary, source=source)
    if hits not in _HITS:
        raise DamagedKnowledge(
            FILE, line, f"hits {hits!r} is none of {', '.join(filter(None, _HITS))}, or empty"
        )
    first = client_versions.of_cell(FILE, line, "version_from", since)
    last = client_versions.of_cell(FILE, line, "version_to", until)
    if not first <= last < client_versions.of_cell(FILE, line, "fixed_in", fixed_in):
        raise DamagedKnowledge(FILE, line, "version_from, version_to and fixed_in are not in this order")
    return Vulnerability(
        name, tuple(aliases.split()), library, first, last, fixed_in, hits, condition, summary, source
    )


def of(
    library: str, version: str, roles: Collection[str] = (), *, is_connect: bool = False
) -> tuple[Vulnerability, ...]:
    """Those that hit a client. `roles`: that brokers saw; none: any. `is_connect`: whether it is known to be Kafka Connect.

    >>> [each.id for each in of("kafka-clients", "4.1.1", ["group_consumer"])]
    []
    >>> [each.id for each in of("kafka-clients", "4.1.1", ["producer"])]
    ['CVE-2026-35554']
    """
    if not _RELEASE.fullmatch(version):
        return ()
    number = client_versions.parse(version)
    return tuple(
        each
        for each in every()
        if each.library == library
        and each.version_from <= number <= each.version_to
        and _is_hit(each, roles, is_connect=is_connect)
    )


def _is_hit(each: Vulnerability, roles: Collection[str], *, is_connect: bool) -> bool:
    if each.hits == CONNECT:
        return is_connect
    return each.hits != PRODUCER or not roles or not _PRODUCING.isdisjoint(roles)
