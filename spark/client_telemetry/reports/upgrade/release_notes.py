"""What the knowledge base says of a pair of releases beside its clients, as a report tells it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from client_telemetry.compatibility import cluster_notes, targets
from client_telemetry.compatibility.broker_settings import BrokerSetup
from client_telemetry.console.counted import counted
from client_telemetry.formats.typed_values import of_row
from client_telemetry.knowledge import apis, served
from client_telemetry.knowledge.releases import is_rollback
from client_telemetry.knowledge.vocabulary import Answer
from client_telemetry.reports.upgrade.model import ClusterNote, FalseAlarm, SkippedRelease
from client_telemetry.tables.rows import BrokerRow

WEIGHTS = {
    "blocks": "blocker",
    "may_block": "may block",
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


Setups = Mapping[int, BrokerSetup]
"""By broker id."""


def broker_setups(
    rows: Iterable[BrokerRow], from_release: str, until: datetime | None = None
) -> dict[int, BrokerSetup]:
    """How each broker of the cluster is set up on the from-release: nothing is known of one that was not seen to run it before
    `until`, or whose last start was not seen. `rows`: of the table `brokers`.
    """
    latest: dict[int, BrokerRow | None] = {}
    for row in sorted(rows, key=lambda row: (row["dt"], str(row["started_at"]))):
        in_time = until is None or row["started_at"] is None or row["started_at"] < until
        runs_it = from_release in (row["releases"] or ()) and in_time
        latest[row["broker_id"]] = row if runs_it else latest.get(row["broker_id"])
    return {
        broker_id: BrokerSetup(row.get("settings"), row.get("finalized_features")) if row else BrokerSetup()
        for broker_id, row in sorted(latest.items())
    }


def notes(from_release: str, to_release: str, setups: Setups) -> tuple[ClusterNote, ...]:
    """Of the change that was asked about, most urgent first, without those that are known not to apply."""
    return _applying(cluster_notes.for_upgrade(from_release, to_release), setups)


def rollback_notes(from_release: str, to_release: str, setups: Setups) -> tuple[ClusterNote, ...]:
    """After an upgrade; for a question about a rollback `notes` has them."""
    if is_rollback(from_release, to_release):
        return ()
    return _applying(cluster_notes.for_rollback(from_release, to_release), setups)


def not_applying(from_release: str, to_release: str, setups: Setups) -> tuple[ClusterNote, ...]:
    """The notes that the settings of all brokers rule out."""
    known = (_note(note, setups) for note in cluster_notes.for_upgrade(from_release, to_release))
    return tuple(note for note in known if note.applies == Answer.NO)


def blockers(known: Iterable[ClusterNote]) -> tuple[ClusterNote, ...]:
    """Those that are known to stop the change."""
    return tuple(note for note in known if note.weight == "blocks" and note.applies == Answer.YES)


def blockers_sentence(known: Sequence[ClusterNote]) -> str:
    """Empty without blockers.

    >>> note = ClusterNote("x", "blocks", "", "", "", "", "yes", (1, 2), "log.segment.bytes")
    >>> blockers_sentence([note])
    '1 blocker in the setup of the brokers: log.segment.bytes.'
    """
    if not known:
        return ""
    subjects = ", ".join(dict.fromkeys(note.subject for note in known))
    return f"{counted(len(known), 'blocker')} in the setup of the brokers: {subjects}."


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


def _applying(known: Iterable[cluster_notes.ClusterNote], setups: Setups) -> tuple[ClusterNote, ...]:
    applying = [note for note in (_note(note, setups) for note in known) if note.applies != Answer.NO]
    order = list(WEIGHTS)
    return tuple(sorted(applying, key=lambda note: order.index(note.weight)))


def _note(note: cluster_notes.ClusterNote, setups: Setups) -> ClusterNote:
    applies = note.applies(setups)
    return of_row(
        ClusterNote,
        note._asdict(),
        weight=note.weight_if_set if applies.answer == Answer.YES else note.weight,
        applies=applies.answer,
        broker_ids=applies.broker_ids,
        subject=applies.subject,
    )
