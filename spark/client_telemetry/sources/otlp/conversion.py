"""From OpenTelemetry files to a contract v1 dump: each message becomes one push per client instance in it.

A collector does not keep the push: the sender is in resource attributes (docs/raw-dump-contract.md has the spellings),
the time at which the broker received it is nowhere. The latest time of a point, by the client's clock, takes its place.
The same file always gives the same dump.
"""

import base64
import binascii
import hashlib
import uuid
from collections import Counter
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData, ResourceMetrics

from client_telemetry.formats.otlp.attributes import attribute_map
from client_telemetry.formats.otlp.points import IDENTITY_LABELS
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientConnection, ClientPush
from client_telemetry.formats.raw.writer import DumpWriter
from client_telemetry.sources.compression import CutOff
from client_telemetry.sources.log_files import UNKNOWN_BROKER, LogFile, opened
from client_telemetry.sources.otlp.files import Message, messages

_BLOCK_BYTES = 2**20
_DAY_NANOS = 24 * 3600 * 10**9
_NAMESPACE = uuid.UUID("c1d8b0a4-52d3-5a3e-8f0e-0a2f4b8f1c77")


@dataclass
class Converted:
    """The result of converting the messages. `unreadable`: by reason; `other_signals`: logs or traces;
    `other_clusters`: resources that name another cluster.
    """

    files: int = 0
    messages: int = 0
    pushes: int = 0
    other_signals: int = 0
    other_clusters: int = 0
    unreadable: Counter[object] = field(default_factory=Counter)
    cut: list[str] = field(default_factory=list)


def convert(
    files: Sequence[LogFile], format_: str, cluster_id: str, root: Path, began: MutableMapping[int, int]
) -> Converted:
    """Write the dump of the files below `root`. `cluster_id`: the cluster whose metrics are wanted; resources that name
    no cluster count as its own. `began`: when the first day of each broker began, in nanoseconds; new brokers are
    added. Nothing reports a broker's start: with the same one in all files, a new file does not look like a restart.
    """
    converted = Converted()
    for file in files:
        _File(file, cluster_id, root, converted, began).convert(format_)
    return converted


class _File:
    def __init__(
        self,
        file: LogFile,
        cluster_id: str,
        root: Path,
        converted: Converted,
        began: MutableMapping[int, int],
    ) -> None:
        self._began = began
        self._file, self._cluster_id, self._root, self._done = file, cluster_id, root, converted
        # Files are renamed when they are rotated: only their content distinguishes them.
        digest, cut = hashlib.sha256(), CutOff()
        with opened(file, cut) as text:
            while block := text.read(_BLOCK_BYTES):
                digest.update(block)
        digest.update(cut.stored)
        self._digest = digest.hexdigest()
        self._dumps: dict[int, DumpWriter] = {}
        self._latest = int(file.file.modified_at().timestamp()) * 10**9

    def convert(self, format_: str) -> None:
        cut = CutOff()
        self._done.files += 1
        for message in messages(self._file, format_, cut):
            self._done.messages += 1
            self._message(message)
        if cut.reason and self._file.end is None:
            self._done.cut.append(f"{self._file.file}: {cut.reason}")
            self._unreadable(cut.stored, cut.reason, cut.reason)
        for dump in self._dumps.values():
            dump.close()

    def _unreadable(self, data: bytes, reason: str, where: str) -> None:
        self._done.unreadable[reason.partition(":")[0]] += 1
        dump = self._dump(UNKNOWN_BROKER, self._latest)
        dump.append_unreadable("client_pushes", data, f"{self._file.file.name}, {where}", self._latest)

    def _message(self, message: Message) -> None:
        if message.error is not None:
            self._unreadable(message.data, message.error, f"byte {message.offset}: {message.error}")
        elif message.metrics is None:
            self._done.other_signals += 1
        else:
            for (broker_id, _), push in self._pushes(message.metrics).items():
                self._latest = push.received_at_nanos
                self._dump(broker_id, push.received_at_nanos).append_push(push)
                self._done.pushes += 1

    def _pushes(self, metrics: MetricsData) -> dict[tuple[int, bytes], ClientPush]:
        """By broker and client instance, in message order."""
        grouped: dict[tuple[int, bytes], tuple[dict[str, str], MetricsData]] = {}
        for resource_metrics in metrics.resource_metrics:
            identity = _identity(resource_metrics)
            if identity.get("kafka_cluster_id", self._cluster_id) != self._cluster_id:
                self._done.other_clusters += 1
                continue
            broker = identity.get("kafka_broker_id", "")
            key = (int(broker) if broker.isdecimal() else UNKNOWN_BROKER, _instance_id(identity))
            _, data = grouped.setdefault(key, (identity, MetricsData()))
            data.resource_metrics.append(_without_identity(resource_metrics))
        return {key: self._push(key[1], *group) for key, group in grouped.items()}

    def _push(self, instance_id: bytes, identity: dict[str, str], data: MetricsData) -> ClientPush:
        client = ClientConnection(
            principal=identity.get("principal", ""),
            client_address=identity.get("client_source_address", ""),
            client_software_name=identity.get("client_software_name", ""),
            client_software_version=identity.get("client_software_version", ""),
        )
        if "client_id" in identity:
            client.client_id = identity["client_id"]
        port = identity.get("client_source_port", "")
        if port.isdecimal() and int(port) < 2**16:
            client.client_port = int(port)
        return ClientPush(
            received_at_nanos=_latest_time(data) or self._latest,
            client=client,
            client_instance_id=instance_id,
            content_type="OTLP",
            payload=data.SerializeToString(),
        )

    def _dump(self, broker_id: int, nanos: int) -> DumpWriter:
        if broker_id not in self._dumps:
            began = self._began.setdefault(broker_id, nanos // _DAY_NANOS * _DAY_NANOS)
            name = f"otlp/{self._cluster_id}/{broker_id}/{self._digest}/{self._file.start}"
            self._dumps[broker_id] = DumpWriter(
                self._root,
                self._cluster_id,
                broker_id,
                uuid.uuid5(_NAMESPACE, name).bytes,
                broker_started_at=datetime.fromtimestamp(began // 10**9, UTC),
                broker_software_version="",
                manifest_fields={"registry": {"mode": "sampled", "windows": []}},
            )
        return self._dumps[broker_id]


def _identity(resource_metrics: ResourceMetrics) -> dict[str, str]:
    """Identity attributes of a resource, by their snake_case spelling."""
    attributes = attribute_map(resource_metrics.resource.attributes)
    return {_snake(key): value for key, value in attributes.items() if key in IDENTITY_LABELS}


def _snake(key: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in key).replace(".", "_")


def _instance_id(identity: dict[str, str]) -> bytes:
    """16 bytes from Kafka's own text form of a Uuid (URL-safe base64) or the usual one; empty if it is neither."""
    text = identity.get("client_instance_id", "")
    try:
        if len(text) == 22:
            return base64.urlsafe_b64decode(text + "==")
        return uuid.UUID(text).bytes
    except (ValueError, binascii.Error):
        return b""


def _without_identity(resource_metrics: ResourceMetrics) -> ResourceMetrics:
    """What the client itself sent: the labels that were added on the way are columns of the push."""
    copy = ResourceMetrics()
    copy.CopyFrom(resource_metrics)
    attributes = [a for a in resource_metrics.resource.attributes if a.key not in IDENTITY_LABELS]
    del copy.resource.attributes[:]
    copy.resource.attributes.extend(attributes)
    return copy


def _latest_time(data: MetricsData) -> int:
    latest = 0
    for resource in data.resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                kind = metric.WhichOneof("data")
                for point in getattr(metric, kind).data_points if kind else ():
                    latest = max(latest, point.time_unix_nano)
    # A time outside the calendar counts as none.
    return latest if latest < 2**62 else 0
