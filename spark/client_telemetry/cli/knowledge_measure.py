"""Versions of client libraries that the knowledge base does not have: which there are, and what they send when they are run.

    client-telemetry knowledge newer [--library NAME …] [--since DAY] [--cache FOLDER]
    client-telemetry knowledge build --out FILE [--newer] [--library NAME==VERSION …]
    client-telemetry knowledge measure NAME==VERSION … [--messages FILE] [--jobs 2] [--cache FOLDER]

The second and the third **install packages from registries and execute them** (docs/rehearse.md).
"""

import argparse
import datetime as dt
import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from client_telemetry import knowledge
from client_telemetry.cli.user_cache import cache_folder
from client_telemetry.console.arguments import Arguments
from client_telemetry.console.counted import first_of
from client_telemetry.console.output_file import replace_file
from client_telemetry.console.progress import Progress
from client_telemetry.knowledge import client_messages, client_versions, software
from client_telemetry.knowledge.broker_release import csv_text
from client_telemetry.knowledge_package import brokers, store
from client_telemetry.knowledge_package.brokers import Step
from client_telemetry.knowledge_package.fetching import NotFetched
from client_telemetry.rehearsal import (
    compared_with_table,
    library_rows,
    measured,
    newer,
    older_brokers,
    sandbox_broker,
)
from client_telemetry.rehearsal.library_programs import BY_NAME
from client_telemetry.rehearsal.library_rows import Compared
from client_telemetry.rehearsal.measured import Measured
from client_telemetry.rehearsal.older_brokers import OnRelease
from client_telemetry.rehearsal.sandbox_broker import BrokerDidNotStart
from client_telemetry.rehearsal.subjects import Subject, version_text
from client_telemetry.rehearsal.workplace import NotInstalled

_NAMED = 6
_Measure = Callable[[Subject], Measured]


def list_newer(arguments: Sequence[str] | None) -> int:
    """Exit code 0; 1 if a registry could not be asked."""
    parser = Arguments("knowledge newer", "Versions of client libraries that are published and not known.")
    names = newer.programs()
    parser.add_argument(
        "--library", action="append", choices=names, metavar="NAME", help=f"default: {', '.join(names)}"
    )
    parser.add_argument(
        "--since",
        type=dt.date.fromisoformat,
        metavar="DAY",
        help="list what was published since that day (2026-11-01, UTC), known or not",
    )
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="where the lists are fetched to")
    args = parser.parse_args(arguments)
    store.activate()
    cache = cache_folder(args.cache, "rehearsal")
    failed = False
    with Progress("asking registries") as progress:
        for name in progress.counted("asking registries", args.library or names):
            known = version_text(newer.library_of(name), newer.newest_known(name))
            try:
                found = newer.since(name, cache, args.since) if args.since else newer.newer(name, cache)
            except (NotInstalled, NotFetched) as error:
                failed = True
                print(f"{name}: known up to {known}; its registry was not asked: {error}")
            else:
                print(f"{name}: known up to {known}; {_listed(found, args.since)}")
    return int(failed)


def _listed(found: Sequence[str], since: dt.date | None) -> str:
    what = f"since {since}" if since else "newer"
    return f"{what}: {first_of(found[::-1], _NAMED)}" if found else f"nothing {what}"


def newer_subjects(cache: Path, progress: Progress) -> tuple[list[Subject], list[Step]]:
    """Every version that registries have beyond those that are known, oldest first; and a step for each registry that did not say."""
    subjects, failed = [], []
    for name in progress.counted("asking registries", newer.programs()):
        try:
            subjects += [Subject(name, version) for version in newer.newer(name, cache)]
        except (NotInstalled, NotFetched) as error:
            failed.append(Step(name, f"its registry was not asked: {error}", False))
    return subjects, failed


def library(text: str) -> Subject:
    """Of `NAME==VERSION`, or with a setting of its program: `kafka-python==2.0.2 api_version=0.10.1`."""
    wanted, _, configuration = text.partition(" ")
    name, separator, version = wanted.partition("==")
    if name not in BY_NAME or not separator or not version:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a library to measure: write NAME==VERSION, with one of {', '.join(BY_NAME)}"
        )
    return Subject(name, version, configuration)


def measure(arguments: Sequence[str] | None) -> int:
    """Exit code 0; 1 if a version could not be measured, or sends something else than its rows say."""
    parser = Arguments(
        "knowledge measure",
        "What versions of libraries send to brokers of each time, and say where these refuse them, beside what is known. It installs "
        "and executes them.",
    )
    parser.add_argument("library", nargs="+", type=library, metavar="NAME==VERSION [SETTING=VALUE]")
    parser.add_argument(
        "--messages",
        type=Path,
        metavar="FILE",
        help=f"write {client_messages.FILE} with what they said, beside the rows that are known",
    )
    parser.add_argument("--jobs", type=int, choices=range(1, 33), default=2, metavar="N", help="default: 2")
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="of libraries, brokers and outcomes")
    args = parser.parse_args(arguments)
    store.activate()
    comparable = [subject for subject in args.library if _has_rows_to_compare(subject)]
    said: list[list[str]] = []
    failed = False
    with (
        Progress("measuring") as progress,
        older_brokers.measuring(cache_folder(args.cache, "rehearsal"), args.jobs) as measuring,
    ):
        for subject in progress.counted("measuring libraries", args.library):
            if subject not in comparable:
                print(
                    f"{subject.text}: not measured: which librdkafka it has is not known (knowledge build --library asks it)"
                )
                failed = True
                continue
            try:
                runs = measuring.run(subject)
            except (NotInstalled, BrokerDidNotStart) as error:
                print(f"{subject.text}: not measured: {error}")
                failed = True
                continue
            failed |= _print_compared(subject, runs)
            said += compared_with_table.messages(*as_in_table(subject), subject, runs)
    if args.messages:
        replace_file(args.messages, _messages_file(comparable, said).encode())
    return int(failed)


def _has_rows_to_compare(subject: Subject) -> bool:
    """No for a version of a binding whose librdkafka is not known: the binding's own number says nothing about it."""
    return subject.version in software.bindings().get(subject.program, {subject.version})


def as_in_table(subject: Subject) -> tuple[str, str]:
    """Library and its version: of a binding those of librdkafka. Raises KeyError if it is not known which one a binding has."""
    name = newer.library_of(subject.program)
    carried = software.bindings().get(subject.program)
    return name, subject.version if carried is None else carried[subject.version]


def _print_compared(subject: Subject, runs: Sequence[OnRelease]) -> bool:
    """Whether it differs from its rows."""
    name, version = as_in_table(subject)
    compared = compared_with_table.with_table(name, version, subject.configuration, runs)
    count = len(compared.equal) + len(compared.differences)
    not_sent = f"; not sent: {', '.join(compared.not_sent)}" if compared.not_sent else ""
    print(f"{subject.text}: {len(compared.equal)} of {count} APIs as in the table{not_sent}")
    for difference in compared.differences:
        print(f"  {difference}")
    if compared.lowest_sent:
        print(f"  lowest versions, as in the table: {', '.join(compared.lowest_sent)}")
    for message in compared_with_table.messages(name, version, subject, runs):
        _, _, _, role, first, last, refused, says, _ = message
        sends = f", sends {refused}" if refused else ""
        print(f"  {role} on {first} to {last or 'now'}{sends}: {says or 'no error'}")
    return bool(compared.differences)


def _messages_file(measured_again: Sequence[Subject], said: Sequence[Sequence[str]]) -> str:
    again = {(*as_in_table(subject), subject.configuration) for subject in measured_again}
    known = [cells for _, cells in knowledge.shipped_rows(client_messages.FILE, client_messages.COLUMNS)]
    kept = [cells for cells in known if (cells[0], cells[1], cells[2]) not in again]
    return csv_text(client_messages.COLUMNS, sorted([*kept, *map(list, said)]))


def add_measured(wanted: Sequence[Subject], cache: Path, progress: Progress) -> list[Step]:
    """Measure these versions, each beside the newest one that is known, and add their rows to the package in use."""
    if not wanted:
        return []
    progress(f"starting a broker of {measured.measuring_release()}")
    steps = []
    try:
        with sandbox_broker.running(measured.measuring_release(), cache) as broker:
            run = functools.cache(functools.partial(measured.measure, broker=broker, cache=cache))
            for subject in progress.counted("measuring libraries", wanted):
                steps.append(_add(subject, run, cache))
                print(f"{subject.text}: {steps[-1].said if steps[-1].is_done else 'not added'}")
    except (NotInstalled, BrokerDidNotStart) as error:
        steps.append(Step("libraries", f"no broker to measure with: {error}", False))
    return steps


def _add(subject: Subject, run: _Measure, cache: Path) -> Step:
    name = newer.library_of(subject.program)
    try:
        new = run(subject)
        compared = library_rows.carried(name, new)
        if compared is None:
            compared = _beside_newest(name, new, measured_known(subject.program, name, run, cache))
    except (NotInstalled, NotFetched) as error:
        return Step(subject.text, f"could not be installed: {error}", False)
    if compared.for_a_person:
        return Step(subject.text, "for a person: " + "; ".join(compared.for_a_person), False)
    knowledge.use_package(brokers.base().with_texts(compared.texts))
    return Step(subject.text, "; ".join(compared.said), True)


def _beside_newest(name: str, new: Measured, known: Measured) -> Compared:
    """`known`: the newest version that is known."""
    compared = library_rows.compared(name, new, known)
    differs = [f"{known.subject.text}: {each}" for each in library_rows.beside_the_table(name, known)]
    said = (f"{len(new.sent)} APIs as {known.subject.text}", *compared.said, *differs)
    return replace(compared, said=said)


def measured_known(program: str, name: str, run: _Measure, cache: Path) -> Measured:
    """The newest version that is known, of a binding its own with the newest librdkafka. Where the registry lacks it, the
    newest that it has of those that are known. Raises NotInstalled or NotFetched.
    """
    version = newer.newest_known(name)
    if name == program:
        try:
            return run(Subject(program, version_text(name, version)))
        except NotInstalled:
            older = [
                each for each in newer.published(program, cache) if client_versions.parse(each) < version
            ]
            if not older:
                raise
            return run(Subject(program, older[-1]))
    inside = {own: client_versions.parse(text) for own, text in software.bindings()[program].items() if text}
    if not inside:
        raise NotInstalled(f"no known version of {program} has a known {name}")
    # Another binding may be known with a newer one: then rows since decide whether these two can be compared.
    newest = max(inside, key=lambda own: (inside[own], client_versions.parse(own)))
    return run(Subject(program, newest))
