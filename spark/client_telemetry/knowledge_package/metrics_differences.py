"""What changed between two knowledge bases about the metrics of brokers, in sentences, one for each release."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from client_telemetry.console.counted import counted, first_of
from client_telemetry.knowledge import releases
from client_telemetry.knowledge.broker_metrics import FILE, RELEASES_FILE, Metric
from client_telemetry.knowledge_package.file_rows import Row, table

_MOST_NAMES = 10


class _Known(NamedTuple):
    releases: list[str]
    """Those whose brokers were run, oldest first."""
    rows: list[Row]

    def seen(self, release: str) -> set[Metric]:
        return {_metric(row) for row in self.rows if self._covers(row, "release", release)}

    def seen_only_in(self, release: str, other: str) -> tuple[set[Metric], set[Metric]]:
        """As broker_metrics has them: all, and those whose name the jars of the other do not have."""
        only = self.seen(release) - self.seen(other)
        lacking = {
            _metric(row)
            for row in self.rows
            if self._covers(row, "release", release)
            and row["in_jars_from"]
            and not self._covers(row, "in_jars", other)
        }
        return only, only & lacking

    def _covers(self, row: Row, ends: str, release: str) -> bool:
        last = row[f"{ends}_to"] or self.releases[-1]
        return releases.parse(row[f"{ends}_from"]) <= releases.parse(release) <= releases.parse(last)


def sentences(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    return [*_said(_known(old), _known(new))]


def _known(texts: Mapping[str, str]) -> _Known:
    run = [row["release"] for row in table(texts, RELEASES_FILE)]
    return _Known(sorted(run, key=releases.parse), table(texts, FILE))


def _metric(row: Row) -> Metric:
    return Metric(row["domain"], row["type"], row["name"], tuple(filter(None, row["tags"].split(" "))))


def _said(old: _Known, new: _Known) -> Iterator[str]:
    for place, release in enumerate(new.releases):
        if release not in old.releases:
            text = f"The metrics of brokers of Kafka {release} are new: {counted(len(new.seen(release)), 'metric')}"
            if place:
                previous = new.releases[place - 1]
                text += f"; against {previous}: {_compared(new, previous, release) or 'no difference'}"
            yield f"{text}."
        elif old.rows != new.rows and (said := _known_differently(old.seen(release), new.seen(release))):
            yield f"The metrics of brokers of Kafka {release} are known differently: {said}."
    for release in old.releases:
        if release not in new.releases:
            yield f"The metrics of brokers of Kafka {release} are no longer known."


def _compared(known: _Known, previous: str, release: str) -> str:
    """Gone and new as broker_metrics.changes has them; of the rest, which of the two showed it."""
    left, gone = known.seen_only_in(previous, release)
    entered, new = known.seen_only_in(release, previous)
    return _listed(
        ("new", new),
        ("gone", gone),
        (f"seen on {release} only", entered - new),
        (f"seen on {previous} only", left - gone),
    )


def _known_differently(before: set[Metric], after: set[Metric]) -> str:
    return _listed(("more", after - before), ("no longer", before - after))


def _listed(*parts: tuple[str, set[Metric]]) -> str:
    return "; ".join(
        f"{len(metrics)} {what} ({first_of(_texts(metrics), _MOST_NAMES)})"
        for what, metrics in parts
        if metrics
    )


def _texts(metrics: set[Metric]) -> Sequence[str]:
    return [metric.text() for metric in sorted(metrics)]
