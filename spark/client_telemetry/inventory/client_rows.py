"""What follows for each client that brokers saw, one client after the other: a report may have more of them than fit in memory with
all that is found for each.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from client_telemetry.inventory.links import Link
from client_telemetry.inventory.seen import Client

MOST_SHOWN: Final = 200
"""Rows of one kind that a person is shown."""


@dataclass(frozen=True)
class Finding:
    """`certainty`: that of the link on which it rests. `evidence`: where it is written."""

    kind: str
    text: str
    certainty: str
    evidence: str


@dataclass(frozen=True)
class ClientRow:
    """A client that brokers saw, with where it may come from and what follows."""

    client: Client
    links: tuple[Link, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class ClientRows:
    """Rows of clients, worked out anew whenever they are gone through: that takes time, and no memory."""

    clients: tuple[Client, ...]
    row_of: Callable[[Client], ClientRow]

    def __iter__(self) -> Iterator[ClientRow]:
        return map(self.row_of, self.clients)


@dataclass
class Tally:
    """What is kept of rows that passed. `first`: MOST_SHOWN rows of each kind of finding."""

    clients: Counter[str] = field(default_factory=Counter)
    """By kind of finding."""
    findings: Counter[str] = field(default_factory=Counter)
    first: dict[str, list[ClientRow]] = field(default_factory=lambda: defaultdict(list))
    linked: set[str] = field(default_factory=set)
    """Names of artefacts."""
    repositories: set[str] = field(default_factory=set)
    """Of linked artefacts."""
    unlinked: list[Client] = field(default_factory=list)

    def of(self, rows: Iterable[ClientRow]) -> Iterator[ClientRow]:
        """The same rows, counted as they pass."""
        for row in rows:
            self._add(row)
            yield row

    def _add(self, row: ClientRow) -> None:
        self.findings.update(each.kind for each in row.findings)
        for kind in dict.fromkeys(each.kind for each in row.findings):
            self.clients[kind] += 1
            if len(self.first[kind]) < MOST_SHOWN:
                self.first[kind].append(row)
        self.linked.update(link.artefact.name for link in row.links)
        self.repositories.update(link.artefact.repository for link in row.links if link.artefact.repository)
        if not row.links:
            self.unlinked.append(row.client)
