"""Kafka releases that the knowledge base has, and the upgrade or rollback in question.

Releases are exact: 4.0.0 lacks JoinGroup 0-1 and 4.0.1 has it, so a question about "4.0" has no answer.
"""

import datetime as dt
from functools import cache

from client_telemetry import Unusable
from client_telemetry.knowledge import DamagedKnowledge, measured_target, rows

FILE = "releases.csv"
COLUMNS = ("release", "committed_on", "source")
_AFTER_ALL = (10_000,)
PLATFORM_FILE = "confluent_platform.csv"
PLATFORM_COLUMNS = ("confluent_platform", "apache_kafka", "confidence", "source")
UNREVIEWED_FILE = "unreviewed_releases.csv"
UNREVIEWED_COLUMNS = ("release", "not_known", "source")


class UnusableRelease(Unusable):
    """Base of the reasons why a release, or a pair of them, cannot be assessed."""


class UnknownRelease(UnusableRelease):
    """A release that the knowledge base does not have."""


class NotAnExactRelease(UnusableRelease):
    """A line of releases (4.0) where a patch release is needed."""


class NothingToUpgrade(UnusableRelease):
    """Source and target are the same release."""


def parse(release: str) -> tuple[int, ...]:
    """'3.9.1' -> (3, 9, 1), '0.10.2.2' -> (0, 10, 2, 2); tuples sort like releases. A measured target stands where the release
    does that it answers like, and after all releases if there is none.
    """
    if target := measured_target(release):
        return parse(target.answers_like[-1]) if target.answers_like else _AFTER_ALL
    parts = release.strip().split(".")
    if not all(part.isdecimal() for part in parts):
        raise UnknownRelease(f"{release!r} is not a Kafka release: write it as 4.0.1")
    return tuple(int(part) for part in parts)


@cache
def known() -> tuple[str, ...]:
    """All known releases, oldest first."""
    first_lines: dict[str, int] = {}
    for line, (release, _, source) in rows(FILE, COLUMNS):
        if release in first_lines:
            raise DamagedKnowledge(FILE, line, f"release {release} is already in line {first_lines[release]}")
        if not source:
            raise DamagedKnowledge(FILE, line, "no source")
        try:
            parse(release)
        except UnknownRelease as error:
            raise DamagedKnowledge(FILE, line, str(error)) from None
        first_lines[release] = line
    return tuple(sorted(first_lines, key=parse))


@cache
def committed_on() -> dict[str, dt.date]:
    """Release -> day of the commit that it was made of."""
    return {release: dt.date.fromisoformat(day) for _, (release, day, _) in rows(FILE, COLUMNS)}


@cache
def unreviewed() -> dict[str, str]:
    """Release -> what is not known about it, in words: releases that were added from their jars, of which nobody has read
    the notes yet.
    """
    not_known: dict[str, str] = {}
    for line, (release, what, source) in rows(UNREVIEWED_FILE, UNREVIEWED_COLUMNS):
        if release not in known():
            raise DamagedKnowledge(UNREVIEWED_FILE, line, f"release {release} is not in {FILE}")
        if release in not_known:
            raise DamagedKnowledge(UNREVIEWED_FILE, line, f"release {release} occurs twice")
        if not what or not source:
            raise DamagedKnowledge(UNREVIEWED_FILE, line, "not_known and source are required")
        not_known[release] = what
    return not_known


@cache
def what_is_not_known(*of_releases: str) -> str:
    """`not known for 4.5.0: feature levels, known issues, cluster notes`; empty if every release is reviewed."""
    return "; ".join(
        f"not known for {release}: {unreviewed()[release]}"
        for release in of_releases
        if release in unreviewed()
    )


@cache
def platforms() -> dict[str, str]:
    """Line of Confluent Platform -> the line of Kafka in it."""
    return {platform: kafka for _, (platform, kafka, _, _) in rows(PLATFORM_FILE, PLATFORM_COLUMNS)}


def exact(release: str) -> str:
    """The release itself if it is known.

    Raises NotAnExactRelease (with the patch releases that exist, also of the Kafka in a Confluent Platform) or UnknownRelease (with the nearest ones, newer before
    older).
    """
    stripped = release.strip()
    if stripped in known() or measured_target(stripped):
        return stripped
    numbers = parse(stripped)
    patches = [candidate for candidate in known() if parse(candidate)[: len(numbers)] == numbers]
    if patches:
        raise NotAnExactRelease(f"{stripped} is not an exact release: use one of {', '.join(patches)}")
    newer = [candidate for candidate in known() if parse(candidate) > numbers][:3]
    if not newer and (kafka := platforms().get(".".join(map(str, numbers[:2])))):
        patches = [candidate for candidate in known() if parse(candidate)[:2] == parse(kafka)]
        raise NotAnExactRelease(
            f"{stripped} is a release of Confluent Platform, which has Kafka {kafka}: use one of {', '.join(patches)}"
        )
    older = [candidate for candidate in known() if parse(candidate) < numbers][-1:]
    hint = (
        ""
        if newer
        else "; a newer one takes an update of the knowledge base, or its kafka-clients jar after --jar where the command has that option"
    )
    raise UnknownRelease(
        f"unknown Kafka release {stripped}: the nearest are {', '.join(newer + older)}, the newest is {known()[-1]}{hint}"
    )


def upgrade(from_release: str, to_release: str) -> tuple[str, str]:
    """Both releases, exact. The target may be the older one: the question is then about a rollback."""
    source, target = exact(from_release), exact(to_release)
    if source == target:
        raise NothingToUpgrade(f"the brokers already run {source}")
    return source, target


@cache
def is_rollback(from_release: str, to_release: str) -> bool:
    """Whether the brokers go back to an older release."""
    return parse(to_release) < parse(from_release)


@cache
def not_one_rolling_upgrade(from_release: str, to_release: str) -> str:
    """Two sentences: that brokers cannot be upgraded from one to the other in one rolling upgrade, and what comes
    first; of a measured target, where it was measured and what is not known of it. Empty if they can.

    4.0 has no ZooKeeper and requires KRaft on 3.3 or later, the first release where KRaft is production-ready.
    ZooKeeper clusters migrate on 3.9 (KIP-866; Kafka docs, "Upgrading Servers to 4.0.2 from any version 3.3.x through
    3.9.x"). KRaft exists since 2.8, as a preview.
    """
    measured = measured_target(to_release) or measured_target(from_release)
    if measured:
        return measured.in_words()
    if parse(from_release) >= (3, 3) or parse(to_release) < (4, 0):
        return ""
    metadata = (
        f"ZooKeeper, which {to_release} does not have"
        if parse(from_release) < (2, 8)
        else f"ZooKeeper or a preview of KRaft, and {to_release} takes over neither"
    )
    return (
        f"This is not one rolling upgrade: brokers on {from_release} run on {metadata}. "
        f"Upgrade to 3.9, migrate to KRaft there (KIP-866), then upgrade to {to_release}."
    )


@cache
def line(release: str) -> tuple[int, ...]:
    """The line of patch releases: 4.0.1 -> (4, 0); before 1.0 releases have four numbers: 0.10.2.2 -> (0, 10, 2)."""
    return parse(release)[:-1]


@cache
def between(first: str, last: str) -> frozenset[str]:
    """Known releases from one exact release to another, both included; an empty end means unbounded."""
    low, high = parse(exact(first)), parse(exact(last)) if last else None
    return frozenset(
        candidate
        for candidate in known()
        if low <= parse(candidate) and (high is None or parse(candidate) <= high)
    )


def between_cells(file: str, line: int, first: str, last: str) -> frozenset[str]:
    """The same of the ends of a row. Raises DamagedKnowledge."""
    try:
        return between(first, last)
    except UnusableRelease as error:
        raise DamagedKnowledge(file, line, str(error)) from error


@cache
def newer_than(release: str) -> tuple[str, ...]:
    """Known releases after this one, oldest first; none after a measured target, which is no release."""
    if measured_target(release):
        return ()
    return tuple(candidate for candidate in known() if parse(candidate) > parse(release))


@cache
def newest_day() -> dt.date:
    """When the newest known release was committed: what came later, the knowledge base does not know."""
    return max(committed_on().values())
