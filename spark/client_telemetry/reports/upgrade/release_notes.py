"""What the knowledge base says of a pair of releases beside its clients, as a report tells it."""

from client_telemetry.compatibility import apis, cluster_notes, served, targets
from client_telemetry.compatibility.releases import is_rollback
from client_telemetry.reports.upgrade.model import ClusterNote, FalseAlarm, SkippedRelease

WEIGHTS = {
    "blocks": "blocker",
    "skip_release": "skip",
    "breaks": "breaks",
    "may_break": "may break",
    "false_alarm": "false alarm",
    "behaviour": "behaviour",
    "operations": "operations",
    "tools": "tools",
    "info": "note",
}
"""The weights of cluster_notes.csv in a reader's words."""


def notes(from_release: str, to_release: str) -> tuple[ClusterNote, ...]:
    """Of the change that was asked about, most urgent first."""
    return tuple(map(_note, cluster_notes.for_upgrade(from_release, to_release)))


def rollback_notes(from_release: str, to_release: str) -> tuple[ClusterNote, ...]:
    """After an upgrade; for a question about a rollback `notes` has them."""
    if is_rollback(from_release, to_release):
        return ()
    return tuple(map(_note, cluster_notes.for_rollback(from_release, to_release)))


def skipped_releases(from_release: str, to_release: str) -> tuple[SkippedRelease, ...]:
    """Releases in the range of the question, also between, that another patch release is to be taken for."""
    return tuple(
        SkippedRelease(each.release, each.note.what, each.note.affected, each.note.source)
        for each in targets.skipped(from_release, to_release)
    )


def false_alarms(from_release: str, to_release: str) -> tuple[FalseAlarm, ...]:
    """Request versions that the metrics of the old brokers call deprecated and the new ones serve."""
    found = served.falsely_deprecated(from_release, to_release)
    return tuple(FalseAlarm(key, apis.name(key), str(versions)) for key, versions in sorted(found.items()))


def _note(note: cluster_notes.ClusterNote) -> ClusterNote:
    return ClusterNote(note.note_id, note.weight, note.affected, note.what, note.how_to_detect, note.source)
