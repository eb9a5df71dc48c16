"""Releases of frameworks, and of lists of versions (BOMs), of which it is not known yet which kafka-clients they bring or manage."""

import datetime as dt

from client_telemetry import knowledge
from client_telemetry.artefacts import frameworks
from client_telemetry.artefacts.frameworks import Frameworks
from client_telemetry.artefacts.packages import Unreadable
from client_telemetry.console.progress import Progress
from client_telemetry.knowledge import carried_versions, known_packages
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
    """Release -> version of kafka-clients, of those that are not known; and why POMs could not be read."""
    name = _coordinates(package)
    group, _, artefact = name.partition(":")
    published = repository.versions(group, artefact, "pom" if package.contains == MANAGES else "jar")
    look_up = read.managed if package.contains == MANAGES else read.brought
    found, unread = {}, {}
    for release in frameworks.stable(published):
        if carried_versions.library_version(_KIND, package.name, release):
            continue
        try:
            version = look_up(f"{name}:{release}")
        except (NotFetched, Unreadable) as error:
            unread[release] = str(error)
        else:
            if version:
                found[release] = version
    return found, unread


def _coordinates(package: KnownPackage) -> str:
    return package.name.replace("/", ":")
