"""A decoder for comparison: ptars (Rust) makes Arrow arrays of serialized messages, pyarrow flattens them into points.

Numbers only, and labels that are texts or integers, which is all that Kafka's clients push. What reads objects and writes Parquet is this
project's.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import zstandard
from client_telemetry.formats.otlp.codecs import ZSTD, decompress
from client_telemetry.formats.raw.envelopes import parse_client_push
from client_telemetry.formats.raw.object_key import ObjectKey, parse_object_key
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientPush
from client_telemetry.formats.raw.reader import RecordReader
from client_telemetry.lake.writer import DataFile, TablePlace
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

PUSHES_PER_BATCH = 4_000
_TIMESTAMP = pa.timestamp("us", "UTC")


def write_points(
    read: Callable[[str], object], keys: Iterable[str], location: str
) -> Iterator[pa.RecordBatch]:
    """Rows of client_metrics, written here as this project writes them; gives the files' URLs."""
    from ptars import HandlerPool

    handler = HandlerPool([MetricsData.DESCRIPTOR.file]).get_for_message(MetricsData.DESCRIPTOR)
    urls = []
    for _, of_the_key in groupby(_batches(read, keys), key=lambda each: (each[0].cluster_id, each[0].dt)):
        file = None
        for key, pushes in of_the_key:
            file = file or DataFile(
                CLIENT_METRICS, TablePlace(location), {"cluster_id": key.cluster_id, "dt": key.dt}
            )
            decoded = handler.list_to_record_batch(list(map(_payload, pushes)))
            file.add_columns(_columns(decoded, pushes))
        if file is not None:
            urls.append(file.close())
    yield pa.record_batch({"url": pa.array(urls, pa.string())})


def _batches(
    read: Callable[[str], object], keys: Iterable[str]
) -> Iterator[tuple[ObjectKey, list[ClientPush]]]:
    for name in keys:
        key = parse_object_key(name)
        with read(name) as source:
            pushes = (parse_client_push(record.data, key) for record in RecordReader(source, key.file_name))
            while batch := list(islice(pushes, PUSHES_PER_BATCH)):
                yield key, batch


_zstd = zstandard.ZstdDecompressor()


def _payload(push: ClientPush) -> bytes:
    if push.compression_type == ZSTD:
        return _zstd.decompress(push.payload, max_output_size=2**20)
    return decompress(push.payload, push.compression_type)


def _columns(decoded: pa.RecordBatch, pushes: list[ClientPush]) -> dict[str, pa.Array]:
    """Columns of client_metrics but cluster_id and dt, texts as dictionaries."""
    push, metrics = np.arange(len(pushes)), decoded
    within = decoded.column("resource_metrics")
    for inner in ("scope_metrics", "metrics"):
        push = push[_parents(within)]
        within = pc.struct_field(pc.list_flatten(within), inner)
    push = push[_parents(within)]
    metrics = pc.list_flatten(within)
    kinds = [pc.struct_field(metrics, kind) for kind in ("gauge", "sum")]
    points = [pc.struct_field(kind, "data_points") for kind in kinds]
    metric = np.concatenate([_parents(each) for each in points])
    is_sum = np.repeat([False, True], [len(_parents(each)) for each in points])
    order = np.argsort(metric, kind="stable")
    metric, is_sum = metric[order], is_sum[order]
    point = pa.concat_arrays([_flat(each) for each in points]).take(pa.array(order))
    push = push[metric]
    starts = np.searchsorted(push, np.arange(len(pushes)))
    sums = kinds[1].take(pa.array(metric))
    temporality = pc.struct_field(sums, "aggregation_temporality")
    first = pushes[0]
    rows = pa.array(push)
    zeros = np.zeros(len(push), np.int32)
    received = pa.array([each.received_at_nanos // 1000 for each in pushes])
    return {
        "broker_id": pa.repeat(pa.scalar(first.broker_id, pa.int32()), len(push)),
        "broker_incarnation": pa.DictionaryArray.from_arrays(zeros, pa.array([first.incarnation.hex()])),
        "sequence": pa.array([each.sequence for each in pushes]).take(rows),
        "point_index": pa.array((np.arange(len(push)) - starts[push]).astype(np.int32)),
        "client_instance_id": pa.array([each.client_instance_id or None for each in pushes]).dictionary_encode().take(rows),
        "received_at": received.take(rows).view(_TIMESTAMP),
        "metric": pc.struct_field(metrics, "name").dictionary_encode().take(pa.array(metric)),
        "kind": pa.DictionaryArray.from_arrays(is_sum.astype(np.int32), pa.array(["gauge", "sum"])),
        "temporality": _temporality(temporality, is_sum),
        "is_monotonic": pc.if_else(pa.array(is_sum), pc.struct_field(sums, "is_monotonic"), None),
        "attributes": _maps(pc.struct_field(point, "attributes")),
        "start_time": _times(pc.struct_field(point, "start_time_unix_nano")),
        "time": _times(pc.struct_field(point, "time_unix_nano")),
        "value": pc.struct_field(point, "as_double"),
        "value_int": pc.struct_field(point, "as_int"),
        "resource_index": pa.array(zeros),
    }  # fmt: skip


def _parents(lists: pa.Array) -> np.ndarray:
    return pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)


def _flat(lists: pa.Array) -> pa.Array:
    """Only what the columns need: gauges and sums have points of one type."""
    return pc.list_flatten(lists)


def _temporality(numbers: pa.Array, is_sum: np.ndarray) -> pa.Array:
    found = pc.fill_null(numbers, 0).cast(pa.int32()).to_numpy(zero_copy_only=False)
    absent = (found == 0) | ~is_sum
    return pa.DictionaryArray.from_arrays(
        pa.array(np.where(absent, 0, found - 1).astype(np.int32), mask=absent),
        pa.array(["delta", "cumulative"]),
    )


def _maps(lists: pa.Array) -> pa.MapArray:
    entries = pc.list_flatten(lists)
    counts = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))
    values = pc.struct_field(entries, "value")
    texts = pc.coalesce(
        pc.struct_field(values, "string_value"), pc.struct_field(values, "int_value").cast(pa.string())
    )
    keys = pc.struct_field(entries, "key")
    return pa.MapArray.from_arrays(offsets, keys.dictionary_encode(), texts.dictionary_encode())


def _times(nanos: pa.Array) -> pa.Array:
    values = pc.fill_null(nanos, 0).cast(pa.int64()).to_numpy(zero_copy_only=False)
    return pa.array(values // 1000, mask=values == 0).cast(_TIMESTAMP)
