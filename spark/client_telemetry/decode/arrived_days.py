"""The days of a cluster whose objects a run records: what arrived, what is missing, what came too late, and which days are to
be decoded and derived again.
"""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from client_telemetry.decode.coverage import broker_hours, brokers, is_known, ledger, unread
from client_telemetry.decode.manifests import read_manifests
from client_telemetry.formats.raw.location import RawLocation
from client_telemetry.knowledge.vocabulary import Completeness
from client_telemetry.lake.files import stored_rows
from client_telemetry.pipeline.stage import Stage
from client_telemetry.tables.client_sessions import HISTORY_DAYS
from client_telemetry.tables.raw_objects import RAW_OBJECTS
from client_telemetry.tables.rows import BrokerHourRow, BrokerRow, RawObjectRow
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS


@dataclass
class ArrivedDays:
    """Rows of raw_objects, broker_hours and brokers, and the days that they replace."""

    days: list[dt.date] = field(default_factory=list)
    to_decode: list[dt.date] = field(default_factory=list)
    """Those of `days` with new or changed objects."""
    objects: list[RawObjectRow] = field(default_factory=list)
    hours: list[BrokerHourRow] = field(default_factory=list)
    incarnations: list[BrokerRow] = field(default_factory=list)
    late: Mapping[dt.date, Sequence[RawObjectRow]] = field(default_factory=dict)
    """Ledgers of earlier days that received objects after they were collected, with these as `too_late`."""
    to_read_again: int = 0
    """Quarantined records."""

    def counts(self, day: dt.date) -> dict[str, int]:
        objects = [row for row in self.objects if row["dt"] == day]
        covered = [row for row in self.hours if row["dt"] == day]
        return {
            "objects": sum(row["dataset"] != "manifests" for row in objects),
            "manifests": sum(row["dataset"] == "manifests" for row in objects),
            "brokers": len({row["broker_id"] for row in covered}),
            "broker_incarnations": sum(row["dt"] == day for row in self.incarnations),
            "broker_hours": len(covered),
            "broker_hours_reported": sum(bool(row["incarnations"]) for row in covered),
            "broker_hours_complete": sum(row["completeness"] == [Completeness.COMPLETE] for row in covered),
            "objects_too_late": sum(
                row["status"] == "too_late" for rows in self.late.values() for row in rows
            ),
            "quarantined_records_to_read_again": self.to_read_again,
        }


def arrived_days(stage: Stage, raw: RawLocation) -> ArrivedDays:
    """The day of the stage's arguments, and the earlier days that can still be repaired. Warns of files that are not read."""
    args, now = stage.arguments, dt.datetime.now(dt.UTC)
    window = [args.day - dt.timedelta(days=n) for n in range(args.late_days, -1, -1)]
    again = _quarantined_days(stage, raw) if args.again else {}
    days, skipped = sorted({*window, *again}), list[str]()
    result = ArrivedDays(to_read_again=sum(again.values()))
    for day in days:  # one at a time: 500 brokers have 100,000 objects a day
        _add_day(result, stage, raw, day, now, skipped, is_wanted=day == args.day or day in again)
    if skipped:
        stage.warnings.append(
            f"{len(skipped)} files in the raw location are not read, such as {skipped[0]}. Give them names as in "
            "docs/raw-dump-contract.md, or remove them"
        )
    result.late = _too_late(stage, raw, window[0], set(days), now)
    return result


def _add_day(
    result: ArrivedDays,
    stage: Stage,
    raw: RawLocation,
    day: dt.date,
    now: dt.datetime,
    skipped: list[str],
    *,
    is_wanted: bool,
) -> None:
    """A day that is not wanted is left out if the tables already have all of it."""
    arrived = list(raw.objects(stage.cluster, day, skipped))
    known = stage.lake.rows(RAW_OBJECTS, cluster_id=stage.cluster, dt=day)
    before = {row["object_key"]: row for row in known}
    if not is_wanted and is_known(arrived, before):
        return  # and the tables already have what its manifests say
    result.days.append(day)
    reads = read_manifests(raw, [a.key for a in arrived if a.key.dataset == "manifests"])
    rows = ledger(arrived, reads, before, now)
    is_changed = any(row["status"] == "new" for row in rows) or before.keys() != {
        row["object_key"] for row in rows
    }
    if rows and (is_wanted or is_changed):
        result.to_decode.append(day)
    result.objects += rows
    result.hours += broker_hours(rows, reads, day)
    result.incarnations += brokers(reads, day)


def _quarantined_days(stage: Stage, raw: RawLocation) -> dict[dt.date, int]:
    """Days with undecodable records, and how many there are. A day with a vanished object cannot be read again: it
    stays as it is, with a warning.
    """
    if not stage.lake.exists(UNDECODABLE_RECORDS):
        return {}
    files = stage.lake.files(UNDECODABLE_RECORDS, cluster_id=stage.cluster)
    of_days: Counter[dt.date] = Counter()
    for rows in stored_rows(files, UNDECODABLE_RECORDS, ("dt",)):
        of_days.update(rows["dt"].to_pylist())
    counts = {}
    for day_, count in sorted(of_days.items()):
        there = {str(arrival.key) for arrival in raw.objects(stage.cluster, day_)}
        ledger = stage.lake.rows(RAW_OBJECTS, cluster_id=stage.cluster, dt=day_)
        gone = [row["object_key"] for row in ledger if row["object_key"] not in there]
        if gone:
            stage.warnings.append(
                f"{count} quarantined records of {day_} are not read again: {len(gone)} objects of that day are no "
                f"longer in the raw location, such as {gone[0]}"
            )
        else:
            counts[day_] = count
    return counts


def _too_late(
    stage: Stage, raw: RawLocation, first: dt.date, replaced: set[dt.date], now: dt.datetime
) -> dict[dt.date, list[RawObjectRow]]:
    """Ledgers of days before `first` that received objects after they were collected, with these as `too_late`. A day
    that was never collected has no ledger: no completeness was promised for it.
    """
    before = range(1, stage.arguments.too_late_days + 1)
    earlier = [day_ for n in before if (day_ := first - dt.timedelta(days=n)) not in replaced]
    there = raw.sizes(stage.cluster, earlier)
    # As many objects as in the ledger and none newer: nothing came, and the ledger need not be read.
    ledger_of = stage.lake.newest(RAW_OBJECTS, "modified_at", cluster_id=stage.cluster, dt=list(there))
    ledgers = {}
    for day_, size in there.items():
        if ledger_of.get(day_) == size:
            continue
        ledger = stage.lake.rows(RAW_OBJECTS, cluster_id=stage.cluster, dt=day_)
        keys = {row["object_key"] for row in ledger}
        new = [a for a in raw.objects(stage.cluster, day_) if str(a.key) not in keys]
        if ledger and new:
            error = (
                f"it arrived more than {stage.arguments.late_days} days after its day: run client_telemetry_daily with the "
                f"day {day_}, which reads all of that day"
            )
            late = [row | {"status": "too_late", "error": error} for row in unread(new, now)]
            ledgers[day_] = [*ledger, *late]
    return ledgers


def days_to_derive(stage: Stage, decode_days: list[dt.date]) -> list[dt.date]:
    """The days to decode, and every published day whose partition looks back at one of them."""
    published = stage.lake.published_days(stage.cluster, "sessionize")
    looking_back = {
        d
        for d in published
        for changed in decode_days
        if changed <= d <= changed + dt.timedelta(days=HISTORY_DAYS)
    }
    return sorted({*decode_days, *looking_back})
