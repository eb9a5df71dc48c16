"""The knowledge base as a data package: what is in use, what changed, and newer ones.

    client-telemetry knowledge show                     version, date and age, newest releases and libraries
    client-telemetry knowledge update --from URL        use a newer package: a URL, folder or file
    client-telemetry knowledge verify [PACKAGE]         signature, digests and contents
    client-telemetry knowledge diff OLD NEW             what changed, in sentences
    client-telemetry knowledge check FOLDER             a folder of one's own rows, and what they override
    client-telemetry knowledge configuration --from RELEASE --to RELEASE    keys and defaults of brokers that differ
    client-telemetry knowledge metrics --from RELEASE --to RELEASE    metrics of brokers that are gone or new
    client-telemetry knowledge build --out FILE         a package from the artefacts of releases
    client-telemetry knowledge newer                    versions of libraries that are published and not known
    client-telemetry knowledge measure NAME==VERSION    what a library sends to older brokers, and says when refused
    client-telemetry knowledge changelogs               what changelogs say of those, for a person to read
    client-telemetry knowledge key FILE                 a new signing key

docs/knowledge.md describes packages, keys and where they are kept. Exit code 0; 2 for what cannot be used, with one line
that says why, and nothing changed.
"""

import argparse
import datetime as dt
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from client_telemetry import knowledge
from client_telemetry.compatibility import own_knowledge
from client_telemetry.console.arguments import Arguments
from client_telemetry.console.refusal import Main, refuses
from client_telemetry.knowledge import (
    DamagedKnowledge,
    Package,
    UnusablePackage,
    age,
    broker_configuration,
    checked,
    releases,
    target_profiles,
)
from client_telemetry.knowledge_package import (
    differences,
    fetching,
    package_files,
    shipped,
    signatures,
    store,
)
from client_telemetry.knowledge_package.signatures import UnusableKey

URL = "CLIENT_TELEMETRY_KNOWLEDGE_URL"
"""Environment variable: where `update` looks without --from."""
SHIPPED = "shipped"
"""In place of a package: the files that ship with the program."""


def show(arguments: Sequence[str] | None) -> int:
    parser = Arguments(
        "knowledge show", "Version, date and age of the knowledge base in use, and what is newest in it."
    )
    parser.parse_args(arguments)
    store.activate()
    package, place = knowledge.in_use().package, store.location()
    print(f"{age.in_use()} ({package.origin if package else 'ships with the program'})")
    known = releases.known()
    newest_of_lines = {releases.line(release): release for release in known}
    print(
        f"Kafka: {len(known)} releases, {known[0]} to {known[-1]}; newest of each line: {', '.join([*newest_of_lines.values()][:-7:-1])}"
    )
    for release, what in releases.unreviewed().items():
        print(f"  not known for {release}: {what}")
    if without := broker_configuration.not_known_for(*known):
        print(f"  broker configuration not known for {', '.join(without)}")
    print(checked.sentence(checked.shipped(), dt.datetime.now(dt.UTC).date()))
    print("Libraries, newest version known:")
    texts = knowledge.texts()
    for name, version in sorted(differences.newest_libraries(texts).items()):
        print(f"  {name} {version}")
    for name, version in sorted(differences.newest_bindings(texts).items()):
        print(f"  {name} (binding) {version}")
    print("Profiles of brokers, which can be named where a release can (docs/probe.md):")
    for profile in target_profiles.known():
        print(f"  {profile.name}: {profile.product if profile.version else 'nothing is known'}")
    print(
        f"Kept at: {place or 'nowhere (pip install client-telemetry[knowledge])'}{'' if place and place.exists() else ' (nothing there)'}"
    )
    if warning := age.warning(knowledge.built_at(), dt.datetime.now(dt.UTC)):
        print(warning, file=sys.stderr)
    return 0


def check(arguments: Sequence[str] | None) -> int:
    return own_knowledge.main(arguments, "knowledge check")


def diff(arguments: Sequence[str] | None) -> int:
    parser = Arguments("knowledge diff", "What changed between two knowledge bases, in sentences.")
    where = f"package (folder, file or URL), or {SHIPPED}"
    parser.add_argument("old", metavar="OLD", help=where)
    parser.add_argument("new", metavar="NEW", help=where)
    args = parser.parse_args(arguments)
    old, new = (_texts(each) for each in (args.old, args.new))
    for sentence in differences.sentences(old, new) or ["Nothing changed."]:
        print(sentence)
    return 0


def _texts(named: str) -> dict[str, str]:
    if named == SHIPPED:
        return knowledge.shipped_texts()
    package = package_files.load(fetching.package(named))
    return {file: package.text(file) for file in package.names()}


def verify(arguments: Sequence[str] | None) -> int:
    parser = Arguments(
        "knowledge verify", "Whether a package is whole, signed by a trusted key, and can be used."
    )
    parser.add_argument(
        "package", metavar="PACKAGE", nargs="?", help="folder, file or URL; default: the one in use"
    )
    _add_trust(parser)
    args = parser.parse_args(arguments)
    place = store.location()
    named = args.package or (str(place) if place and place.exists() else SHIPPED)
    if named == SHIPPED:
        return _verify_shipped()
    files = fetching.package(named)
    more = signatures.keys_of(args.trust) if args.trust else store.kept_keys(place) if place else []
    signer = signatures.verify(files, signatures.trusted(more))
    _try(package_files.load(files))
    print(
        f"{named}: {len(files.manifest.sha256)} files, built {files.manifest.built_at:%Y-%m-%d %H:%M} UTC, signed by {signer}"
    )
    return 0


def _verify_shipped() -> int:
    manifest = shipped.manifest()
    now = package_files.manifest_of(knowledge.shipped_texts(), manifest.built_at, manifest.sources)
    changed = sorted(
        name for name in {*now.sha256, *manifest.sha256} if now.sha256.get(name) != manifest.sha256.get(name)
    )
    if changed:
        raise UnusablePackage(f"the shipped knowledge base differs from its manifest: {', '.join(changed)}")
    print(
        f"ships with the program: {len(now.sha256)} files as its manifest says, of {manifest.built_at:%Y-%m-%d}; not signed"
    )
    return 0


def update(arguments: Sequence[str] | None) -> int:
    parser = Arguments("knowledge update", "Use a newer knowledge base.")
    parser.add_argument(
        "--from", dest="source", metavar="URL|FOLDER|FILE", help=f"the package; default: {URL}"
    )
    parser.add_argument("--offline", action="store_true", help="open no connection")
    _add_trust(parser)
    args = parser.parse_args(arguments)
    source = args.source or os.environ.get(URL, "")
    if not source:
        raise UnusablePackage(f"specify where from: --from URL, FOLDER or FILE, or set {URL}")
    files = fetching.package(source, args.offline)
    place = store.location()
    more = [
        *(signatures.keys_of(args.trust) if args.trust else ()),
        *(store.kept_keys(place) if place else ()),
    ]
    signatures.verify(files, signatures.trusted(more))
    package = package_files.load(files)
    _activate_if_usable()
    built_at, version, before = knowledge.built_at(), knowledge.version(), age.in_use()
    if package.built_at < built_at:
        raise UnusablePackage(
            f"{source}: of {package.built_at:%Y-%m-%d %H:%M}, older than the one in use ({built_at:%Y-%m-%d %H:%M}): nothing changed"
        )
    in_use = knowledge.in_use().package
    if in_use and in_use.compressed == package.compressed and package.built_at == built_at:
        print(f"{before}: already in use")
        return 0
    old = knowledge.texts()
    _try(package)
    place = store.install(files, args.trust)
    changes = differences.sentences(old, knowledge.texts())
    print(f"{age.in_use()}: kept at {place} (before: {version})")
    print(
        f"{len(changes)} change{'s' * (len(changes) != 1)}{'' if changes else ' of what is known'}; client-telemetry knowledge diff {SHIPPED} {place}"
    )
    return 0


def _activate_if_usable() -> None:
    """A kept package that cannot be used is what an update mends."""
    try:
        store.activate()
    except (UnusablePackage, UnusableKey) as error:
        print(f"client-telemetry knowledge update: in use until now: {error}", file=sys.stderr)
        knowledge.use_package(None)


def _try(package: Package) -> None:
    """Use the package if every module can read its files; else what was in use stays. Raises UnusablePackage."""
    previous = knowledge.in_use()
    knowledge.use_package(package)
    try:
        own_knowledge.check()
    except (DamagedKnowledge, ValueError) as error:
        knowledge.use(previous)
        raise UnusablePackage(f"{package.origin}: {error}") from error


def key(arguments: Sequence[str] | None) -> int:
    parser = Arguments("knowledge key", "A new signing key for packages of your own; prints its public key.")
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="where to write the signing key (PEM); must not exist"
    )
    args = parser.parse_args(arguments)
    try:
        print(signatures.new_key(args.file))
    except FileExistsError:
        raise UnusableKey(f"{args.file} exists: name another file") from None
    return 0


def _add_trust(parser: Arguments) -> None:
    parser.add_argument("--trust", metavar="KEY", help="public key to trust too, or a file of them")


def _imported(module: str, function: str = "main") -> Main:
    """A command of another module, which is imported when it is run."""

    def run(arguments: Sequence[str] | None) -> int:
        command: Main = getattr(importlib.import_module(f"client_telemetry.cli.{module}"), function)
        return command(arguments)

    return run


COMMANDS: Mapping[str, tuple[Main, str]] = {
    "show": (show, "version, date and age, newest releases and libraries"),
    "check": (check, "check a folder of your own rows, and say what they override"),
    "diff": (diff, "what changed between two packages, in sentences"),
    "verify": (verify, "signature, digests and contents of a package"),
    "update": (update, "use a newer package: from a URL, folder or file"),
    "configuration": (
        _imported("knowledge_configuration"),
        "configuration keys and defaults of brokers that differ between releases",
    ),
    "metrics": (_imported("knowledge_metrics"), "metrics of brokers that are gone or new between releases"),
    "build": (_imported("knowledge_build"), "build a package from the artefacts of releases"),
    "newer": (
        _imported("knowledge_measure", "list_newer"),
        "versions of client libraries that registries have and no package knows",
    ),
    "measure": (
        _imported("knowledge_measure", "measure"),
        "what versions of libraries send to older brokers, and say when refused: runs them",
    ),
    "changelogs": (
        _imported("knowledge_changelogs"),
        "what changelogs say of these versions, for a person to read",
    ),
    "key": (key, "make a signing key"),
}


def main(argv: Sequence[str] | None = None) -> int:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:<{width}}  {summary}" for name, (_, summary) in COMMANDS.items())
    parser = Arguments("knowledge", __doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description, parser.epilog = (
        f"{parser.description}\n\n{commands}",
        "knowledge COMMAND --help lists its arguments.",
    )
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...")
    args = parser.parse_args(argv)
    return refuses(f"knowledge {args.command}")(COMMANDS[args.command][0])(args.arguments)
