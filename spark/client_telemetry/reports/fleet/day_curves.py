"""Curves of a day: what the fleet page draws by software version and by owner, and the files that the pages of clients are drawn from. Pure."""

import json
import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from markupsafe import Markup

from client_telemetry.activity.client_metrics import BY_NAME
from client_telemetry.knowledge import apis
from client_telemetry.reports.client_strings import client_label, shortened
from client_telemetry.reports.curves import MOST_LINES, Line, Mark, curve, small_multiples
from client_telemetry.review.metric_curves import SHOWN, version_name

SLOTS = 48
SHORTEST_SLOT_SECONDS = 10
WHOLE = 0.9
"""Share of a slot's time with evidence from which on it counts as whole."""
INDEX = "curves.json"
SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Grid:
    """Slots of equal length; `since`: seconds since 1970, a multiple of `seconds`. `partial`: slots at the ends in which there is
    evidence for a part of the time only, so that a count of theirs would look like a fall."""

    since: float
    seconds: int
    slots: int
    partial: tuple[int, ...] = ()

    @classmethod
    def of(cls, since: float, until: float) -> "Grid":
        """SLOTS at most that hold both times.

        >>> Grid.of(1000.0, 1095.0)
        Grid(since=1000.0, seconds=10, slots=10, partial=(9,))
        """
        seconds = max(SHORTEST_SLOT_SECONDS, math.ceil((until - since) / (SLOTS - 1) / 10) * 10)
        begin = since // seconds * seconds
        last = int((until - begin) // seconds)
        seen = {0: begin + seconds - since, last: until - begin - last * seconds}
        partial = tuple(slot for slot, time in seen.items() if time < WHOLE * seconds)
        return cls(begin, seconds, last + 1, partial if last > 1 else ())

    @property
    def until(self) -> float:
        return self.since + self.slots * self.seconds

    def middle(self, slot: int) -> float:
        return self.since + (slot + 0.5) * self.seconds


@dataclass
class GroupDay:
    """A software version, or an owner, who has none: values by slot, None where nothing is known. `requests`, `refused`: a minute, by API and version in
    words; `metrics`: means over instances, by the metric's name below org.apache.kafka."""

    name: str
    version: str | None
    clients: int
    grid: Grid
    connections: list[float | None] = field(default_factory=list)
    requests: dict[str, list[float | None]] = field(default_factory=dict)
    refused: dict[str, list[float | None]] = field(default_factory=dict)
    metrics: dict[str, list[float | None]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return self.name if self.version is None else version_name(self.name, self.version)

    def add_requests(self, api_key: int, version: int, slot: int, requests: float, rejected: float) -> None:
        words = f"{apis.name(api_key)} v{version}"
        for found, count in ((self.requests, requests), (self.refused, rejected)):
            if count:
                row = found.setdefault(words, [0.0] * self.grid.slots)
                row[slot] = round((row[slot] or 0.0) + count * 60 / self.grid.seconds, 3)

    def add_connections(self, slot: int, connections: int) -> None:
        self.connections = self.connections or [0.0] * self.grid.slots
        self.connections[slot] = connections

    def add_metric(self, name: str, slot: int, value: float) -> None:
        row = self.metrics.setdefault(name, [None] * self.grid.slots)
        row[slot] = round(value, 4)


@dataclass(frozen=True)
class FleetCurves:
    """`marks`: starts of brokers within the time, in words."""

    grid: Grid
    marks: tuple[tuple[float, str], ...]
    versions: tuple[GroupDay, ...]
    owners: tuple[GroupDay, ...] = ()


@dataclass(frozen=True)
class ClientFiles:
    """Files of some hundred clients each, found by the CRC-32 of client id and principal (`bucket`). `clients`: number of the
    file and text of a client (`client_text`), those of a file one after the other; they are gone through once. `api_keys`,
    `metrics`: what is in them."""

    grid: Grid
    marks: tuple[tuple[float, str], ...]
    number: int
    api_keys: Sequence[int]
    metrics: Sequence[str]
    clients: Iterable[tuple[int, str]]

    def files(self) -> Iterator[tuple[str, str | Iterable[str]]]:
        """Name and content, which is to be taken before the next one; the index first, which says what is in the others."""
        index = {
            "schema_version": SCHEMA_VERSION,
            "since": self.grid.since,
            "seconds": self.grid.seconds,
            "slots": self.grid.slots,
            "partial": self.grid.partial,
            "marks": self.marks,
            "files": self.number,
            "apis": {str(key): apis.name(key) for key in sorted(self.api_keys)},
            "metrics": {
                name: {"words": BY_NAME[name].words, "unit": BY_NAME[name].unit}
                for name in sorted(self.metrics)
            },
        }
        yield INDEX, json.dumps(index, allow_nan=False) + "\n"
        empty = set(range(self.number))
        for number, clients in groupby(self.clients, key=itemgetter(0)):
            empty.remove(number)
            yield _file_name(number), _file(text for _, text in clients)
        for number in sorted(empty):
            yield _file_name(number), _file(())


def _file_name(number: int) -> str:
    return f"curves-{number:04}.json"


def _file(clients: Iterable[str]) -> Iterator[str]:
    yield '{"clients":[\n'
    for place, text in enumerate(clients):
        yield f",\n{text}" if place else text
    yield "\n]}\n"


def client_text(
    client_id: str | None,
    principal: str,
    software: Iterable[str],
    lines: Iterable[tuple[str, str, Sequence[Sequence[float]]]],
) -> str:
    """A client as its file has it. `lines`: kind (`api`, `connections`, `metric`), line and points: slot and values, of the kind
    `api` requests and refused ones; its line is API key and version, that of `metric` the metric's name."""
    connections: Sequence[Sequence[float]] = []
    requests: dict[str, Sequence[Sequence[float]]] = {}
    metrics: dict[str, Sequence[Sequence[float]]] = {}
    for kind, line, points in sorted(lines):
        if kind == "connections":
            connections = points
        else:
            (metrics if kind == "metric" else requests)[line] = points
    own = {
        "client_id": client_id,
        "principal": principal,
        "shown": f"{client_label(client_id)}",
        "software": sorted(software),
        "connections": connections,
        "requests": requests,
        "metrics": metrics,
    }
    return json.dumps(own, allow_nan=False, separators=(",", ":"))


def bucket(client_id: str | None, principal: str, number: int) -> int:
    """Which of so many files holds a client.

    >>> bucket("orders", "User:a", 7), bucket(None, "", 1)
    (1, 0)
    """
    return zlib.crc32(json.dumps([client_id, principal]).encode()) % number


def drawn(found: FleetCurves, groups: Sequence[GroupDay]) -> list[tuple[str, Markup]]:
    """Words and drawings, one for each group; metrics, which do not grow with the clients, on one scale."""
    seconds = f"open in each {found.grid.seconds} s"
    sections = [
        _section(found, "Connections", seconds, [(each, {"": each.connections}) for each in groups]),
        _section(found, "Requests", "requests a minute", [(each, each.requests) for each in groups]),
        _section(found, "Requests refused", "requests a minute", [(each, each.refused) for each in groups]),
    ]
    for name in SHOWN:
        if name in BY_NAME:
            of_metric = [(each, {"": each.metrics[name]}) for each in groups if name in each.metrics]
            words = BY_NAME[name].words
            sections.append(
                _section(
                    found, words[:1].upper() + words[1:], BY_NAME[name].unit, of_metric, is_one_scale=True
                )
            )
    return [section for section in sections if section[1]]


def _section(
    found: FleetCurves,
    words: str,
    unit: str,
    of_groups: Sequence[tuple[GroupDay, dict[str, list[float | None]]]],
    *,
    is_one_scale: bool = False,
) -> tuple[str, Markup]:
    greatest = max(
        (value or 0.0 for _, lines in of_groups for line in lines.values() for value in line), default=0.0
    )
    drawings = []
    for group, lines in of_groups:
        drawings.append(
            curve(
                shortened(client_label(group.title), 40),
                f"{unit}, {group.clients} client{'s' * (group.clients != 1)}",
                _most(lines, found.grid, () if is_one_scale else found.grid.partial),
                [Mark(at, text) for at, text in found.marks],
                least_time=found.grid.since,
                greatest_time=found.grid.until,
                greatest_value=greatest if is_one_scale else None,
            )
        )
    return words, small_multiples(drawings)


def _most(lines: dict[str, list[float | None]], grid: Grid, left_out: Sequence[int]) -> list[Line]:
    """The greatest ones, the others together. `left_out`: slots without a value."""
    ordered = sorted(lines, key=lambda name: (-sum(value or 0.0 for value in lines[name]), name))
    shown = ordered if len(ordered) <= MOST_LINES else ordered[: MOST_LINES - 1]

    def line(name: str, values: Iterable[float | None]) -> Line:
        points = [(grid.middle(i), None if i in left_out else value) for i, value in enumerate(values)]
        return Line(name, points)

    found = [line(name, lines[name]) for name in shown]
    if rest := ordered[len(shown) :]:
        sums = [sum(lines[name][slot] or 0.0 for name in rest) for slot in range(grid.slots)]
        found.append(line(f"{len(rest)} others", sums))
    return found
