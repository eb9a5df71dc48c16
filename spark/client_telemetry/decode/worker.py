"""What one worker does with its raw objects: records to rows, rows to data files.

Pushes are read a block at a time by compiled code (fast_decoder.py); what that does not take goes the slow way,
record by record (slow_decoder.py), as connection events do.
"""

import datetime as dt
import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, BinaryIO

import numpy as np

from client_telemetry.decode.decoded_object import DecodedObject, TaskResult
from client_telemetry.decode.event_rows import event_row
from client_telemetry.decode.fast_decoder import PushBlock, PushPortion
from client_telemetry.decode.record_sequences import Sequences
from client_telemetry.decode.slow_decoder import decode_push, histogram_rows, number_rows, push_row
from client_telemetry.lake.writer import ROWS_IN_MEMORY, DataFile, TablePlace
from client_telemetry.pipeline.garbage_collection import collector_paused
from client_telemetry.raw.envelopes import parse_client_push, parse_connection_event
from client_telemetry.raw.errors import UndecodableRecord, UnreadableSource
from client_telemetry.raw.object_key import ObjectKey, parse_object_key
from client_telemetry.raw.quarantine import quarantine_row
from client_telemetry.raw.raw_dump_v1_pb2 import ClientPush, ConnectionEvent
from client_telemetry.raw.reader import RawRecord, ReadResult, RecordBlock, RecordReader
from client_telemetry.tables.client_metric_histograms import CLIENT_METRIC_HISTOGRAMS
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.table import Table
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS


@cache
def freeze_imports() -> None:
    """Keep the garbage collector, which Spark calls after each task, from what was imported, which is most there is. Once
    for a process and those that it forks."""
    gc.collect()
    gc.freeze()


class Worker:
    """Decodes objects of one cluster and writes their rows. One per task.

    `read(key)` opens an object as a binary stream. `places`: where each table's files go. Without `compiled`, every
    push goes the slow way: the rows are the same, in other files.
    """

    def __init__(
        self, read: Callable[[str], BinaryIO], places: Mapping[str, TablePlace], *, compiled: bool = True
    ):
        self._read = read
        self._places = places
        self._compiled = compiled
        self._files: dict[tuple[str, str, dt.date, bool], DataFile] = {}

    def decode(self, groups: Sequence[Sequence[str]]) -> TaskResult:
        """`groups`: keys of objects that may hold the same records, each in the order to read them."""
        with collector_paused():
            objects = [done for group in groups for done in self._decode_group(group)]
            return TaskResult(objects, self._close_files())

    def _decode_group(self, group: Sequence[str]) -> Iterator[DecodedObject]:
        seen: dict[str, Sequences] = {"client_pushes": Sequences(), "connections": Sequences()}
        for each in group:
            key = parse_object_key(each)
            yield self._decode_object(key, seen[key.dataset])

    def _close_files(self) -> dict[str, list[str]]:
        """Table to the URLs of its files."""
        files: dict[str, list[str]] = {}
        for (table, *_), file in self._files.items():
            url = file.close()
            if url:
                files.setdefault(table, []).append(url)
        return files

    def _decode_object(self, key: ObjectKey, seen: Sequences) -> DecodedObject:
        done = DecodedObject(object_key=str(key))
        with self._read(str(key)) as source:
            reader = RecordReader(source, key.file_name)
            for block in reader.blocks():
                if key.dataset == "client_pushes" and self._compiled:
                    self._add_block(key, block, seen, done)
                else:
                    for record in block:
                        self._add_record(key, record, seen, done)
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

    def _add_block(self, key: ObjectKey, block: RecordBlock, seen: Sequences, done: DecodedObject) -> None:
        """The pushes of a block, the unusual ones after the others. That the order is another must not decide which
        of two duplicates counts, so a block with any duplicate is read record by record."""
        pushes = PushBlock(block, key)
        if self._may_have_duplicates(key, block, pushes, seen):
            for record in block:
                self._add_record(key, record, seen, done)
            return
        for portion in pushes.portions():
            self._add_portion(key, portion, done)
            for incarnation, sequences in pushes.sequences(portion.rows):
                seen.add_all(incarnation, sequences)
                done.note(incarnation, int(sequences[0]), int(sequences[-1]))
        for i in np.flatnonzero(pushes.given_up).tolist():
            self._add_record(key, block.record(i), seen, done)

    def _may_have_duplicates(
        self, key: ObjectKey, block: RecordBlock, pushes: PushBlock, seen: Sequences
    ) -> bool:
        """Whether any two pushes of the block, or one of it and one before, may be the same record."""
        fast = {}
        for incarnation, sequences in pushes.sequences(np.flatnonzero(~pushes.given_up)):
            if (np.diff(sequences) <= 0).any() or seen.has_any(incarnation, sequences):
                return True
            fast[incarnation] = sequences
        slow = set()
        for i in np.flatnonzero(pushes.given_up).tolist():
            try:
                push = parse_client_push(block.record(i).data, key)
            except UndecodableRecord:
                continue
            identity = (push.incarnation, push.sequence)
            if identity in slow or seen.has(*identity) or push.sequence in fast.get(push.incarnation, ()):
                return True
            slow.add(identity)
        return False

    def _add_portion(self, key: ObjectKey, portion: PushPortion, done: DecodedObject) -> None:
        self._file(CLIENT_PUSHES, key, True).add_columns(portion.push_columns())
        self._file(CLIENT_METRICS, key, True).add_columns(portion.number_columns())
        done.rows += len(portion.rows)
        done.points += portion.points
        done.other_day |= bool(portion.is_other_day.any())

    def _add_record(self, key: ObjectKey, record: RawRecord, seen: Sequences, done: DecodedObject) -> None:
        is_push = key.dataset == "client_pushes"
        done.slow_pushes += is_push
        try:
            message: Any = (parse_client_push if is_push else parse_connection_event)(record.data, key)
            if seen.has(message.incarnation, message.sequence):
                done.duplicates += 1
                return
            (self._add_push if is_push else self._add_event)(key, record, message, done)
        except UndecodableRecord as error:
            data = error.data if isinstance(error, UnreadableSource) else record.data
            self._quarantine(key, record.offset, data, len(data), error, done)
            return
        seen.add(message.incarnation, message.sequence)
        done.rows += 1
        done.note(message.incarnation, message.sequence, message.sequence)

    def _add_push(self, key: ObjectKey, record: RawRecord, push: ClientPush, done: DecodedObject) -> None:
        payload = decode_push(push)
        other_day = _is_other_day(push.received_at_nanos, key.dt)
        self._file(CLIENT_PUSHES, key).add([push_row(key, record.offset, push, payload, other_day)])
        for first in range(0, len(payload.numbers), ROWS_IN_MEMORY):
            some = payload.numbers[first : first + ROWS_IN_MEMORY]
            self._file(CLIENT_METRICS, key).add(number_rows(push, some))
        self._file(CLIENT_METRIC_HISTOGRAMS, key).add(histogram_rows(push, payload.histograms))
        done.points += payload.points
        done.other_day |= other_day

    def _add_event(
        self, key: ObjectKey, record: RawRecord, event: ConnectionEvent, done: DecodedObject
    ) -> None:
        other_day = _is_other_day(event.observed_at_nanos, key.dt)
        self._file(CONNECTION_EVENTS, key).add([event_row(key, record.offset, event, other_day)])
        done.other_day |= other_day

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

    def _file(self, table: Table, key: ObjectKey, by_columns: bool = False) -> DataFile:
        slice_ = (table.name, key.cluster_id, key.dt, by_columns)
        if slice_ not in self._files:
            self._files[slice_] = DataFile(
                table, self._places[table.name], {"cluster_id": key.cluster_id, "dt": key.dt}
            )
        return self._files[slice_]


def _is_other_day(nanos: int, day: dt.date) -> bool:
    return nanos // (86_400 * 10**9) != (day - dt.date(1970, 1, 1)).days
