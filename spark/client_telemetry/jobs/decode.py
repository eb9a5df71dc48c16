"""decode: from raw objects to pushes, points and connection events.

Replaces the days' partitions of client_pushes, client_metrics, client_metric_histograms, connection_events and
undecodable_records, and closes the ledger: every record of an object is a row, a duplicate or an undecodable record.
"""

from collections.abc import Sequence

from client_telemetry.decode.decoded_days import DecodedDays, decoded_days
from client_telemetry.decode.plan import DECODED_TABLES, work_of
from client_telemetry.formats.locations import absolute_url
from client_telemetry.formats.raw.location import RawLocation
from client_telemetry.pipeline.options import add_options, no_days
from client_telemetry.pipeline.stage import BadArguments, Outcome, Slice, Stage, parser, run
from client_telemetry.reports.lost_data import lost_data
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.raw_objects import RAW_OBJECTS

BYTES_WITHOUT_SPARK = 16 * 2**20
FACTS = ("push_rows", "event_rows", "undecodable", "records", "points", "number_points", "histogram_points")


def decode(stage: Stage) -> Outcome:
    raw, cluster, days = RawLocation(absolute_url(stage.arguments.raw)), stage.cluster, stage.arguments.days
    ledger = [row for day in days for row in stage.lake.rows(RAW_OBJECTS, cluster_id=cluster, dt=day)]
    dates = ", ".join(map(str, days))
    if not ledger:
        raise BadArguments(f"nothing was collected for cluster {cluster!r} on {dates}: run collect first")
    # Before anything is written: it may find that there is no cluster.
    spark = stage.spark if work_of(ledger) > stage.arguments.without_spark_up_to else None
    branch = stage.branch(DECODED_TABLES)
    decoded = decoded_days(spark, stage.lake, raw, ledger, days)
    where = {"cluster_id": cluster, "dt": days}
    for table in DECODED_TABLES:
        branch.replace_files(table, decoded.files.get(table.name, []), **where)
    branch.replace_rows(RAW_OBJECTS, decoded.objects, **where)
    branch.replace_rows(BROKER_HOURS, decoded.hours, **where)
    counts = decoded.counts(branch.files(CLIENT_PUSHES, **where))
    facts = {name: counts[name] for name in FACTS}
    slices = [Slice(table, where, facts) for table in DECODED_TABLES]
    slices += [Slice(RAW_OBJECTS, where), Slice(BROKER_HOURS, where)]
    stage.publish(branch, slices, days)
    message = (
        f"decode: cluster {cluster}, {dates}: {counts['push_rows']} pushes with {counts['points']} points, "
        f"{counts['event_rows']} connection events, {counts['duplicates']} duplicates, "
        f"{counts['undecodable']} quarantined, from {counts['records']} records"
    )
    return Outcome(message, counts, {"lost": _lost(stage, decoded)})


def _lost(stage: Stage, decoded: DecodedDays) -> str:
    """What could not be read, by day, which the run and its pages say; empty if nothing was lost. One warning for each day."""
    sentences = []
    for day in stage.arguments.days:
        objects = [row for row in decoded.objects if row["dt"] == day]
        lost = lost_data(objects, [row for row in decoded.hours if row["dt"] == day])
        if lost.sentence:
            sentences.append(f"{day}: {lost.sentence}")
            example = f", such as {lost.damaged[0].object_key}" if lost.damaged else ""
            stage.warnings.append(
                f"{day}: {lost.sentence}{example}: the quality page of the day lists the objects"
            )
    return "; ".join(sentences)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser("decode", __doc__)
    add_options(arguments, "--raw", "--days")
    arguments.add_argument(
        "--without-spark-up-to",
        type=int,
        metavar="BYTES",
        default=BYTES_WITHOUT_SPARK,
        help="size of objects that this process reads alone, without Spark; default: %(default)s",
    )
    return run(arguments, decode, argv, no_days("decode"))
