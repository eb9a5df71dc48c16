"""What changed between two knowledge bases about the configuration of brokers, in sentences, one for each release."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from client_telemetry.console.counted import first_of
from client_telemetry.knowledge import releases
from client_telemetry.knowledge.broker_configuration import FILE, RELEASES_FILE
from client_telemetry.knowledge_package.file_rows import Row, table

_MOST_NAMES = 10
_Name = tuple[str, str]
"""Scope and key."""
_Definition = tuple[str, str, str, str]
"""Type, default, valid range, internal."""


class _Known(NamedTuple):
    releases: list[str]
    """Those that were read, oldest first."""
    rows: list[Row]

    def of(self, release: str) -> dict[_Name, _Definition]:
        number, newest = releases.parse(release), self.releases[-1]
        return {
            (row["scope"], row["key"]): (row["type"], row["default"], row["valid_range"], row["internal"])
            for row in self.rows
            if releases.parse(row["release_from"]) <= number <= releases.parse(row["release_to"] or newest)
        }


def sentences(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    return [*_said(_known(old), _known(new))]


def _known(texts: Mapping[str, str]) -> _Known:
    read = [row["release"] for row in table(texts, RELEASES_FILE)]
    return _Known(sorted(read, key=releases.parse), table(texts, FILE))


def _said(old: _Known, new: _Known) -> Iterator[str]:
    for place, release in enumerate(new.releases):
        if release not in old.releases:
            keys = new.of(release)
            text = f"The broker configuration of Kafka {release} is new: {len(keys)} keys"
            if place:
                previous = new.releases[place - 1]
                text += f"; against {previous}: {_compared(new.of(previous), keys) or 'no difference'}"
            yield f"{text}."
        elif old.rows != new.rows and (said := _compared(old.of(release), new.of(release))):
            yield f"The broker configuration of Kafka {release} is known differently: {said}."
    for release in old.releases:
        if release not in new.releases:
            yield f"The broker configuration of Kafka {release} is no longer known."


def _compared(before: Mapping[_Name, _Definition], after: Mapping[_Name, _Definition]) -> str:
    changed = [
        f"{_text(name)} {_definition(after[name])} (was {_definition(before[name])})"
        for name in sorted(before.keys() & after.keys())
        if before[name] != after[name]
    ]
    parts = (
        ("new", [_text(name) for name in sorted(after.keys() - before.keys())]),
        ("gone", [_text(name) for name in sorted(before.keys() - after.keys())]),
        ("changed", changed),
    )
    return "; ".join(_listed(what, names) for what, names in parts if names)


def _listed(what: str, names: Sequence[str]) -> str:
    return f"{len(names)} {what} ({first_of(names, _MOST_NAMES)})"


def _text(name: _Name) -> str:
    return f"{name[0]} {name[1]}"


def _definition(definition: _Definition) -> str:
    kind, default, valid, internal = definition
    return " ".join(filter(None, (kind, default or "empty", valid, internal and "internal")))
