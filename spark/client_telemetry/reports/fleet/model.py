"""What a fleet page says. Everything that is shown, counted or compared is a value here; the renderings (page.py,
files.py) choose a form and compute nothing. How the values come about: build.py. What they mean: docs/fleet-page.md."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from client_telemetry.reports.evidence import Coverage, QualityWarning, RelatedClient
from client_telemetry.reports.fleet.day_curves import FleetCurves
from client_telemetry.reports.lost_data import LostData

SCHEMA_VERSION = 1
"""Of fleet.json. Goes up when a field is removed, renamed or changes its meaning."""

DELIVERED, PARTLY, MISSING = "delivered", "partly", "missing"
NOT_SUBSCRIBED, NOT_KNOWN = "not_subscribed", "not_known"
METRIC_STATES = (DELIVERED, PARTLY, MISSING, NOT_SUBSCRIBED, NOT_KNOWN)


@dataclass(frozen=True)
class Phrase:
    """A piece of the sentence of the day. `section` names the part of the page that it counts."""

    text: str
    section: str | None = None


@dataclass(frozen=True)
class DeprecatedUse:
    """Requests of one client in a version that a newer release refuses."""

    api_key: int
    api_name: str
    version: int
    requests: int
    refused_by: str
    """In words: `4.0.0 and later`, `4.0.0`."""


@dataclass(frozen=True)
class FleetClient:
    """One client of the day: fields that are named as columns of `clients` have their values, the others are derived
    (software.py). Client-supplied strings are exactly as they came."""

    client_id: str | None
    principal: str | None
    client_software_name: str | None
    client_software_version: str | None
    looks_like: str | None
    """For a client that tells no software: what it probably is, and `looks_like_reasons` why."""
    looks_like_reasons: tuple[str, ...]
    could_be: tuple[str, ...]
    """For one that looks like nothing in particular: libraries that can have sent all of its requests."""
    related: tuple[RelatedClient, ...]
    owner: str | None
    application: str
    """Clients with the same principal, owner and application are one program (docs/clients.md)."""
    application_kind: str
    product: str | None
    instances: int
    connections: int
    requests: int
    """Answered ones of the day."""
    asked_without_push: int
    """Connections on which it asked for a metrics subscription (KIP-714) and of which no client instance pushed."""
    addresses: int
    first_seen_at: datetime
    last_seen_at: datetime
    deprecated: tuple[DeprecatedUse, ...]


@dataclass(frozen=True)
class FleetVersion:
    """Clients that declare one version of a software. `version` null = declared a name and no version."""

    version: str | None
    stands_for: str | None
    """The library and its version, in words, where the text of the version does not show it: a release of Confluent
    Platform, a binding of librdkafka."""
    applications: int
    applications_up_to_here: int
    """Applications with a client of this version or one that is listed before it: who would feel it if it were no longer
    allowed."""
    clients: int
    clients_up_to_here: int
    """Their clients."""
    instances: int
    connections: int
    requests: int
    deprecated_applications: int
    deprecated_clients: int
    owners: tuple[str, ...]
    is_new: bool | None
    """Not there on the day before; null = that day is not known."""


@dataclass(frozen=True)
class FleetSoftware:
    """Clients by the software name that they declare, versions in order. `name` null = not declared."""

    name: str | None
    applications: int
    clients: int
    instances: int
    connections: int
    requests: int
    versions: tuple[FleetVersion, ...]


@dataclass(frozen=True)
class Unnamed:
    """Clients that declare no software and look alike. `looks_like` null = not narrowed down: their requests can be of any
    library in `could_be`, which is empty where no known one explains them or none was answered."""

    looks_like: str | None
    could_be: tuple[str, ...]
    applications: int
    clients: int
    connections: int
    client_ids: tuple[str | None, ...]
    """The first few."""


@dataclass(frozen=True)
class VersionSeen:
    name: str
    version: str | None
    applications: int
    clients: int


@dataclass(frozen=True)
class Family:
    """Clients of one principal and software whose ids differ only in changing parts."""

    principal: str | None
    client_family: str | None
    client_software_name: str | None


@dataclass(frozen=True)
class ApplicationSeen:
    """An application whose name is a client id with changing parts has them masked."""

    principal: str | None
    application: str


@dataclass(frozen=True)
class Changes:
    """Against another day. Where that was not processed, `is_known` is false and the rest empty."""

    against: date
    words: str
    """`the day before`, `a week before`."""
    is_known: bool
    clients: int
    new_families: int
    """Client families (principal, client id without its changing parts, software name) that the other day has not."""
    gone_families: int
    new_versions: tuple[VersionSeen, ...]
    gone_versions: tuple[VersionSeen, ...]
    deprecated_clients: int
    """Clients of that day that used request versions which this page calls deprecated."""
    new_clients: tuple[Family, ...] = ()
    """The first FAMILIES_LISTED (software.py) of `new_families`."""
    gone_clients: tuple[Family, ...] = ()
    applications: int = 0
    new_applications: int = 0
    """Applications that the other day has not."""
    gone_applications: int = 0
    deprecated_applications: int = 0
    """Applications of that day with such a client."""
    new_named: tuple[ApplicationSeen, ...] = ()
    """The first APPLICATIONS_LISTED (software.py) of `new_applications`."""
    gone_named: tuple[ApplicationSeen, ...] = ()


@dataclass(frozen=True)
class DeprecatedVersion:
    """A request version in use that a newer release refuses."""

    api_key: int
    api_name: str
    version: int
    refused_by: str
    clients: int
    requests: int
    client_ids: tuple[str | None, ...] = ()
    """The first few."""
    applications: int = 0
    """With such a client."""


@dataclass(frozen=True)
class MetricOfLibrary:
    """How many client instances of one kind of one software version deliver a standard metric (KIP-714)."""

    client_type: str
    """producer or consumer."""
    client_software_name: str | None
    client_software_version: str | None
    metric: str
    required: bool
    """Whether KIP-714 requires it of every client that pushes, and does not only call it standard."""
    state: str
    """One of METRIC_STATES."""
    instances: int
    subscribed: int | None
    """Instances that some subscription asks for it; null = not known."""
    delivering: int


@dataclass(frozen=True)
class RefusedPushes:
    """Pushes of a client that a broker answered with an error, where the source of the dump has it."""

    client_id: str | None
    principal: str | None
    client_software_name: str | None
    client_software_version: str | None
    error_code: int
    error: str
    """Kafka's name of it."""
    consequence: str
    pushes: int
    instances: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True)
class ApplicationMetrics:
    """Metrics that are not of Kafka's client but of the application around it (KIP-1076), of one client."""

    client_id: str | None
    principal: str | None
    client_software_name: str | None
    client_software_version: str | None
    instances: int
    metrics: tuple[str, ...]


@dataclass(frozen=True)
class StreamsApplication:
    """Client instances of one application of Kafka Streams, by the labels of its metrics (KIP-1091)."""

    application_id: str | None
    """None: no instance told it."""
    processes: int
    instances: int
    client_ids: tuple[str, ...]


@dataclass(frozen=True)
class NeverPushed:
    """A client instance that a broker gave an id (GetTelemetrySubscriptions) and that did not push on the day."""

    client_instance_id: str
    """As Kafka prints it."""
    client_id: str | None
    principal: str | None
    client_software_name: str | None
    client_software_version: str | None
    client_addresses: tuple[str, ...]
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True)
class UnexplainedRequests:
    """Requests of one version that brokers counted and that no connection of a known client explains."""

    api_key: int
    api_name: str
    version: int
    counted: int
    of_known_clients: int
    of_unidentified: int
    """On connections of which it is not known whose they are."""
    unexplained: int
    refused_by: str | None
    sent_by_brokers: bool
    """Whether brokers send this API to each other."""


@dataclass(frozen=True)
class RequestCounts:
    """What brokers counted against what connections show. `broker_hours`: those whose counts are known; none = the
    manifests of the day tell no counts."""

    broker_hours: int
    of_broker_hours: int
    counted: int
    unexplained: int
    versions: tuple[UnexplainedRequests, ...]
    """Most unexplained first; those without a remainder are left out."""


@dataclass(frozen=True)
class QualityCheck:
    """What the gates found last about one expectation of the day: columns of `quality_results`, and examples of rows that violate
    it.
    """

    stage: str
    table_name: str
    expectation: str
    severity: str
    success: bool
    observed_value: str
    rows: int
    unexpected_count: int | None
    description: str
    examples: tuple[Mapping[str, object], ...]


@dataclass(frozen=True)
class FleetDay:
    schema_version: int
    cluster_id: str
    cluster_name: str
    day: date
    created_at: datetime
    phrases: tuple[Phrase, ...]
    sentence: str
    counts: dict[str, int]
    """See COUNTS in build.py."""
    compared_with_release: str | None
    """The oldest release that a broker ran on the day: what newer ones refuse is called deprecated."""
    software: tuple[FleetSoftware, ...]
    """Most clients first."""
    unnamed: tuple[Unnamed, ...]
    changes: tuple[Changes, ...]
    """Against the day before and a week before."""
    deprecated: tuple[DeprecatedVersion, ...]
    clients: tuple[FleetClient, ...]
    """By software, version and client id."""
    metrics: tuple[MetricOfLibrary, ...]
    instances_of_unknown_kind: int
    """Instances that pushed no metric of a producer or consumer, and whose requests show neither."""
    subscriptions_known: bool
    refused_pushes: tuple[RefusedPushes, ...]
    """Most pushes first."""
    never_pushed: tuple[NeverPushed, ...]
    """By client id; of dumps from request logs."""
    application_metrics: tuple[ApplicationMetrics, ...]
    streams_applications: tuple[StreamsApplication, ...]
    request_counts: RequestCounts
    coverage: Coverage
    quality: tuple[QualityCheck, ...]
    quality_warnings: tuple[QualityWarning, ...]
    lost: LostData
    snapshots: dict[str, int]
    knowledge_version: str
    code_version: str
    knowledge_built_at: datetime | None = None
    curves: FleetCurves | None = None
    """Of the software versions with most clients; None of a day without connections."""
