"""collect: what arrived, from which broker and hour, and what is missing.

Given a cluster and a day, it lists the objects of that day and of the earlier days that can still be repaired, records
them in raw_objects, coverage in broker_hours and incarnations in brokers, and names the days to decode (the day itself,
and earlier ones with new or changed objects) and to reprocess (those, and every published day that looks back at them).
Objects of still earlier days that were missing when their day was collected are recorded as too late. With `--again
quarantined`, days of any age with undecodable records are decoded again too. With `--source`, new parts of request logs
or a Collector's files are first converted into objects of the raw location.
"""

from collections.abc import Sequence

from client_telemetry.console.arguments import day
from client_telemetry.decode.arrived_days import ArrivedDays, arrived_days, days_to_derive
from client_telemetry.decode.source_conversion import SourceConversion
from client_telemetry.formats.locations import absolute_url
from client_telemetry.formats.raw.location import RawLocation
from client_telemetry.pipeline.options import add_options
from client_telemetry.pipeline.stage import BadArguments, Outcome, Slice, Stage, parser, run
from client_telemetry.sources.stored_file import without_secrets
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.raw_objects import RAW_OBJECTS

LATE_DAYS, TOO_LATE_DAYS = 3, 14
"""How many days back late objects are picked up, and how many days before these are checked for objects that came too
late.
"""
TABLES = (RAW_OBJECTS, BROKERS, BROKER_HOURS)


def collect(stage: Stage) -> Outcome:
    args, cluster = stage.arguments, stage.cluster
    raw = RawLocation(absolute_url(args.raw))
    clusters = raw.clusters()
    if cluster not in clusters and not args.source:
        raise BadArguments(
            f"no cluster {cluster!r} in {without_secrets(args.raw)}; it holds "
            + (f"{', '.join(clusters)}" if clusters else "no cluster at all: is it the folder above `v1/`?")
        )
    branch = stage.branch(TABLES)
    arrived = arrived_days(stage, raw)
    where = {"cluster_id": cluster, "dt": arrived.days}
    with_late = {"cluster_id": cluster, "dt": [*arrived.days, *arrived.late]}
    late_objects = [row for rows in arrived.late.values() for row in rows]
    branch.replace_rows(RAW_OBJECTS, [*arrived.objects, *late_objects], **with_late)
    branch.replace_rows(BROKERS, arrived.incarnations, **where)
    branch.replace_rows(BROKER_HOURS, arrived.hours, **where)
    slices = [Slice(table, with_late if table is RAW_OBJECTS else where) for table in TABLES]
    stage.publish(branch, slices, [args.day])
    return _outcome(stage, arrived)


def _outcome(stage: Stage, arrived: ArrivedDays) -> Outcome:
    day_ = stage.arguments.day
    counts = arrived.counts(day_)
    if arrived.late:
        stage.warnings.append(
            f"{counts['objects_too_late']} objects came too late for their days; read them with client_telemetry_daily "
            f"and the day {', '.join(map(str, sorted(arrived.late)))}"
        )
    hours = counts["broker_hours"]
    if not counts["objects"] and not hours:
        message = f"collect: cluster {stage.cluster} has no data on {day_}: nothing to decode"
    else:
        message = (
            f"collect: cluster {stage.cluster}, {day_}: {counts['objects']} objects of {counts['brokers']} brokers; "
            f"{counts['broker_hours_complete']} of {hours} broker hours are complete, "
            f"{hours - counts['broker_hours_reported']} are not reported"
        )
    derive = days_to_derive(stage, arrived.to_decode)
    details = {"decode_days": [str(d) for d in arrived.to_decode], "derive_days": [str(d) for d in derive]}
    return Outcome(message, counts, details)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser("collect", __doc__)
    add_options(arguments, "--raw")
    arguments.add_argument("--day", required=True, type=day, help="the day, UTC")
    late, too_late = (
        "days back that late objects are picked up",
        "days before these that are checked for more",
    )
    arguments.add_argument("--late-days", type=int, default=LATE_DAYS, help=late)
    arguments.add_argument("--too-late-days", type=int, default=TOO_LATE_DAYS, help=too_late)
    arguments.add_argument("--again", choices=("quarantined",), help="also days with undecodable records")
    arguments.add_argument("--source", help="JSON of the raw location's source (sources/conversion.py)")
    converted = SourceConversion()

    def body(stage: Stage) -> Outcome:
        converted.convert(stage)
        stage.warnings += [f"source: {warning}" for warning in converted.warnings]
        outcome = collect(stage)
        outcome.counts |= converted.counts
        return outcome

    return run(arguments, body, argv)
