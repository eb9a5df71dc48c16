"""The feature levels of a release (KIP-584, KIP-1022), from the enums in its kafka-server-common jar.

`Feature` names the features that a broker has since 4.0, each with the enum of its levels; `MetadataVersion` has those of
metadata.version. The highest level is the last constant, also if it is meant for tests; a new cluster gets the newest one
that is not above LATEST_PRODUCTION and whose bootstrap metadata version is not above the newest production one
(`Feature.defaultLevel`).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile, ZipFile

from client_telemetry import Unusable
from client_telemetry.knowledge import features
from client_telemetry.knowledge.features import Levels
from client_telemetry.knowledge_package.class_file import ClassFile, Step, UnreadableClass

_PACKAGE = "org/apache/kafka/server/common/"
FEATURE_CLASS = f"{_PACKAGE}Feature.class"
FeatureLevels = Mapping[str, Levels]
_LATEST, _LOWEST = "LATEST_PRODUCTION", "MINIMUM_VERSION"


class UnusableServerJar(Unusable):
    """Not the kafka-server-common jar of a release since 4.0, or its features are not written as they have been so far."""


class _Level(NamedTuple):
    level: int
    needs: str | None
    """Constant of MetadataVersion."""


class _Enum(NamedTuple):
    levels: dict[str, _Level]
    """Constant -> level."""
    aliases: dict[str, str]
    """LATEST_PRODUCTION and the like -> the constant."""

    def level(self, alias: str) -> int:
        return self.levels[self.aliases.get(alias, alias)].level


def read(path: Path) -> dict[str, Levels]:
    """Feature -> levels, `metadata.version` first. Raises UnusableServerJar."""
    try:
        with ZipFile(path) as jar:
            metadata = _enum(_steps(jar, "MetadataVersion"))
            levels = {
                features.METADATA_VERSION: Levels(
                    metadata.level(_LOWEST),
                    max(level.level for level in metadata.levels.values()),
                    metadata.level(_LATEST),
                )
            }
            for name, of_feature in _features(_steps(jar, "Feature")).items():
                levels[name] = _of_feature(_enum(_steps(jar, of_feature)), metadata)
    except (BadZipFile, OSError, LookupError, UnreadableClass, ValueError) as error:
        raise UnusableServerJar(
            f"{path}: no feature levels of a release since 4.0 can be read: {error}"
        ) from error
    return levels


def _steps(jar: ZipFile, name: str) -> list[Step]:
    return ClassFile(jar.read(f"{_PACKAGE}{name}.class")).static_steps()


def _features(steps: list[Step]) -> dict[str, str]:
    """Name of a feature that is meant for production -> the class of its levels."""
    classes, name = {}, ""
    for step in steps:
        if step.kind == "push" and isinstance(step.value, str) and step.value.endswith(".version"):
            name = step.value
        elif step.kind == "call" and step.name == "values" and name and "test." not in name:
            classes[name] = step.owner.removeprefix(_PACKAGE)
            name = ""
    return classes


def _enum(steps: list[Step]) -> _Enum:
    """The constants of an enum: each is made from its name, its place, its level and perhaps a metadata version."""
    enum = _Enum({}, {})
    pushed: list[int | str | None] = []
    needs: str | None = None
    previous: Step | None = None
    for step in steps:
        if step.kind == "new":
            pushed, needs = [], None
        elif step.kind == "push":
            pushed.append(step.value)
        elif step.kind == "get" and step.owner.endswith("/MetadataVersion") and pushed:
            needs = needs or step.name  # what follows are the features that it depends on
        elif step.kind == "put" and previous is not None:
            if previous.kind == "get":
                enum.aliases[step.name] = previous.name
            elif pushed and pushed[0] == step.name and isinstance(pushed[2], int):
                enum.levels[step.name] = _Level(pushed[2], needs)
                pushed = []
        previous = step
    return enum


def _of_feature(enum: _Enum, metadata: _Enum) -> Levels:
    production, newest_metadata = enum.level(_LATEST), metadata.level(_LATEST)
    default = max(
        (
            level.level
            for level in enum.levels.values()
            if level.level <= production
            and (level.needs is None or metadata.level(level.needs) <= newest_metadata)
        ),
        default=0,
    )
    return Levels(0, max(level.level for level in enum.levels.values()), default)
