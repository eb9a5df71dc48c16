"""Sessions of client instances on a day, from all their pushes. session_rows.py determines how they ended."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from client_telemetry.knowledge import kip511
from client_telemetry.sessionize.distinct_rows import (
    decode_dictionaries,
    distinct_rows,
    integers,
    together,
)
from client_telemetry.sessionize.push_groups import (
    FIRST,
    INSTANCE,
    LAST,
    PUSH,
    SOFTWARE,
    TCP,
    Pushes,
    added_up,
    no_pushes,
)
from client_telemetry.sessionize.push_intervals import TRAITS, gap_ms, in_order, timings
from client_telemetry.tables.client_sessions import CLOCK_OFF_MS
from client_telemetry.workers.columns import distinct_lists, ranks

_MAX_ADDRESSES = 16


@dataclass(frozen=True)
class _Groups:
    """Groups from many portions, equal ones added up. `row_of`: for each input group, in the order of the parts, its
    row.
    """

    who: pa.Table
    sums: np.ndarray
    row_of: np.ndarray

    @classmethod
    def of(cls, parts: Sequence[Pushes]) -> "_Groups":
        who = together([part.groups for part in parts])
        row_of, firsts = distinct_rows(who)
        sums = added_up(row_of, np.concatenate([part.sums for part in parts]), len(firsts))
        return cls(who.take(firsts), sums, row_of)


@dataclass(frozen=True)
class _Past:
    """What earlier days say about each instance: SUMS of all pushes and of the terminating ones; interval that the
    broker reported with the last push, 0 = none; number of the last known software, -1 = none.
    """

    sums: np.ndarray
    terminating: np.ndarray
    reported_ms: np.ndarray
    software: np.ndarray


def sessions_of(parts: Iterable[Pushes]) -> pa.Table:
    """One row per instance that pushed on the day, from all portions, each of which covers some instances.

    Columns: those of client_sessions that are known by now, TCP of the last push, and what else session_rows.py needs.
    Times are integers, microseconds since 1970.
    """
    today, before = [no_pushes(today=True)], [no_pushes(today=False)]
    for part in parts:
        (today if part.today else before).append(part)
    day, past = _Groups.of(today), _Groups.of(before)
    until = len(day.who)
    instance_of, _ = distinct_rows(together([groups.who.select(INSTANCE) for groups in (day, past)]))
    software_of, softwares = _known_softwares(day.who, past.who)
    instances, software = instance_of[:until], software_of[:until]
    count = int(instances.max(initial=-1)) + 1
    earlier = _past(past, instance_of[until:], software_of[until:], count)

    traits = _traits(day.who, instances, software)
    pushes = _together(today, day.row_of)
    order, bounds = in_order(pushes, traits, count)
    timing = timings(pushes, traits, order, bounds)
    sums = added_up(instances, day.sums, count)
    terminating, rejected = (_of_some(day, instances, name, count) for name in ("terminating", "rejected"))

    last = decode_dictionaries(day.who.take(timing["last_group"]))
    interval_ms = np.where(
        timing["last_reported_ms"] > 0, timing["last_reported_ms"], timing["last_observed_ms"]
    )
    between_us = _silence_between_days_us(sums["first_at"], timing, interval_ms, earlier)
    brokers = distinct_lists(instances, *ranks(day.who["broker_id"]), count)
    addresses = distinct_lists(instances, *ranks(_not_empty(day.who["client_address"])), count)
    known_softwares = distinct_lists(instances, software, pa.array(range(len(softwares))), count)
    conditions = {
        "push_after_terminating": timing["last_ordinary_at"]
        > np.minimum(terminating["first_at"], earlier.terminating["first_at"]),
        "several_addresses": _sizes(addresses) > 1,
        "several_software_versions": _softwares_differ(known_softwares, timing, earlier),
        "faster_than_interval": timing["too_early"] > 0,
        "zero_instance_id": pc.equal(last["client_instance_id"], bytes(16)).to_numpy(),
        "client_clock_off": (sums["clock_skew_ms"] != FIRST) & (abs(sums["clock_skew_ms"]) > CLOCK_OFF_MS),
        "broker_clocks_apart": _clocks_apart(day, instances, count) & (_sizes(brokers) > 1),
    }
    return pa.table(
        {
            **{name: last[name] for name in (*INSTANCE, "client_id", "principal", *TCP)},
            **_software(softwares, timing["last_software"], last),
            "first_evidence_at": sums["first_at"],
            "last_evidence_at": sums["last_at"],
            "session_first_at": np.minimum(sums["first_at"], earlier.sums["first_at"]),
            "last_terminating_at": np.maximum(terminating["last_at"], earlier.terminating["last_at"]),
            "pushes": sums["pushes"],
            "terminating_pushes": terminating["pushes"],
            "rejected_pushes": rejected["pushes"],
            "points": sums["points"],
            "gaps": timing["gaps"] + (between_us > 0),
            "gap_seconds": (timing["gap_us"] + between_us) / 1e6,
            "gap_ms": gap_ms(interval_ms),
            "push_interval_ms": pa.array(interval_ms, mask=interval_ms == 0),
            "push_interval_source": _interval_source(timing),
            "subscription_changes": timing["subscription_changes"],
            "clock_skew_ms": pa.array(sums["clock_skew_ms"], mask=sums["clock_skew_ms"] == FIRST),
            "broker_ids": brokers,
            "client_addresses": pc.list_slice(addresses, 0, _MAX_ADDRESSES),
            "flags": _flag_lists(conditions),
        }
    )


def _traits(who: pa.Table, instances: np.ndarray, software: np.ndarray) -> np.ndarray:
    traits = np.empty(len(who), TRAITS)
    traits["instance"], traits["software"] = instances, software
    traits["incarnation"], _ = ranks(who["broker_incarnation"])
    traits["reported_ms"] = np.maximum(integers(who["push_interval_ms"]), 0)
    traits["subscription_id"] = integers(who["subscription_id"])
    traits["has_subscription"] = who["subscription_id"].is_valid().to_numpy()
    traits["is_ordinary"] = ~(who["terminating"].to_numpy() | who["rejected"].to_numpy())
    return traits


def _of_some(groups: _Groups, instances: np.ndarray, condition: str, count: int) -> np.ndarray:
    """SUMS of each instance's groups for which the column is true."""
    true = groups.who[condition].to_numpy()
    return added_up(instances[true], groups.sums[true], count)


def _together(parts: list[Pushes], row_of: np.ndarray) -> np.ndarray:
    """PUSH of all parts, with the rows of the added up groups. Each part's are released in turn: there may be millions."""
    pushes = np.empty(sum(len(part.each) for part in parts), PUSH)
    at = first = 0
    rest = list(reversed(parts))
    parts.clear()
    while rest:
        part = rest.pop()
        part_pushes = pushes[at : at + len(part.each)]
        part_pushes[:] = part.each
        part_pushes["group"] = row_of[first + part_pushes["group"]]
        at += len(part_pushes)
        first += len(part.groups)
    return pushes


def _known_softwares(*who: pa.Table) -> tuple[np.ndarray, list[tuple[str, str | None]]]:
    """(int32[rows of all], (name, version) each): numbers in order of name and version; -1 if the broker knew none."""
    every = together([table.select(SOFTWARE) for table in who])
    kind_of, firsts = distinct_rows(every)
    names, versions = (every[name].take(firsts).to_pylist() for name in SOFTWARE)
    softwares = list(zip(names, versions, strict=True))
    sorted_softwares = sorted(
        (s for s in softwares if kip511.is_known(s[0])), key=lambda s: (s[0], s[1] or "")
    )
    numbers = {software: number for number, software in enumerate(sorted_softwares)}
    return np.array([numbers.get(software, -1) for software in softwares], np.int32)[
        kind_of
    ], sorted_softwares


def _past(past: _Groups, instances: np.ndarray, software: np.ndarray, count: int) -> _Past:
    """For the instances below `count`, which pushed on the day."""
    rows = np.flatnonzero(instances < count)
    reported_ms = integers(past.who["push_interval_ms"])
    rows = rows[np.lexsort((reported_ms[rows], software[rows], past.sums["last_at"][rows]))]
    with_software = rows[software[rows] >= 0]
    last_reported_ms, last_software = np.zeros(count, np.int64), np.full(count, -1)
    # The last one of an instance wins.
    last_reported_ms[instances[rows]] = reported_ms[rows]
    last_software[instances[with_software]] = software[with_software]
    mine = instances < count
    past = _Groups(past.who.filter(mine), past.sums[mine], past.row_of)
    sums = added_up(instances[mine], past.sums, count)
    terminating = _of_some(past, instances[mine], "terminating", count)
    return _Past(sums, terminating, np.maximum(last_reported_ms, 0), last_software)


def _silence_between_days_us(
    first_at: np.ndarray, timing: np.ndarray, interval_ms: np.ndarray, earlier: _Past
) -> np.ndarray:
    """The silence before the first push of the day if it is longer than the gap, otherwise 0."""
    in_force_ms = np.maximum(timing["first_reported_ms"], earlier.reported_ms)
    for otherwise in (timing["first_observed_ms"], interval_ms):
        in_force_ms = np.where(in_force_ms > 0, in_force_ms, otherwise)
    has_past = earlier.sums["last_at"] != LAST
    silence_us = np.where(has_past, first_at - np.where(has_past, earlier.sums["last_at"], 0), 0)
    return np.where(silence_us > gap_ms(in_force_ms) * 1000, silence_us, 0)


def _interval_source(timing: np.ndarray) -> pa.Array:
    reported, observed = timing["last_reported_ms"] > 0, timing["last_observed_ms"] > 0
    return pa.array(["broker", "observed", None]).take(
        pa.array(np.where(reported, 0, np.where(observed, 1, 2)))
    )


def _software(softwares: list[tuple[Any, ...]], numbers: np.ndarray, last: pa.Table) -> dict[str, pa.Array]:
    """Name and version of the last known software, otherwise as in the last push."""
    take = pa.array(numbers, mask=numbers < 0)
    return {
        name: pc.coalesce(
            pa.array([software[i] for software in softwares], pa.string()).take(take), last[name]
        )
        for i, name in enumerate(SOFTWARE)
    }


def _softwares_differ(known_lists: pa.ListArray, timing: np.ndarray, earlier: _Past) -> np.ndarray:
    first = timing["first_software"]
    return (_sizes(known_lists) > 1) | ((earlier.software >= 0) & (first >= 0) & (earlier.software != first))


def _clocks_apart(day: _Groups, instances: np.ndarray, count: int) -> np.ndarray:
    """Whether the smallest clock skews of an instance's connections differ too much."""
    connection_of, firsts = distinct_rows(day.who.select((*INSTANCE, *TCP)))
    skew_ms = added_up(connection_of, day.sums, len(firsts))["clock_skew_ms"]
    has = skew_ms != FIRST
    owners, skew_ms = instances[firsts][has], skew_ms[has]
    smallest, largest = np.full(count, FIRST), np.full(count, LAST)
    np.minimum.at(smallest, owners, skew_ms)
    np.maximum.at(largest, owners, skew_ms)
    return (largest != LAST) & (largest - CLOCK_OFF_MS > smallest)


def _not_empty(column: pa.ChunkedArray) -> pa.ChunkedArray:
    texts = column.cast(pa.string())
    return pc.if_else(pc.equal(texts, ""), None, texts)


def _sizes(lists: pa.ListArray) -> np.ndarray:
    return pc.list_value_length(lists).to_numpy()


def _flag_lists(conditions: Mapping[str, np.ndarray]) -> pa.Array:
    """The column `flags`: names whose condition is true, sorted."""
    names = sorted(conditions)
    bits = sum(conditions[name].astype(np.int64) << bit for bit, name in enumerate(names))
    every = [
        [name for bit, name in enumerate(names) if number >> bit & 1] for number in range(1 << len(names))
    ]
    return pa.array(every, pa.list_(pa.string())).take(pa.array(bits))
