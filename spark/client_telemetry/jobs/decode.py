"""decode: from raw objects to pushes, points and connection events.

Replaces the days' partitions of client_pushes, client_metrics, client_metric_histograms, connection_events and
undecodable_records, and closes the ledger: every record of an object is a row, a duplicate or an undecodable record.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import pyarrow.compute as pc

from client_telemetry.decode.coverage import broker_hours, with_decoded
from client_telemetry.decode.decoded_object import TaskResult
from client_telemetry.decode.manifests import read_manifests
from client_telemetry.decode.plan import (
    DECODED_TABLES,
    decode_objects,
    groups_that_may_overlap,
    merge_overlapping,
)
from client_telemetry.formats.raw.location import RawLocation
from client_telemetry.formats.raw.object_key import parse_object_key
from client_telemetry.formats.raw.quarantine import MAX_EVIDENCE_BYTES, quarantine_row
from client_telemetry.lake.branch import Branch
from client_telemetry.lake.files import stored_rows
from client_telemetry.lake.writer import DataFile, TablePlace
from client_telemetry.pipeline.stage import (
    BadArguments,
    Outcome,
    Slice,
    Stage,
    absolute_url,
    days,
    parser,
    run,
)
from client_telemetry.reports.lost_data import lost_data
from client_telemetry.tables import broker_hours as broker_hours_suite
from client_telemetry.tables import (
    client_metric_histograms,
    client_metrics,
    client_pushes,
    connection_events,
    raw_objects,
    undecodable_records,
)
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.raw_objects import RAW_OBJECTS
from client_telemetry.tables.rows import BrokerHourRow, RawObjectRow
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS

SUITES = (
    undecodable_records.SUITE,
    client_pushes.SUITE,
    client_metrics.SUITE,
    client_metric_histograms.SUITE,
    connection_events.SUITE,
)


def decode(stage: Stage) -> Outcome:
    raw, cluster, days = RawLocation(absolute_url(stage.arguments.raw)), stage.cluster, stage.arguments.days
    ledger = [row for day in days for row in stage.lake.rows(RAW_OBJECTS, cluster_id=cluster, dt=day)]
    if not ledger:
        raise BadArguments(
            f"nothing was collected for cluster {cluster!r} on {_list(days)}: run collect first"
        )
    branch = stage.branch(DECODED_TABLES)
    places = {table.name: stage.lake.place(table) for table in DECODED_TABLES}

    results = _decode_all(stage, raw, [row for row in ledger if row["dataset"] != "manifests"], places)
    files: dict[str, list[str]] = {}
    for result in results:
        for table, urls in result.files.items():
            files.setdefault(table, []).extend(urls)
    decoded = {d.object_key: d for result in results for d in result.objects}

    sizes = {row["object_key"]: row["bytes"] for row in ledger if row["dataset"] == "manifests"}
    manifests = [parse_object_key(key) for key in sizes]
    reads = {str(read.key): read for read in read_manifests(raw, manifests)}
    for read in reads.values():
        if read.error is not None:
            data = raw.beginning(str(read.key), MAX_EVIDENCE_BYTES)
            file = DataFile(
                UNDECODABLE_RECORDS,
                places[UNDECODABLE_RECORDS.name],
                {"cluster_id": cluster, "dt": read.key.dt},
            )
            file.add([quarantine_row(read.key, 0, data, sizes[str(read.key)], read.error)])
            if url := file.close():
                files.setdefault(UNDECODABLE_RECORDS.name, []).append(url)

    closed, hours = [], []
    for day in days:
        good = [r for r in reads.values() if r.key.dt == day]
        stated = {f.key: f.records for r in good if r.manifest is not None for f in r.manifest.files}
        rows = [
            with_decoded(row, decoded[key], stated.get(parse_object_key(key).key)) if key in decoded else row
            for row in ledger
            if row["dt"] == day and (key := row["object_key"])
        ]
        closed += rows
        hours += broker_hours(rows, good, day)

    where = {"cluster_id": cluster, "dt": days}
    for decoded_table in DECODED_TABLES:
        branch.replace_files(decoded_table, files.get(decoded_table.name, []), **where)
    branch.replace_rows(RAW_OBJECTS, closed, **where)
    branch.replace_rows(BROKER_HOURS, hours, **where)

    unreadable = sum(read.error is not None for read in reads.values())
    counts = _counts(branch, where, closed, unreadable)
    counts["slow_pushes"] = sum(decoded_object.slow_pushes for decoded_object in decoded.values())
    facts = {name: counts[name] for name in ("push_rows", "event_rows", "undecodable", "records", "points")}
    facts |= {name: counts[name] for name in ("number_points", "histogram_points")}
    stage.publish(
        branch,
        [
            *[Slice(suite, where, facts) for suite in SUITES],
            Slice(raw_objects.SUITE, where),
            Slice(broker_hours_suite.SUITE, where),
        ],
        days,
    )
    message = (
        f"decode: cluster {cluster}, {_list(days)}: {counts['push_rows']} pushes with {counts['points']} points, "
        f"{counts['event_rows']} connection events, {counts['duplicates']} duplicates, "
        f"{counts['undecodable']} quarantined, from {counts['records']} records"
    )
    return Outcome(message, counts, {"lost": _lost(stage, closed, hours)})


def _lost(stage: Stage, objects: list[RawObjectRow], hours: list[BrokerHourRow]) -> str:
    """What could not be read, by day, which the run and its pages say; empty if nothing was lost. One warning for each day."""
    sentences = []
    for day in stage.arguments.days:
        lost = lost_data(
            [row for row in objects if row["dt"] == day], [row for row in hours if row["dt"] == day]
        )
        if lost.sentence:
            sentences.append(f"{day}: {lost.sentence}")
            example = f", such as {lost.damaged[0].object_key}" if lost.damaged else ""
            stage.warnings.append(
                f"{day}: {lost.sentence}{example}: the quality page of the day lists the objects"
            )
    return "; ".join(sentences)


def _decode_all(
    stage: Stage, raw: RawLocation, objects: list[RawObjectRow], places: dict[str, TablePlace]
) -> list[TaskResult]:
    """Decode, and repeat in larger groups while objects of different groups turn out to share records. The files of a
    discarded attempt are never registered.
    """
    by_day: dict[date, list[RawObjectRow]] = {}
    for row in objects:
        by_day.setdefault(row["dt"], []).append(row)
    groups = [group for rows in by_day.values() for group in groups_that_may_overlap(rows)]
    while True:
        results = decode_objects(stage.spark, groups, raw.read, places)
        merged = merge_overlapping(groups, [d for result in results for d in result.objects])
        if merged is None:
            return results
        groups = merged


def _counts(
    branch: Branch,
    where: dict[str, Any],
    ledger: Sequence[Mapping[str, Any]],
    unreadable_manifests: int,
) -> dict[str, int]:
    def total(column: str, dataset: str | None = None) -> int:
        return sum(row[column] or 0 for row in ledger if dataset in (None, row["dataset"]))

    kinds = ("points", "histogram_points")
    points: Counter[str] = Counter()
    for rows in stored_rows(branch.files(CLIENT_PUSHES, **where), CLIENT_PUSHES, kinds):
        points.update({kind: pc.sum(rows[kind]).as_py() or 0 for kind in kinds})
    return {
        "records": total("records") + unreadable_manifests,
        "push_rows": total("rows", "client_pushes"),
        "event_rows": total("rows", "connections"),
        "duplicates": total("duplicates"),
        "undecodable": total("undecodable") + unreadable_manifests,
        "points": total("points"),
        "number_points": points["points"],
        "histogram_points": points["histogram_points"],
    }


def _list(days_: list[Any]) -> str:
    return ", ".join(str(day) for day in days_)


def main(argv: list[str] | None = None) -> int:
    arguments = parser("decode", __doc__)
    arguments.add_argument("--raw", required=True, help="raw location: folder or URL that contains `v1/`")
    arguments.add_argument("--days", required=True, type=days, help="days to decode, UTC")
    return run(
        arguments, decode, argv, lambda args: None if args.days else "decode: no day to decode, nothing to do"
    )
