"""What arrived and could not be read, in objects, pushes and connection events: of the ledger and the hours of one day."""

from collections.abc import Iterable
from dataclasses import dataclass

from client_telemetry.console.counted import counted
from client_telemetry.tables.rows import BrokerHourRow, RawObjectRow

DAMAGED = ("torn", "damaged", "unreadable", "empty", "too_late")
"""Statuses of raw_objects of objects that were not read to the end."""
_Place = tuple[int, int]
"""Broker and hour."""


@dataclass(frozen=True)
class DamagedObject:
    object_key: str
    status: str
    error: str | None
    records: int
    """That were read all the same."""


@dataclass(frozen=True)
class LostData:
    """Numbers of one day. Expected: what manifests list or, where that is more, what the objects' names say."""

    sentence: str
    """Empty if everything was read."""
    objects: int
    damaged: tuple[DamagedObject, ...]
    """By object key; manifests too."""
    pushes_expected: int
    pushes_not_read: int
    connection_events_expected: int
    connection_events_not_read: int


def lost_data(object_rows: Iterable[RawObjectRow], hour_rows: Iterable[BrokerHourRow]) -> LostData:
    """`object_rows`, `hour_rows`: of one cluster and day, after decode."""
    rows, hours = list(object_rows), list(hour_rows)
    damaged = [
        DamagedObject(row["object_key"], row["status"], row["error"], row["records"] or 0)
        for row in rows
        if row["status"] in DAMAGED
    ]
    pushes = _numbers(rows, "client_pushes", {_place(hour): hour["pushes_expected"] for hour in hours})
    events = _numbers(
        rows, "connections", {_place(hour): hour["connection_events_expected"] for hour in hours}
    )
    damaged.sort(key=lambda each: each.object_key)
    said = _sentence(len(rows), len(damaged), *pushes, *events)
    return LostData(said, len(rows), tuple(damaged), *pushes, *events)


def _sentence(
    objects: int, damaged: int, pushes: int, pushes_not_read: int, events: int, events_not_read: int
) -> str:
    """
    >>> _sentence(14, 3, 3163, 714, 90, 0)
    '3 of 14 objects damaged, 714 of 3,163 pushes not read'
    """
    parts = []
    if damaged:
        parts.append(f"{damaged:,} of {counted(objects, 'object')} damaged")
    if pushes_not_read:
        parts.append(f"{pushes_not_read:,} of {counted(pushes, 'push', 'pushes')} not read")
    if events_not_read:
        parts.append(f"{events_not_read:,} of {counted(events, 'connection event')} not read")
    return ", ".join(parts)


def _place(row: BrokerHourRow) -> _Place:
    return row["broker_id"], row["hour"]


def _numbers(rows: Iterable[RawObjectRow], dataset: str, listed: dict[_Place, int | None]) -> tuple[int, int]:
    """Records expected and not read of one dataset. `listed`: how many the manifests of each hour list; None = there is none."""
    objects: dict[_Place, list[RawObjectRow]] = {place: [] for place in listed}
    for row in rows:
        if row["dataset"] == dataset:
            objects.setdefault((row["broker_id"], row["hour"]), []).append(row)
    expected = not_read = 0
    for place, of_hour in objects.items():
        read = sum(map(_read, of_hour))
        duplicates = sum(row["duplicates"] or 0 for row in of_hour)
        lost = max(0, _named(of_hour) - read, (listed.get(place) or 0) - duplicates - read)
        expected += read + lost
        not_read += lost
    return expected, not_read


def _read(row: RawObjectRow) -> int:
    """Records without duplicates. One that was quarantined was read, but the end of a damaged object, which is quarantined
    too, is no record.
    """
    tails = 1 if row["status"] in DAMAGED and row["undecodable"] else 0
    return (row["rows"] or 0) + (row["undecodable"] or 0) - tails


def _named(rows: Iterable[RawObjectRow]) -> int:
    """How many different records the names of objects say (sequence numbers are contiguous, docs/raw-dump-contract.md); 0 if
    a name does not follow the contract, as nothing then says how many there were.
    """
    total = 0
    end_of: dict[str, int] = {}
    for row in sorted(rows, key=lambda row: row["first_sequence"] or 0):
        first, last, incarnation = row["first_sequence"], row["last_sequence"], row["broker_incarnation"]
        if first is None or last is None or incarnation is None:
            return 0
        end = end_of.get(incarnation, -1)
        total += max(0, last - max(first, end + 1) + 1)
        end_of[incarnation] = max(end, last)
    return total
