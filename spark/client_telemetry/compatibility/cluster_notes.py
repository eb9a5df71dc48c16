"""What an upgrade means for the cluster itself rather than its clients: removed settings, feature levels, releases to
skip, metrics that give false alarms, and what prevents a rollback.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from client_telemetry.compatibility import broker_settings
from client_telemetry.compatibility.broker_settings import BrokerSetup, UnreadableSetting
from client_telemetry.knowledge import DamagedKnowledge, measured_targets, one_of, releases, rows
from client_telemetry.knowledge.vocabulary import Answer, Verdict

FILE = "cluster_notes.csv"
UPGRADE, ROLLBACK, ROLLBACK_TO_ANOTHER_LINE = "upgrade", "rollback", "rollback_to_another_line"
CHANGES = (UPGRADE, ROLLBACK, ROLLBACK_TO_ANOTHER_LINE)
"""What a note is about. "To another line": from 4.0.x to anything but 4.0.x."""
WEIGHTS = (
    "blocks",
    "may_block",
    "skip_release",
    Verdict.BREAKS,
    "may_break",
    "false_alarm",
    "behaviour",
    "operations",
    "tools",
    "info",
)
"""Most urgent first."""


class Applies(NamedTuple):
    """Whether a note applies to a cluster: YES, NO or CONDITION_UNKNOWN. `broker_ids`: the brokers that show it; of NO all.
    `subject`: what shows it, such as the setting; empty unless YES.
    """

    answer: Answer
    broker_ids: tuple[int, ...] = ()
    subject: str = ""


class ClusterNote(NamedTuple):
    note_id: str
    change: str
    since: str
    """First release that the note is about, exact."""
    until: str
    """Last release that it is about, exact; empty: all later ones."""
    from_until: str
    """Newest release to upgrade from, or to roll back to, exact; empty: any."""
    weight: str
    setting: str
    """Condition on the brokers' settings (broker_settings.py), without which the note does not apply; empty: settings do not
    show whether it applies."""
    weight_if_set: str
    """The weight where a broker is known to meet the condition; empty where that proves nothing."""
    affected: str
    what: str
    how_to_detect: str
    source: str

    def holds_on(self, release: str) -> bool:
        number = releases.parse(release)
        return releases.parse(self.since) <= number and (
            not self.until or number <= releases.parse(self.until)
        )

    def applies(self, setups: Mapping[int, BrokerSetup]) -> Applies:
        """`setups`: by broker id, all brokers of the cluster. One that meets the condition is enough; NO takes all."""
        if not self.setting or not setups:
            return Applies(Answer.UNKNOWN)
        condition = broker_settings.parse(self.setting)
        answers = {broker_id: condition.met(setup) for broker_id, setup in sorted(setups.items())}
        meeting = tuple(broker_id for broker_id, answer in answers.items() if answer == Answer.YES)
        if meeting:
            return Applies(Answer.YES, meeting, condition.subject(setups[meeting[0]]))
        if set(answers.values()) == {Answer.NO}:
            return Applies(Answer.NO, tuple(answers))
        return Applies(Answer.UNKNOWN)

    def concerns_older(self, release: str) -> bool:
        """Whether the note applies to the older release of the pair."""
        return not self.from_until or releases.parse(release) <= releases.parse(self.from_until)


COLUMNS = ClusterNote._fields


@cache
def known() -> tuple[ClusterNote, ...]:
    notes: list[ClusterNote] = []
    for line, cells in rows(FILE, COLUMNS):
        note = ClusterNote(*cells)
        try:
            for release in (note.since, note.until or note.since, note.from_until or note.since):
                releases.exact(release)
        except releases.UnusableRelease as error:
            raise DamagedKnowledge(FILE, line, str(error)) from error
        one_of(FILE, line, "change", note.change, CHANGES)
        for weight in (note.weight, note.weight_if_set or note.weight):
            one_of(FILE, line, "weight", weight, WEIGHTS)
        _check_setting(note, line)
        if not (note.affected and note.what and note.source):
            raise DamagedKnowledge(FILE, line, "affected, what and source are required")
        if any(earlier.note_id == note.note_id for earlier in notes):
            raise DamagedKnowledge(FILE, line, f"note {note.note_id} occurs twice")
        notes.append(note)
    return tuple(notes)


def _check_setting(note: ClusterNote, line: int) -> None:
    try:
        decides = bool(note.setting) and broker_settings.parse(note.setting).is_sufficient
    except UnreadableSetting as error:
        raise DamagedKnowledge(FILE, line, str(error)) from error
    if decides != bool(note.weight_if_set):
        raise DamagedKnowledge(
            FILE, line, "weight_if_set belongs to a setting that decides, which `only with` does not"
        )


def for_upgrade(from_release: str, to_release: str) -> tuple[ClusterNote, ...]:
    """The notes for a pair of exact releases, most urgent first; for an older target those of a rollback.

    A note belongs to an upgrade if it holds on the target but not on the source. False alarms are about metrics of the
    brokers as they run now, so they hold on the source. None is known of a measured target.
    """
    source, target = releases.upgrade(from_release, to_release)
    if measured_targets.is_measured(source, target):
        return ()
    if releases.is_rollback(source, target):
        return for_rollback(target, source)
    return _most_urgent_first(
        note
        for note in known()
        if note.change == UPGRADE
        and note.concerns_older(source)
        and (
            note.holds_on(source)
            if note.weight == "false_alarm"
            else note.holds_on(target) and not note.holds_on(source)
        )
    )


def for_rollback(from_release: str, to_release: str) -> tuple[ClusterNote, ...]:
    """What prevents or complicates returning to `from_release` after an upgrade to `to_release`, most urgent first."""
    older, newer = sorted(releases.upgrade(from_release, to_release), key=releases.parse)
    to_another_line = releases.line(older) != releases.line(newer)
    return _most_urgent_first(
        note
        for note in known()
        if note.holds_on(newer)
        and note.concerns_older(older)
        and (
            (note.change == ROLLBACK and not note.holds_on(older))
            or (note.change == ROLLBACK_TO_ANOTHER_LINE and to_another_line)
        )
    )


def _most_urgent_first(notes: Iterable[ClusterNote]) -> tuple[ClusterNote, ...]:
    return tuple(sorted(notes, key=lambda note: (WEIGHTS.index(note.weight), note.note_id)))
