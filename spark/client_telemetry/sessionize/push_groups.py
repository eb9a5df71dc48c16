"""Pushes as they are read from data files: what of them other tasks need, shared out by client instance.

A *group* is the pushes of a portion that agree in all but time: who pushed and how, once, and sums and extremes. Of
each push of the day its time and place go along as a PUSH of 20 bytes. Of the days before, groups are enough.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import from_dtype, types

from client_telemetry.formats.raw.wire import compiled
from client_telemetry.lake.files import PartitionFile, portions
from client_telemetry.sessionize.distinct_rows import decode_dictionaries, distinct_rows, integers
from client_telemetry.tables.client_pushes import CLIENT_PUSHES

FIRST, LAST = np.iinfo(np.int64).max, np.iinfo(np.int64).min
"""The earliest and the latest time, or the smallest number, of none."""

PUSH = np.dtype([("at_us", "i8"), ("sequence", "i8"), ("group", "i4")])
"""One push. `group`: a row of the groups beside it."""

SUMS = np.dtype(
    [("first_at", "i8"), ("last_at", "i8"), ("clock_skew_ms", "i8"), ("pushes", "i8"), ("points", "i8")]
)
"""Of one group, or of several: times in microseconds; the smallest clock skew; counts."""
NO_PUSH = np.array([(FIRST, LAST, FIRST, 0, 0)], SUMS)

INSTANCE = ("cluster_id", "client_instance_id")
SOFTWARE = ("client_software_name", "client_software_version")
# A client may have the same port at two listeners.
TCP = ("broker_incarnation", "listener_name", "client_address", "client_port")
OF_DAYS_BEFORE = (*INSTANCE, *SOFTWARE, "push_interval_ms", "terminating")
OF_THE_DAY = (*OF_DAYS_BEFORE, "client_id", "principal", "broker_id", *TCP, "subscription_id", "rejected")
"""What the pushes of a group agree in. Columns of client_pushes, and whether the broker rejected them."""
_FEW_TEXTS = 256
_ADDED_UP = ("received_at", "points", "clock_skew_ms")


@dataclass(frozen=True)
class Pushes:
    """What a portion tells of some instances. `groups`: who, columns OF_THE_DAY or OF_DAYS_BEFORE; `sums`: SUMS of each;
    `each`: a PUSH for every push of the day."""

    today: bool
    groups: pa.Table
    sums: np.ndarray
    each: np.ndarray


def read(files: Sequence[PartitionFile], today: bool, buckets: int) -> Iterator[tuple[int, Pushes]]:
    """(bucket, pushes) from data files of client_pushes. All that tells of one instance has the same bucket."""
    alike = OF_THE_DAY if today else OF_DAYS_BEFORE
    needed = {*alike, *_ADDED_UP, *(("sequence", "error_code") if today else ())}
    schema = pa.schema(
        [field for field in CLIENT_PUSHES.arrow_schema if field.name in needed - {"cluster_id"}]
    )
    for portion in portions(files, schema):
        if portion["client_instance_id"].null_count:
            portion = portion.filter(pc.is_valid(portion["client_instance_id"]))
        if today:
            rejected = pc.fill_null(pc.not_equal(portion["error_code"], 0), False)
            portion = portion.append_column("rejected", rejected)
        numbers, firsts = distinct_rows(portion.select(alike))
        groups = decode_dictionaries(portion.select(alike).take(firsts), larger_than=_FEW_TEXTS)
        portion = portion.select([name for name in (*_ADDED_UP, "sequence") if name in portion.column_names])
        sums = _sums(portion, numbers, len(firsts))
        instances = groups["client_instance_id"].to_pylist()
        bucket_of = np.array([zlib.crc32(instance) % buckets for instance in instances], np.int32)
        order = np.argsort(bucket_of, kind="stable")
        bounds = _bounds(bucket_of, np.ones(len(order)), buckets)
        if today:
            place = np.empty(len(order), np.int32)
            place[order] = np.arange(len(order)) - bounds[bucket_of[order]]
            each, cuts = _each(portion, numbers, bucket_of, place, sums["pushes"], buckets)
        else:
            each, cuts = np.empty(0, PUSH), np.zeros(buckets + 1, np.int64)
        for bucket in np.flatnonzero(np.diff(bounds)).tolist():
            its = order[bounds[bucket] : bounds[bucket + 1]]
            pushes = each[cuts[bucket] : cuts[bucket + 1]]
            yield bucket, Pushes(today, groups.take(its), sums[its], pushes)


def no_pushes(today: bool) -> Pushes:
    """What a portion without pushes tells."""
    alike = OF_THE_DAY if today else OF_DAYS_BEFORE
    fields = {
        **{field.name: field for field in CLIENT_PUSHES.arrow_schema},
        "rejected": pa.field("rejected", pa.bool_()),
    }
    groups = pa.schema([fields[name] for name in alike]).empty_table()
    return Pushes(today, groups, np.empty(0, SUMS), np.empty(0, PUSH))


def added_up(numbers: np.ndarray, sums: np.ndarray, count: int) -> np.ndarray:
    """SUMS[count] of groups whose numbers, int32[n], say which belong together."""
    total = np.repeat(NO_PUSH, count)
    _add_sums(numbers, sums, total)
    return total


def _sums(pushes: pa.Table, numbers: np.ndarray, count: int) -> np.ndarray:
    sums = np.repeat(NO_PUSH, count)
    _add_pushes(
        numbers,
        integers(pushes["received_at"].cast(pa.int64())),
        integers(pushes["points"]),
        integers(pushes["clock_skew_ms"], FIRST),
        sums,
    )
    return sums


def _each(
    pushes: pa.Table,
    numbers: np.ndarray,
    bucket_of: np.ndarray,
    place: np.ndarray,
    counts: np.ndarray,
    buckets: int,
) -> tuple[np.ndarray, np.ndarray]:
    """PUSH of all pushes by bucket, and where each bucket begins. `numbers`: group of each push; `bucket_of`, `place`
    (row within the bucket), `counts` (of pushes): of each group."""
    each = np.empty(len(pushes), PUSH)
    cuts = _bounds(bucket_of, counts, buckets)
    at_us, sequence = (integers(pushes[name].cast(pa.int64())) for name in ("received_at", "sequence"))
    _put_in_place(numbers, at_us, sequence, bucket_of, place, cuts.copy(), each)
    return each, cuts


def _bounds(bucket_of: np.ndarray, counts: np.ndarray, buckets: int) -> np.ndarray:
    """int64[buckets + 1]: where each bucket begins, if each of its members takes so many places."""
    members = np.bincount(bucket_of, counts, minlength=buckets)
    return np.concatenate([[0], np.cumsum(members)]).astype(np.int64)


def read_only(kind: types.Type) -> types.Array:
    """The type of a vector that compiled code only reads, as Arrow gives them."""
    return types.Array(kind, 1, "C", readonly=True)


_SUMS = from_dtype(SUMS)[::1]
_INT32S, _INT64S = read_only(types.int32), read_only(types.int64)


@compiled(types.void(_INT32S, _INT64S, _INT32S, _INT64S, _SUMS))
def _add_pushes(numbers, at_us, points, skew_ms, sums):
    for push in range(len(numbers)):
        its = sums[numbers[push]]
        its.first_at, its.last_at = min(its.first_at, at_us[push]), max(its.last_at, at_us[push])
        its.clock_skew_ms = min(its.clock_skew_ms, skew_ms[push])
        its.pushes += 1
        its.points += points[push]


@compiled(types.void(_INT32S, _INT64S, _INT64S, _INT32S, _INT32S, types.int64[::1], from_dtype(PUSH)[::1]))
def _put_in_place(numbers, at_us, sequence, bucket_of, place, free, each):
    for push in range(len(numbers)):
        bucket = bucket_of[numbers[push]]
        its = each[free[bucket]]
        its.at_us, its.sequence, its.group = at_us[push], sequence[push], place[numbers[push]]
        free[bucket] += 1


@compiled(types.void(_INT32S, _SUMS, _SUMS))
def _add_sums(numbers, sums, total):
    for group in range(len(numbers)):
        its, more = total[numbers[group]], sums[group]
        its.first_at, its.last_at = min(its.first_at, more.first_at), max(its.last_at, more.last_at)
        its.clock_skew_ms = min(its.clock_skew_ms, more.clock_skew_ms)
        its.pushes += more.pushes
        its.points += more.points
