"""Releases of frameworks, and of lists of versions (BOMs), of which it is not known yet which kafka-clients they bring or manage."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence

from client_telemetry import knowledge
from client_telemetry.artefacts import frameworks
from client_telemetry.artefacts.frameworks import Frameworks
from client_telemetry.artefacts.packages import Unreadable
from client_telemetry.console.counted import counted
from client_telemetry.console.progress import Progress
from client_telemetry.knowledge import carried_versions, client_versions, known_packages
from client_telemetry.knowledge.known_packages import BRINGS, MANAGES, KnownPackage
from client_telemetry.knowledge_package import brokers
from client_telemetry.knowledge_package.artefacts import MavenRepository
from client_telemetry.knowledge_package.brokers import Step
from client_telemetry.knowledge_package.fetching import NotFetched

_KIND = "maven"


def add_carried(repository: MavenRepository, progress: Progress) -> list[Step]:
    """Read the POMs of releases that are published and not known, and add what they say to the package in use."""
    packages = [
        each for each in known_packages.every() if each.type == _KIND and each.contains in (BRINGS, MANAGES)
    ]
    progress("asking for the releases of frameworks")
    published, steps = _published(packages, repository)
    found = {}
    for name, (versions, unread) in _carried_by_all(packages, published, repository, progress).items():
        steps += [Step(pom, why, False) for pom, why in unread.items()]
        if versions:
            found[name] = versions
            said = f"kafka-clients of {counted(len(versions), 'release')}"
            steps.append(Step(name.replace("/", ":"), said, True))
            print(f"{steps[-1].release}: {said}")
    if found:
        text = frameworks.rewritten(found, f"{dt.datetime.now(dt.UTC):%Y-%m-%d}")
        knowledge.use_package(brokers.base().with_texts({carried_versions.FILE: text}))
    return steps


def _published(
    packages: Sequence[KnownPackage], repository: MavenRepository
) -> tuple[dict[str, list[str]], list[Step]]:
    """Name of a package -> its releases; and the packages whose releases cannot be listed."""
    repository.fetch_lists([_coordinates(each) for each in packages])
    published, failed = {}, []
    for package in packages:
        try:
            published[package.name] = frameworks.stable(
                repository.versions(*_coordinates(package).split(":"))
            )
        except NotFetched as error:
            failed.append(Step(_coordinates(package), str(error), False))
    return published, failed


def _carried_by_all(
    packages: Sequence[KnownPackage],
    published: Mapping[str, Sequence[str]],
    repository: MavenRepository,
    progress: Progress,
) -> dict[str, tuple[dict[str, str], dict[str, str]]]:
    """Name of a package -> `_carried`. Which parents and lists a POM needs shows only when it is read: what all of them lack is fetched
    at once, and all are read again, until nothing is missing that was not fetched for.
    """
    not_there: set[str] = set()

    def pom(coordinates: str) -> str:
        try:
            return repository.pom(coordinates)
        except NotFetched:
            not_there.add(coordinates)
            raise

    read = Frameworks(pom, [_coordinates(each) for each in packages if each.contains == BRINGS])
    fetched: set[str] = set()
    while True:
        not_there.clear()
        carried = {
            each.name: _carried(each, published[each.name], read)
            for each in packages
            if each.name in published
        }
        if not (missing := not_there - fetched):
            return carried
        progress(f"fetching {counted(len(missing), 'POM')} of frameworks")
        repository.fetch_poms(missing)
        fetched |= missing


def _carried(
    package: KnownPackage, published: Sequence[str], read: Frameworks
) -> tuple[dict[str, str], dict[str, str]]:
    """Release -> version of kafka-clients, of those that are not known; and POMs that could not be read -> why. Where nothing is known
    of a package, and its newest release says nothing, its older ones are not read: most of the builds would be spent on them.
    """
    known = [each for each in published if carried_versions.library_version(_KIND, package.name, each)]
    look_up = read.managed if package.contains == MANAGES else read.brought
    found: dict[str, str] = {}
    unread: dict[str, str] = {}
    for release in newer_releases(published, known):
        coordinates = f"{_coordinates(package)}:{release}"
        try:
            version = look_up(coordinates)
        except (NotFetched, Unreadable) as error:
            unread[coordinates], version = str(error), None
        if version:
            found[release] = version
        elif not known and not found:
            break
    return found, unread


def newer_releases(published: Iterable[str], known: Sequence[str]) -> list[str]:
    """Newest first: the releases that are newer than those that are known, of their line or of all. What is older was read before and
    says nothing.

    >>> newer_releases(["3.1.9", "3.2.0", "3.2.1", "3.2.2", "3.0.5", "4.0.0"], ["3.1.9", "3.2.1"])
    ['4.0.0', '3.2.2']
    """
    newest_of_lines: dict[tuple[int, ...], tuple[int, ...]] = {}
    for release in sorted(known, key=client_versions.parse):
        newest_of_lines[_line(release)] = client_versions.parse(release)
    newest = max(newest_of_lines.values(), default=())
    return sorted(
        (
            each
            for each in published
            if client_versions.parse(each) > newest_of_lines.get(_line(each), newest)
        ),
        key=client_versions.parse,
        reverse=True,
    )


def _line(release: str) -> tuple[int, ...]:
    return client_versions.parse(release)[:2]


def _coordinates(package: KnownPackage) -> str:
    return package.name.replace("/", ":")
