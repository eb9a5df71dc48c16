"""How one worker processes its raw objects: from records to rows, from rows to data files.

Pushes are read a block at a time by compiled code (fast_decoder.py); what that does not take falls back to the slow
path, record by record (slow_decoder.py), as do connection events.
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
from client_telemetry.decode.slow_decoder import decode_push, point_rows, push_row
from client_telemetry.formats.raw.envelopes import parse_client_push, parse_connection_event
from client_telemetry.formats.raw.errors import UndecodableRecord, UnreadableSource
from client_telemetry.formats.raw.garbage_collection import collector_paused
from client_telemetry.formats.raw.object_key import ObjectKey, parse_object_key
from client_telemetry.formats.raw.quarantine import quarantine_row
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientPush, ConnectionEvent
from client_telemetry.formats.raw.reader import RawRecord, ReadResult, RecordBlock, RecordReader
from client_telemetry.lake.writer import ROWS_IN_MEMORY, DataFile, TablePlace
from client_telemetry.tables.client_metric_histograms import CLIENT_METRIC_HISTOGRAMS
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.table import Table
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS


@cache
def freeze_imports() -> None:
    """Exempt everything imported so far, which is most objects, from the garbage collection that Spark triggers after
    each task. Once per process, including those that it forks.
    """
    gc.collect()
    gc.freeze()


class Worker:
    """Decodes objects of one cluster and writes their rows. One per task.

    `read(key)` opens an object as a binary stream. `places`: where each table's files go. Without `compiled`, every
    push takes the slow path: the rows are the same, in other files.
    """

    def __init__(
        self, read: Callable[[str], BinaryIO], places: Mapping[str, TablePlace], *, compiled: bool = True
    ):
        self._read = read
        self._places = places
        self._compiled = compiled
        self._files: dict[tuple[str, str, dt.date, bool], DataFile] = {}

    def decode(self, groups: Sequence[Sequence[str]]) -> TaskResult:
        """`groups`: keys of objects that may hold the same records, each group in reading order."""
        with collector_paused():
            objects = [decoded for group in groups for decoded in self._decode_group(group)]
            return TaskResult(objects, self._close_files())

    def _decode_group(self, group: Sequence[str]) -> Iterator[DecodedObject]:
        sequences: dict[str, Sequences] = {"client_pushes": Sequences(), "connections": Sequences()}
        for name in group:
            key = parse_object_key(name)
            yield self._decode_object(key, sequences[key.dataset])

    def _close_files(self) -> dict[str, list[str]]:
        """Table -> URLs of its files."""
        files: dict[str, list[str]] = {}
        for (table, *_), file in self._files.items():
            url = file.close()
            if url:
                files.setdefault(table, []).append(url)
        return files

    def _decode_object(self, key: ObjectKey, read_sequences: Sequences) -> DecodedObject:
        decoded = DecodedObject(object_key=str(key))
        with self._read(str(key)) as source:
            reader = RecordReader(source, key.file_name)
            for block in reader.blocks():
                if key.dataset == "client_pushes" and self._compiled:
                    self._add_block(key, block, read_sequences, decoded)
                else:
                    for record in block:
                        self._add_record(key, record, read_sequences, decoded)
        self._finish(key, reader.result, decoded)
        return decoded

    def _finish(self, key: ObjectKey, result: ReadResult, decoded: DecodedObject) -> None:
        decoded.status = "decoded" if result.status == "complete" else result.status
        decoded.sha256, decoded.bytes = result.sha256, result.stored_bytes
        if result.error is not None:
            decoded.error = result.error.message
            if result.status != "empty":
                self._quarantine(
                    key, result.tail_offset, result.evidence, result.evidence_bytes, result.error, decoded
                )

    def _add_block(
        self, key: ObjectKey, block: RecordBlock, read_sequences: Sequences, decoded: DecodedObject
    ) -> None:
        """The pushes of a block, unusual ones after the others. The changed order must not decide which of two
        duplicates counts, so a block with any duplicate is read record by record.
        """
        pushes = PushBlock(block, key)
        if self._may_have_duplicates(key, block, pushes, read_sequences):
            for record in block:
                self._add_record(key, record, read_sequences, decoded)
            return
        for portion in pushes.portions():
            self._add_portion(key, portion, decoded)
            for incarnation, sequences in pushes.sequences(portion.rows):
                read_sequences.add_all(incarnation, sequences)
                decoded.note(incarnation, int(sequences[0]), int(sequences[-1]))
        for i in np.flatnonzero(pushes.given_up).tolist():
            self._add_record(key, block.record(i), read_sequences, decoded)

    def _may_have_duplicates(
        self, key: ObjectKey, block: RecordBlock, pushes: PushBlock, read_sequences: Sequences
    ) -> bool:
        """Whether two pushes of the block, or one of them and an earlier one, may be the same record."""
        fast = {}
        for incarnation, sequences in pushes.sequences(np.flatnonzero(~pushes.given_up)):
            if (np.diff(sequences) <= 0).any() or read_sequences.has_any(incarnation, sequences):
                return True
            fast[incarnation] = sequences
        slow = set()
        for i in np.flatnonzero(pushes.given_up).tolist():
            try:
                push = parse_client_push(block.record(i).data, key)
            except UndecodableRecord:
                continue
            identity = (push.incarnation, push.sequence)
            if (
                identity in slow
                or read_sequences.has(*identity)
                or push.sequence in fast.get(push.incarnation, ())
            ):
                return True
            slow.add(identity)
        return False

    def _add_portion(self, key: ObjectKey, portion: PushPortion, decoded: DecodedObject) -> None:
        self._file(CLIENT_PUSHES, key, True).add_columns(portion.push_columns())
        self._file(CLIENT_METRICS, key, True).add_columns(portion.number_columns())
        decoded.rows += len(portion.rows)
        decoded.points += portion.points
        decoded.other_day |= bool(portion.is_other_day.any())

    def _add_record(
        self, key: ObjectKey, record: RawRecord, read_sequences: Sequences, decoded: DecodedObject
    ) -> None:
        is_push = key.dataset == "client_pushes"
        decoded.slow_pushes += is_push
        try:
            message: Any = (parse_client_push if is_push else parse_connection_event)(record.data, key)
            incarnation, sequence = message.incarnation, message.sequence
            if read_sequences.has(incarnation, sequence):
                decoded.duplicates += 1
                return
            (self._add_push if is_push else self._add_event)(key, record, message, decoded)
        except UndecodableRecord as error:
            data = error.data if isinstance(error, UnreadableSource) else record.data
            self._quarantine(key, record.offset, data, len(data), error, decoded)
            return
        read_sequences.add(incarnation, sequence)
        decoded.rows += 1
        decoded.note(incarnation, sequence, sequence)

    def _add_push(self, key: ObjectKey, record: RawRecord, push: ClientPush, decoded: DecodedObject) -> None:
        payload = decode_push(push)
        other_day = _is_other_day(push.received_at_nanos, key.dt)
        self._file(CLIENT_PUSHES, key).add([push_row(key, record.offset, push, payload, other_day)])
        for first in range(0, len(payload.numbers), ROWS_IN_MEMORY):
            rows = payload.numbers[first : first + ROWS_IN_MEMORY]
            self._file(CLIENT_METRICS, key).add(point_rows(push, rows))
        self._file(CLIENT_METRIC_HISTOGRAMS, key).add(point_rows(push, payload.histograms))
        decoded.points += payload.points
        decoded.other_day |= other_day

    def _add_event(
        self, key: ObjectKey, record: RawRecord, event: ConnectionEvent, decoded: DecodedObject
    ) -> None:
        other_day = _is_other_day(event.observed_at_nanos, key.dt)
        self._file(CONNECTION_EVENTS, key).add(
            [event_row(decoded.object_key, record.offset, event, other_day)]
        )
        decoded.other_day |= other_day

    def _quarantine(
        self,
        key: ObjectKey,
        offset: int,
        data: bytes,
        total: int,
        error: UndecodableRecord,
        decoded: DecodedObject,
    ) -> None:
        decoded.undecodable += 1
        row = quarantine_row(key, offset, data, total, error)
        self._file(UNDECODABLE_RECORDS, key).add([row])

    def _file(self, table: Table, key: ObjectKey, by_columns: bool = False) -> DataFile:
        partition = (table.name, key.cluster_id, key.dt, by_columns)
        if partition not in self._files:
            self._files[partition] = DataFile(
                table, self._places[table.name], {"cluster_id": key.cluster_id, "dt": key.dt}
            )
        return self._files[partition]


def _is_other_day(nanos: int, day: dt.date) -> bool:
    return nanos // (86_400 * 10**9) != (day - dt.date(1970, 1, 1)).days
