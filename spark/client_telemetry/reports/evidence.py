"""What reports of all kinds say of their evidence: which brokers and hours were seen, which checks of the data failed, and
which clients may be the same application."""

from dataclasses import dataclass
from datetime import date, datetime

from client_telemetry.knowledge import kip511
from client_telemetry.reports.client_strings import client_label
from client_telemetry.reports.wording import minute


@dataclass(frozen=True)
class BrokerIncarnation:
    broker_id: int
    broker_incarnation: str
    software_name: str | None
    software_version: str | None
    releases: tuple[str, ...]
    """Releases of Apache Kafka that it can be."""
    releases_known_by: str | None
    started_at: datetime | None
    last_evidence_at: datetime | None


@dataclass(frozen=True)
class BrokersOfRelease:
    release: str
    """As the brokers declare it, otherwise what they can be, in words."""
    broker_ids: tuple[int, ...]


@dataclass(frozen=True)
class ClusterState:
    """Which brokers ran which release from `since` until the next state."""

    since: datetime
    releases: tuple[BrokersOfRelease, ...]


@dataclass(frozen=True)
class CoverageRun:
    """Hours of one broker in a row that are known equally well: from `start` until before `end`."""

    broker_id: int
    start: datetime
    end: datetime
    completeness: tuple[str, ...]


@dataclass(frozen=True)
class Watched:
    """Connections to a broker were watched from `start` to `end`, to the second, both included."""

    broker_id: int
    start: datetime
    end: datetime


@dataclass(frozen=True)
class Missed:
    """What a broker counted itself and its registry of connections does not have: `connections` open at the end of an
    hour, the most of all hours, and `requests` of all hours."""

    broker_id: int
    connections: int
    requests: int


@dataclass(frozen=True)
class Coverage:
    """Which hours of which brokers the answer could see, from `first_hour` until before `end_hour`."""

    first_hour: datetime
    end_hour: datetime
    broker_ids: tuple[int, ...]
    broker_hours: int
    complete_broker_hours: int
    complete_share: float | None
    """Between 0 and 1, four digits; null = no broker hour is known to exist."""
    runs: tuple[CoverageRun, ...]
    brokers: tuple[BrokerIncarnation, ...]
    watched: tuple[Watched, ...] | None
    """One entry per broker and window in which connections were watched; null = they were watched all the time in
    some hour."""
    deprecated_only: tuple[int, ...]
    """Brokers of which, whenever they were watched, only requests of deprecated versions were."""
    missed: tuple[Missed, ...]
    """Brokers that counted connections or requests which their registry of connections does not have."""
    cluster_states: tuple[ClusterState, ...]
    """Oldest first; more than one where a broker changed its release, as in a rolling upgrade."""


@dataclass(frozen=True)
class QualityWarning:
    """An expectation that did not hold and did not block publishing: columns of `quality_results`."""

    dt: date
    stage: str
    table_name: str
    expectation: str
    description: str
    observed_value: str
    rows: int
    unexpected_count: int | None


@dataclass(frozen=True)
class RelatedClient:
    """Another client that may be the same application: an entry of `clients.related`."""

    relation: str
    client_id: str | None
    client_software_name: str | None
    client_software_version: str | None
    because: str

    def __str__(self) -> str:
        software = kip511.software(self.client_software_name, self.client_software_version)
        return f"{self.relation}: {client_label(self.client_id)} {software}: {self.because}"


@dataclass(frozen=True)
class DaySeen:
    """A day of evidence on which the client was seen."""

    dt: date
    first_seen_at: datetime
    last_seen_at: datetime
    connections: int

    def __str__(self) -> str:
        return f"{minute(self.first_seen_at)} to {minute(self.last_seen_at)}"
