"""What is known about client instances from days of evidence: who they are, what they really pushed, what their library
can do. Plain records: the caller provides them (from a lake, from request logs).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from client_telemetry.knowledge import client_ranges, known_issues, software
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.knowledge.telemetry_metrics import java_metrics, librdkafka_metrics, standard_metrics
from client_telemetry.knowledge.vocabulary import Role
from client_telemetry.subscriptions.instances import ClientInstance

PRODUCER, CONSUMER, ADMIN = "producer", "consumer", "admin"
SHARE_CONSUMER = "share consumer"
ABORTS, DISCONNECTS = "librdkafka_telemetry_abort", "librdkafka_telemetry_disconnect"
JAVA, LIBRDKAFKA = "kafka-clients", "librdkafka"
_SHARE_CONSUMER = "org.apache.kafka.consumer.share."


@dataclass(frozen=True)
class MetricShare:
    """For one metric, within the evidence: points, and their estimated bytes (only ratios of these matter)."""

    points: float
    weight: float


@dataclass(frozen=True)
class ObservedInstance:
    """A client instance of the evidence; one that never pushed stands for a client at an address, and its instance id
    is unknown. Sums are over the days of evidence. `seconds`: from the first push to the last one, or the time
    connected if it never pushed. `silent_seconds`: those of missed pushes. `payload_bytes`: decompressed.
    `api_keys`: requests that its client was seen to send.
    """

    instance: ClientInstance
    principal: str | None = None
    owner: str | None = None
    roles: tuple[str, ...] = ()
    api_keys: frozenset[int] = frozenset()
    seconds: float = 0.0
    pushes: int = 0
    terminating_pushes: int = 0
    rejected_pushes: int = 0
    push_interval_ms: int | None = None
    points: int = 0
    payload_bytes: int = 0
    largest_payload_bytes: int = 0
    metrics: Mapping[str, MetricShare] = field(default_factory=dict)
    silent_seconds: float = 0.0

    @property
    def identity(self) -> software.Identity | None:
        return software.identify_name(self.instance.software_name or "", self.instance.software_version or "")

    @property
    def library(self) -> str | None:
        return self.identity.library if self.identity else None

    @property
    def library_version(self) -> tuple[int, ...] | None:
        return self.identity.version if self.identity else None

    @property
    def pushed(self) -> bool:
        return self.pushes > 0

    @property
    def is_share_consumer(self) -> bool:
        """Share consumers (KIP-932) have metrics of their own, not those of KIP-714's consumers."""
        return any(metric.startswith(_SHARE_CONSUMER) for metric in self.metrics)

    @property
    def client_types(self) -> tuple[str, ...]:
        """Producer, consumer, share consumer, admin: from the metrics that it delivered, otherwise from its client's
        requests.
        """
        by_metrics = tuple(
            SHARE_CONSUMER if client_type == CONSUMER and self.is_share_consumer else client_type
            for client_type in (PRODUCER, CONSUMER, ADMIN)
            if any(m.startswith(f"org.apache.kafka.{client_type}.") for m in self.metrics)
        )
        if by_metrics:
            return by_metrics
        kinds: dict[str, str] = {Role.ADMIN: ADMIN, Role.SHARE_CONSUMER: SHARE_CONSUMER}
        types = {kinds.get(role, CONSUMER if "consumer" in role else PRODUCER) for role in self.roles}
        return tuple(
            client_type for client_type in (PRODUCER, CONSUMER, SHARE_CONSUMER, ADMIN) if client_type in types
        )


def can_push(observed: ObservedInstance) -> bool | None:
    """Whether its library supports KIP-714 at all; None if the library or its version is unknown."""
    if observed.pushed or ApiKey.GET_TELEMETRY_SUBSCRIPTIONS in observed.api_keys:
        return True
    identity = observed.identity
    if identity is None or not client_ranges.named(identity.library):
        return None
    if all(
        row.library != identity.library or row.api_key != ApiKey.GET_TELEMETRY_SUBSCRIPTIONS
        for row in client_ranges.every()
    ):
        return False
    if identity.version is None or not client_ranges.known(identity.library):
        return None
    version = min(identity.version, client_ranges.newest(identity.library))
    return client_ranges.of(identity.library, version, ApiKey.GET_TELEMETRY_SUBSCRIPTIONS) is not None


def hurt_when_nothing_matches(observed: ObservedInstance) -> str | None:
    """ABORTS or DISCONNECTS for a version of librdkafka that does so when it is asked only for metrics that it does not
    have (confluentinc/librdkafka issue 4833).
    """
    identity = observed.identity
    if identity is None or identity.library != LIBRDKAFKA or identity.version is None:
        return None
    for issue in known_issues.known():
        hurts = issue.rule_id in (ABORTS, DISCONNECTS)
        if hurts and issue.version_from <= identity.version <= issue.version_to:
            return issue.rule_id
    return None


def known_metrics() -> frozenset[str]:
    """Names of the standard metrics, of Java's and of librdkafka's."""
    lists = (standard_metrics, java_metrics, librdkafka_metrics)
    return frozenset(
        metric for kind in (PRODUCER, CONSUMER) for names_of in lists for metric in names_of(kind)
    )


def version_text(version: tuple[int, ...] | None) -> str:
    return ".".join(map(str, version)) if version else ""
