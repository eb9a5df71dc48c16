"""What an upgrade brings to the cluster itself, beside its clients: removed settings, releases to skip,
metrics that give false alarms.
"""

from functools import cache
from typing import NamedTuple

from client_telemetry.compatibility import releases
from client_telemetry.compatibility.knowledge import DamagedKnowledge, rows

FILE = "cluster_notes.csv"
COLUMNS = ("note_id", "since", "until", "weight", "affected", "what", "how_to_detect", "source")
WEIGHTS = (
    "blocks",
    "skip_release",
    "breaks",
    "may_break",
    "false_alarm",
    "behaviour",
    "operations",
    "tools",
    "info",
)
"""Most urgent first."""


class ClusterNote(NamedTuple):
    note_id: str
    since: str
    """First release that it is about, exact."""
    until: str
    """Last one, exact; empty: all later ones."""
    weight: str
    affected: str
    what: str
    how_to_detect: str
    source: str

    def holds_on(self, release: str) -> bool:
        number = releases.parse(release)
        return releases.parse(self.since) <= number and (
            not self.until or number <= releases.parse(self.until)
        )


@cache
def known() -> tuple[ClusterNote, ...]:
    found: list[ClusterNote] = []
    for line, cells in rows(FILE, COLUMNS):
        note = ClusterNote(*cells)
        try:
            releases.exact(note.since)
            if note.until:
                releases.exact(note.until)
        except releases.UnusableRelease as error:
            raise DamagedKnowledge(FILE, line, str(error)) from error
        if note.weight not in WEIGHTS:
            raise DamagedKnowledge(FILE, line, f"weight {note.weight!r} is none of {', '.join(WEIGHTS)}")
        if not (note.affected and note.what and note.source):
            raise DamagedKnowledge(FILE, line, "affected, what and source are due")
        if any(each.note_id == note.note_id for each in found):
            raise DamagedKnowledge(FILE, line, f"note {note.note_id} occurs twice")
        found.append(note)
    return tuple(found)


def for_upgrade(from_release: str, to_release: str) -> tuple[ClusterNote, ...]:
    """The notes for a pair of exact releases, most urgent first.

    A note belongs to it when it holds on the target and not on the source. False alarms are about metrics of
    the brokers as they run now, and hold on the source.
    """
    source, target = releases.upgrade(from_release, to_release)
    found = [
        note
        for note in known()
        if (
            note.holds_on(source)
            if note.weight == "false_alarm"
            else note.holds_on(target) and not note.holds_on(source)
        )
    ]
    return tuple(sorted(found, key=lambda note: (WEIGHTS.index(note.weight), note.note_id)))
