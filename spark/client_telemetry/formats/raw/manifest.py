"""The manifest of one broker incarnation and hour: what the broker says it wrote, dropped and was.

Reading it from storage and comparing it with the stored objects is done elsewhere.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated

from client_telemetry.formats.raw.errors import BadManifest
from client_telemetry.formats.raw.json_fields import (
    Reader,
    count,
    hex_digits,
    json_object,
    many,
    mapping,
    number,
    parse_json,
    record,
    sequence,
    small_integer,
    text,
    wrong,
)
from client_telemetry.formats.raw.object_key import ObjectKey

SCHEMA_VERSION = 1
LARGEST_BYTES = 16 * 2**20
"""Fifty times the manifest of an hour with a thousand objects."""


def _hour(value: object, path: str) -> datetime:
    try:
        return datetime.strptime(text(value, path), "%Y-%m-%dT%H").replace(tzinfo=UTC)
    except ValueError:
        raise wrong(path, value, "an hour like 2026-11-20T13") from None


def _numbers(value: object, path: str) -> dict[str, float]:
    """Name -> number; null means unknown, and such a name is left out."""
    numbers = {name: item for name, item in json_object(value, path).items() if item is not None}
    return mapping(number)(numbers, path)


def _triple(*readers: Reader[int]) -> Reader[tuple[int, ...]]:
    def read(value: object, path: str) -> tuple[int, ...]:
        if not isinstance(value, list) or len(value) != len(readers):
            raise wrong(path, value, "a list of three numbers")
        return tuple(read_one(value[i], f"{path}[{i}]") for i, read_one in enumerate(readers))

    return read


def _window(value: object, path: str) -> tuple[str, ...]:
    window = many(text)(value, path)
    if len(window) != 2:
        raise wrong(path, value, "a pair of times of day")
    return window


_Count = Annotated[int, count]
_Small = Annotated[int, small_integer]
_Sequence = Annotated[int, sequence]
_Digits = Annotated[str, hex_digits(32)]
_Sha256 = Annotated[str, hex_digits(64)]
_Window = Annotated[tuple[str, str], _window]
_ApiRange = Annotated[tuple[int, int, int], _triple(small_integer, small_integer, small_integer)]
_RequestCount = Annotated[tuple[int, int, int], _triple(small_integer, small_integer, count)]


@dataclass(frozen=True)
class ManifestFile:
    """An object that the broker wrote. Sequences are inclusive; times are aware, UTC; `sha256` is hex."""

    key: str
    dataset: str
    records: _Count
    bytes: _Count
    first_sequence: _Sequence
    last_sequence: _Sequence
    min_time: datetime
    max_time: datetime
    sha256: _Sha256


@dataclass(frozen=True)
class Listener:
    name: str
    security_protocol: str
    sasl_mechanisms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Registry:
    """When connections were watched. `mode`: continuous, sampled or deprecated_only.

    `windows`: pairs of times of day ("13:00:00"); empty if the mode has none.
    """

    mode: str
    windows: tuple[_Window, ...] = ()


@dataclass(frozen=True)
class SoftwareConnections:
    """The KIP-511 gauges at the end of the hour."""

    listener: str
    client_software_name: str
    client_software_version: str
    count: _Count


@dataclass(frozen=True)
class Subscription:
    """A KIP-714 subscription; `match` maps a selector to its regular expression."""

    name: str
    interval_ms: _Small
    metrics: tuple[str, ...]
    match: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ScramUser:
    """Who has SCRAM credentials; `principal` as in events, None if it was omitted."""

    principal: str | None
    mechanisms: tuple[str, ...]


@dataclass(frozen=True)
class FeatureLevels:
    """Finalized feature levels and the time from which they apply."""

    since: datetime
    levels: dict[str, _Small]


@dataclass(frozen=True)
class Plugin:
    """The software that wrote the dump."""

    name: str
    version: str


@dataclass(frozen=True)
class Reconciliation:
    """The broker's own counters for the hour, and the registry's; None if unknown. Where they differ, the registry
    missed clients.
    """

    connections_by_gauge: _Count | None
    connections_in_registry: _Count | None
    requests_by_counter: _Count | None
    requests_in_registry: _Count | None


@dataclass(frozen=True)
class Manifest:
    """None: not reported. Counters are increases within the hour. Times are aware, UTC.

    `incarnation`: 32 lower-case hex digits. `hour`: its beginning. `dropped`: records by reason, all reasons that the
    broker names. `api_versions`: (api key, min, max). `requests`: (api key, version, count). `identifiers`: kind of
    identifier (principal, address, client_id, group_id, transactional_id, topic) -> clear, hmac or omit. `settings`: of the
    broker, by name, as it printed them at its start; no secrets and no addresses.
    """

    cluster_id: str
    broker_id: _Small
    incarnation: _Digits
    hour: Annotated[datetime, _hour]
    broker_started_at: datetime
    broker_software_name: str
    broker_software_version: str
    files: tuple[ManifestFile, ...]
    dropped: dict[str, _Count]
    recovered: bool = False
    alive_at: datetime | None = None
    api_versions: tuple[_ApiRange, ...] | None = None
    finalized_features: dict[str, _Small] | None = None
    feature_levels: tuple[FeatureLevels, ...] | None = None
    listeners: tuple[Listener, ...] | None = None
    registry: Registry | None = None
    connections: tuple[SoftwareConnections, ...] | None = None
    requests: tuple[_RequestCount, ...] | None = None
    client_metrics: Annotated[dict[str, float], _numbers] | None = None
    subscriptions: tuple[Subscription, ...] | None = None
    scram_users: tuple[ScramUser, ...] | None = None
    failed_logins: _Count | None = None
    settings: dict[str, str] | None = None
    plugin: Plugin | None = None
    identifiers: dict[str, str] | None = None
    reconciliation: Reconciliation | None = None


@dataclass(frozen=True)
class _Versioned:
    schema_version: int


_read_version, _read_manifest = record(_Versioned), record(Manifest)


def parse_manifest(data: bytes, key: ObjectKey | None = None) -> Manifest:
    """Read a manifest; unknown keys are ignored.

    With `key`, the manifest's cluster, broker, hour and (if the name has one) incarnation must agree with it. Raises
    `BadManifest`, naming the JSON key and what is wrong with it.
    """
    document = parse_json(data)
    version = _read_version(document, "").schema_version
    if version != SCHEMA_VERSION:
        raise BadManifest(f"schema_version: {version}, this reader knows {SCHEMA_VERSION}")
    manifest = _read_manifest(document, "")
    if key is not None:
        _check_place(manifest, key)
    return manifest


def _check_place(manifest: Manifest, key: ObjectKey) -> None:
    for name, stated, expected in (
        ("cluster_id", manifest.cluster_id, key.cluster_id),
        ("broker_id", manifest.broker_id, key.broker_id),
        ("hour", manifest.hour, key.hour_start),
        ("incarnation", manifest.incarnation, key.incarnation or manifest.incarnation),
    ):
        if stated != expected:
            raise BadManifest(f"{name}: {stated}, but it lies under {expected}")
