"""Releases that the knowledge base does not have, from jars that a user names: added in memory, for this process alone."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from client_telemetry import knowledge
from client_telemetry.knowledge import UnusablePackage, broker_release, releases
from client_telemetry.knowledge.broker_release import UnusableJar
from client_telemetry.knowledge_package import brokers, feature_levels
from client_telemetry.knowledge_package.feature_levels import FEATURE_CLASS, UnusableServerJar


def add_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jar",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="kafka-clients jar of a release that the knowledge base does not have; with its kafka-server-common jar (another "
        "--jar) its feature levels are known too",
    )


def use(files: Sequence[Path]) -> list[str]:
    """Add the releases of these jars, and return a sentence about each. Raises UnusablePackage, in which case none is added."""
    before, of_levels = knowledge.in_use(), [file for file in files if _has_levels(file)]
    of_clients = [file for file in files if file not in of_levels]
    if len(of_levels) > 1 or (of_levels and len(of_clients) != 1):
        raise UnusablePackage(
            f"{of_levels[-1]}: name it with the kafka-clients jar of the same release, one of each"
        )
    try:
        levels = feature_levels.read(of_levels[0]) if of_levels else None
        return [_add(file, levels) for file in of_clients]
    except (UnusableJar, UnusableServerJar, releases.UnusableRelease) as error:
        knowledge.use(before)
        raise UnusablePackage(str(error)) from error


def _add(file: Path, levels: feature_levels.FeatureLevels | None) -> str:
    of_jar = broker_release.read_jar(file)
    if of_jar.release in releases.known():
        return f"Kafka {of_jar.release} is known without {file.name}."
    knowledge.use_package(brokers.base().extended(of_jar.release, broker_release.rewritten(of_jar, levels)))
    return f"Kafka {of_jar.release} was added from {file.name}, for this run alone; {releases.what_is_not_known(of_jar.release)}."


def _has_levels(file: Path) -> bool:
    try:
        with ZipFile(file) as jar:
            return FEATURE_CLASS in jar.namelist()
    except (BadZipFile, OSError):
        return False  # reading it as a kafka-clients jar says why
