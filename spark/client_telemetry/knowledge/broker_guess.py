"""Which releases a broker may run: from what it declares, otherwise from the versions it advertises.

Patch releases of a line mostly advertise the same, so the answer is a set. A KRaft broker narrows the APIs that it
forwards to the controller to the versions both know, so for those a broker may advertise less than its release has,
never more. Telemetry APIs are advertised only where a telemetry receiver is configured. A finalized feature level is
one that every broker of the cluster supports, which excludes releases that do not.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from client_telemetry.knowledge import apis, releases, served, software
from client_telemetry.knowledge import features as feature_levels
from client_telemetry.knowledge.api_key import ApiKey

APACHE_KAFKA = "apache-kafka"
"""The software name that a broker of Apache Kafka declares (KIP-885)."""

DECLARED, CONFLUENT_PLATFORM, VENDOR_BUILD, GUESSED = (
    "declared",
    "confluent_platform",
    "vendor_build",
    "guessed",
)
NONE_EXPLAINS = "none_explains"
"""The advertised versions are known, and no known release of Apache Kafka advertises them."""
_OF_MESSAGE_FORMAT_2 = frozenset(
    {
        ApiKey.INIT_PRODUCER_ID,
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        ApiKey.ADD_PARTITIONS_TO_TXN,
        ApiKey.ADD_OFFSETS_TO_TXN,
        ApiKey.END_TXN,
        ApiKey.TXN_OFFSET_COMMIT,
    }
)
"""Brokers before 4.0 do not advertise them while inter.broker.protocol.version is below 0.11 (ApiKeys.minRequiredInterBrokerMagic).
"""
_NUMBERS_AND_MORE = re.compile(r"(0(?:\.\d{1,9}){3}|[1-9]\d{0,8}(?:\.\d{1,9}){2})[.-](.+)", re.DOTALL)
_BEFORE_RELEASE = re.compile(r"snapshot|rc|alpha|beta|dev|nightly|trunk", re.IGNORECASE)


class PossibleReleases(NamedTuple):
    """Releases of Apache Kafka that a broker may run, oldest first, and how they are known. A broker that no release
    explains has none, and NONE_EXPLAINS or None.
    """

    releases: tuple[str, ...]
    known_by: str | None


def possible_releases(
    name: str | None,
    version: str | None,
    advertised: Iterable[tuple[int, int, int]] = (),
    features: Mapping[str, int] | None = None,
) -> PossibleReleases:
    """The releases that the declared name and version stand for, otherwise `candidates`. A broker that declares a name
    other than Apache Kafka's is that other software, whatever it advertises and whatever its version number; only
    Confluent's suffix counts under any name. A vendor's build (`3.9.0.redhat-00001`) counts as the release it is built
    on, unless it advertises what only other releases do.

    >>> possible_releases("apache-kafka", "4.0.1"), possible_releases("redpanda", "25.1.1")
    (PossibleReleases(releases=('4.0.1',), known_by='declared'), PossibleReleases(releases=(), known_by=None))
    """
    line = software.kafka_of_confluent_platform(version or "")
    of_line = tuple(r for r in releases.known() if line and releases.line(r) == releases.parse(line))
    if of_line:
        return PossibleReleases(of_line, CONFLUENT_PLATFORM)
    if name and name != APACHE_KAFKA:
        return PossibleReleases((), None)
    if version in releases.known():
        return PossibleReleases((version,), DECLARED)
    advertised = tuple(advertised)
    guessed = candidates(advertised, features)
    base = _built_on(version or "")
    if base and (not guessed or base in guessed):
        return PossibleReleases((base,), VENDOR_BUILD)
    if not guessed:
        return PossibleReleases((), NONE_EXPLAINS if advertised else None)
    return PossibleReleases(guessed, GUESSED)


def declared(name: str | None, version: str | None) -> str | None:
    """Name and version as one text, without the name for Apache Kafka. None if no version is declared."""
    if not version:
        return None
    return version if name in (None, "", APACHE_KAFKA) else f"{name} {version}"


@lru_cache(maxsize=4096)
def oldest_release(text: str | None) -> str | None:
    """The oldest release that a broker declaring this (see `declared`) can run; None if it is no known release.

    >>> oldest_release("7.6.1-ccs"), oldest_release("automq 1.1.0")
    ('3.6.0', None)
    """
    name, _, version = (text or "").rpartition(" ")
    return next(iter(possible_releases(name, version).releases), None)


def _built_on(version: str) -> str | None:
    """The release whose number a vendor's version extends; None for builds from before that release (snapshots,
    candidates).
    """
    match = _NUMBERS_AND_MORE.fullmatch(version)
    if match is None or _BEFORE_RELEASE.match(match[2]):
        return None
    return match[1] if match[1] in releases.known() else None


def candidates(
    advertised: Iterable[tuple[int, int, int]], features: Mapping[str, int] | None = None
) -> tuple[str, ...]:
    """Releases whose brokers advertise exactly these (api key, min, max) and support these finalized levels, oldest
    first. Keys that Apache Kafka does not have are a vendor's additions and say nothing of the release. None if no
    release of Apache Kafka explains the broker (a proxy, another implementation, versions enabled by configuration).

    >>> candidates([])
    ()
    """
    offered = {key: (low, high) for key, low, high in advertised}
    return tuple(
        release
        for release in releases.known()
        if offered and _explains(release, offered) and _supports(release, features or {})
    )


def _explains(release: str, offered: dict[int, tuple[int, int]]) -> bool:
    of_release = served.by(release)
    for key, (_, high) in offered.items():
        is_comparable = key in apis.by_key() and apis.by_key()[key].used_by != "broker"
        if is_comparable and (key not in of_release or high > of_release[key].advertised.max):
            return False
    own = {k: api for k, api in of_release.items() if apis.by_key()[k].used_by in ("data", "connection")}
    missing = {key for key, api in own.items() if key not in offered and not api.condition}
    if missing and (missing != _OF_MESSAGE_FORMAT_2 & own.keys() or releases.parse(release) >= (4, 0, 0)):
        return False
    return all(offered[key] == api.advertised for key, api in own.items() if key in offered)


def _supports(release: str, features: Mapping[str, int]) -> bool:
    """A level of 0 means that the feature is unused. Any level is possible for a release newer than the file."""
    newest = max(feature_levels.supported(), key=releases.parse)
    if releases.parse(release) > releases.parse(newest):
        return True
    levels = feature_levels.supported().get(release, {})
    return all(
        feature in levels and levels[feature].min <= level <= levels[feature].max
        for feature, level in features.items()
        if level
    )
