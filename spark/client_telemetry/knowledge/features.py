"""Features of KRaft clusters (KIP-584): their levels by release, and the request versions that depend on a level.

A level is finalized for the whole cluster. New brokers keep the old levels until somebody raises them (`kafka-features
upgrade`), so the first days after an upgrade run on the new release with the old levels.
"""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import NamedTuple

from client_telemetry import Unusable
from client_telemetry.knowledge import (
    DamagedKnowledge,
    apis,
    measured_target,
    releases,
    rows,
    whole,
)

FILE = "broker_features.csv"
COLUMNS = ("release_from", "release_to", "feature", "min_level", "max_level", "default_level", "source")
APIS_FILE = "feature_api_versions.csv"
APIS_COLUMNS = (
    "feature",
    "level",
    "release_from",
    "release_to",
    "api_key",
    "api_name",
    "min_version",
    "max_version",
    "source",
)
METADATA_VERSION = "metadata.version"


class UnusableFeatures(Unusable):
    """A feature or level that the release does not have; the message lists what it has."""


class Levels(NamedTuple):
    min: int
    max: int
    """The highest level that brokers support, including levels meant for tests."""
    default: int
    """What a new cluster of the release gets, and `kafka-features upgrade --release-version`."""


class Gate(NamedTuple):
    """Request versions that brokers always advertise but refuse (UNSUPPORTED_VERSION) below a feature level."""

    feature: str
    level: int
    api_key: int
    min_version: int
    max_version: int
    source: str


@cache
def supported() -> dict[str, dict[str, Levels]]:
    """Release -> feature -> levels that its brokers support. Releases before 3.3 have none; one of which the levels are not
    known has at least those of the release before it: no release has ever lowered a highest level (KIP-584).
    """
    by_release = dict(_listed())
    levels: dict[str, Levels] = {}
    for release in releases.known():
        levels = by_release.setdefault(release, levels) if levels else by_release.get(release, levels)
    return by_release


def are_known(release: str) -> bool:
    """Whether the levels of a release stand in the file, or it is one of those before features."""
    if measured_target(release) or release in _listed():
        return True
    return all(releases.parse(release) < releases.parse(each) for each in _listed())


@cache
def _listed() -> dict[str, dict[str, Levels]]:
    by_release: dict[str, dict[str, Levels]] = {}
    for line, (first, last, feature, *numbers, source) in rows(FILE, COLUMNS):
        levels = Levels(
            *(whole(FILE, line, column, text) for column, text in zip(COLUMNS[3:6], numbers, strict=True))
        )
        if not levels.min <= levels.default <= levels.max or not source:
            raise DamagedKnowledge(
                FILE, line, "levels are a range with its default, and a source is required"
            )
        for release in sorted(releases.between_cells(FILE, line, first, last), key=releases.parse):
            if feature in by_release.setdefault(release, {}):
                raise DamagedKnowledge(FILE, line, f"{feature} of {release} occurs twice")
            by_release[release][feature] = levels
    return by_release


@cache
def of(release: str) -> Mapping[str, Levels]:
    """Feature -> levels that brokers of a release support; of a measured target, with its finalized level as the default."""
    target = measured_target(release)
    if target:
        return {name: Levels(*levels) for name, levels in target.features.items()}
    return supported().get(release, {})


@cache
def _gates() -> dict[str, tuple[Gate, ...]]:
    """Release -> its gates."""
    gates: dict[str, tuple[Gate, ...]] = {}
    for line, (feature, level, first, last, key, api_name, low, high, source) in rows(
        APIS_FILE, APIS_COLUMNS
    ):
        gate = Gate(
            feature,
            whole(APIS_FILE, line, "level", level),
            apis.key_of(APIS_FILE, line, key, api_name),
            whole(APIS_FILE, line, "min_version", low),
            whole(APIS_FILE, line, "max_version", high),
            source,
        )
        if gate.min_version > gate.max_version or not source:
            raise DamagedKnowledge(APIS_FILE, line, "versions are a range, and a source is required")
        for release in sorted(releases.between_cells(APIS_FILE, line, first, last), key=releases.parse):
            levels = supported()[release].get(feature)
            if levels is None or not levels.min < gate.level <= levels.max:
                raise DamagedKnowledge(
                    APIS_FILE, line, f"{feature} {level} is not a level above the lowest of {release}"
                )
            gates[release] = (*gates.get(release, ()), gate)
    return gates


@cache
def newest(release: str) -> Mapping[str, int]:
    """The levels of a new cluster of this release; empty before KRaft (3.3)."""
    return {feature: levels.default for feature, levels in of(release).items()}


@cache
def not_finalized(
    source: str, target: str, finalized: tuple[tuple[str, int], ...] | None = None
) -> Mapping[str, int]:
    """The levels on the target's brokers while those of the source are still finalized; features introduced since then
    have level 0. `finalized`: the source's levels, by default those of a new cluster: one that was upgraded and never
    finalized, formatted with an older release, or downgraded has others.
    """
    before = newest(source) if finalized is None else dict(finalized)
    return {
        feature: max(levels.min, min(before.get(feature, 0), levels.max))
        for feature, levels in of(target).items()
    }


def proven(release: str, uses: Collection[tuple[int, int]]) -> dict[str, int]:
    """The least levels that brokers of a release must have had to answer these (API key, version)."""
    levels: dict[str, int] = {}
    for gate in _gates().get(release, ()):
        if any(
            key == gate.api_key and gate.min_version <= version <= gate.max_version for key, version in uses
        ):
            levels[gate.feature] = max(gate.level, levels.get(gate.feature, 0))
    return levels


def raised(levels: Mapping[str, int], at_least: Mapping[str, int], release: str) -> Mapping[str, int]:
    """The levels, raised to `at_least` where the release has it: nobody lowers a level during an upgrade."""
    of_release = of(release)
    return {
        name: max(level, min(at_least.get(name, 0), of_release[name].max)) for name, level in levels.items()
    }


def parse(text: str, release: str) -> dict[str, int]:
    """`transaction.version=0,group.version=1` -> all levels of a release, the newest where the text names none.

    Raises UnusableFeatures.
    """
    levels: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, level = (text.strip() for text in part.partition("="))
        if not equals or not level.isdecimal():
            raise UnusableFeatures(f"{part!r} is not FEATURE=LEVEL, like transaction.version=0")
        if name in levels:
            raise UnusableFeatures(f"{name} is given twice")
        levels[name] = int(level)
    return complete(levels, release)


def complete(levels: Mapping[str, int] | None, release: str) -> dict[str, int]:
    """All levels of a release: the given ones, and its newest for the others. Level 0 of a feature that only other
    releases have is ignored. Raises UnusableFeatures.
    """
    of_release = of(release)
    for name, level in (levels or {}).items():
        if name not in of_release:
            if level == 0 and any(name in of_release for of_release in supported().values()):
                continue  # a feature that does not exist has level 0
            near = get_close_matches(name, of_release, n=1)
            hint = f"; did you mean {near[0]}?" if near else f"; it has {', '.join(of_release) or 'none'}"
            raise UnusableFeatures(f"Kafka {release} has no feature {name!r}{hint}")
        if not of_release[name].min <= level <= of_release[name].max:
            raise UnusableFeatures(
                f"Kafka {release} supports {name} {of_release[name].min} to {of_release[name].max}, not {level}"
            )
    return {
        **newest(release),
        **{name: level for name, level in (levels or {}).items() if name in of_release},
    }


@lru_cache(maxsize=1024)
def _closed(release: str, levels: tuple[tuple[str, int], ...]) -> tuple[Gate, ...]:
    finalized = dict(levels)
    return tuple(gate for gate in _gates().get(release, ()) if finalized.get(gate.feature, 0) < gate.level)


def closed(release: str, levels: Mapping[str, int]) -> tuple[Gate, ...]:
    """The gates of a release that stay closed at these levels."""
    return _closed(release, tuple(sorted(levels.items())))


def differing(one: Mapping[str, int], other: Mapping[str, int]) -> tuple[str, ...]:
    """Features whose levels differ, by name."""
    return tuple(name for name in sorted({*one, *other}) if one.get(name, 0) != other.get(name, 0))


def text(levels: Mapping[str, int]) -> str:
    """`group.version 1, transaction.version 0`."""
    return ", ".join(f"{name} {level}" for name, level in sorted(levels.items()))
