"""Files and folders in, the Kafka clients that they name out, each with its verdict."""

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from client_telemetry.artefacts import diffs, files, libraries, named_images, subject_files, tree
from client_telemetry.artefacts.binaries import images
from client_telemetry.artefacts.found import ForDevelopment, Found, Judged, Result, Unread, worst_first
from client_telemetry.artefacts.judged import of as judged_of
from client_telemetry.artefacts.libraries import Client
from client_telemetry.artefacts.named_images import NamedImage
from client_telemetry.artefacts.owners import Owner
from client_telemetry.artefacts.packages import UNREAD, Package, Place, Unreadable
from client_telemetry.artefacts.readers import purposes
from client_telemetry.artefacts.surroundings import Surroundings, folders
from client_telemetry.identity.owners import OwnerRule

_CONNECT = "org.apache.kafka/connect-runtime"


def scan(
    paths: Sequence[Path],
    source: str,
    target: str,
    rules: Sequence[OwnerRule] = (),
    exclude: Sequence[str] = (),
) -> Result:
    """`rules`: owner rules of the user; `exclude`: as in tree.files. Raises OSError for a path that does not exist or cannot be read."""
    result, images = Result(), list[NamedImage]()
    for given in paths:
        surroundings, named = Surroundings(), []
        by_name: dict[str, tree.File] = {}
        for file in tree.files(given, exclude):
            if clients := _clients(file, result):
                named += clients
                by_name[file.shown] = file
            surroundings.add(file)
            images += _images(file, result)
        result.settings += surroundings.settings
        for place, client in _resolved(named):
            if client.package.development:
                result.development.append(ForDevelopment(place, client))
                continue
            code_seen = surroundings.code_seen(place.file, client.library)
            judged = judged_of(client, source, target, code_seen)
            owner = surroundings.owner(place.file, rules) or Owner("", "")
            diff = _diff(by_name[place.file], client, judged)
            is_connect = place.file in result.connect
            result.found.append(
                Found(place, client, judged, owner.name, owner.source, diff, is_connect, code_seen)
            )
    result.found.sort(key=worst_first)
    result.development.sort(key=lambda each: (each.place.file, each.place.line or 0))
    if images:
        result.images = list(named_images.unread(images, _read_images(result)))
    return result


def _read_images(result: Result) -> set[str]:
    """Names of the images that were read themselves, or whose SBOM was."""
    return {
        name for file in result.files if (subject := subject_files.of_file(file)) for name in subject.names
    }


def _images(file: tree.File, result: Result) -> list[NamedImage]:
    if not named_images.is_read(file.path, file.size):
        return []
    try:
        return list(
            named_images.read(file.path, file.shown, file.text(), lambda path: tree.beside(file, path))
        )
    except Unreadable as error:
        result.unread.append(Unread(file.shown, str(error)))
        return []


def _diff(file: tree.File, client: Client, judged: Judged) -> str:
    if not judged.fix or not client.package.editable:
        return ""
    try:
        return diffs.of(
            client, judged.fix, file.shown.removeprefix("./").lstrip("/"), file.text().splitlines()
        )
    except Unreadable:
        return ""


def _clients(file: tree.File, result: Result) -> list[tuple[Place, Client]]:
    try:
        packages = _packages(file)
    except Unreadable as error:
        if file.given or not isinstance(error, images.NoImage):
            result.unread.append(Unread(file.shown, str(error)))
        return []
    if packages is None:
        return []
    result.files.append(file)
    if any(package.type == "maven" and package.name == _CONNECT for package in packages):
        result.connect.add(file.shown)
    result.unread += [
        Unread(str(Place(file.shown, inside=package.inside)), package.why_unknown, file.shown)
        for package in packages
        if package.type == UNREAD
    ]
    return [
        (Place(file.shown, package.line, package.inside), client) for package, client in _of_file(packages)
    ]


def named_in(file: tree.File) -> list[tuple[Package, Client]] | None:
    """The Kafka clients that a file names; None for a file that names no packages at all. Raises Unreadable."""
    packages = _packages(file)
    return None if packages is None else list(_of_file(packages))


def _packages(file: tree.File) -> list[Package] | None:
    if read_binary := files.of_binary(file.path, file.beginning):
        with file.open() as opened:
            return list(read_binary(opened, lambda path: tree.open_beside(file, path)))
    reader = _reader(file)
    if reader is None:
        return None
    text = file.source() if files.may_be_script(file.path) else file.text()
    return list(reader(text, lambda path: tree.beside(file, path)))


def _reader(file: tree.File) -> files.Reader | None:
    """None for a file that names no packages."""
    if reader := files.by_name(file.path):
        return reader
    if not file.given and not files.beginning_decides(file.path):
        return None
    beginning = file.beginning().decode("utf-8", "replace")
    reader = files.of_any(file.path, beginning) if file.given else files.by_beginning(file.path, beginning)
    if reader is None and file.given:
        raise Unreadable("no lock file, manifest, SBOM, archive or image that is known here")
    return reader


def _of_file(packages: Sequence[Package]) -> Iterator[tuple[Package, Client]]:
    """The clients of one file, those of the application before others that only development has: these decide nothing for it."""
    application = list(_each_once(package for package in packages if not package.development))
    yield from application
    known = {(client.library, client.text) for _, client in application}
    for package, client in _each_once(package for package in packages if package.development):
        if (client.library, client.text) not in known:
            yield package, client


def _each_once(packages: Iterable[Package]) -> Iterator[tuple[Package, Client]]:
    """A library that is named itself says more than what brings it along, and one that is packaged more than what a platform is to
    provide.
    """
    clients = _with_own_librdkafka(
        [(package, client) for package in packages if (client := libraries.of(package))]
    )
    brought = {client.library: package.line for package, client in reversed(clients) if not client.itself}
    named: dict[str, set[str]] = defaultdict(set)
    for package, client in clients:
        if client.itself and client.written and not (package.managed and client.library not in brought):
            named[client.library].add(client.written.version)
    packaged = {client.library for package, client in clients if client.itself and not package.doubt}
    done = set()
    for package, client in sorted(clients, key=_surest_first):
        if package.doubt and client.library in packaged:
            continue
        if package.managed and client.library not in brought:
            continue
        if package.managed and package.line is None:
            package = replace(package, line=brought[client.library])
        if not client.itself and (client.library in named or (named and not client.library)):
            continue
        if client.written is None and client.itself and package.type == "cargo" and client.library in named:
            continue
        key = (client.library, client.written.version) if client.written else (package.name, package.inside)
        if key not in done:
            done.add(key)
            yield package, client


def _with_own_librdkafka(clients: list[tuple[Package, Client]]) -> list[tuple[Package, Client]]:
    """A binding whose librdkafka is a package of its own in the same list has the version of that, not the one it was released
    with. So has one that was linked to the librdkafka of the system.
    """
    native = {
        (package.type, client.written.version)
        for package, client in clients
        if client.written and (package.type, package.name) in _NATIVE
    }
    versions = dict(native)
    of_system = {
        client.written.version if client.written else ""
        for package, client in clients
        if package.type in _OF_SYSTEM and client.library == _LIBRDKAFKA and client.itself
    }
    return [
        (package, client.with_system_version(of_system))
        if package.without_librdkafka
        else (package, client.with_own_version(versions[package.type]))
        if package.type in versions and len(native) == len(versions)
        else (package, client)
        for package, client in clients
    ]


_LIBRDKAFKA = "librdkafka"
_OF_SYSTEM = frozenset(("deb", "apk", "rpm", "conda", "generic"))
_NATIVE = {("cargo", "rdkafka-sys"), ("nuget", "librdkafka.redist")}


def _surest_first(pair: tuple[Package, Client]) -> tuple[bool, bool, bool, int]:
    package, client = pair
    binding = bool(client.written and client.written.binding)
    return not client.itself, not binding, bool(client.may_differ), package.line or 0


_SHARED_LOCKS = frozenset(("npm", "cargo", "nuget"))
"""Package managers of which one lock file, or list of versions, is for the projects in all folders below it."""


def _resolved(named: list[tuple[Place, Client]]) -> Iterator[tuple[Place, Client]]:
    """Without what a manifest declares where a lock file says what is installed, and with what the names of files say."""
    certain = {
        (posixpath.dirname(place.file), client.package.type, client.library)
        for place, client in named
        if not (client.package.development or client.package.by_itself or _doubt_of_file(place, client))
    }
    of_scripts = [(place, client) for place, client in named if client.package.by_itself]
    yield from _without_locked(of_scripts)
    for place, client in _locked_first([each for each in named if not each[1].package.by_itself]):
        if (doubt := _doubt_of_file(place, client)) and not client.package.development:
            near = [(folder, client.package.type, client.library) for folder in list(folders(place.file))[:2]]
            if certain.intersection(near):
                package = replace(client.package, development=f"by the name of the file; {_OTHER_FILE}")
                client = replace(client, package=package)
            else:
                client = libraries.of(replace(client.package, doubt=doubt)) or client
        yield place, client


def _without_locked(of_scripts: list[tuple[Place, Client]]) -> Iterator[tuple[Place, Client]]:
    """What scripts and notebooks install, or the lock file that is a script's own."""
    installed = {(place.file, client.package.name) for place, client in of_scripts}
    for place, client in of_scripts:
        if (f"{place.file}.lock", client.package.name) not in installed:
            yield place, client


_OTHER_FILE = "another one has what the application installs"


def _doubt_of_file(place: Place, client: Client) -> str:
    if client.package.type not in ("pypi", "conda"):
        return ""
    return purposes.of_file_name(posixpath.basename(place.file))


def _locked_first(named: list[tuple[Place, Client]]) -> Iterator[tuple[Place, Client]]:
    """Without what a manifest declares where a lock file says what is installed: one in its folder or, for workspaces,
    above it. It says so too of a client that the declared package brings along. What a lock file has for development says nothing of
    what is declared for the application.
    """
    locked: dict[bool, set[tuple[str, str, str]]] = {True: set(), False: set()}
    installed: dict[bool, set[tuple[str, str, str]]] = {True: set(), False: set()}
    for place, client in named:
        if not client.package.declared_only and client.package.version:
            folder, kind = posixpath.dirname(place.file), client.package.type
            purposes_of_it = (True,) if client.package.development else (True, False)
            for for_development in purposes_of_it:
                locked[for_development].add((folder, kind, client.package.name))
                if client.itself and client.library:
                    installed[for_development].add((folder, kind, client.library))
    for place, client in named:
        package = client.package
        where = list(folders(place.file))
        if package.version is not None or package.type not in _SHARED_LOCKS:
            where = where[:1]
        by_name = {(folder, package.type, package.name) for folder in where}
        development = bool(package.development)
        # Of what brings one of several libraries, any that is installed may be the one.
        is_brought = not client.itself and any(
            folder in where and kind == package.type and client.library in (library, "")
            for folder, kind, library in installed[development]
        )
        if package.declared_only and (by_name & locked[development] or is_brought):
            continue
        yield place, client
