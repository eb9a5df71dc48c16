"""Metrics of brokers (MBeans) that are gone or new between two releases.

    client-telemetry knowledge metrics --from 3.9.1 --to 4.0.0 [--format text|json|csv] [--all]

Brokers of each release since 0.10 were run and asked for their MBeans (docs/knowledge.md). A metric is gone, or new, if one release showed it
and has its name in its jars, and the jars of the other do not. One that has a tag more or less has another MBean name. What only one of them showed although both may have
it is counted, and listed with --all.
Exit code 0; 4 if the metrics of a release are not known; 2 for unusable arguments.
"""

import sys
from collections.abc import Iterator, Sequence

from client_telemetry.cli.compared_releases import print_rows
from client_telemetry.console.arguments import Arguments
from client_telemetry.console.counted import counted
from client_telemetry.knowledge import broker_metrics, releases
from client_telemetry.knowledge.broker_metrics import Changes, Metric
from client_telemetry.knowledge_package import store

CANNOT_TELL = 4
_COLUMNS = ("change", "domain", "type", "name", "tags", "new_tags")


def main(arguments: Sequence[str] | None) -> int:
    parser = Arguments("knowledge metrics", __doc__)
    parser.add_argument("--from", dest="from_release", required=True, metavar="RELEASE")
    parser.add_argument("--to", dest="to_release", required=True, metavar="RELEASE")
    parser.add_argument("--format", choices=("text", "json", "csv"), default="text")
    parser.add_argument(
        "--all", action="store_true", help="list the metrics that one release did not show, too"
    )
    args = parser.parse_args(arguments)
    store.activate()
    pair = releases.upgrade(args.from_release, args.to_release)
    if unknown := broker_metrics.not_known_for(*pair):
        print(
            f"client-telemetry knowledge metrics: the metrics of {' and '.join(unknown)} are not known: no broker of it was run",
            file=sys.stderr,
        )
        return CANNOT_TELL
    changes = broker_metrics.changes(*pair)
    if args.format == "text":
        _print_text(pair, changes, args.all)
    else:
        print_rows(args.format, pair, _COLUMNS, _rows(changes, args.all))
    return 0


def _print_text(pair: tuple[str, str], changes: Changes, list_all: bool) -> None:
    print(f"Metrics of brokers, {pair[0]} to {pair[1]}:")
    for heading, metrics in (("gone", changes.gone), ("new", changes.new)):
        print(f"  {heading}: {counted(len(metrics), 'metric')}")
        _print_names(metrics)
    if changes.retagged:
        print(f"  other tags: {counted(len(changes.retagged), 'metric')}")
    for before, after in changes.retagged:
        print(f"    {before.text()} -> {after.text()}")
    hint = "" if list_all or not changes.not_seen else " (--all lists them)"
    print(
        f"  seen on {pair[0]} only, although {pair[1]} may have them: {counted(len(changes.not_seen), 'metric')}{hint}"
    )
    if list_all:
        _print_names(changes.not_seen)


def _print_names(metrics: Sequence[Metric]) -> None:
    for metric in metrics:
        print(f"    {metric.text()}")


def _rows(changes: Changes, list_all: bool) -> Iterator[tuple[str, ...]]:
    shown = {"gone": changes.gone, "new": changes.new, "not_seen": changes.not_seen if list_all else ()}
    for change, metrics in shown.items():
        for metric in metrics:
            yield change, *metric[:3], " ".join(metric.tags), ""
    for before, after in changes.retagged:
        yield "retagged", *before[:3], " ".join(before.tags), " ".join(after.tags)
