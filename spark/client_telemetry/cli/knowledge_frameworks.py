"""Releases of frameworks, and of lists of versions (BOMs), of which it is not known yet which kafka-clients they bring or manage."""

import datetime as dt
from collections.abc import Iterable, Sequence

from client_telemetry import knowledge
from client_telemetry.artefacts import frameworks
from client_telemetry.artefacts.frameworks import Frameworks
from client_telemetry.artefacts.packages import Unreadable
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
    brings = [_coordinates(each) for each in packages if each.contains == BRINGS]
    read = Frameworks(repository.pom, brings)
    found: dict[str, dict[str, str]] = {}
    steps = []
    for package in progress.counted("reading POMs of frameworks", packages):
        try:
            versions, unread = _carried(package, read, repository)
        except NotFetched as error:
            steps.append(Step(_coordinates(package), str(error), False))
            continue
        steps += [Step(f"{_coordinates(package)}:{release}", why, False) for release, why in unread.items()]
        if versions:
            found[package.name] = versions
            steps.append(Step(_coordinates(package), f"kafka-clients of {len(versions)} releases", True))
            print(f"{_coordinates(package)}: {steps[-1].said}")
    if found:
        text = frameworks.rewritten(found, f"{dt.datetime.now(dt.UTC):%Y-%m-%d}")
        knowledge.use_package(brokers.base().with_texts({carried_versions.FILE: text}))
    return steps


def _carried(
    package: KnownPackage, read: Frameworks, repository: MavenRepository
) -> tuple[dict[str, str], dict[str, str]]:
    """Release -> version of kafka-clients, of those that are not known; and why POMs could not be read. Where nothing is known of a
    package, and its newest release says nothing, its older ones are not read: most of the builds would be spent on them.
    """
    name = _coordinates(package)
    group, _, artefact = name.partition(":")
    published = frameworks.stable(repository.versions(group, artefact))
    known = [each for each in published if carried_versions.library_version(_KIND, package.name, each)]
    look_up = read.managed if package.contains == MANAGES else read.brought
    found: dict[str, str] = {}
    unread: dict[str, str] = {}
    for release in newer_releases(published, known):
        try:
            version = look_up(f"{name}:{release}")
        except (NotFetched, Unreadable) as error:
            unread[release], version = str(error), None
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
