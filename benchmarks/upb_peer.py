"""A decoder for comparison: protobuf's own classes (upb), walked through in Python as fast as that goes.

Names, resources and attribute sets are looked up by what they are, values go to lists of numbers, columns are made by
numpy and pyarrow from those. Numbers only, which is all that Kafka's clients push.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

import numpy as np
import pyarrow as pa
import zstandard
from client_telemetry.formats.otlp.attributes import as_text
from client_telemetry.formats.otlp.codecs import ZSTD, decompress
from client_telemetry.formats.raw.envelopes import parse_client_push
from client_telemetry.formats.raw.object_key import ObjectKey, parse_object_key
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientPush
from client_telemetry.formats.raw.reader import RecordReader
from client_telemetry.lake.writer import DataFile, TablePlace
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

POINTS_PER_BATCH = 80_000
_KINDS = pa.array(["gauge", "sum"])
_TEMPORALITIES = pa.array(["delta", "cumulative"])
_TIMESTAMP = pa.timestamp("us", "UTC")


def point_batches(read: Callable[[str], object], keys: Iterable[str]) -> Iterator[pa.RecordBatch]:
    """Rows of client_metrics in plain columns, for Spark to write."""
    for key, columns in _batches(read, keys):
        n = len(columns["sequence"])
        constant = {"cluster_id": key.cluster_id, "dt": key.dt}
        arrays = [
            pa.repeat(pa.scalar(constant[f.name], f.type), n)
            if f.name in constant
            else _plain(columns[f.name], f.type)
            for f in CLIENT_METRICS.arrow_schema
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=CLIENT_METRICS.arrow_schema)


def write_points(
    read: Callable[[str], object], keys: Iterable[str], location: str
) -> Iterator[pa.RecordBatch]:
    """The same rows written here, as this project writes them; gives the files' URLs."""
    urls = []
    for _, of_the_key in groupby(_batches(read, keys), key=lambda each: (each[0].cluster_id, each[0].dt)):
        file = None
        for key, columns in of_the_key:
            file = file or DataFile(
                CLIENT_METRICS, TablePlace(location), {"cluster_id": key.cluster_id, "dt": key.dt}
            )
            file.add_columns(columns)
        urls.append(file.close())
    yield pa.record_batch({"url": pa.array(urls, pa.string())})


def _batches(
    read: Callable[[str], object], keys: Iterable[str]
) -> Iterator[tuple[ObjectKey, dict[str, pa.Array]]]:
    for name in keys:
        key = parse_object_key(name)
        batch = _Batch()
        with read(name) as source:
            for record in RecordReader(source, key.file_name):
                batch.add(parse_client_push(record.data, key))
                if len(batch.push) >= POINTS_PER_BATCH:
                    yield key, batch.columns()
                    batch = _Batch()
        if batch.push:
            yield key, batch.columns()


class _Batch:
    def __init__(self) -> None:
        self._zstd = zstandard.ZstdDecompressor()
        self._pushes: list[ClientPush] = []
        self._names: dict[str, int] = {}
        self._sets: dict[tuple, int] = {}
        self.push: list[int] = []
        self._index, self._name, self._shape, self._labels = [], [], [], []
        self._start, self._time, self._double, self._long, self._which = [], [], [], [], []

    def add(self, push: ClientPush) -> None:
        payload = (
            self._zstd.decompress(push.payload, max_output_size=2**20)
            if push.compression_type == ZSTD
            else decompress(push.payload, push.compression_type)
        )
        number, index, known_sets = len(self._pushes), 0, self._sets
        self._pushes.append(push)
        append = [
            column.append
            for column in (
                self.push,
                self._index,
                self._name,
                self._shape,
                self._labels,
                self._start,
                self._time,
            )
        ]
        add_push, add_index, add_name, add_shape, add_labels, add_start, add_time = append
        add_double, add_long, add_which = self._double.append, self._long.append, self._which.append
        for resource in MetricsData.FromString(payload).resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    name = self._names.setdefault(metric.name, len(self._names))
                    if metric.WhichOneof("data") == "sum":
                        data = metric.sum
                        shape = 1 | data.aggregation_temporality << 1 | data.is_monotonic << 3
                    else:
                        data, shape = metric.gauge, 0
                    for point in data.data_points:
                        labels = ()
                        attributes = point.attributes
                        if attributes:
                            labels = tuple(
                                [
                                    (each.key, each.value.string_value or as_text(each.value))
                                    for each in attributes
                                ]
                            )
                        set_ = known_sets.get(labels)
                        if set_ is None:
                            set_ = known_sets[labels] = len(known_sets)
                        add_push(number)
                        add_index(index)
                        add_name(name)
                        add_shape(shape)
                        add_labels(set_)
                        add_start(point.start_time_unix_nano)
                        add_time(point.time_unix_nano)
                        index += 1
                        value = point.as_double
                        if value:
                            add_double(value)
                            add_long(0)
                            add_which(1)
                        else:
                            which = point.WhichOneof("value")
                            add_double(0.0)
                            add_long(point.as_int)
                            add_which({"as_double": 1, "as_int": 2}.get(which, 0))

    def columns(self) -> dict[str, pa.Array]:
        """Columns of client_metrics but cluster_id and dt, strings as dictionaries."""
        push, shape, which = np.array(self.push), np.array(self._shape), np.array(self._which)
        first = self._pushes[0]
        temporality = shape >> 1 & 3
        sequence = np.array([each.sequence for each in self._pushes])
        received_at = np.array([each.received_at_nanos // 1000 for each in self._pushes])
        instances = pa.array([each.client_instance_id or None for each in self._pushes]).dictionary_encode()
        zeros = np.zeros(len(push), np.int32)
        return {
            "broker_id": pa.repeat(pa.scalar(first.broker_id, pa.int32()), len(push)),
            "broker_incarnation": pa.DictionaryArray.from_arrays(zeros, pa.array([first.incarnation.hex()])),
            "sequence": pa.array(sequence[push]),
            "point_index": pa.array(self._index, pa.int32()),
            "client_instance_id": instances.take(pa.array(push)),
            "received_at": pa.array(received_at[push]).view(_TIMESTAMP),
            "metric": _dictionary(np.array(self._name), pa.array(list(self._names))),
            "kind": _dictionary(shape & 1, _KINDS),
            "temporality": _dictionary(temporality - 1, _TEMPORALITIES, temporality == 0),
            "is_monotonic": pa.array(shape >> 3 == 1, mask=shape & 1 == 0),
            "attributes": self._maps(),
            "start_time": _times(self._start),
            "time": _times(self._time),
            "value": pa.array(np.array(self._double), mask=which != 1),
            "value_int": pa.array(np.array(self._long), mask=which != 2),
            "resource_index": pa.array(zeros),
        }

    def _maps(self) -> pa.MapArray:
        sets = pa.array([list(each) for each in self._sets], pa.map_(pa.string(), pa.string()))
        maps = sets.take(pa.array(self._labels))
        return pa.MapArray.from_arrays(
            maps.offsets, maps.keys.dictionary_encode(), maps.items.dictionary_encode()
        )


def _dictionary(
    indices: np.ndarray, values: pa.Array, absent: np.ndarray | None = None
) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32(), mask=absent), values)


def _times(nanos: list[int]) -> pa.Array:
    values = np.array(nanos)
    return pa.array(values // 1000, mask=values == 0).cast(_TIMESTAMP)


def _plain(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_map(kind):
        return pa.MapArray.from_arrays(
            array.offsets, _plain(array.keys, pa.string()), _plain(array.items, pa.string())
        )
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
