"""collect: what arrived, from which broker and hour, and what is missing.

    spark-submit spark/jobs/collect.py --cluster C --day D --raw URL --lake URL

Told a cluster and a day, it lists the objects of that day and of the days before it that can still be repaired,
records them in raw_objects, coverage in broker_hours and incarnations in brokers, and names the days to decode
(the day itself, and earlier ones with new or changed objects) and to derive again (those, and every published day
that looks back at them).
"""

import datetime as dt
import sys

from client_telemetry.coverage import broker_hours, brokers, ledger
from client_telemetry.expectations import broker_hours as broker_hours_suite
from client_telemetry.expectations import brokers as brokers_suite
from client_telemetry.expectations import raw_objects as raw_objects_suite
from client_telemetry.manifests import read_manifest
from client_telemetry.raw_location import RawLocation
from client_telemetry.sessionize import HISTORY_DAYS
from client_telemetry.stage import BadArguments, Outcome, Slice, Stage, absolute_url, day, parser, run
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.raw_objects import RAW_OBJECTS

TABLES = (RAW_OBJECTS, BROKERS, BROKER_HOURS)
SUITES = (raw_objects_suite.SUITE, brokers_suite.SUITE, broker_hours_suite.SUITE)


def collect(stage: Stage) -> Outcome:
    arguments, cluster = stage.arguments, stage.cluster
    raw = RawLocation(absolute_url(arguments.raw))
    known = raw.clusters()
    if cluster not in known:
        raise BadArguments(
            f"no cluster {cluster!r} in {arguments.raw}; it holds "
            + (f"{', '.join(known)}" if known else "no cluster at all: is it the folder above `v1/`?")
        )
    days = [arguments.day - dt.timedelta(days=n) for n in range(arguments.late_days, -1, -1)]
    branch = stage.branch(TABLES)
    now = dt.datetime.now(dt.UTC)
    objects, hours, incarnations, decode_days = [], [], [], []
    for each in days:
        arrived = list(raw.objects(cluster, each))
        before = {row["object_key"]: row for row in stage.lake.rows(RAW_OBJECTS, cluster_id=cluster, dt=each)}
        reads = [read_manifest(raw, a.key) for a in arrived if a.key.dataset == "manifests"]
        rows = ledger(arrived, reads, before, now)
        is_changed = any(row["status"] == "new" for row in rows) or before.keys() != {
            r["object_key"] for r in rows
        }
        if rows and (each == arguments.day or is_changed):
            decode_days.append(each)
        objects += rows
        hours += broker_hours(rows, reads, each)
        incarnations += brokers(reads, each)
    where = {"cluster_id": cluster, "dt": days}
    for table, rows in ((RAW_OBJECTS, objects), (BROKERS, incarnations), (BROKER_HOURS, hours)):
        branch.replace_rows(table, rows, **where)
    stage.publish(branch, [Slice(suite, where) for suite in SUITES], [arguments.day])
    return _outcome(stage, decode_days, objects, hours, incarnations)


def _outcome(
    stage: Stage, decode_days: list[dt.date], objects: list[dict], hours: list[dict], incarnations: list[dict]
) -> Outcome:
    day_ = stage.arguments.day
    data = [row for row in objects if row["dt"] == day_ and row["dataset"] != "manifests"]
    covered = [row for row in hours if row["dt"] == day_]
    complete = sum(row["completeness"] == ["complete"] for row in covered)
    told = sum(bool(row["incarnations"]) for row in covered)
    counts = {
        "objects": len(data),
        "manifests": sum(row["dt"] == day_ and row["dataset"] == "manifests" for row in objects),
        "brokers": len({row["broker_id"] for row in covered}),
        "broker_incarnations": sum(row["dt"] == day_ for row in incarnations),
        "broker_hours": len(covered),
        "broker_hours_told": told,
        "broker_hours_complete": complete,
    }
    if not data and not covered:
        message = f"collect: cluster {stage.cluster} has no data on {day_}: nothing to decode"
    else:
        message = (
            f"collect: cluster {stage.cluster}, {day_}: {counts['objects']} objects of {counts['brokers']} brokers; "
            f"{complete} of {len(covered)} broker hours are complete, {len(covered) - told} are not told of"
        )
    derive = _derive_days(stage, decode_days)
    details = {"decode_days": [str(d) for d in decode_days], "derive_days": [str(d) for d in derive]}
    return Outcome(message, counts, details)


def _derive_days(stage: Stage, decode_days: list[dt.date]) -> list[dt.date]:
    """The days to decode, and every published day whose slice looks back at one of them."""
    rows = stage.lake.rows(PUBLICATIONS, cluster_id=stage.cluster, stage="sessionize")
    published = {d for row in rows for d in row["days"]}
    looking_back = {
        d
        for d in published
        for changed in decode_days
        if changed <= d <= changed + dt.timedelta(days=HISTORY_DAYS)
    }
    return sorted({*decode_days, *looking_back})


def main(argv: list[str] | None = None) -> int:
    arguments = parser("collect", __doc__.splitlines()[0])
    arguments.add_argument("--raw", required=True, help="raw location: the folder or URL that holds `v1/`")
    arguments.add_argument("--day", required=True, type=day, help="the day, UTC")
    arguments.add_argument(
        "--late-days", type=int, default=3, help="how many days back late objects are repaired"
    )
    return run(arguments, collect, argv)


if __name__ == "__main__":
    sys.exit(main())
