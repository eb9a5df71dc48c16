"""Metrics of brokers (MBeans) that were seen in running brokers of each release, and what differs between two releases.

The files are written by rehearsal/broker_metrics.py. A metric that is not seen may need a load or setting that the run did not have: it is
gone from a release only if the release's jars no longer have its name.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from client_telemetry.knowledge import DamagedKnowledge, due, read_releases, releases, rows_if_there

FILE = "broker_metrics.csv"
COLUMNS = (
    "domain",
    "type",
    "name",
    "tags",
    "release_from",
    "release_to",
    "in_jars_from",
    "in_jars_to",
    "source",
)
RELEASES_FILE = "broker_metrics_releases.csv"
RELEASES_COLUMNS = read_releases.COLUMNS


class Metric(NamedTuple):
    domain: str
    type: str
    name: str
    """Empty for MBeans of Kafka's own metrics, whose attributes are the metrics."""
    tags: tuple[str, ...]
    """Keys of the other properties, sorted: `topic`, `request`."""

    def text(self) -> str:
        """`kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=*`."""
        properties = [f"type={self.type}", *([f"name={self.name}"] if self.name else [])]
        return f"{self.domain}:{','.join([*properties, *(f'{tag}=*' for tag in self.tags)])}"


class Changes(NamedTuple):
    gone: tuple[Metric, ...]
    """Seen in the one that is left; the jars of the other do not have the name."""
    new: tuple[Metric, ...]
    """The other way round."""
    not_seen: tuple[Metric, ...]
    """Seen in the one that is left only, although the other may have it."""


class _Row(NamedTuple):
    metric: Metric
    seen: range
    """Places in `read`."""
    in_jars: range | None
    """None: its name is put together while the broker runs."""


@cache
def read() -> tuple[str, ...]:
    """The releases whose brokers were run, oldest first."""
    return tuple(read_releases.listed(RELEASES_FILE))


def not_known_for(*of_releases: str) -> tuple[str, ...]:
    """Those whose brokers were not run."""
    return tuple(release for release in of_releases if release not in read())


@cache
def seen(release: str) -> frozenset[Metric]:
    """Raises KeyError for a release of `not_known_for`."""
    if release not in read():
        raise KeyError(release)
    place = read().index(release)
    return frozenset(row.metric for row in _rows() if place in row.seen)


@cache
def changes(from_release: str, to_release: str) -> Changes:
    """Raises KeyError for a release of `not_known_for`."""
    before, after = seen(from_release), seen(to_release)
    left, entered = before - after, after - before
    gone = {each for each in left if _lacks(to_release, each)}
    return Changes(
        tuple(sorted(gone)),
        tuple(sorted(each for each in entered if _lacks(from_release, each))),
        tuple(sorted(left - gone)),
    )


def _lacks(release: str, metric: Metric) -> bool:
    """Whether the jars of a release do not have the name of a metric."""
    in_jars = _in_jars()[metric]
    return in_jars is not None and read().index(release) not in in_jars


def check() -> None:
    """Raises DamagedKnowledge."""
    _rows()


@cache
def _in_jars() -> dict[Metric, range | None]:
    return {row.metric: row.in_jars for row in _rows()}


@cache
def _rows() -> tuple[_Row, ...]:
    found: list[_Row] = []
    for line, (domain, kind, name, tags, first, last, jars_first, jars_last, source) in rows_if_there(
        FILE, COLUMNS
    ):
        due(FILE, line, domain=domain, type=kind, release_from=first, source=source)
        metric = Metric(domain, kind, name, tuple(filter(None, tags.split(" "))))
        seen_in = _range(line, first, last)
        in_jars = _range(line, jars_first, jars_last) if jars_first else None
        if in_jars is not None and (seen_in.start not in in_jars or seen_in[-1] not in in_jars):
            raise DamagedKnowledge(FILE, line, "it was seen in a release whose jars do not have its name")
        found.append(_Row(metric, seen_in, in_jars))
    _check_overlaps(found)
    return tuple(found)


def _range(line: int, first: str, last: str) -> range:
    found = read_releases.places(FILE, line, read(), RELEASES_FILE, first, last)
    if not found:
        raise DamagedKnowledge(FILE, line, f"{first} is newer than {last}")
    return found


def _check_overlaps(found: Sequence[_Row]) -> None:
    last: dict[Metric, range] = {}
    for line, row in enumerate(found, 2):
        before = last.get(row.metric)
        if before is not None and before.stop > row.seen.start:
            raise DamagedKnowledge(FILE, line, f"{row.metric.text()}: ranges overlap")
        last[row.metric] = row.seen


def rows_of(
    seen_by_release: Mapping[str, frozenset[Metric]], names_by_release: Mapping[str, frozenset[str]]
) -> Iterator[tuple[str, ...]]:
    """The rows of FILE. `names_by_release`: the constants of a release's jars. A name that the jars of a release lack in which it was
    seen is put together while the broker runs: nothing is said of it.
    """
    in_order = sorted(seen_by_release, key=releases.parse)
    for metric in sorted(set().union(*seen_by_release.values())):
        places = [place for place, each in enumerate(in_order) if metric in seen_by_release[each]]
        having = [
            place
            for place, each in enumerate(in_order)
            if (metric.name or metric.type) in names_by_release[each]
        ]
        is_constant = set(places) <= set(having)
        jars = read_releases.ends(in_order, having[0], having[-1]) if is_constant else ("", "")
        for first, last in read_releases.runs([metric in seen_by_release[each] or None for each in in_order]):
            ends = read_releases.ends(in_order, first, last)
            yield (*metric[:3], " ".join(metric.tags), *ends, *jars, f"a broker of {ends[0]} was run")
