"""collect: what arrived, from which broker and hour, and what is missing.

Given a cluster and a day, it lists the objects of that day and of the earlier days that can still be repaired, records
them in raw_objects, coverage in broker_hours and incarnations in brokers, and names the days to decode (the day itself,
and earlier ones with new or changed objects) and to reprocess (those, and every published day that looks back at them).
Objects of still earlier days that were missing when their day was collected are recorded as too late. With `--again
quarantined`, days of any age with undecodable records are decoded again too. With `--source`, new parts of request logs
or a Collector's files are first converted into objects of the raw location.
"""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from client_telemetry.console.arguments import day
from client_telemetry.decode.coverage import broker_hours, brokers, is_known, ledger, unread
from client_telemetry.decode.manifests import read_manifests
from client_telemetry.formats.raw.location import RawLocation
from client_telemetry.lake.files import stored_rows
from client_telemetry.pipeline.stage import (
    BadArguments,
    Outcome,
    Slice,
    Stage,
    absolute_url,
    parser,
    run,
)
from client_telemetry.sources import conversion
from client_telemetry.sources.adapter import Conversion
from client_telemetry.sources.stored_file import without_secrets
from client_telemetry.tables import broker_hours as broker_hours_suite
from client_telemetry.tables import brokers as brokers_suite
from client_telemetry.tables import raw_objects as raw_objects_suite
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_sessions import HISTORY_DAYS
from client_telemetry.tables.raw_objects import RAW_OBJECTS
from client_telemetry.tables.rows import BrokerHourRow, BrokerRow, RawObjectRow
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS
from client_telemetry.workers.pieces import Part, Result, in_tasks

LATE_DAYS, TOO_LATE_DAYS = 3, 14
"""How many days back late objects are picked up, and how many days before these are checked for objects that came too
late.
"""
TABLES = (RAW_OBJECTS, BROKERS, BROKER_HOURS)
SUITES = (raw_objects_suite.SUITE, brokers_suite.SUITE, broker_hours_suite.SUITE)


class Collect:
    """The stage's body. A repeated attempt converts what arrived meanwhile, and reports everything that was converted."""

    def __init__(self) -> None:
        self._converted: Counter[str] = Counter()
        self._warnings: list[str] = []

    def __call__(self, stage: Stage) -> Outcome:
        if stage.arguments.source:
            conversion = _convert(stage)
            self._converted.update(conversion.counts)
            self._warnings += [warning for warning in conversion.warnings if warning not in self._warnings]
        stage.warnings += [f"source: {warning}" for warning in self._warnings]
        outcome = collect(stage)
        outcome.counts |= self._converted
        return outcome


def collect(stage: Stage) -> Outcome:
    arguments, cluster = stage.arguments, stage.cluster
    raw = RawLocation(absolute_url(arguments.raw))
    clusters = raw.clusters()
    if cluster not in clusters and not arguments.source:
        raise BadArguments(
            f"no cluster {cluster!r} in {without_secrets(arguments.raw)}; it holds "
            + (f"{', '.join(clusters)}" if clusters else "no cluster at all: is it the folder above `v1/`?")
        )
    window = [arguments.day - dt.timedelta(days=n) for n in range(arguments.late_days, -1, -1)]
    branch = stage.branch(TABLES)
    now = dt.datetime.now(dt.UTC)
    again = _quarantined_days(stage, raw) if arguments.again else {}
    days = sorted({*window, *again})
    objects, hours, incarnations, decode_days, collected = [], [], [], [], []
    skipped: list[str] = []
    for day_ in days:  # one at a time: 500 brokers have 100,000 objects a day
        arrived = list(raw.objects(cluster, day_, skipped))
        known = stage.lake.rows(RAW_OBJECTS, cluster_id=cluster, dt=day_)
        before = {row["object_key"]: row for row in known}
        if day_ != arguments.day and day_ not in again and is_known(arrived, before):
            continue  # and the tables already have what its manifests say
        collected.append(day_)
        reads = read_manifests(raw, [a.key for a in arrived if a.key.dataset == "manifests"])
        rows = ledger(arrived, reads, before, now)
        is_changed = any(row["status"] == "new" for row in rows) or before.keys() != {
            r["object_key"] for r in rows
        }
        if rows and (day_ == arguments.day or is_changed or day_ in again):
            decode_days.append(day_)
        objects += rows
        hours += broker_hours(rows, reads, day_)
        incarnations += brokers(reads, day_)
    if skipped:
        stage.warnings.append(
            f"{len(skipped)} files in the raw location are not read, such as {skipped[0]}. Give them names as in "
            "docs/raw-dump-contract.md, or remove them"
        )
    late_rows = _too_late(stage, raw, window[0], set(days), now)
    where = {"cluster_id": cluster, "dt": collected}
    with_late = {"cluster_id": cluster, "dt": [*collected, *late_rows]}
    late_objects = [row for rows in late_rows.values() for row in rows]
    branch.replace_rows(RAW_OBJECTS, [*objects, *late_objects], **with_late)
    branch.replace_rows(BROKERS, incarnations, **where)
    branch.replace_rows(BROKER_HOURS, hours, **where)
    slices = [Slice(suite, with_late if suite.table is RAW_OBJECTS else where) for suite in SUITES]
    stage.publish(branch, slices, [arguments.day])
    return _outcome(stage, decode_days, objects, hours, incarnations, late_rows, again)


def _convert(stage: Stage) -> Conversion:
    """Convert what is new in the source's files into objects of the raw location, in Spark tasks where parts are
    independent.
    """
    try:
        source = conversion.declared(stage.arguments.source)
        raw = absolute_url(stage.arguments.raw)
        result = conversion.convert_new(source, stage.cluster, raw, spread=partial(_spread, stage))
    except conversion.REFUSALS as error:
        raise BadArguments(f"source of cluster {stage.cluster}: {error}; see docs/sources.md") from None
    print(f"collect: {result.message}", flush=True)
    return result


def _spread(stage: Stage, work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """Each part in a task; a single part is not worth starting Spark."""
    return in_tasks(stage.spark, work, parts) if len(parts) > 1 else [work(part) for part in parts]


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


def _outcome(
    stage: Stage,
    decode_days: list[dt.date],
    objects: list[RawObjectRow],
    hours: list[BrokerHourRow],
    incarnations: list[BrokerRow],
    late_rows: dict[dt.date, list[RawObjectRow]],
    again: dict[dt.date, int],
) -> Outcome:
    day_ = stage.arguments.day
    data = [row for row in objects if row["dt"] == day_ and row["dataset"] != "manifests"]
    covered = [row for row in hours if row["dt"] == day_]
    complete = sum(row["completeness"] == ["complete"] for row in covered)
    reported = sum(bool(row["incarnations"]) for row in covered)
    counts = {
        "objects": len(data),
        "manifests": sum(row["dt"] == day_ and row["dataset"] == "manifests" for row in objects),
        "brokers": len({row["broker_id"] for row in covered}),
        "broker_incarnations": sum(row["dt"] == day_ for row in incarnations),
        "broker_hours": len(covered),
        "broker_hours_reported": reported,
        "broker_hours_complete": complete,
        "objects_too_late": sum(row["status"] == "too_late" for rows in late_rows.values() for row in rows),
        "quarantined_records_to_read_again": sum(again.values()),
    }
    if late_rows:
        stage.warnings.append(
            f"{counts['objects_too_late']} objects came too late for their days; read them with client_telemetry_daily "
            f"and the day {', '.join(map(str, sorted(late_rows)))}"
        )
    if not data and not covered:
        message = f"collect: cluster {stage.cluster} has no data on {day_}: nothing to decode"
    else:
        message = (
            f"collect: cluster {stage.cluster}, {day_}: {counts['objects']} objects of {counts['brokers']} brokers; "
            f"{complete} of {len(covered)} broker hours are complete, {len(covered) - reported} are not reported"
        )
    derive = _derive_days(stage, decode_days)
    details = {"decode_days": [str(d) for d in decode_days], "derive_days": [str(d) for d in derive]}
    return Outcome(message, counts, details)


def _derive_days(stage: Stage, decode_days: list[dt.date]) -> list[dt.date]:
    """The days to decode, and every published day whose partition looks back at one of them."""
    published = stage.lake.published_days(stage.cluster, "sessionize")
    looking_back = {
        d
        for d in published
        for changed in decode_days
        if changed <= d <= changed + dt.timedelta(days=HISTORY_DAYS)
    }
    return sorted({*decode_days, *looking_back})


def main(argv: list[str] | None = None) -> int:
    arguments = parser("collect", __doc__)
    arguments.add_argument("--raw", required=True, help="raw location: folder or URL that contains `v1/`")
    arguments.add_argument("--day", required=True, type=day, help="the day, UTC")
    arguments.add_argument(
        "--late-days", type=int, default=LATE_DAYS, help="how many days back late objects are picked up"
    )
    arguments.add_argument(
        "--too-late-days",
        type=int,
        default=TOO_LATE_DAYS,
        help="how many days before these are checked for objects that arrived too late",
    )
    arguments.add_argument(
        "--again", choices=("quarantined",), help="also decode days with undecodable records again"
    )
    arguments.add_argument(
        "--source",
        help="JSON with format and files, and optionally release and zone, of the source of the raw location (sources/conversion.py)",
    )
    return run(arguments, Collect(), argv, starts_spark="if needed")
