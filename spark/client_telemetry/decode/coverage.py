"""What arrived and what is missing: from raw objects and manifests to rows of raw_objects, broker_hours and brokers.

Missing manifests, gaps in the sequence and drops are facts of coverage, never errors. No I/O here.
"""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, cast

from client_telemetry.decode.decoded_object import DecodedObject
from client_telemetry.formats.raw.errors import BadManifest
from client_telemetry.formats.raw.location import Arrived
from client_telemetry.formats.raw.manifest import (
    Listener,
    Manifest,
    ManifestFile,
    Reconciliation,
    ScramUser,
    Subscription,
)
from client_telemetry.formats.raw.object_key import ObjectKey
from client_telemetry.knowledge import broker_guess
from client_telemetry.knowledge.vocabulary import Completeness
from client_telemetry.tables.rows import (
    BrokerHourRow,
    BrokerRow,
    ConnectionsCountedRecord,
    RawObjectRow,
    RequestsCountedRecord,
)

HOURS = range(24)
PUSHES, EVENTS = "client_pushes", "connections"


@dataclass(frozen=True)
class ManifestRead:
    """A manifest, or why it cannot be read."""

    key: ObjectKey
    manifest: Manifest | None
    error: BadManifest | None = None


def listed_files(manifests: Iterable[ManifestRead]) -> dict[str, ManifestFile]:
    """What manifests say of the objects that they list, by the objects' keys from `v1/` on."""
    return {file.key: file for read in manifests if read.manifest is not None for file in read.manifest.files}


def ledger(
    arrived: Iterable[Arrived],
    manifests: Sequence[ManifestRead],
    before: Mapping[str, RawObjectRow],
    now: dt.datetime,
) -> list[RawObjectRow]:
    """Rows of raw_objects. `before`: the rows so far, by object key; an object that has not changed since it was
    decoded keeps the results.
    """
    listed = listed_files(manifests)
    reported_hours = {
        (read.key.broker_id, read.manifest.incarnation, read.key.hour)
        for read in manifests
        if read.manifest is not None
    }
    errors = {str(read.key): read.error for read in manifests}
    rows = []
    for arrival in arrived:
        key = arrival.key
        old = before.get(str(key))
        row = _arrived_row(arrival, old["collected_at"] if old else now)
        if key.dataset == "manifests":
            error = errors[str(key)]
            row |= {"status": "unreadable" if error else "decoded", "error": error.message if error else None}
            row["flags"] = ["name_not_by_contract"] if key.incarnation is None else []
        else:
            file = listed.get(key.key)
            row["sha256"] = file.sha256 if file else None
            row["flags"] = _flags(key, arrival, file, reported_hours)
            if old and old["status"] != "too_late" and _same(old, row):
                row |= cast(RawObjectRow, {name: value for name, value in old.items() if name in _RESULTS})
                row["flags"] = sorted({*row["flags"], *(f for f in old["flags"] if f in _FLAGS_OF_DECODE)})
        rows.append(row)
    return rows


def is_known(arrived: Sequence[Arrived], before: Mapping[str, RawObjectRow]) -> bool:
    """Whether the ledger has exactly the day's objects as they are now, all of them read to the end."""
    return len(arrived) == len(before) and all(
        (row := before.get(str(arrival.key))) is not None
        and row["status"] not in ("new", "too_late")
        and (row["bytes"], row["modified_at"]) == (arrival.bytes, arrival.modified_at)
        for arrival in arrived
    )


def unread(arrived: Iterable[Arrived], now: dt.datetime) -> list[RawObjectRow]:
    """Rows of raw_objects for objects that were only listed: not even their manifests were read."""
    return [_arrived_row(arrival, now) for arrival in arrived]


def _arrived_row(arrival: Arrived, collected_at: dt.datetime | None) -> RawObjectRow:
    key = arrival.key
    return {
        "cluster_id": key.cluster_id,
        "dt": key.dt,
        "object_key": str(key),
        "dataset": key.dataset,
        "hour": key.hour,
        "broker_id": key.broker_id,
        "broker_incarnation": key.incarnation,
        "first_sequence": key.first_sequence,
        "last_sequence": key.last_sequence,
        "bytes": arrival.bytes,
        "modified_at": arrival.modified_at,
        "sha256": None,
        "status": "new",
        "error": None,
        "records": None,
        "rows": None,
        "duplicates": None,
        "undecodable": None,
        "points": None,
        "flags": [],
        "collected_at": collected_at,
    }


_RESULTS = ("status", "error", "records", "rows", "duplicates", "undecodable", "points")
"""Columns that decoding fills in, and attributes of a DecodedObject."""
_FLAGS_OF_DECODE = ("digest_mismatch", "record_count_mismatch", "other_day")


def _same(old: RawObjectRow, new: RawObjectRow) -> bool:
    return all(old[name] == new[name] for name in ("bytes", "modified_at", "sha256"))


def _flags(
    key: ObjectKey, arrival: Arrived, file: ManifestFile | None, reported_hours: set[tuple[int, str, int]]
) -> list[str]:
    flags = []
    if key.incarnation is None:
        flags.append("name_not_by_contract")
    if file is None:
        is_reported = (key.broker_id, key.incarnation, key.hour) in reported_hours
        flags.append("not_in_manifest" if is_reported else "no_manifest")
    elif file.bytes != arrival.bytes:
        flags.append("size_mismatch")
    return sorted(flags)


def with_decoded(row: RawObjectRow, decoded: DecodedObject, stated_records: int | None) -> RawObjectRow:
    """A row of raw_objects after decoding."""
    flags = {flag for flag in row["flags"] if flag not in _FLAGS_OF_DECODE}
    if row["sha256"] is not None and decoded.sha256 != row["sha256"]:
        flags.add("digest_mismatch")
    if stated_records is not None and decoded.records != stated_records:
        flags.add("record_count_mismatch")
    if decoded.other_day:
        flags.add("other_day")
    results = {name: getattr(decoded, name) for name in _RESULTS}
    return row | cast(RawObjectRow, results) | {"flags": sorted(flags)}


def broker_hours(
    objects: Sequence[RawObjectRow], manifests: Sequence[ManifestRead], day: dt.date
) -> list[BrokerHourRow]:
    """Rows of broker_hours: 24 for each broker that appears in an object or manifest of the day.

    `objects`: the day's rows of raw_objects.
    """
    cluster_ids = {row["cluster_id"] for row in objects}
    brokers = sorted({row["broker_id"] for row in objects})
    gaps = _gap_hours(objects)
    there = {_from_v1(row["object_key"]) for row in objects}
    objects_of: dict[tuple[int, int], list[RawObjectRow]] = {}
    for row in objects:
        objects_of.setdefault((row["broker_id"], row["hour"]), []).append(row)
    reads_of: dict[tuple[int, int], list[ManifestRead]] = {}
    for read in manifests:
        reads_of.setdefault((read.key.broker_id, read.key.hour), []).append(read)
    rows: list[BrokerHourRow] = []
    for broker_id in brokers:
        for hour in HOURS:
            data = [r for r in objects_of.get((broker_id, hour), ()) if r["dataset"] != "manifests"]
            reads = reads_of.get((broker_id, hour), [])
            good = [m.manifest for m in reads if m.manifest is not None]
            connections_missed, requests_missed = _missed(good)
            hour_row: BrokerHourRow = {
                "cluster_id": min(cluster_ids),
                "dt": day,
                "broker_id": broker_id,
                "hour": hour,
                "incarnations": sorted({m.incarnation for m in good}),
                "objects": len(data),
                "dropped": _sum_by_reason(good),
                "requests_counted": _requests(good),
                "connections_counted": _connections(good),
                "registry_mode": next((m.registry.mode for m in good if m.registry), None),
                "registry_windows": _windows(good),
                "connections_missed": connections_missed,
                "requests_missed": requests_missed,
                "pushes_expected": _expected(good, PUSHES),
                "pushes_read": _read(data, PUSHES),
                "connection_events_expected": _expected(good, EVENTS),
                "connection_events_read": _read(data, EVENTS),
                "completeness": [Completeness.COMPLETE],
            }
            is_missing = any(file.key not in there for each in good for file in each.files)
            has_gap = (broker_id, hour) in gaps
            if lacks := _lacks(hour_row, reads, good, is_missing=is_missing, has_gap=has_gap):
                hour_row["completeness"] = lacks
            rows.append(hour_row)
    return rows


def _lacks(
    row: BrokerHourRow,
    reads: Sequence[ManifestRead],
    good: Sequence[Manifest],
    *,
    is_missing: bool,
    has_gap: bool,
) -> list[str]:
    """What makes an hour incomplete, sorted; `is_missing`: an object that a manifest lists."""
    unread = _less(row["pushes_read"], row["pushes_expected"]) or _less(
        row["connection_events_read"], row["connection_events_expected"]
    )
    found = {
        Completeness.NO_MANIFEST: not good,
        Completeness.BAD_MANIFEST: len(good) < len(reads),
        Completeness.MISSING_OBJECTS: is_missing,
        Completeness.SEQUENCE_GAP: has_gap,
        Completeness.DROPPED_RECORDS: any(row["dropped"].values()),
        Completeness.UNREAD_RECORDS: unread,
        Completeness.REGISTRY_NOT_WATCHING: any(
            m.registry is None or m.registry.mode != "continuous" for m in good
        ),
        Completeness.REGISTRY_INCOMPLETE: any(_is_registry_incomplete(m.reconciliation) for m in good),
    }
    return sorted(reason for reason, is_so in found.items() if is_so)


def _expected(manifests: Sequence[Manifest], dataset: str) -> int | None:
    """Number of records according to the manifests; None without a manifest."""
    files = [file for manifest in manifests for file in manifest.files if file.dataset == dataset]
    return sum(file.records for file in files) if manifests else None


def _read(objects: Iterable[RawObjectRow], dataset: str) -> int | None:
    """Number of records read; None if an object is not decoded yet."""
    counts = [row["records"] for row in objects if row["dataset"] == dataset]
    return None if None in counts else sum(filter(None, counts))


def _windows(manifests: Iterable[Manifest]) -> list[str] | None:
    """The watched parts of the hour, as `from-to`; None if every manifest was continuous, or none says."""
    sampled = [m.registry for m in manifests if m.registry and m.registry.mode != "continuous"]
    return sorted({"-".join(window) for r in sampled for window in r.windows}) if sampled else None


REQUESTS_ON_THEIR_WAY = 16
"""Requests that a broker may have counted but not logged yet when the plugin looks: one per network thread."""


def _missed(manifests: Iterable[Manifest]) -> tuple[int | None, int | None]:
    """Connections and requests that the brokers counted but their registries do not have; None if no manifest compares
    the two.
    """
    figures = [m.reconciliation for m in manifests if m.reconciliation]
    connections = [_difference(r.connections_by_gauge, r.connections_in_registry) for r in figures]
    requests = [_difference(r.requests_by_counter, r.requests_in_registry) for r in figures]
    return _sum(connections), _sum(requests)


def _is_registry_incomplete(figures: Reconciliation | None) -> bool:
    if figures is None:
        return False
    connections = _difference(figures.connections_by_gauge, figures.connections_in_registry) or 0
    requests = _difference(figures.requests_by_counter, figures.requests_in_registry) or 0
    return connections > 0 or requests > REQUESTS_ON_THEIR_WAY + (figures.requests_by_counter or 0) // 1000


def _difference(by_broker: int | None, in_registry: int | None) -> int | None:
    return None if by_broker is None or in_registry is None else max(0, by_broker - in_registry)


def _sum(counts: Iterable[int | None]) -> int | None:
    numbers = [count for count in counts if count is not None]
    return sum(numbers) if numbers else None


def _less(records_read: int | None, expected: int | None) -> bool:
    return records_read is not None and expected is not None and records_read < expected


def _from_v1(object_key: str) -> str:
    return object_key[object_key.index("v1/dataset=") :]


def _sum_by_reason(manifests: Iterable[Manifest]) -> dict[str, int]:
    total = Counter[str]()
    for manifest in manifests:
        total.update(manifest.dropped)
    return dict(sorted(total.items()))


def _requests(manifests: Sequence[Manifest]) -> list[RequestsCountedRecord] | None:
    """Sums over the incarnations of the hour; None if one of them does not report any."""
    if not manifests or any(manifest.requests is None for manifest in manifests):
        return None
    total = Counter[tuple[int, int]]()
    for api_key, version, count in chain.from_iterable(manifest.requests or () for manifest in manifests):
        total[api_key, version] += count
    return [{"api_key": k, "version": v, "requests": count} for (k, v), count in sorted(total.items())]


def _connections(manifests: Sequence[Manifest]) -> list[ConnectionsCountedRecord] | None:
    """Sums over the listeners of the hour's last incarnation that reports them; None if none does."""
    reported = [manifest.connections for manifest in manifests if manifest.connections is not None]
    if not reported:
        return None
    total = Counter[tuple[str, str]]()
    for listener in reported[-1]:
        total[listener.client_software_name, listener.client_software_version] += listener.count
    return [
        {"software_name": name, "software_version": version, "connections": count}
        for (name, version), count in sorted(total.items())
        if count
    ]


def _gap_hours(objects: Sequence[RawObjectRow]) -> set[tuple[int, int]]:
    """(broker, hour) of each object preceded by a gap in the sequences of the file names. Earlier days are not
    considered: the first object of an incarnation and dataset follows no gap.
    """
    by_incarnation: dict[tuple[str, int, str | None], list[tuple[int, int, int]]] = {}
    for row in objects:
        first = row["first_sequence"]
        if first is not None and (last := row["last_sequence"]) is not None:
            incarnation = row["dataset"], row["broker_id"], row["broker_incarnation"]
            by_incarnation.setdefault(incarnation, []).append((first, last, row["hour"]))
    gaps = set()
    for (_, broker_id, _), ranges in by_incarnation.items():
        reach = None
        for first, last, hour in sorted(ranges, key=lambda named: named[0]):
            if reach is not None and first > reach + 1:
                gaps.add((broker_id, hour))
            reach = last if reach is None else max(reach, last)
    return gaps


def brokers(manifests: Sequence[ManifestRead], day: dt.date) -> list[BrokerRow]:
    """Rows of brokers: one per incarnation in the day's manifests. The last hour's manifest wins; what it does not
    report comes from earlier hours. Failed logins are summed.
    """
    rows: dict[tuple[int, str], dict[str, Any]] = {}
    levels: dict[tuple[int, str], list[tuple[dt.datetime, dict[str, int]]]] = {}
    for read in sorted(manifests, key=lambda r: (r.key.hour, str(r.key))):
        manifest = read.manifest
        if manifest is None:
            continue
        levels.setdefault((manifest.broker_id, manifest.incarnation), []).extend(_feature_levels(manifest))
        reported = {
            "software_name": manifest.broker_software_name,
            "software_version": manifest.broker_software_version,
            "started_at": manifest.broker_started_at,
            "last_evidence_at": _last_moment(manifest),
            "api_versions": _structs(manifest.api_versions, "api_key", "min_version", "max_version"),
            "finalized_features": manifest.finalized_features,
            "listeners": _records(manifest.listeners),
            "subscriptions": _records(manifest.subscriptions),
            "scram_users": _records(manifest.scram_users),
            "failed_logins": manifest.failed_logins,
            "settings": manifest.settings,
        }
        row = rows.setdefault(
            (manifest.broker_id, manifest.incarnation),
            {
                "cluster_id": manifest.cluster_id,
                "dt": day,
                "broker_id": manifest.broker_id,
                "broker_incarnation": manifest.incarnation,
                **dict.fromkeys(reported),
            },
        )
        if reported["failed_logins"] is not None and row["failed_logins"] is not None:
            reported["failed_logins"] += row["failed_logins"]
        row |= {name: value for name, value in reported.items() if value is not None}
    return [cast(BrokerRow, row | _changes(levels[key]) | _releases(row)) for key, row in rows.items()]


def _feature_levels(manifest: Manifest) -> list[tuple[dt.datetime, dict[str, int]]]:
    """Levels with the earliest time at which they were certainly in force."""
    if manifest.feature_levels:
        return [(levels.since, levels.levels) for levels in manifest.feature_levels]
    if not manifest.finalized_features:
        return []
    last = _last_moment(manifest) or manifest.hour + dt.timedelta(hours=1)
    return [(last, manifest.finalized_features)]


def _last_moment(manifest: Manifest) -> dt.datetime | None:
    """The latest time of which the manifest has anything."""
    return max(filter(None, [*(file.max_time for file in manifest.files), manifest.alive_at]), default=None)


def _changes(levels: Sequence[tuple[dt.datetime, dict[str, int]]]) -> dict[str, object]:
    changes: list[dict[str, object]] = []
    for at, own in sorted(levels, key=lambda change: change[0]):
        if not changes or changes[-1]["levels"] != own:
            changes.append({"at": at, "levels": own})
    return {"feature_levels": changes or None}


def _releases(row: Mapping[str, Any]) -> dict[str, object]:
    offered = [tuple(api.values()) for api in row["api_versions"] or []]
    possible = broker_guess.possible_releases(
        row["software_name"], row["software_version"], offered, row["finalized_features"]
    )
    return {"releases": list(possible.releases), "releases_known_by": possible.known_by}


def _records(entries: Sequence[Listener | Subscription | ScramUser] | None) -> list[dict[str, object]] | None:
    """Of a manifest, as structs; what they list is sorted."""
    if entries is None:
        return None
    return [
        {name: sorted(value) if isinstance(value, tuple) else value for name, value in vars(entry).items()}
        for entry in entries
    ]


def _structs(rows: Iterable[Sequence[int]] | None, *names: str) -> list[dict[str, object]] | None:
    return None if rows is None else [dict(zip(names, row, strict=True)) for row in rows]
