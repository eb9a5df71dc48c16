"""The metrics of broker releases: each is started, in KRaft and, as long as it has it, in ZooKeeper mode, given something to do, and
asked for its MBeans (jars/BrokerMetrics.java).

    python -m client_telemetry.rehearsal.broker_metrics --cache FOLDER

adds to the two files of this checkout the known releases that they lack. What was measured stays in the cache.
"""

import argparse
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from zipfile import ZipFile

from client_telemetry import knowledge
from client_telemetry.console.output_file import replace_file
from client_telemetry.knowledge import broker_metrics, read_releases, releases
from client_telemetry.knowledge.broker_metrics import Metric
from client_telemetry.knowledge.broker_release import csv_text
from client_telemetry.knowledge_package import broker_jars, brokers
from client_telemetry.knowledge_package.artefacts import MavenRepository
from client_telemetry.knowledge_package.brokers import Step
from client_telemetry.knowledge_package.fetching import NotFetched
from client_telemetry.rehearsal import sandbox_broker
from client_telemetry.rehearsal.sandbox_broker import BrokerDidNotStart
from client_telemetry.rehearsal.workplace import NotInstalled

_TWO_MODES, _KRAFT, _NO_ZOOKEEPER = (3, 0), (3, 3), (4, 0)
"""KRaft is ready for production since 3.3 (KIP-833)."""
_CONSTANT = re.compile(rb"\x01\x00([\x01-\x7f])(?=([\w.$ -]+))")
"""A short text in a class file's constant pool: its length, and what follows."""


def modes(release: str) -> list[str]:
    """As sandbox_broker starts them: `3.9.1`, and `3.9.1@3.9` in ZooKeeper mode."""
    number = releases.parse(release)
    if not _TWO_MODES <= number < _NO_ZOOKEEPER:
        return [release]
    zookeeper = f"{release}@{number[0]}.{number[1]}"
    return [release, zookeeper] if number >= _KRAFT else [zookeeper]


def measured(mode: str, cache: Path) -> list[str]:
    """Names of MBeans. Raises NotInstalled or BrokerDidNotStart."""
    with sandbox_broker.running(mode, cache) as broker:
        return broker.metrics()


def metrics(names: Iterable[str]) -> frozenset[Metric]:
    """Without values of tags: those are names of topics, requests and the like.

    >>> sorted(metrics(["kafka.server:name=BytesInPerSec,topic=a,type=BrokerTopicMetrics", "java.lang:type=Memory"]))
    [Metric(domain='kafka.server', type='BrokerTopicMetrics', name='BytesInPerSec', tags=('topic',))]
    """
    return frozenset(_metric(each) for each in names if each.startswith("kafka."))


def _metric(text: str) -> Metric:
    domain, _, rest = text.partition(":")
    properties = dict(re.findall(r'([^=,]+)=("(?:\\.|[^"\\])*"|[^,]*)', rest))
    kind, name = properties.pop("type", ""), properties.pop("name", "")
    return Metric(domain, kind, name, tuple(sorted(properties)))


def constants(jars: Iterable[Path], wanted: Collection[str]) -> frozenset[str]:
    """Which of these texts, of at most 127 characters, are in the classes of some jars."""
    looked_for = {text.encode() for text in wanted}
    found: set[bytes] = set()
    for jar in jars:
        with ZipFile(jar) as opened:
            for name in opened.namelist():
                if name.endswith(".class"):
                    found.update(looked_for.intersection(_constants(opened.read(name))))
    return frozenset(each.decode() for each in found)


def _constants(content: bytes) -> Iterator[bytes]:
    for match in _CONSTANT.finditer(content):
        length = match[1][0]
        if len(match[2]) >= length:
            yield match[2][:length]


def lacking() -> list[str]:
    """Known releases whose metrics are not known, oldest first."""
    return list(broker_metrics.not_known_for(*releases.known()))


def add(repository: MavenRepository, release: str, cache: Path) -> Step:
    """Run the broker of a known release, and add its metrics to the package in use. Not done if it cannot be run here, or if a jar of Kafka
    cannot be read that may have the name of a metric.
    """
    try:
        found = _run(release, cache)
        texts = rewritten(repository, {release: found})
    except (NotInstalled, BrokerDidNotStart, NotFetched) as error:
        return Step(release, f"metrics not known: {error}", False)
    knowledge.use_package(brokers.base().with_texts(texts))
    return Step(release, f"{len(found)} metrics", True)


def rewritten(repository: MavenRepository, found: Mapping[str, frozenset[Metric]]) -> dict[str, str]:
    """The files of the knowledge base with these releases too: file name -> text. Raises NotFetched."""
    names = _names_in_jars(repository, found)
    sources = read_releases.listed(broker_metrics.RELEASES_FILE) | {
        release: f"run as {' and '.join(modes(release))}" for release in found
    }
    in_order = sorted(sources, key=releases.parse)
    return {
        broker_metrics.FILE: csv_text(broker_metrics.COLUMNS, broker_metrics.with_runs(found, names)),
        broker_metrics.RELEASES_FILE: csv_text(
            broker_metrics.RELEASES_COLUMNS, [(release, sources[release]) for release in in_order]
        ),
    }


def _names_in_jars(
    repository: MavenRepository, found: Mapping[str, frozenset[Metric]]
) -> dict[str, frozenset[str]]:
    """As broker_metrics.with_runs needs them."""
    known = broker_metrics.read()
    wanted = {
        metric.constant for metric in frozenset().union(*found.values(), *map(broker_metrics.seen, known))
    }
    names = _constants_of(repository, list(found), wanted)
    is_familiar = all(
        broker_metrics.ever_in_jars(metric)
        for release, metrics_of_it in found.items()
        for metric in metrics_of_it
        if metric.constant in names[release]
    )
    return names if is_familiar else names | _constants_of(repository, known, wanted)


def _constants_of(
    repository: MavenRepository, of_releases: Sequence[str], wanted: Collection[str]
) -> dict[str, frozenset[str]]:
    broker_jars.fetch(repository, of_releases)
    jars = {release: broker_jars.class_path(repository, release) for release in of_releases}
    return {
        release: constants([jar for jar in of_release if jar.name.startswith("kafka")], wanted)
        for release, of_release in jars.items()
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m client_telemetry.rehearsal.broker_metrics")
    parser.add_argument("--cache", required=True, type=Path, help="where jars and outcomes are kept")
    args = parser.parse_args(arguments)
    found, wanted = {}, lacking()
    for release in wanted:
        try:
            found[release] = _run(release, args.cache)
        except (NotInstalled, BrokerDidNotStart) as error:
            print(f"{release}: not known: {error}", file=sys.stderr)
    for file, text in rewritten(MavenRepository(args.cache / "artefacts"), found).items():
        Path(str(files(knowledge) / file)).write_text(text, encoding="utf-8", newline="")
    print(f"{len(found)} of {len(wanted)} releases")
    return 0 if len(found) == len(wanted) else 1


def _run(release: str, cache: Path) -> frozenset[Metric]:
    """What a broker of a release shows in all of its modes."""
    return metrics(name for mode in modes(release) for name in _kept(mode, cache))


def _kept(mode: str, cache: Path) -> list[str]:
    """Measured once."""
    file = cache / "metrics" / f"{mode}.txt"
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, ("\n".join(measured(mode, cache)) + "\n").encode())
    return file.read_text(encoding="utf-8").split("\n")


if __name__ == "__main__":
    sys.exit(main())
