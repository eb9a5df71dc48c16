"""Releases worth comparing with the target of an upgrade or a rollback, and releases to skip."""

from functools import cache
from typing import NamedTuple

from client_telemetry.compatibility import cluster_notes
from client_telemetry.compatibility.cluster_notes import ClusterNote
from client_telemetry.knowledge import measured_targets, releases

MOST = 6


class SkippedRelease(NamedTuple):
    release: str
    note: ClusterNote
    """The reason: what, who is affected, and the source."""


@cache
def nearby(from_release: str, to_release: str) -> tuple[str, ...]:
    """Patch releases to compare with the target, oldest first: at most MOST, without the target itself.

    The other patches of its line, and the last patch of each later line up to the newest known one; if these are too
    many, the nearest ones and the newest. Only releases on the same side of `from_release` as the target count, and
    none that should be skipped. Raises what releases.upgrade raises.
    """
    candidates = [release for release in _candidates(from_release, to_release) if not notes_to_skip(release)]
    return tuple(candidates if len(candidates) <= MOST else [*candidates[: MOST - 1], candidates[-1]])


@cache
def skipped(from_release: str, to_release: str) -> tuple[SkippedRelease, ...]:
    """The releases to skip among the target and all patches that `nearby` considers, oldest first."""
    candidates = [*_candidates(from_release, to_release, every_patch=True), releases.exact(to_release)]
    return tuple(
        SkippedRelease(release, note)
        for release in sorted(candidates, key=releases.parse)
        for note in notes_to_skip(release)
    )


@cache
def notes_to_skip(release: str) -> tuple[ClusterNote, ...]:
    """The notes that advise another patch release than this exact one; none for most."""
    return tuple(
        note
        for note in cluster_notes.known()
        if note.weight == "skip_release"
        and not measured_targets.is_measured(release)
        and note.holds_on(releases.exact(release))
    )


def _candidates(from_release: str, to_release: str, every_patch: bool = False) -> list[str]:
    source, target = releases.upgrade(from_release, to_release)
    if measured_targets.is_measured(source, target):
        return []
    back = releases.is_rollback(source, target)
    last_patch = {releases.line(release): release for release in releases.known()}
    return [
        release
        for release in releases.known()
        if release not in (source, target)
        and releases.is_rollback(source, release) == back
        and (
            releases.line(release) == releases.line(target)
            or (
                releases.is_rollback(release, target)
                and (every_patch or release == last_patch[releases.line(release)])
            )
        )
    ]
