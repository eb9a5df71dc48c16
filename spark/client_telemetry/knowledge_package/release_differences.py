"""What changed between two knowledge bases about the configuration and the metrics of brokers, in sentences, one for each release."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from client_telemetry.console.counted import counted, first_of
from client_telemetry.knowledge import broker_configuration, broker_metrics, releases
from client_telemetry.knowledge.broker_metrics import Metric

Row = Mapping[str, str]
"""By column: of two knowledge bases that are compared, both need not be loadable at once."""
_MOST_NAMES = 10


class _Known(NamedTuple):
    releases: list[str]
    """Those that were read, or whose brokers were run, oldest first."""
    rows: list[Row]

    def covers(self, row: Row, release: str, ends: str = "release") -> bool:
        """`ends`: how the columns of the range begin."""
        last = row[f"{ends}_to"] or self.releases[-1]
        return releases.parse(row[f"{ends}_from"]) <= releases.parse(release) <= releases.parse(last)

    def of(self, release: str) -> Iterator[Row]:
        return (row for row in self.rows if self.covers(row, release))


def table(texts: Mapping[str, str], file: str) -> list[Row]:
    """The rows of a file; none for one that is not there."""
    return [
        {column: cell or "" for column, cell in row.items() if column is not None}
        for row in csv.DictReader(io.StringIO(texts.get(file, ""), newline=""))
    ]


def sentences(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    of_keys = [
        _known(each, broker_configuration.FILE, broker_configuration.RELEASES_FILE) for each in (old, new)
    ]
    of_metrics = [_known(each, broker_metrics.FILE, broker_metrics.RELEASES_FILE) for each in (old, new)]
    return [
        *_said(
            "The broker configuration of Kafka {} is",
            of_keys,
            lambda known, release: f"{len(_keys(known, release))} keys",
            lambda known, before, release: _keys_compared(_keys(known, before), _keys(known, release)),
            lambda old, new, release: _keys_compared(_keys(old, release), _keys(new, release)),
        ),
        *_said(
            "The metrics of brokers of Kafka {} are",
            of_metrics,
            lambda known, release: counted(len(_seen(known, release)), "metric"),
            _metrics_compared,
            _metrics_known_differently,
        ),
    ]


def _known(texts: Mapping[str, str], file: str, releases_file: str) -> _Known:
    read = [row["release"] for row in table(texts, releases_file)]
    return _Known(sorted(read, key=releases.parse), table(texts, file))


def _said(
    what: str,
    old_and_new: Sequence[_Known],
    size: Callable[[_Known, str], str],
    compared: Callable[[_Known, str, str], str],
    known_differently: Callable[[_Known, _Known, str], str],
) -> Iterator[str]:
    """`compared`: two releases in one knowledge base; `known_differently`: one in both. Empty: they are equal."""
    old, new = old_and_new
    for place, release in enumerate(new.releases):
        if release not in old.releases:
            text = f"{what.format(release)} new: {size(new, release)}"
            if place:
                previous = new.releases[place - 1]
                text += f"; against {previous}: {compared(new, previous, release) or 'no difference'}"
            yield f"{text}."
        elif old.rows != new.rows and (said := known_differently(old, new, release)):
            yield f"{what.format(release)} known differently: {said}."
    for release in old.releases:
        if release not in new.releases:
            yield f"{what.format(release)} no longer known."


def _keys(known: _Known, release: str) -> dict[str, str]:
    """Scope and key -> its definition, in words."""
    return {f"{row['scope']} {row['key']}": _definition(row) for row in known.of(release)}


def _definition(row: Row) -> str:
    default = row["default"] or "empty"
    return " ".join(filter(None, (row["type"], default, row["valid_range"], row["internal"] and "internal")))


def _keys_compared(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    changed = [
        f"{name} {after[name]} (was {before[name]})"
        for name in sorted(before.keys() & after.keys())
        if before[name] != after[name]
    ]
    return _listed(
        ("new", sorted(after.keys() - before.keys())),
        ("gone", sorted(before.keys() - after.keys())),
        ("changed", changed),
    )


def _metric(row: Row) -> Metric:
    return Metric(row["domain"], row["type"], row["name"], tuple(filter(None, row["tags"].split(" "))))


def _seen(known: _Known, release: str) -> set[Metric]:
    return set(map(_metric, known.of(release)))


def _seen_only_in(known: _Known, release: str, other: str) -> tuple[set[Metric], set[Metric]]:
    """As broker_metrics has them: all, and those whose name the jars of the other do not have."""
    only = _seen(known, release) - _seen(known, other)
    lacking = {
        _metric(row)
        for row in known.of(release)
        if row["in_jars_from"] and not known.covers(row, other, "in_jars")
    }
    return only, only & lacking


def _metrics_compared(known: _Known, previous: str, release: str) -> str:
    """Gone and new as broker_metrics.changes has them; of the rest, which of the two showed it."""
    left, gone = _seen_only_in(known, previous, release)
    entered, new = _seen_only_in(known, release, previous)
    return _listed(
        ("new", _texts(new)),
        ("gone", _texts(gone)),
        (f"seen on {release} only", _texts(entered - new)),
        (f"seen on {previous} only", _texts(left - gone)),
    )


def _metrics_known_differently(old: _Known, new: _Known, release: str) -> str:
    before, after = _seen(old, release), _seen(new, release)
    return _listed(("more", _texts(after - before)), ("no longer", _texts(before - after)))


def _texts(metrics: Iterable[Metric]) -> list[str]:
    return [metric.text() for metric in sorted(metrics)]


def _listed(*parts: tuple[str, Sequence[str]]) -> str:
    return "; ".join(
        f"{len(names)} {what} ({first_of(names, _MOST_NAMES)})" for what, names in parts if names
    )
