"""The manifest of one broker incarnation and hour: what the broker says it wrote, dropped and was.

Reading it from storage and comparing it with the stored objects is done elsewhere.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from client_telemetry.formats.raw.errors import BadManifest
from client_telemetry.formats.raw.json_fields import (
    Fields,
    Reader,
    boolean,
    count,
    hex_digits,
    integer,
    json_object,
    many,
    mapping,
    number,
    parse_json,
    sequence,
    small_integer,
    text,
    time,
    wrong,
)
from client_telemetry.formats.raw.object_key import ObjectKey

SCHEMA_VERSION = 1
LARGEST_BYTES = 16 * 2**20
"""Fifty times the manifest of an hour with a thousand objects."""


@dataclass(frozen=True)
class ManifestFile:
    """An object that the broker wrote. Sequences are inclusive; times are aware, UTC; `sha256` is hex."""

    key: str
    dataset: str
    records: int
    bytes: int
    first_sequence: int
    last_sequence: int
    min_time: datetime
    max_time: datetime
    sha256: str


@dataclass(frozen=True)
class Listener:
    name: str
    security_protocol: str
    sasl_mechanisms: tuple[str, ...]


@dataclass(frozen=True)
class Registry:
    """When connections were watched. `mode`: continuous, sampled or deprecated_only.

    `windows`: pairs of times of day ("13:00:00"); empty if the mode has none.
    """

    mode: str
    windows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class SoftwareConnections:
    """The KIP-511 gauges at the end of the hour."""

    listener: str
    client_software_name: str
    client_software_version: str
    count: int


@dataclass(frozen=True)
class Subscription:
    """A KIP-714 subscription; `match` maps a selector to its regular expression."""

    name: str
    interval_ms: int
    metrics: tuple[str, ...]
    match: dict[str, str]


@dataclass(frozen=True)
class ScramUser:
    """Who has SCRAM credentials; `principal` as in events, None if it was omitted."""

    principal: str | None
    mechanisms: tuple[str, ...]


@dataclass(frozen=True)
class FeatureLevels:
    """Finalized feature levels and the time from which they apply."""

    since: datetime
    levels: dict[str, int]


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

    connections_by_gauge: int | None
    connections_in_registry: int | None
    requests_by_counter: int | None
    requests_in_registry: int | None


@dataclass(frozen=True)
class Manifest:
    """None: not reported. Counters are increases within the hour. Times are aware, UTC.

    `incarnation`: 32 lower-case hex digits. `hour`: its beginning. `dropped`: records by reason, all reasons that the
    broker names. `api_versions`: (api key, min, max). `requests`: (api key, version, count). `identifiers`: kind of
    identifier (principal, address, client_id, group_id, transactional_id, topic) -> clear, hmac or omit. `settings`: of the
    broker, by name, as it printed them at its start; no secrets and no addresses.
    """

    cluster_id: str
    broker_id: int
    incarnation: str
    hour: datetime
    broker_started_at: datetime
    broker_software_name: str
    broker_software_version: str
    files: tuple[ManifestFile, ...]
    dropped: dict[str, int]
    recovered: bool = False
    alive_at: datetime | None = None
    api_versions: tuple[tuple[int, int, int], ...] | None = None
    finalized_features: dict[str, int] | None = None
    feature_levels: tuple[FeatureLevels, ...] | None = None
    listeners: tuple[Listener, ...] | None = None
    registry: Registry | None = None
    connections: tuple[SoftwareConnections, ...] | None = None
    requests: tuple[tuple[int, int, int], ...] | None = None
    client_metrics: dict[str, float] | None = None
    subscriptions: tuple[Subscription, ...] | None = None
    scram_users: tuple[ScramUser, ...] | None = None
    failed_logins: int | None = None
    settings: dict[str, str] | None = None
    plugin: Plugin | None = None
    identifiers: dict[str, str] | None = None
    reconciliation: Reconciliation | None = None


def parse_manifest(data: bytes, key: ObjectKey | None = None) -> Manifest:
    """Read a manifest; unknown keys are ignored.

    With `key`, the manifest's cluster, broker, hour and (if the name has one) incarnation must agree with it. Raises
    `BadManifest`, naming the JSON key and what is wrong with it.
    """
    top = Fields(parse_json(data), "")
    version = top.required("schema_version", integer)
    if version != SCHEMA_VERSION:
        raise BadManifest(f"schema_version: {version}, this reader knows {SCHEMA_VERSION}")
    manifest = Manifest(
        cluster_id=top.required("cluster_id", text),
        broker_id=top.required("broker_id", small_integer),
        incarnation=top.required("incarnation", hex_digits(32)),
        hour=top.required("hour", _hour),
        broker_started_at=top.required("broker_started_at", time),
        broker_software_name=top.required("broker_software_name", text),
        broker_software_version=top.required("broker_software_version", text),
        files=top.required("files", many(_file)),
        dropped=top.required("dropped", mapping(count)),
        recovered=top.optional("recovered", boolean) or False,
        alive_at=top.optional("alive_at", time),
        api_versions=top.optional("api_versions", many(_triple(small_integer, small_integer, small_integer))),
        finalized_features=top.optional("finalized_features", mapping(small_integer)),
        feature_levels=top.optional("feature_levels", many(_feature_levels)),
        listeners=top.optional("listeners", many(_listener)),
        registry=top.optional("registry", _registry),
        connections=top.optional("connections", many(_software_connections)),
        requests=top.optional("requests", many(_triple(small_integer, small_integer, count))),
        client_metrics=top.optional("client_metrics", _numbers),
        subscriptions=top.optional("subscriptions", many(_subscription)),
        scram_users=top.optional("scram_users", many(_scram_user)),
        failed_logins=top.optional("failed_logins", count),
        settings=top.optional("settings", mapping(text)),
        plugin=top.optional("plugin", _plugin),
        identifiers=top.optional("identifiers", mapping(text)),
        reconciliation=top.optional("reconciliation", _reconciliation),
    )
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


def _hour(value: object, path: str) -> datetime:
    try:
        return datetime.strptime(text(value, path), "%Y-%m-%dT%H").replace(tzinfo=UTC)
    except ValueError:
        raise wrong(path, value, "an hour like 2026-11-20T13") from None


def _numbers(value: object, path: str) -> dict[str, float]:
    """Name -> number; null means unknown, and such a name is left out."""
    numbers = {name: item for name, item in json_object(value, path).items() if item is not None}
    return mapping(number)(numbers, path)


def _triple(first: Reader[int], second: Reader[int], third: Reader[int]) -> Reader[tuple[int, int, int]]:
    def read(value: object, path: str) -> tuple[int, int, int]:
        if not isinstance(value, list) or len(value) != 3:
            raise wrong(path, value, "a list of three numbers")
        return first(value[0], f"{path}[0]"), second(value[1], f"{path}[1]"), third(value[2], f"{path}[2]")

    return read


def _window(value: object, path: str) -> tuple[str, str]:
    window = many(text)(value, path)
    if len(window) != 2:
        raise wrong(path, value, "a pair of times of day")
    return window[0], window[1]


def _file(value: object, path: str) -> ManifestFile:
    fields = Fields(value, path)
    return ManifestFile(
        key=fields.required("key", text),
        dataset=fields.required("dataset", text),
        records=fields.required("records", count),
        bytes=fields.required("bytes", count),
        first_sequence=fields.required("first_sequence", sequence),
        last_sequence=fields.required("last_sequence", sequence),
        min_time=fields.required("min_time", time),
        max_time=fields.required("max_time", time),
        sha256=fields.required("sha256", hex_digits(64)),
    )


def _listener(value: object, path: str) -> Listener:
    fields = Fields(value, path)
    return Listener(
        name=fields.required("name", text),
        security_protocol=fields.required("security_protocol", text),
        sasl_mechanisms=fields.optional("sasl_mechanisms", many(text)) or (),
    )


def _registry(value: object, path: str) -> Registry:
    fields = Fields(value, path)
    return Registry(
        mode=fields.required("mode", text), windows=fields.optional("windows", many(_window)) or ()
    )


def _software_connections(value: object, path: str) -> SoftwareConnections:
    fields = Fields(value, path)
    return SoftwareConnections(
        listener=fields.required("listener", text),
        client_software_name=fields.required("client_software_name", text),
        client_software_version=fields.required("client_software_version", text),
        count=fields.required("count", count),
    )


def _subscription(value: object, path: str) -> Subscription:
    fields = Fields(value, path)
    return Subscription(
        name=fields.required("name", text),
        interval_ms=fields.required("interval_ms", small_integer),
        metrics=fields.required("metrics", many(text)),
        match=fields.optional("match", mapping(text)) or {},
    )


def _feature_levels(value: object, path: str) -> FeatureLevels:
    fields = Fields(value, path)
    return FeatureLevels(
        since=fields.required("since", time), levels=fields.required("levels", mapping(small_integer))
    )


def _scram_user(value: object, path: str) -> ScramUser:
    fields = Fields(value, path)
    return ScramUser(
        principal=fields.optional("principal", text),
        mechanisms=fields.required("mechanisms", many(text)),
    )


def _plugin(value: object, path: str) -> Plugin:
    fields = Fields(value, path)
    return Plugin(name=fields.required("name", text), version=fields.required("version", text))


def _reconciliation(value: object, path: str) -> Reconciliation:
    fields = Fields(value, path)
    return Reconciliation(
        connections_by_gauge=fields.optional("connections_by_gauge", count),
        connections_in_registry=fields.optional("connections_in_registry", count),
        requests_by_counter=fields.optional("requests_by_counter", count),
        requests_in_registry=fields.optional("requests_in_registry", count),
    )
