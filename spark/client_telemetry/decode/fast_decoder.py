"""Many pushes at once as columns of client_pushes and client_metrics: the fast path.

Records that the compiled readers do not take, or that fail a check, are left to the slow path (slow_decoder.py), which
decides what, if anything, is wrong with them.
"""

import datetime as dt
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from client_telemetry.formats.otlp.columns import PayloadColumns, decode_columns
from client_telemetry.formats.otlp.stored_payloads import StoredPayloads
from client_telemetry.formats.raw import push_scan as scan
from client_telemetry.formats.raw.object_key import ObjectKey
from client_telemetry.formats.raw.reader import RecordBlock
from client_telemetry.formats.raw.wire import DistinctRanges
from client_telemetry.subscriptions.instances import kafka_uuid

_TIMESTAMP = pa.timestamp("us", "UTC")
_DAY_NANOS = 86_400 * 10**9
_CONNECTION = (
    ("client_id", scan.CLIENT_ID, scan.HAS_CLIENT_ID),
    ("principal", scan.PRINCIPAL, 0),
    ("client_address", scan.ADDRESS, 0),
    ("client_port", scan.CLIENT_PORT, scan.HAS_PORT),
    ("listener_name", scan.LISTENER, 0),
    ("security_protocol", scan.PROTOCOL, 0),
    ("connection_id", scan.CONNECTION, 0),
    ("client_software_name", scan.SOFTWARE_NAME, 0),
    ("client_software_version", scan.SOFTWARE_VERSION, 0),
    ("sent_software_name", scan.SENT_NAME, 0),
    ("sent_software_version", scan.SENT_VERSION, 0),
    ("api_versions_error", scan.API_VERSIONS_ERROR, scan.HAS_API_VERSIONS_ERROR),
)
_FLAGS = ("identity_in_payload", "no_instance_id", "no_points", "other_day", "zero_instance_id")
_FLAG_SETS = pa.array(
    [[flag for bit, flag in enumerate(_FLAGS) if number >> bit & 1] for number in range(32)]
)


class PushBlock:
    """The pushes of a block of records. `given_up`: bool[n], those left to the slow path."""

    def __init__(self, block: RecordBlock, key: ObjectKey):
        n = len(block)
        self.source_object, self.broker_id = str(key), key.broker_id
        self.day = (key.dt - dt.date(1970, 1, 1)).days
        bounds = np.array(block.bounds, np.int64)
        self.offsets = block.offset + bounds
        self._base = np.frombuffer(block.data, np.uint8).ctypes.data
        self.pushes = np.zeros((n, scan.COLUMNS), np.int64)
        self.given_up = np.zeros(n, np.bool_)
        self._ranges = DistinctRanges(scan.COLUMNS, 4 * n)
        scan.number_empty_ranges(self._base, scan.RANGES[0], scan.COLUMNS, self._ranges.address)
        starts, ends, record = self._base + bounds[:-1] + 4, self._base + bounds[1:], 0
        while record < n:
            record = scan.scan_pushes(starts, ends, record, self.pushes, self.given_up, self._ranges.address)
            if record < n:
                self._ranges.grow()
        self._texts = {kind: self._checked_texts(kind) for kind in scan.TEXTS}
        self.pushes[self.given_up] = 0
        self._incarnations = self._ranges.binaries(scan.INCARNATION).to_pylist()
        self._instances = self._ranges.binaries(scan.INSTANCE)
        instances = self._instances.to_pylist()
        self._instance_texts = pa.array(map(kafka_uuid, instances), pa.string())
        self.is_zero_instance = np.array([bool(id_) and not any(id_) for id_ in instances])
        self._check(key, instances)

    def _checked_texts(self, kind: int) -> pa.StringArray:
        """The distinct texts of a kind. Pushes with one that is not UTF-8 are given up; the text itself is replaced by
        an empty one.
        """
        texts = self._ranges.strings(kind)
        try:
            texts.validate(full=True)
        except pa.ArrowInvalid:
            decoded = [_utf8(text) for text in self._ranges.binaries(kind).to_pylist()]
            bad = [number for number, text in enumerate(decoded) if text is None]
            self.given_up |= np.isin(self.pushes[:, kind], bad)
            texts = pa.array([text or "" for text in decoded], pa.string())
        return texts

    def _check(self, key: ObjectKey, instances: list[bytes]) -> None:
        """The checks of `parse_client_push` except the checksum, and whether the broker refused the push."""
        pushes = self.pushes
        cluster = [text == key.cluster_id for text in self._texts[scan.CLUSTER].to_pylist()]
        incarnation = [len(id_) == 16 and key.incarnation in (None, id_.hex()) for id_ in self._incarnations]
        instance = [len(id_) in (0, 16) for id_ in instances]
        self.given_up |= ~(
            np.array(cluster)[pushes[:, scan.CLUSTER]]
            & np.array(incarnation)[pushes[:, scan.INCARNATION]]
            & np.array(instance)[pushes[:, scan.INSTANCE]]
            & (pushes[:, scan.BROKER_ID] == key.broker_id)
            & (pushes[:, scan.ERROR] == 0)
        )

    def sequences(self, rows: np.ndarray) -> Iterator[tuple[bytes, np.ndarray]]:
        """The sequences of these pushes by incarnation, in push order."""
        incarnations = self.pushes[rows, scan.INCARNATION]
        for number in np.unique(incarnations).tolist():
            yield self._incarnations[number], self.pushes[rows[incarnations == number], scan.SEQUENCE]

    def portions(self) -> Iterator["PushPortion"]:
        """The pushes that were not given up, in batches; more are given up along the way."""
        taken = np.flatnonzero(~self.given_up)
        stored = StoredPayloads(
            self.pushes[taken][:, (scan.PAYLOAD_AT, scan.PAYLOAD_BYTES, scan.CODEC, scan.CHECKSUM)]
        )
        for numbers, ranges in stored.portions():
            rows = taken[numbers]
            while len(rows):
                payloads = decode_columns(ranges)
                end = len(payloads.given_up)
                yield PushPortion(self, rows[:end], payloads)
                rows, ranges = rows[end:], ranges[end:]
        self.given_up[taken[stored.given_up]] = True

    def strings(self, kind: int, numbers: np.ndarray, absent: np.ndarray | None = None) -> pa.DictionaryArray:
        """The texts of a kind by number; null where `absent`."""
        return _dictionary(numbers, self._texts[kind], absent)

    def incarnations(self, numbers: np.ndarray) -> pa.DictionaryArray:
        return _dictionary(numbers, pa.array([id_.hex() for id_ in self._incarnations]))

    def instances(self, numbers: np.ndarray) -> pa.DictionaryArray:
        return _dictionary(numbers, self._instances, numbers == 0)

    def instance_texts(self, numbers: np.ndarray) -> pa.DictionaryArray:
        return _dictionary(numbers, self._instance_texts, numbers == 0)


def _integers(values: np.ndarray, absent: np.ndarray | None = None) -> pa.Array:
    """int32; null where `absent`."""
    values = values.astype(np.int32)
    return pa.array(values) if absent is None or not absent.any() else pa.array(values, mask=absent)


def _dictionary(
    numbers: np.ndarray, values: pa.Array, absent: np.ndarray | None = None
) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(_integers(numbers, absent), values, safe=False)


def _utf8(text: bytes) -> str | None:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None


class PushPortion:
    """A batch of a block's pushes with decoded payloads. `rows`: int64[m], their records in the block; `points`: the
    number of points of all together.
    """

    def __init__(self, block: PushBlock, rows: np.ndarray, payloads: PayloadColumns):
        block.given_up[rows[payloads.given_up]] = True
        taken = ~payloads.given_up
        self._block, self._payloads = block, payloads
        self.rows = rows[taken]
        self.points = int(payloads.points.sum())
        self._pushes = np.ascontiguousarray(block.pushes[self.rows].T)
        self._point_counts = payloads.points[taken]
        self._latest_ns = payloads.latest_ns[taken]
        self._has_identity = payloads.has_identity[taken]
        self._mask = None if taken.all() else pa.array(taken)
        self.is_other_day = self._pushes[scan.RECEIVED_AT] // _DAY_NANOS != block.day

    def _of_payloads(self, values: pa.Array) -> pa.Array:
        return values if self._mask is None else values.filter(self._mask)

    def push_columns(self) -> dict[str, pa.Array]:
        """Columns of client_pushes except cluster_id and dt."""
        pushes, block = self._pushes, self._block
        skew = (pushes[scan.RECEIVED_AT] - self._latest_ns) // 1_000_000
        source = pa.array([block.source_object])
        return {
            **self._key_columns(len(self.rows), lambda values: values),
            "instance_id": block.instance_texts(pushes[scan.INSTANCE]),
            **{name: self._connection_column(column, bit) for name, column, bit in _CONNECTION},
            "terminating": pa.array(pushes[scan.TERMINATING].astype(np.bool_)),
            "content_type": block.strings(
                scan.CONTENT_TYPE, pushes[scan.CONTENT_TYPE], pushes[scan.CONTENT_TYPE] == 0
            ),
            "compression_type": _integers(pushes[scan.CODEC]),
            "payload_bytes": pa.array(pushes[scan.PAYLOAD_BYTES]),
            "points": _integers(self._point_counts),
            "histogram_points": pa.repeat(pa.scalar(0, pa.int32()), len(self.rows)),
            "resources": self._of_payloads(self._payloads.resources),
            "scope_name": self._of_payloads(self._payloads.scope_names),
            "scope_version": self._of_payloads(self._payloads.scope_versions),
            "push_interval_ms": self._optional(scan.PUSH_INTERVAL, scan.HAS_INTERVAL),
            "subscription_id": self._optional(scan.SUBSCRIPTION, scan.HAS_SUBSCRIPTION),
            "error_code": self._optional(scan.ERROR, scan.HAS_ERROR),
            "clock_skew_ms": pa.array(skew, mask=self._latest_ns == 0),
            "flags": pa.array(_FLAG_SETS).take(pa.array(self._flags())),
            "source_object": _dictionary(np.zeros(len(self.rows)), source),
            "source_offset": pa.array(block.offsets[self.rows]),
        }

    def _flags(self) -> np.ndarray:
        instance = self._pushes[scan.INSTANCE]
        present = {
            "identity_in_payload": self._has_identity,
            "no_instance_id": instance == 0,
            "no_points": self._point_counts == 0,
            "other_day": self.is_other_day,
            "zero_instance_id": self._block.is_zero_instance[instance],
        }
        return sum(present[flag].astype(np.int32) << bit for bit, flag in enumerate(_FLAGS))

    def number_columns(self) -> dict[str, pa.Array]:
        """Columns of client_metrics except cluster_id and dt."""
        return {
            **self._key_columns(self.points, lambda values: np.repeat(values, self._point_counts)),
            **self._payloads.numbers,
            # The fast decoder leaves payloads with several resources to the slow path.
            "resource_index": pa.repeat(pa.scalar(0, pa.int32()), self.points),
        }

    def _key_columns(self, rows: int, repeated: Callable[[np.ndarray], np.ndarray]) -> dict[str, pa.Array]:
        """The columns that a push shares with its points, each push's value as often as it has rows."""
        pushes, block = self._pushes, self._block
        return {
            "broker_id": pa.repeat(pa.scalar(block.broker_id, pa.int32()), rows),
            "broker_incarnation": block.incarnations(repeated(pushes[scan.INCARNATION])),
            "sequence": pa.array(repeated(pushes[scan.SEQUENCE])),
            "client_instance_id": block.instances(repeated(pushes[scan.INSTANCE])),
            "received_at": pa.array(repeated(pushes[scan.RECEIVED_AT] // 1000)).view(_TIMESTAMP),
        }

    def _connection_column(self, column: int, bit: int) -> pa.Array:
        if column < scan.CLUSTER:
            return self._optional(column, bit)
        absent = self._pushes[scan.PRESENT] & bit == 0 if bit else None
        return self._block.strings(column, self._pushes[column], absent)

    def _optional(self, column: int, bit: int) -> pa.Array:
        absent = self._pushes[scan.PRESENT] & bit == 0
        return _integers(self._pushes[column], absent)
