"""Days of a cluster, decoded: files of rows at their final place, which nobody sees before they are committed, and the closed
ledger: every record of an object is a row, a duplicate or an undecodable record.
"""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow.compute as pc
from pyspark.sql import SparkSession

from client_telemetry.decode.coverage import ManifestRead, broker_hours, listed_files, with_decoded
from client_telemetry.decode.decoded_object import DecodedObject, TaskResult
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
from client_telemetry.lake.files import PartitionFile, stored_rows
from client_telemetry.lake.lake import Lake
from client_telemetry.lake.writer import DataFile, TablePlace
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.rows import BrokerHourRow, RawObjectRow
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS

_Counted = Literal["records", "rows", "duplicates", "undecodable", "points"]


@dataclass(frozen=True)
class DecodedDays:
    files: Mapping[str, Sequence[str]]
    """Table name -> URLs of data files."""
    objects: Sequence[RawObjectRow]
    """The ledger, closed."""
    hours: Sequence[BrokerHourRow]
    unreadable_manifests: int
    slow_pushes: int

    def counts(self, pushes: Sequence[PartitionFile]) -> dict[str, int]:
        """`pushes`: the files of client_pushes."""

        def total(column: _Counted, dataset: str | None = None) -> int:
            return sum(row[column] or 0 for row in self.objects if dataset in (None, row["dataset"]))

        kinds = ("points", "histogram_points")
        points: Counter[str] = Counter()
        for rows in stored_rows(pushes, CLIENT_PUSHES, kinds):
            points.update({kind: pc.sum(rows[kind]).as_py() or 0 for kind in kinds})
        return {
            "records": total("records") + self.unreadable_manifests,
            "push_rows": total("rows", "client_pushes"),
            "event_rows": total("rows", "connections"),
            "duplicates": total("duplicates"),
            "undecodable": total("undecodable") + self.unreadable_manifests,
            "points": total("points"),
            "number_points": points["points"],
            "histogram_points": points["histogram_points"],
            "slow_pushes": self.slow_pushes,
        }


def decoded_days(
    spark: SparkSession | None,
    lake: Lake,
    raw: RawLocation,
    ledger: Sequence[RawObjectRow],
    days: Sequence[dt.date],
) -> DecodedDays:
    """`ledger`: rows of raw_objects of the days."""
    places = {table.name: lake.place(table) for table in DECODED_TABLES}
    results = _decode_all(spark, raw, [row for row in ledger if row["dataset"] != "manifests"], places)
    files: dict[str, list[str]] = {}
    for result in results:
        for table, urls in result.files.items():
            files.setdefault(table, []).extend(urls)
    decoded = {d.object_key: d for result in results for d in result.objects}
    sizes = {row["object_key"]: row["bytes"] for row in ledger if row["dataset"] == "manifests"}
    reads = read_manifests(raw, [parse_object_key(key) for key in sizes])
    unreadable = [read for read in reads if read.error is not None]
    quarantine = files.setdefault(UNDECODABLE_RECORDS.name, [])
    for read in unreadable:
        quarantine += _quarantined(read, raw, sizes[str(read.key)], places[UNDECODABLE_RECORDS.name])
    objects, hours = list[RawObjectRow](), list[BrokerHourRow]()
    for day in days:
        own = [read for read in reads if read.key.dt == day]
        rows = _closed([row for row in ledger if row["dt"] == day], decoded, own)
        objects += rows
        hours += broker_hours(rows, own, day)
    slow_pushes = sum(each.slow_pushes for each in decoded.values())
    return DecodedDays(files, objects, hours, len(unreadable), slow_pushes)


def _quarantined(read: ManifestRead, raw: RawLocation, size: int, place: TablePlace) -> list[str]:
    """The file with the row of a manifest that cannot be read."""
    assert read.error is not None
    data = raw.beginning(str(read.key), MAX_EVIDENCE_BYTES)
    file = DataFile(UNDECODABLE_RECORDS, place, {"cluster_id": read.key.cluster_id, "dt": read.key.dt})
    file.add([quarantine_row(read.key, 0, data, size, read.error)])
    url = file.close()
    return [url] if url else []


def _closed(
    rows: Sequence[RawObjectRow], decoded: Mapping[str, DecodedObject], manifests: Sequence[ManifestRead]
) -> list[RawObjectRow]:
    listed = {key: file.records for key, file in listed_files(manifests).items()}
    return [
        with_decoded(row, decoded[key], listed.get(parse_object_key(key).key)) if key in decoded else row
        for row in rows
        if (key := row["object_key"])
    ]


def _decode_all(
    spark: SparkSession | None, raw: RawLocation, objects: list[RawObjectRow], places: dict[str, TablePlace]
) -> list[TaskResult]:
    """Decode, and repeat in larger groups while objects of different groups turn out to share records. The files of a
    discarded attempt are never registered.
    """
    by_day: dict[dt.date, list[RawObjectRow]] = {}
    for row in objects:
        by_day.setdefault(row["dt"], []).append(row)
    groups = [group for rows in by_day.values() for group in groups_that_may_overlap(rows)]
    while True:
        results = decode_objects(spark, groups, raw.read, places)
        merged = merge_overlapping(groups, [d for result in results for d in result.objects])
        if merged is None:
            return results
        groups = merged
