"""The metrics of broker releases: each is started, in KRaft and, as long as it has it, in ZooKeeper mode, given something to do, and
asked for its MBeans (jars/BrokerMetrics.java).

    python -m client_telemetry.rehearsal.broker_metrics --cache FOLDER

writes the two files of this checkout for all known releases since 2.4. What was measured stays in the cache.
"""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from zipfile import ZipFile

from client_telemetry import knowledge
from client_telemetry.knowledge import broker_metrics, releases
from client_telemetry.knowledge.broker_metrics import Metric
from client_telemetry.knowledge.broker_release import csv_text
from client_telemetry.rehearsal import sandbox_broker
from client_telemetry.rehearsal.sandbox_broker import BrokerDidNotStart
from client_telemetry.rehearsal.workplace import NotInstalled

OLDEST = (2, 4)
"""Core jars for Scala 2.13, which the sandbox starts, begin here."""
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


def constants(jars: Path) -> frozenset[str]:
    """Texts of at most 127 characters in the classes of Kafka's jars."""
    found: set[bytes] = set()
    for jar in sorted(jars.glob("kafka*.jar")):
        with ZipFile(jar) as opened:
            for name in opened.namelist():
                if name.endswith(".class"):
                    found.update(_constants(opened.read(name)))
    return frozenset(each.decode("latin-1") for each in found)


def _constants(content: bytes) -> Iterator[bytes]:
    for match in _CONSTANT.finditer(content):
        length = match[1][0]
        if len(match[2]) >= length:
            yield match[2][:length]


def rewritten(
    found: Mapping[str, frozenset[Metric]], constants_of: Mapping[str, frozenset[str]]
) -> dict[str, str]:
    """The files with these releases alone: file name -> text."""
    sources = [
        (release, f"run as {' and '.join(modes(release))}") for release in sorted(found, key=releases.parse)
    ]
    return {
        broker_metrics.FILE: csv_text(broker_metrics.COLUMNS, broker_metrics.rows_of(found, constants_of)),
        broker_metrics.RELEASES_FILE: csv_text(broker_metrics.RELEASES_COLUMNS, sources),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m client_telemetry.rehearsal.broker_metrics")
    parser.add_argument("--cache", required=True, type=Path, help="where jars and outcomes are kept")
    args = parser.parse_args(arguments)
    wanted = [release for release in releases.known() if releases.parse(release) >= OLDEST]
    found = {}
    for release in wanted:
        try:
            found[release] = metrics(name for mode in modes(release) for name in _kept(mode, args.cache))
        except (NotInstalled, BrokerDidNotStart) as error:
            print(f"{release}: not known: {error}", file=sys.stderr)
    constants_of = {release: constants(sandbox_broker.jars(release, args.cache)) for release in found}
    for file, text in rewritten(found, constants_of).items():
        Path(str(files(knowledge) / file)).write_text(text, encoding="utf-8", newline="")
    print(f"{len(found)} of {len(wanted)} releases")
    return 0 if len(found) == len(wanted) else 1


def _kept(mode: str, cache: Path) -> list[str]:
    """Measured once."""
    file = cache / "metrics" / f"{mode}.txt"
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(measured(mode, cache)) + "\n", encoding="utf-8")
    return file.read_text(encoding="utf-8").split("\n")


if __name__ == "__main__":
    sys.exit(main())
