"""Kafka releases that the knowledge base knows, and which upgrade or rollback is asked about.

Releases are exact: 4.0.0 lacks JoinGroup 0-1 and 4.0.1 has it, so "4.0" is no answerable question.
"""

from functools import cache

from client_telemetry.compatibility.knowledge import DamagedKnowledge, rows

FILE = "releases.csv"
COLUMNS = ("release", "committed_on", "source")


class UnusableRelease(ValueError):
    """Base of the reasons why a release, or a pair of them, cannot be assessed."""


class UnknownRelease(UnusableRelease):
    """A release that the knowledge base does not have."""


class NotAnExactRelease(UnusableRelease):
    """A line of releases (4.0) where one patch release is needed."""


class NothingToUpgrade(UnusableRelease):
    """Source and target are the same release."""


def parse(release: str) -> tuple[int, ...]:
    """'3.9.1' -> (3, 9, 1), '0.10.2.2' -> (0, 10, 2, 2); order of the tuples is order of releases."""
    parts = release.strip().split(".")
    if not all(part.isdecimal() for part in parts):
        raise UnknownRelease(f"{release!r} is not a Kafka release; one looks like 4.0.1")
    return tuple(int(part) for part in parts)


@cache
def known() -> tuple[str, ...]:
    """All known releases, oldest first."""
    found: dict[str, int] = {}
    for line, (release, _, source) in rows(FILE, COLUMNS):
        if release in found:
            raise DamagedKnowledge(FILE, line, f"release {release} is already in line {found[release]}")
        if not source:
            raise DamagedKnowledge(FILE, line, "no source")
        try:
            parse(release)
        except UnknownRelease as error:
            raise DamagedKnowledge(FILE, line, str(error)) from None
        found[release] = line
    return tuple(sorted(found, key=parse))


def exact(release: str) -> str:
    """The release itself if it is a known one.

    Raises NotAnExactRelease (with the patch releases there are) or UnknownRelease (with the nearest ones, newer before older).
    """
    wanted = release.strip()
    if wanted in known():
        return wanted
    numbers = parse(wanted)
    patches = [each for each in known() if parse(each)[: len(numbers)] == numbers]
    if patches:
        raise NotAnExactRelease(f"{wanted} is not an exact release; there are {', '.join(patches)}")
    newer = [each for each in known() if parse(each) > numbers][:3]
    older = [each for each in known() if parse(each) < numbers][-1:]
    raise UnknownRelease(
        f"Kafka {wanted} is not known; nearest: {', '.join(newer + older)} (newest known: {known()[-1]})"
    )


def upgrade(from_release: str, to_release: str) -> tuple[str, str]:
    """Both releases, exact. The target may be the older one: then it is a rollback that is asked about."""
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
    """That brokers cannot be upgraded from one to the other, one after the other, and what comes first, in two sentences; empty
    where they can.

    4.0 has no ZooKeeper, and asks for KRaft on 3.3 or later, the first release with a KRaft for production. ZooKeeper
    clusters migrate on 3.9 (KIP-866; Kafka docs, "Upgrading Servers to 4.0.2 from any version 3.3.x through 3.9.x"). KRaft is there
    since 2.8, as a preview.
    """
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
    """Known releases from one exact release to another, both included; an empty end is open."""
    low, high = parse(exact(first)), parse(exact(last)) if last else None
    return frozenset(each for each in known() if low <= parse(each) and (high is None or parse(each) <= high))


@cache
def newer_than(release: str) -> tuple[str, ...]:
    """Known releases after this one, oldest first."""
    return tuple(each for each in known() if parse(each) > parse(release))
