"""Raw objects to rows: what one worker does with its objects, and how objects are shared out.

Every record of an object becomes a row, a duplicate or an undecodable row. Rows are written by the workers
(tables/data_files.py); the driver gets one `DecodedObject` per object and the files.
"""

import datetime as dt
import gc
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

import pyarrow as pa
from pyspark.sql import SparkSession

from client_telemetry.otlp.codecs import decompress
from client_telemetry.otlp.points import DecodedPayload
from client_telemetry.otlp.reference import decode as decode_payload
from client_telemetry.raw.envelopes import parse_client_push, parse_connection_event
from client_telemetry.raw.errors import UndecodableRecord
from client_telemetry.raw.object_key import ObjectKey, parse_object_key
from client_telemetry.raw.raw_dump_v1_pb2 import ApiUse, ClientConnection, ClientPush, ConnectionEvent
from client_telemetry.raw.reader import RawRecord, ReadResult, RecordReader
from client_telemetry.tables.client_metric_histograms import CLIENT_METRIC_HISTOGRAMS
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.data_files import DataFile
from client_telemetry.tables.table import Table
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS

DECODED_TABLES = (
    UNDECODABLE_RECORDS,
    CLIENT_PUSHES,
    CLIENT_METRICS,
    CLIENT_METRIC_HISTOGRAMS,
    CONNECTION_EVENTS,
)
MAX_EVIDENCE_BYTES = 64 * 1024
_TASK_BYTES = 64 * 2**20
_KINDS = {
    ConnectionEvent.OPENED: "opened",
    ConnectionEvent.ACTIVE: "active",
    ConnectionEvent.CLOSED: "closed",
}


@dataclass
class DecodedObject:
    """What became of one object. `records` = `rows` + `duplicates` + `undecodable`; a tail counts as a record.

    `sequences`: incarnation (hex) to smallest and largest sequence of the object's records.
    """

    object_key: str
    status: str = "decoded"
    error: str | None = None
    sha256: str = ""
    bytes: int = 0
    rows: int = 0
    duplicates: int = 0
    undecodable: int = 0
    points: int = 0
    other_day: bool = False
    sequences: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def records(self) -> int:
        return self.rows + self.duplicates + self.undecodable


@dataclass
class TaskResult:
    """What one task gives back: its objects, and the files it wrote by table name."""

    objects: list[DecodedObject]
    files: dict[str, list[str]]


def decode_objects(
    spark: SparkSession,
    groups: Sequence[Sequence[tuple[str, int]]],
    read: Callable[[str], object],
    locations: dict[str, str],
) -> list[TaskResult]:
    """Decode objects in Spark's Python workers.

    `groups`: objects (key, bytes) that one task reads together, in order of key, because they may hold the same
    records. `read(key)` opens an object as a binary stream, on the worker. `locations`: where each table lives.
    """
    if not groups:
        return []
    tasks = _share_out(groups)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            done = [Worker(read, locations).decode(tasks[task]) for task in batch.column("id").to_pylist()]
            yield pa.record_batch({"done": [pickle.dumps(result) for result in done]})

    # One partition a task: Spark must not pack a large and a small one together.
    rows = spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(work, "done binary").collect()
    return [pickle.loads(row["done"]) for row in rows]


def _share_out(groups: Sequence[Sequence[tuple[str, int]]]) -> list[list[list[str]]]:
    """Groups to tasks: the largest first, each to the task with the least; about 64 MiB each, at least eight."""
    sizes = [sum(size for _, size in group) for group in groups]
    count = min(len(groups), max(8, sum(sizes) // _TASK_BYTES))
    tasks: list[list[list[str]]] = [[] for _ in range(count)]
    loads = [0] * count
    for i in sorted(range(len(groups)), key=lambda i: -sizes[i]):
        least = loads.index(min(loads))
        loads[least] += sizes[i]
        tasks[least].append(sorted(key for key, _ in groups[i]))
    return tasks


def groups_that_may_overlap(objects: Sequence[dict]) -> list[list[tuple[str, int]]]:
    """Group objects (rows of raw_objects) by what their names say: overlapping sequence ranges of one incarnation
    belong together, and so do all objects of a broker and dataset of which one has a name that says nothing."""
    groups = []
    by_broker: dict[tuple, list[dict]] = {}
    for row in objects:
        by_broker.setdefault((row["dataset"], row["broker_id"]), []).append(row)
    for rows in by_broker.values():
        if any(row["broker_incarnation"] is None for row in rows):
            groups.append([(row["object_key"], row["bytes"]) for row in rows])
            continue
        group: list[dict] = []
        last = None
        for row in sorted(
            rows, key=lambda r: (r["broker_incarnation"], r["first_sequence"], r["last_sequence"])
        ):
            apart = last is None or (row["broker_incarnation"], row["first_sequence"]) > last
            if apart and group:
                groups.append([(r["object_key"], r["bytes"]) for r in group])
                group = []
            group.append(row)
            end = (row["broker_incarnation"], row["last_sequence"])
            last = end if apart else max(last, end)
        groups.append([(r["object_key"], r["bytes"]) for r in group])
    return groups


def groups_that_do_overlap(
    groups: Sequence[Sequence[tuple[str, int]]], decoded: Sequence[DecodedObject]
) -> list[list[tuple[str, int]]] | None:
    """The groups merged where records of different groups have sequences in common, whatever the names say;
    None where none have."""
    found = {d.object_key: d for d in decoded}
    group_of = {key: i for i, group in enumerate(groups) for key, _ in group}
    spans: dict[tuple, list[tuple[int, int, int]]] = {}
    for key, d in found.items():
        parsed = parse_object_key(key)
        for incarnation, (first, last) in d.sequences.items():
            span = spans.setdefault((parsed.dataset, parsed.broker_id, incarnation), [])
            span.append((first, last, group_of[key]))
    parent = list(range(len(groups)))

    def root(i: int) -> int:
        while parent[i] != i:
            i = parent[i]
        return i

    for span in spans.values():
        span.sort()
        _, reach, owner = span[0]
        for first, last, group in span[1:]:
            if first <= reach:
                parent[root(group)] = root(owner)
            if last > reach:
                reach, owner = last, group
    merged: dict[int, list[tuple[str, int]]] = {}
    for i, group in enumerate(groups):
        merged.setdefault(root(i), []).extend(group)
    return list(merged.values()) if len(merged) < len(groups) else None


class Worker:
    """Decodes objects of one cluster and writes their rows. One per task."""

    def __init__(self, read: Callable[[str], object], locations: dict[str, str]):
        self._read = read
        self._locations = locations
        self._files: dict[tuple[str, str, dt.date], DataFile] = {}

    def decode(self, groups: Sequence[Sequence[str]]) -> TaskResult:
        # Rows are tuples without cycles: looking for cycles among tens of thousands of them only costs time.
        gc.disable()
        objects = []
        for group in groups:
            seen: set[tuple[str, bytes, int]] = set()
            objects += [self._decode_object(parse_object_key(key), seen) for key in group]
        files: dict[str, list[str]] = {}
        for (table, _, _), file in self._files.items():
            url = file.close()
            if url:
                files.setdefault(table, []).append(url)
        return TaskResult(objects, files)

    def _decode_object(self, key: ObjectKey, seen: set) -> DecodedObject:
        done = DecodedObject(object_key=str(key))
        parse = parse_client_push if key.dataset == "client_pushes" else parse_connection_event
        with self._read(str(key)) as source:
            reader = RecordReader(source, key.file_name)
            for record in reader:
                try:
                    message = parse(record.data, key)
                    identity = (key.dataset, message.incarnation, message.sequence)
                    if identity in seen:
                        done.duplicates += 1
                        continue
                    if key.dataset == "client_pushes":
                        self._add_push(key, record, message, done)
                    else:
                        self._add_event(key, record, message, done)
                    seen.add(identity)
                    done.rows += 1
                    _note_sequence(done, message)
                except UndecodableRecord as error:
                    self._quarantine(key, record.offset, record.data, len(record.data), error, done)
        self._finish(key, reader.result, done)
        return done

    def _finish(self, key: ObjectKey, result: ReadResult, done: DecodedObject) -> None:
        done.status = "decoded" if result.status == "complete" else result.status
        done.sha256, done.bytes = result.sha256, result.stored_bytes
        if result.error is not None:
            done.error = result.error.message
            if result.status != "empty":
                self._quarantine(
                    key, result.tail_offset, result.evidence, result.evidence_bytes, result.error, done
                )

    def _file(self, table: Table, key: ObjectKey) -> DataFile:
        slice_ = (table.name, key.cluster_id, key.dt)
        if slice_ not in self._files:
            self._files[slice_] = DataFile(table, self._locations[table.name], key.cluster_id, key.dt)
        return self._files[slice_]

    def _quarantine(
        self,
        key: ObjectKey,
        offset: int,
        data: bytes,
        total: int,
        error: UndecodableRecord,
        done: DecodedObject,
    ) -> None:
        done.undecodable += 1
        row = quarantine_row(key, offset, data, total, error)
        self._file(UNDECODABLE_RECORDS, key).add([row])

    def _add_push(self, key: ObjectKey, record: RawRecord, push: ClientPush, done: DecodedObject) -> None:
        flags = []
        if not push.client_instance_id:
            flags.append("no_instance_id")
        elif not any(push.client_instance_id):
            flags.append("zero_instance_id")
        rejected = push.HasField("error_code") and push.error_code != 0
        try:
            points = (
                DecodedPayload()
                if rejected
                else decode_payload(decompress(push.payload, push.compression_type))
            )
        except UndecodableRecord as error:
            error.sequence, error.client_instance_id = push.sequence, push.client_instance_id
            raise
        if rejected:
            flags.append("rejected")
        elif not points.points:
            flags.append("no_points")
        if points.identity_labels:
            flags.append("identity_in_payload")
        received_at = push.received_at_nanos // 1000
        if _is_other_day(received_at, key.dt):
            flags.append("other_day")
            done.other_day = True
        instance = push.client_instance_id or None
        incarnation = push.incarnation.hex()
        latest = max(
            (p.time_ns for kind in (points.numbers, points.histograms) for p in kind if p.time_ns),
            default=None,
        )
        self._file(CLIENT_PUSHES, key).add(
            [
                (
                    push.broker_id,
                    incarnation,
                    push.sequence,
                    received_at,
                    instance,
                    *_connection(push.client),
                    push.terminating,
                    push.content_type or None,
                    push.compression_type,
                    len(push.payload),
                    len(points.numbers),
                    len(points.histograms),
                    [list(resource.items()) for resource in points.resources],
                    points.scope_name,
                    points.scope_version,
                    _optional(push, "push_interval_ms"),
                    _optional(push, "subscription_id"),
                    _optional(push, "error_code"),
                    None if latest is None else (push.received_at_nanos - latest) // 1_000_000,
                    sorted(flags),
                    done.object_key,
                    record.offset,
                )
            ]
        )
        own = (push.broker_id, incarnation, push.sequence)
        if points.numbers:
            self._file(CLIENT_METRICS, key).add(
                [
                    (
                        *own,
                        p.point_index,
                        instance,
                        received_at,
                        p.metric,
                        p.kind,
                        p.temporality,
                        p.is_monotonic,
                        list(p.attributes.items()),
                        _micros(p.start_time_ns),
                        _micros(p.time_ns),
                        p.value,
                        p.value_int,
                        p.resource_index,
                    )
                    for p in points.numbers
                ]
            )
        if points.histograms:
            self._file(CLIENT_METRIC_HISTOGRAMS, key).add(
                [
                    (
                        *own,
                        p.point_index,
                        instance,
                        received_at,
                        p.metric,
                        p.kind,
                        p.temporality,
                        list(p.attributes.items()),
                        _micros(p.start_time_ns),
                        _micros(p.time_ns),
                        p.count,
                        p.sum,
                        p.min,
                        p.max,
                        p.explicit_bounds,
                        p.bucket_counts,
                        p.scale,
                        p.zero_count,
                        p.positive_offset,
                        p.positive_counts,
                        p.negative_offset,
                        p.negative_counts,
                        None
                        if p.quantiles is None
                        else [{"quantile": q, "value": v} for q, v in p.quantiles],
                        p.resource_index,
                    )
                    for p in points.histograms
                ]
            )
        done.points += points.points

    def _add_event(
        self, key: ObjectKey, record: RawRecord, event: ConnectionEvent, done: DecodedObject
    ) -> None:
        observed_at = event.observed_at_nanos // 1000
        flags = []
        if not event.client.connection_id:
            flags.append("no_connection")
        if _is_other_day(observed_at, key.dt):
            flags.append("other_day")
            done.other_day = True
        self._file(CONNECTION_EVENTS, key).add(
            [
                (
                    event.broker_id,
                    event.incarnation.hex(),
                    event.sequence,
                    observed_at,
                    _KINDS[event.kind],
                    *_connection(event.client),
                    # Without a time of opening, this event is the first evidence.
                    (event.opened_at_nanos or event.observed_at_nanos) // 1000,
                    event.last_request_at_nanos // 1000 or None,
                    _api_uses(event.api_uses),
                    sorted(event.group_ids),
                    sorted(event.transactional_ids),
                    sorted(flags),
                    done.object_key,
                    record.offset,
                )
            ]
        )


def quarantine_row(key: ObjectKey, offset: int, data: bytes, total: int, error: UndecodableRecord) -> tuple:
    """A row of undecodable_records without cluster_id and dt."""
    return (
        key.dataset,
        str(key),
        offset,
        "decode",
        error.error_class,
        f"{error.message}. {error.remedy}",
        data[:MAX_EVIDENCE_BYTES],
        total,
        key.broker_id,
        key.incarnation,
        error.sequence,
        error.client_instance_id or None,
    )


def _note_sequence(done: DecodedObject, message: ClientPush | ConnectionEvent) -> None:
    incarnation = message.incarnation.hex()
    first, last = done.sequences.get(incarnation, (message.sequence, message.sequence))
    done.sequences[incarnation] = (min(first, message.sequence), max(last, message.sequence))


def _connection(client: ClientConnection) -> tuple:
    return (
        _optional(client, "client_id"),
        client.principal,
        client.client_address,
        _optional(client, "client_port"),
        client.listener_name,
        client.security_protocol,
        client.connection_id,
        client.client_software_name,
        client.client_software_version,
        client.sent_software_name,
        client.sent_software_version,
        _optional(client, "api_versions_error"),
    )


def _api_uses(uses: Sequence[ApiUse]) -> list[tuple]:
    """One entry per API and version, sorted; entries that repeat a pair are added up."""
    rows = sorted(
        [
            (
                use.api_key,
                use.version,
                use.requests,
                use.rejected,
                use.first_request_at_nanos // 1000 or None,
                use.last_request_at_nanos // 1000 or None,
            )
            for use in uses
        ],
        key=itemgetter(0, 1),
    )
    if len({row[:2] for row in rows}) == len(rows):
        return rows
    return [_added_up(list(same)) for _, same in groupby(rows, key=itemgetter(0, 1))]


def _added_up(rows: Sequence[tuple]) -> tuple:
    pair, requests, rejected, first, last = rows[0][:2], *zip(*(row[2:] for row in rows), strict=True)
    return (
        *pair,
        sum(requests),
        sum(rejected),
        min(filter(None, first), default=None),
        max(filter(None, last), default=None),
    )


def _optional(message: object, name: str) -> object:
    return getattr(message, name) if message.HasField(name) else None


def _micros(nanos: int | None) -> int | None:
    return None if nanos is None else nanos // 1000


def _is_other_day(micros: int, day: dt.date) -> bool:
    return micros // 86_400_000_000 != (day - dt.date(1970, 1, 1)).days
