"""Metrics of brokers (MBeans) that were seen in running brokers of each release, and what differs between two releases.

The files are written by rehearsal/broker_metrics.py. A metric that is not seen may need a load or setting that the run did not have: it is
gone from a release only if the release's jars no longer have its name, which the jars of the other have.
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

    @property
    def constant(self) -> str:
        """The text by which a class registers it, unless that is put together while the broker runs."""
        return self.name or self.type

    def text(self) -> str:
        """`kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=*`."""
        properties = [f"type={self.type}", *([f"name={self.name}"] if self.name else [])]
        return f"{self.domain}:{','.join([*properties, *(f'{tag}=*' for tag in self.tags)])}"


class Changes(NamedTuple):
    gone: tuple[Metric, ...]
    """Seen in the one that is left; the jars of the other do not have the name, which those of the first have."""
    new: tuple[Metric, ...]
    """The other way round."""
    retagged: tuple[tuple[Metric, Metric], ...]
    """Seen with these tags in the one that is left, and with one tag more or less in the other: the MBean has another name."""
    not_seen: tuple[Metric, ...]
    """Seen in the one that is left only, although the other may have it."""


class _Row(NamedTuple):
    metric: Metric
    seen: range
    """Places in `read`."""
    in_jars: range | None
    """From the first release whose jars have the name, or that showed the metric, to the last; None: the jars of the releases in `seen` do
    not have it, as it is put together while the broker runs.
    """


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
    left, gone = _seen_only_in(from_release, to_release)
    came, new = _seen_only_in(to_release, from_release)
    retagged = tuple(
        (before, after)
        for before in sorted(left - gone)
        for after in sorted(came - new)
        if _is_retagged(before, after)
    )
    not_seen = left - gone - {before for before, _ in retagged}
    return Changes(tuple(sorted(gone)), tuple(sorted(new)), retagged, tuple(sorted(not_seen)))


def _is_retagged(before: Metric, after: Metric) -> bool:
    """MBeans without tags are sums of others, which may be there beside them."""
    difference = {*before.tags} ^ {*after.tags}
    return before[:3] == after[:3] and bool(before.tags and after.tags) and len(difference) == 1


def _seen_only_in(release: str, other: str) -> tuple[frozenset[Metric], frozenset[Metric]]:
    """Metrics that one release showed and another did not, and those of them whose name is in the jars of the one and not of the other."""
    only = seen(release) - seen(other)
    place, other_place = read().index(release), read().index(other)
    lacking = {
        row.metric for row in _rows() if place in row.seen and row.in_jars and other_place not in row.in_jars
    }
    return only, only & lacking


def check() -> None:
    """Raises DamagedKnowledge."""
    _rows()


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


def with_runs(
    found: Mapping[str, frozenset[Metric]], names: Mapping[str, frozenset[str]]
) -> Iterator[tuple[str, ...]]:
    """The rows of FILE with these releases too, as if all of `read` were run with them. `names`: constants of the jars of a release; of
    each in `found`, and of all in `read` if one has the name of a metric of which `ever_in_jars` says nothing.
    """
    seen_by_release = {**{release: seen(release) for release in read()}, **found}
    in_order = sorted(seen_by_release, key=releases.parse)
    for metric in sorted(set().union(*seen_by_release.values())):
        having = ever_in_jars(metric) | {each for each in names if metric.constant in names[each]}
        is_constant = [each in having if metric in seen_by_release[each] else None for each in in_order]
        places = [
            place for place, each in enumerate(in_order) if each in having or metric in seen_by_release[each]
        ]
        for first, last in read_releases.runs(is_constant):
            ends = read_releases.ends(in_order, first, last)
            jars = read_releases.ends(in_order, places[0], places[-1]) if is_constant[first] else ("", "")
            yield (*metric[:3], " ".join(metric.tags), *ends, *jars, f"a broker of {ends[0]} was run")


def ever_in_jars(metric: Metric) -> set[str]:
    """Of the releases whose jars have the name of a metric the first, the last and all that showed it; empty if no row says it."""
    places: set[int] = set()
    put_together: set[int] = set()
    for row in _rows():
        if row.metric == metric and row.in_jars:
            places |= {row.in_jars[0], row.in_jars[-1], *row.seen}
        elif row.metric == metric:
            put_together |= {*row.seen}
    return {read()[place] for place in places - put_together}
