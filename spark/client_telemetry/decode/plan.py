"""From raw objects to rows on many workers: how objects are assigned to tasks, and what a worker reports about them.

Every record of an object becomes a row, a duplicate or an undecodable row. worker.py processes a task's objects.
"""

import heapq
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO

import pyarrow as pa
from pyspark.sql import SparkSession

from client_telemetry.decode.decoded_object import DecodedObject, TaskResult
from client_telemetry.formats.raw.object_key import parse_object_key
from client_telemetry.lake.writer import TablePlace
from client_telemetry.tables.client_metric_histograms import CLIENT_METRIC_HISTOGRAMS
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.rows import RawObjectRow
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS

DECODED_TABLES = (
    UNDECODABLE_RECORDS,
    CLIENT_PUSHES,
    CLIENT_METRICS,
    CLIENT_METRIC_HISTOGRAMS,
    CONNECTION_EVENTS,
)
_TASK_BYTES = 64 * 2**20
_TASK_OBJECTS = 2_000
"""Opening an object takes milliseconds, more in a store: 50,000 small ones are minutes of work, however few their
bytes.
"""


def decode_objects(
    spark: SparkSession | None,
    groups: Sequence[Sequence[tuple[str, int]]],
    read: Callable[[str], BinaryIO],
    places: dict[str, TablePlace],
) -> list[TaskResult]:
    """Decode objects in Spark's Python workers; without Spark, one after the other in this process.

    `groups`: objects (key, bytes) that one task reads together, ordered by key, because they may hold the same records.
    `read(key)` opens an object as a binary stream, on the worker. `places`: where each table's files go.
    """
    if not groups:
        return []
    if spark is None:
        from client_telemetry.decode.worker import Worker

        return [Worker(read, places).decode([sorted(key for key, _ in group) for group in groups])]
    # Every task receives the whole list, as bytes, so that it only deserializes its own part.
    tasks = [pickle.dumps(task) for task in groups_by_task(groups)]

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # Loads compiled code, which the driver does not need.
        from client_telemetry.decode.worker import Worker, freeze_imports

        freeze_imports()
        for batch in batches:
            results = [
                Worker(read, places).decode(pickle.loads(tasks[task]))
                for task in batch.column("id").to_pylist()
            ]
            yield pa.record_batch({"done": [pickle.dumps(result) for result in results]})

    # One partition per task: Spark must not pack a large and a small one together.
    rows = spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(work, "done binary").collect()
    return [pickle.loads(row["done"]) for row in rows]


def work_of(objects: Sequence[RawObjectRow]) -> int:
    """Bytes; an object counts by its share of a task's objects, too."""
    return sum(row["bytes"] + _TASK_BYTES // _TASK_OBJECTS for row in objects)


def groups_by_task(groups: Sequence[Sequence[tuple[str, int]]]) -> list[list[list[str]]]:
    """Assigns groups to tasks: the largest first, each to the task with the least work; about 64 MiB or 2000 objects
    per task, whichever is less, and at least eight tasks. An object counts by its bytes and by its share of a task's
    objects.
    """
    of_object = _TASK_BYTES // _TASK_OBJECTS
    sizes = [sum(size + of_object for _, size in group) for group in groups]
    objects = sum(map(len, groups))
    stored = sum(sizes) - objects * of_object
    count = min(len(groups), max(8, stored // _TASK_BYTES, objects // _TASK_OBJECTS))
    tasks: list[list[list[str]]] = [[] for _ in range(count)]
    loads = [(0, task) for task in range(count)]
    for i in sorted(range(len(groups)), key=lambda i: -sizes[i]):
        load, least = heapq.heappop(loads)
        heapq.heappush(loads, (load + sizes[i], least))
        tasks[least].append(sorted(key for key, _ in groups[i]))
    return tasks


def groups_that_may_overlap(objects: Sequence[RawObjectRow]) -> list[list[tuple[str, int]]]:
    """Group objects (rows of raw_objects) by their names: overlapping sequence ranges of one incarnation belong
    together, and so do all objects of a broker and dataset if the name of one of them says nothing.
    """
    groups = []
    by_broker: dict[tuple[object, ...], list[RawObjectRow]] = {}
    for row in objects:
        by_broker.setdefault((row["dataset"], row["broker_id"]), []).append(row)
    for rows in by_broker.values():
        if any(row["broker_incarnation"] is None for row in rows):
            groups.append([(row["object_key"], row["bytes"]) for row in rows])
            continue
        group: list[RawObjectRow] = []
        last: tuple[object, ...] | None = None
        for row in sorted(
            rows, key=lambda r: (r["broker_incarnation"], r["first_sequence"], r["last_sequence"])
        ):
            apart = last is None or (row["broker_incarnation"], row["first_sequence"]) > last
            if apart and group:
                groups.append([(r["object_key"], r["bytes"]) for r in group])
                group = []
            group.append(row)
            end = (row["broker_incarnation"], row["last_sequence"])
            last = end if last is None or apart else max(last, end)
        groups.append([(r["object_key"], r["bytes"]) for r in group])
    return groups


def merge_overlapping(
    groups: Sequence[Sequence[tuple[str, int]]], decoded: Sequence[DecodedObject]
) -> list[list[tuple[str, int]]] | None:
    """The groups, merged where records of different groups have sequences in common, whatever the names say; None if
    none have.
    """
    by_key = {d.object_key: d for d in decoded}
    group_of = {key: i for i, group in enumerate(groups) for key, _ in group}
    spans: dict[tuple[object, ...], list[tuple[int, int, int]]] = {}
    for key, d in by_key.items():
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
        for first, end_of, number in span[1:]:
            if first <= reach:
                parent[root(number)] = root(owner)
            if end_of > reach:
                reach, owner = end_of, number
    merged: dict[int, list[tuple[str, int]]] = {}
    for i, group in enumerate(groups):
        merged.setdefault(root(i), []).extend(group)
    return list(merged.values()) if len(merged) < len(groups) else None
