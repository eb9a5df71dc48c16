"""What the changelogs of client libraries say of releases that the knowledge base does not have, for a person to read.

    client-telemetry knowledge changelogs [--library NAME …] [--since VERSION] [--cache FOLDER]

The changelog in the newest artefact of each library is compared with that of the newest known version. Lines that smell of
compatibility are printed; they are never a rule by themselves. Nothing is executed. Exit code 0; 1 if a changelog could not be read.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from client_telemetry.cli.user_cache import cache_folder
from client_telemetry.console.arguments import Arguments
from client_telemetry.console.counted import counted
from client_telemetry.console.progress import Progress
from client_telemetry.knowledge import client_versions
from client_telemetry.knowledge_package import store
from client_telemetry.knowledge_package.fetching import NotFetched
from client_telemetry.rehearsal import changelogs, newer
from client_telemetry.rehearsal.changelogs import NoChangelog
from client_telemetry.rehearsal.subjects import version_text
from client_telemetry.rehearsal.workplace import NotInstalled
from client_telemetry.reports.client_strings import shown

_MOST_LINES = 60


def main(arguments: Sequence[str] | None) -> int:
    parser = Arguments("knowledge changelogs", __doc__)
    names = [name for name in newer.programs() if name in changelogs.PACKAGES]
    parser.add_argument(
        "--library", action="append", choices=names, metavar="NAME", help=f"default: {', '.join(names)}"
    )
    parser.add_argument(
        "--since",
        type=_version,
        metavar="VERSION",
        help="of one --library: compare with this version instead of the newest known one",
    )
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="where artefacts are fetched to")
    args = parser.parse_args(arguments)
    if args.since and len(args.library or ()) != 1:
        parser.error("--since is about one library: name it with --library")
    store.activate()
    cache = cache_folder(args.cache, "rehearsal")
    failed = False
    with Progress("reading changelogs") as progress:
        for name in progress.counted("reading changelogs", args.library or names):
            try:
                lines = _compared(name, args.since, cache)
            except (NoChangelog, NotInstalled, NotFetched) as error:
                failed = True
                lines = [f"{name}: its changelog was not read: {error}"]
            print(*lines, sep="\n")
    return int(failed)


def _version(text: str) -> str:
    if newer.final([text]) != [text]:
        raise argparse.ArgumentTypeError(f"{text!r} is not an exact version, such as 2.16.1")
    return text


def _compared(name: str, since: str | None, cache: Path) -> list[str]:
    old = since or version_text(name, newer.newest_known(name))
    new = newer.published(name, cache)[-1]
    if client_versions.parse(new) <= client_versions.parse(old):
        return [f"{name}: nothing newer than {old}"]
    lines = changelogs.new_lines(
        changelogs.changelog(name, old, cache), changelogs.changelog(name, new, cache)
    )
    if not lines:
        return [f"{name} {old} to {new}: its changelog says nothing about these versions"]
    smelling = [line for line in lines if changelogs.smells(line)]
    said = f"{name} {old} to {new}: {counted(len(lines), 'new line')} in its changelog, {len(smelling)} about compatibility"
    more = len(smelling) - _MOST_LINES
    return [
        f"{said}{':' if smelling else ''}",
        *(f"  {shown(line)}" for line in smelling[:_MOST_LINES]),
        *([f"  and {more} more"] if more > 0 else []),
    ]
