"""Writes dumps: for tests, and for converting what brokers recorded in another form."""

import hashlib
import json
import struct
import tempfile
import zlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, NamedTuple, Self, cast

import google_crc32c
import zstandard

from client_telemetry.formats.raw.envelopes import unreadable_record
from client_telemetry.formats.raw.manifest import SCHEMA_VERSION, parse_manifest
from client_telemetry.formats.raw.object_key import manifest_key, records_key
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientPush, ConnectionEvent

MAX_OBJECT_BYTES = 64 * 2**20
MAX_OBJECT_AGE = timedelta(minutes=15)
MAX_UNREADABLE_BYTES = 2**20
"""Of an unreadable piece; the quarantine keeps the first 64 KiB."""

RecordDataset = Literal["client_pushes", "connections"]


class Continued(NamedTuple):
    """Where the dump of an incarnation ended, for the writer that continues it, as stored in JSON. `files`: entries of
    manifests, which are written again with what is added to their hours.
    """

    next_sequences: dict[str, int]
    files: list[dict[str, Any]]

    def since(self, nanos: int) -> Self:
        """Without the files of earlier hours."""
        begin = _iso(datetime.fromtimestamp(nanos // 10**9, UTC))
        return self._replace(files=[file for file in self.files if file["min_time"] >= begin])


class DumpWriter:
    """The dump of one broker incarnation, under the folder `root`.

    Append records in the order in which the broker saw them, then `close` (or leave the `with` block): only then are
    the manifests written, one for each hour from the first to the last record's and for those passed to
    `describe_hour`. After an exception in the `with` block there are none, which reads as "unknown".

    A record goes to the hour of its own time. An object ends at 64 MiB of compressed data, at the hour, or at the first
    record 15 minutes after its first. Cluster, broker, incarnation, sequence and a push's checksum are filled in; they
    overwrite the message's values in the dump, not in the caller's message. Sequences begin at 0: another writer for
    the same incarnation overwrites this one's objects.

    `incarnation`: 16 bytes, unique to the broker process. `broker_started_at`: aware. `manifest_fields`: the contract's
    optional keys (or others), for every hour. `continues`: the `continued` of an earlier writer of the incarnation; its
    manifests are replaced.
    """

    def __init__(
        self,
        root: Path,
        cluster_id: str,
        broker_id: int,
        incarnation: bytes,
        *,
        broker_started_at: datetime,
        broker_software_version: str,
        broker_software_name: str = "apache-kafka",
        manifest_fields: Mapping[str, object] | None = None,
        ending: Literal[".zst", ".gz", ".bin"] = ".zst",
        max_object_bytes: int = MAX_OBJECT_BYTES,
        continues: Continued | None = None,
    ) -> None:
        if len(incarnation) != 16:
            raise ValueError(f"an incarnation has 16 bytes, not {len(incarnation)}")
        self._root = root
        self._cluster_id = cluster_id
        self._broker_id = broker_id
        self._incarnation = incarnation
        self._broker = {
            "broker_started_at": _iso(broker_started_at),
            "broker_software_name": broker_software_name,
            "broker_software_version": broker_software_version,
        }
        self._manifest_fields = dict(manifest_fields or {})
        self._ending = ending
        self._max_object_bytes = max_object_bytes
        self._open: dict[RecordDataset, _OpenObject] = {}
        self._next_sequence: dict[RecordDataset, int] = {"client_pushes": 0, "connections": 0}
        self._files: list[tuple[datetime, dict[str, object]]] = []
        self._hours: dict[datetime, dict[str, object]] = {}
        if continues is not None:
            self._next_sequence.update(cast(Mapping[RecordDataset, int], continues.next_sequences))
            hours = (_hour_of(datetime.fromisoformat(file["min_time"])) for file in continues.files)
            self._files = list(zip(hours, continues.files, strict=True))

    def append_push(self, push: ClientPush) -> int:
        """Add a push at its `received_at_nanos`; returns its sequence."""
        record = ClientPush()
        record.CopyFrom(push)
        record.payload_crc32c = google_crc32c.value(record.payload)
        return self._append("client_pushes", record, record.received_at_nanos)

    def append_connection_event(self, event: ConnectionEvent) -> int:
        """Add an event at its `observed_at_nanos`; returns its sequence."""
        record = ConnectionEvent()
        record.CopyFrom(event)
        return self._append("connections", record, record.observed_at_nanos)

    def describe_hour(self, hour: datetime, fields: Mapping[str, object] | None = None) -> None:
        """Write a manifest for this hour even if it has no records, with these keys in addition.

        `hour` is any aware time within it. For instance `{"dropped": {"queue_full": 3, ...}}`, `{"requests": [...]}`.
        """
        self._hours.setdefault(_hour_of(hour), {}).update(fields or {})

    def close(self) -> list[Path]:
        """Finish the objects, then write the manifests; returns the manifests' paths."""
        for dataset in list(self._open):
            self._finish(dataset)
        hours = {hour for hour, _ in self._files}
        if hours:
            span = int((max(hours) - min(hours)) / timedelta(hours=1))
            hours = {min(hours) + timedelta(hours=i) for i in range(span + 1)}
        return [self._write_manifest(hour) for hour in sorted(hours | self._hours.keys())]

    def abandon(self) -> None:
        """Discard the unfinished objects; after `close` there are none."""
        while self._open:
            self._open.popitem()[1].spool.close()

    def continued(self) -> Continued:
        """What a writer of later records of the incarnation needs to continue; only after `close`."""
        return Continued(
            {str(dataset): number for dataset, number in self._next_sequence.items()},
            [file for _, file in self._files],
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        self.abandon()

    def append_unreadable(self, dataset: RecordDataset, data: bytes, where: str, nanos: int) -> int:
        """Pass on an unreadable piece of the source, at about its time: it goes to the quarantine. `where`: one line
        that says where it was and what is wrong. Returns its sequence.
        """
        time, current = self._take(dataset, nanos)
        current.add(unreadable_record(where, data[:MAX_UNREADABLE_BYTES]), time)
        return self._count(dataset)

    def _append(self, dataset: RecordDataset, record: ClientPush | ConnectionEvent, nanos: int) -> int:
        time, current = self._take(dataset, nanos)
        record.cluster_id, record.broker_id = self._cluster_id, self._broker_id
        record.incarnation, record.sequence = self._incarnation, self._next_sequence[dataset]
        current.add(record.SerializeToString(), time)
        return self._count(dataset)

    def _take(self, dataset: RecordDataset, nanos: int) -> tuple[datetime, "_OpenObject"]:
        """The object that takes a record of this time."""
        time, current = moment_of(nanos), self._open.get(dataset)
        if current and not current.takes(time, self._max_object_bytes):
            self._finish(dataset)
            current = None
        if current is None:
            current = _OpenObject(self._ending, time, self._next_sequence[dataset])
            self._open[dataset] = current
        return time, current

    def _count(self, dataset: RecordDataset) -> int:
        sequence = self._next_sequence[dataset]
        self._next_sequence[dataset] = sequence + 1
        return sequence

    def _finish(self, dataset: RecordDataset) -> None:
        finished = self._open.pop(dataset)
        first, last = finished.first_sequence, finished.first_sequence + finished.records - 1
        incarnation = self._incarnation.hex()
        key = records_key(
            dataset, self._cluster_id, self._broker_id, incarnation, finished.hour, first, last, self._ending
        )
        data = finished.finish()
        _put(self._root / key.key, data)
        entry = {
            "key": key.key,
            "dataset": dataset,
            "records": finished.records,
            "bytes": len(data),
            "first_sequence": first,
            "last_sequence": last,
            "min_time": _iso(finished.min_time),
            "max_time": _iso(finished.max_time),
            "sha256": hashlib.sha256(data).hexdigest(),
        }
        self._files.append((finished.hour, entry))

    def _write_manifest(self, hour: datetime) -> Path:
        incarnation = self._incarnation.hex()
        manifest = {
            "schema_version": SCHEMA_VERSION,
            "cluster_id": self._cluster_id,
            "broker_id": self._broker_id,
            "incarnation": incarnation,
            "hour": f"{hour:%Y-%m-%dT%H}",
            **self._broker,
            "files": [entry for file_hour, entry in self._files if file_hour == hour],
            "dropped": {"queue_full": 0, "spool_full": 0, "oversized": 0},
            **self._manifest_fields,
            **self._hours.get(hour, {}),
        }
        data = json.dumps(manifest, indent=1).encode()
        key = manifest_key(self._cluster_id, self._broker_id, incarnation, hour)
        parse_manifest(data, key)  # nothing is written that the reader would refuse
        return _put(self._root / key.key, data)


class _OpenObject:
    """An object that still accepts records; its compressed bytes are in a temporary file."""

    def __init__(self, ending: str, time: datetime, first_sequence: int) -> None:
        self.hour = _hour_of(time)
        self.first_sequence = first_sequence
        self.records = 0
        self.began = self.min_time = self.max_time = time
        self.spool: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - closed by finish
        compressors: dict[str, Callable[[], Any]] = {
            ".zst": lambda: zstandard.ZstdCompressor(level=3).compressobj(),
            ".gz": lambda: zlib.compressobj(wbits=31),
            ".bin": lambda: None,
        }
        self._compressor = compressors[ending]()

    def takes(self, time: datetime, max_bytes: int) -> bool:
        return (
            _hour_of(time) == self.hour
            and time - self.began < MAX_OBJECT_AGE
            and self.spool.tell() < max_bytes
        )

    def add(self, message: bytes, time: datetime) -> None:
        framed = struct.pack(">I", len(message)) + message
        self.spool.write(self._compressor.compress(framed) if self._compressor else framed)
        self.records += 1
        self.min_time, self.max_time = min(self.min_time, time), max(self.max_time, time)

    def finish(self) -> bytes:
        if self._compressor:
            self.spool.write(self._compressor.flush())
        self.spool.seek(0)
        with self.spool as spool:
            return spool.read()


def _put(path: Path, data: bytes) -> Path:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(data)
    return part.replace(path)


def moment_of(nanos: int) -> datetime:
    """UTC, from nanoseconds since 1970."""
    return datetime.fromtimestamp(nanos // 10**9, UTC) + timedelta(microseconds=nanos % 10**9 // 1000)


def _hour_of(time: datetime) -> datetime:
    return time.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def _iso(time: datetime) -> str:
    if time.tzinfo is None:
        raise ValueError(f"time without a zone: {time}")
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
