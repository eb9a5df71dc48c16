"""Which releases a broker may run: by what it declares, otherwise by what it offers.

Patch releases of a line mostly offer the same, so the answer is a set. A KRaft broker lowers the APIs that it forwards
to the controller to what both know, so of those a broker may offer less than its release has, never more; telemetry APIs are
offered only where a telemetry receiver is configured. A finalized feature level is one that every broker of the cluster
supports: it excludes releases that do not.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from client_telemetry.compatibility import apis, releases, served, software
from client_telemetry.compatibility import features as feature_levels

APACHE_KAFKA = "apache-kafka"
"""The software name that a broker of Apache Kafka declares (KIP-885)."""

DECLARED, CONFLUENT_PLATFORM, VENDOR_BUILD, GUESSED = (
    "declared",
    "confluent_platform",
    "vendor_build",
    "guessed",
)
NONE_EXPLAINS = "none_explains"
"""What the broker offers is known, and no known release of Apache Kafka offers it."""
_NUMBERS_AND_MORE = re.compile(r"(0(?:\.\d{1,9}){3}|[1-9]\d{0,8}(?:\.\d{1,9}){2})[.-](.+)", re.DOTALL)
_BEFORE_RELEASE = re.compile(r"snapshot|rc|alpha|beta|dev|nightly|trunk", re.IGNORECASE)


class Known(NamedTuple):
    """Releases of Apache Kafka that a broker may run, oldest first, and how they are known; none, and NONE_EXPLAINS or
    None, for a broker that none of them explains."""

    releases: tuple[str, ...]
    known_by: str | None


def known(
    name: str | None,
    version: str | None,
    advertised: Iterable[tuple[int, int, int]] = (),
    features: Mapping[str, int] | None = None,
) -> Known:
    """What the declared name and version say, otherwise `candidates`. A broker that declares another name than Apache
    Kafka's is that other software, whatever it offers and whatever its number; only Confluent's mark counts under any
    name. A vendor's build (`3.9.0.redhat-00001`) is the release that it is built on, unless what it offers is another's.

    >>> known("apache-kafka", "4.0.1"), known("redpanda", "25.1.1")
    (Known(releases=('4.0.1',), known_by='declared'), Known(releases=(), known_by=None))
    """
    line = software.kafka_of_confluent_platform(version or "")
    of_line = tuple(r for r in releases.known() if line and releases.line(r) == releases.parse(line))
    if of_line:
        return Known(of_line, CONFLUENT_PLATFORM)
    if name and name != APACHE_KAFKA:
        return Known((), None)
    if version in releases.known():
        return Known((version,), DECLARED)
    advertised = tuple(advertised)
    guessed = candidates(advertised, features)
    base = _built_on(version or "")
    if base and (not guessed or base in guessed):
        return Known((base,), VENDOR_BUILD)
    if not guessed:
        return Known((), NONE_EXPLAINS if advertised else None)
    return Known(guessed, GUESSED)


def declared(name: str | None, version: str | None) -> str | None:
    """Name and version as one text; without the name for Apache Kafka. None where no version is declared."""
    if not version:
        return None
    return version if name in (None, "", APACHE_KAFKA) else f"{name} {version}"


@lru_cache(maxsize=4096)
def oldest_release(text: str | None) -> str | None:
    """The oldest release that a broker can be which declares this (see `declared`); None where it is none that is known.

    >>> oldest_release("7.6.1-ccs"), oldest_release("automq 1.1.0")
    ('3.6.0', None)
    """
    name, _, version = (text or "").rpartition(" ")
    return next(iter(known(name, version).releases), None)


def _built_on(version: str) -> str | None:
    """The release whose number a vendor has added to; not of a build from before that release."""
    match = _NUMBERS_AND_MORE.fullmatch(version)
    if match is None or _BEFORE_RELEASE.match(match[2]):
        return None
    return match[1] if match[1] in releases.known() else None


def candidates(
    advertised: Iterable[tuple[int, int, int]], features: Mapping[str, int] | None = None
) -> tuple[str, ...]:
    """Releases whose brokers offer just these (api key, min, max) and support these finalized levels, oldest first;
    none for a broker that no release of Apache Kafka explains (a proxy, another implementation, versions that were
    made available by configuration).

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
        between_brokers = key in apis.by_key() and apis.by_key()[key].used_by == "broker"
        if not between_brokers and (key not in of_release or high > of_release[key].advertised.max):
            return False
    return all(
        offered[key] == api.advertised if key in offered else bool(api.condition)
        for key, api in of_release.items()
        if apis.by_key()[key].used_by in ("data", "connection")
    )


def _supports(release: str, features: Mapping[str, int]) -> bool:
    """A level of 0 is a feature that is not used. Of a release that is newer than the file all is possible."""
    newest = max(feature_levels.supported(), key=releases.parse)
    if releases.parse(release) > releases.parse(newest):
        return True
    levels = feature_levels.supported().get(release, {})
    return all(
        feature in levels and levels[feature].min <= level <= levels[feature].max
        for feature, level in features.items()
        if level
    )
