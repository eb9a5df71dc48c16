"""A data package from the knowledge base in use and what registries have beyond it.

    client-telemetry knowledge build --out knowledge.zip [--key signing.pem] [--cache FOLDER] [--recheck] [--offline]
        [--newer] [--library NAME==VERSION …] [--frameworks] [--stale FILE]

Releases of Kafka that Maven has and the knowledge base has not are read from their jars; Java runs the static initialisers of their
configuration classes, and a broker of each is run and asked for its metrics (docs/knowledge.md). Each library that is named, and with
`--newer` each version that registries have beyond those that are known, is installed and **executed** (docs/rehearse.md) to see which
request versions it sends. With `--frameworks`, the POMs of frameworks' newer releases say
which kafka-clients they bring. What could not be done is listed
at the end, beside rows that people last checked more than a year before; the package has everything else. Exit code 0; 1 if something could not be done; 2 if there is no package.
"""

import argparse
import datetime as dt
import textwrap
from collections.abc import Sequence
from pathlib import Path

from client_telemetry import knowledge
from client_telemetry.cli.knowledge_frameworks import add_carried
from client_telemetry.cli.knowledge_measure import add_measured, library, newer_subjects
from client_telemetry.cli.user_cache import cache_folder
from client_telemetry.compatibility import own_knowledge
from client_telemetry.console.arguments import Arguments
from client_telemetry.console.counted import counted
from client_telemetry.console.output_file import replace_file
from client_telemetry.console.progress import Progress
from client_telemetry.knowledge import UnusablePackage, age, checked, releases
from client_telemetry.knowledge.broker_release import csv_text
from client_telemetry.knowledge_package import broker_jars, brokers, package_files, signatures, store
from client_telemetry.knowledge_package.artefacts import MavenRepository
from client_telemetry.knowledge_package.brokers import Step
from client_telemetry.knowledge_package.package_files import MANIFEST, SIGNATURE
from client_telemetry.rehearsal import broker_metrics
from client_telemetry.rehearsal.subjects import Subject

_MOST_STALE = 10
"""Rows that are printed."""


def main(arguments: Sequence[str] | None) -> int:
    parser = Arguments("knowledge build", __doc__)
    parser.add_argument(
        "--out", required=True, type=Path, metavar="FILE", help="the package to write, .zip or a folder"
    )
    parser.add_argument(
        "--key", type=Path, metavar="FILE", help=f"signing key (PEM); default: {signatures.SIGNING_KEY}"
    )
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="where fetched artefacts are kept")
    parser.add_argument(
        "--recheck", action="store_true", help="compare the known releases with their jars too"
    )
    parser.add_argument("--offline", action="store_true", help="fetch nothing: sign and write what is in use")
    parser.add_argument(
        "--built-at", type=_time, metavar="TIME", help="UTC, as 2026-11-28T04:00:00Z; default: now"
    )
    parser.add_argument(
        "--library",
        action="append",
        default=[],
        type=library,
        metavar="NAME==VERSION",
        help="a version of a client library to install, run and add",
    )
    parser.add_argument(
        "--newer",
        action="store_true",
        help="the same with every version that `knowledge newer` lists",
    )
    parser.add_argument(
        "--frameworks",
        action="store_true",
        help="read the POMs of new releases of Spring, Quarkus, Flink and others",
    )
    parser.add_argument(
        "--stale",
        type=Path,
        metavar="FILE",
        help=f"write the rows that people last checked more than {checked.STALE_DAYS} days before, as CSV",
    )
    args = parser.parse_args(arguments)
    key = signatures.signing_key(args.key)
    store.activate()
    steps: list[Step] = []
    if not args.offline:
        repository = MavenRepository(cache_folder(args.cache, "artefacts"))
        steps += _steps(repository, args.recheck)
        steps += _metrics(repository, cache_folder(args.cache, "rehearsal"))
    if (args.library or args.newer) and not args.offline:
        steps += _measured(args.library, cache_folder(args.cache, "rehearsal"), also_newer=args.newer)
    if args.frameworks and not args.offline:
        with Progress("reading POMs of frameworks") as progress:
            steps += add_carried(MavenRepository(cache_folder(args.cache, "artefacts")), progress)
    own_knowledge.check()
    written = checked.shipped()
    checked.refuse_future(written, dt.datetime.now(dt.UTC))
    texts = knowledge.texts()
    manifest = package_files.manifest_of(texts, args.built_at or dt.datetime.now(dt.UTC), _sources(steps))
    contents = {MANIFEST: manifest.content(), **{name: text.encode() for name, text in texts.items()}}
    if key is not None:
        contents[SIGNATURE] = signatures.sign(contents[MANIFEST], key)
    stale = checked.stale(written, manifest.built_at.date())
    if args.stale:
        cells = [(row.file, row.key, str(row.checked_on), row.source) for row in stale]
        replace_file(args.stale, csv_text(("file", "key", "checked_on", "source"), cells).encode())
    _write(args.out, contents)
    signed = "signed" if key is not None else f"not signed: name a key with --key or {signatures.SIGNING_KEY}"
    print(
        f"{args.out}: {age.sentence(knowledge.version(), manifest.built_at, dt.datetime.now(dt.UTC))}, {signed}"
    )
    failed = [step for step in steps if not step.is_done]
    for step in failed:
        print(f"not done: {' '.join(filter(None, (step.release, step.said)))}")
    print(checked.sentence(written, manifest.built_at.date()))
    for row in stale[:_MOST_STALE]:
        print(
            f"  {row.file} {row.key}: {row.checked_on}, {textwrap.shorten(row.source, 100, placeholder=' …')}"
        )
    if len(stale) > _MOST_STALE:
        print(f"  and {len(stale) - _MOST_STALE:,} more: {args.stale or '--stale FILE'} has all")
    return 1 if failed else 0


def _time(text: str) -> dt.datetime:
    try:
        return dt.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=dt.UTC)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time: write it as 2026-11-28T04:00:00Z"
        ) from None


def _steps(repository: MavenRepository, recheck: bool) -> list[Step]:
    steps = []
    with Progress("asking for the releases of Kafka") as progress:
        known = releases.known()
        for step in brokers.add_all(repository):
            if step.release:
                progress(f"read {step.release}")
                print(f"{step.release}: {step.said}" if step.is_done else f"{step.release}: not added")
            steps.append(step)
        if recheck:
            progress("fetching the jars of all releases")
            broker_jars.fetch(repository, known)
            steps += [
                brokers.compare(repository, each) for each in progress.counted("comparing releases", known)
            ]
            print(f"{sum(step.is_done for step in steps)} of {len(steps)} releases equal their jars")
            _print_not_compared(steps)
    return steps


def _metrics(repository: MavenRepository, cache: Path) -> list[Step]:
    """Of the known releases that lack them."""
    steps = []
    with Progress("running brokers") as progress:
        for release in progress.counted("running brokers", broker_metrics.lacking()):
            step = broker_metrics.add(repository, release, cache)
            if step.is_done:
                print(f"{release}: {step.said}")
            steps.append(step)
    return steps


def _print_not_compared(steps: Sequence[Step]) -> None:
    """What of known releases was left out, with the first reason."""
    left_out = [step for step in steps if brokers.NOT_COMPARED in step.said]
    if left_out:
        reason = left_out[0].said.partition(brokers.NOT_COMPARED)[2]
        print(f"{brokers.NOT_COMPARED} of {counted(len(left_out), 'release')}{reason}")


def _measured(named: Sequence[Subject], cache: Path, *, also_newer: bool) -> list[Step]:
    with Progress("measuring libraries") as progress:
        more, failed = newer_subjects(cache, progress) if also_newer else ([], [])
        return [
            *failed,
            *add_measured([*named, *(each for each in more if each not in named)], cache, progress),
        ]


def _sources(steps: Sequence[Step]) -> list[str]:
    added = [step.release for step in steps if step.is_done and step.release in knowledge.extended_with()]
    before = knowledge.built_at()
    return [
        f"knowledge base of {before:%Y-%m-%d}",
        *(f"org.apache.kafka:kafka-clients:{release}" for release in added),
    ]


def _write(out: Path, contents: dict[str, bytes]) -> None:
    if out.suffix == ".zip":
        replace_file(out, package_files.zip_content(contents))
        return
    if out.exists() and not (out / MANIFEST).is_file() and any(out.iterdir()):
        raise UnusablePackage(f"{out} is not a package and not empty: name another folder")
    out.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        replace_file(out / name, content)
