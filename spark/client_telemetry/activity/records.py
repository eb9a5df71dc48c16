"""What brokers recorded about clients, as input of the review: one record per client, broker incarnation and time slot.

Request logs give slots of seconds (log_evidence.py); dumps give what connections did between two of their snapshots
(table_evidence.py). Times are seconds since 1970 by the brokers' clocks. Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from math import inf
from typing import NamedTuple


def clock(at: float) -> str:
    """
    >>> clock(3661.5)
    '01:01:01'
    """
    return f"{datetime.fromtimestamp(at, UTC):%H:%M:%S}"


@lru_cache(maxsize=1000)
def moment(seconds: float) -> datetime:
    """As tables have it, in microseconds."""
    return datetime.fromtimestamp(round(seconds, 6), UTC)


class Client(NamedTuple):
    """The sender of requests. `principal` is in Kafka's form (`User:orders`)."""

    client_id: str | None
    principal: str
    address: str
    software_name: str
    software_version: str
    security_protocol: str


@dataclass(slots=True)
class Use:
    """Requests of one API in one version within a record. `answered`: at least partly successful; `failed`: answered
    with nothing but errors; `refused`: the broker does not serve the version and closed the connection. `first`,
    `last`: of the successful ones; `failed_first`, `failed_last`: of the failed and refused ones.
    """

    answered: int = 0
    failed: int = 0
    refused: int = 0
    first: float | None = None
    last: float | None = None
    failed_first: float | None = None
    failed_last: float | None = None

    def add_answered(self, at: float) -> None:
        self.answered += 1
        self.first = at if self.first is None else min(self.first, at)
        self.last = at if self.last is None else max(self.last, at)

    def add_failed(self, at: float, *, refused: bool = False) -> None:
        if refused:
            self.refused += 1
        else:
            self.failed += 1
        self.failed_first = at if self.failed_first is None else min(self.failed_first, at)
        self.failed_last = at if self.failed_last is None else max(self.failed_last, at)


@dataclass(slots=True)
class Activity:
    """`uses`: by (API key, version). `errors`: error codes of failed requests, by (API key, code). `offsets_back`: how
    often a fetch of a partition requested an earlier offset than the previous one. `transaction_timeout`: the
    longest in the client's InitProducerId requests, in seconds. `groups`: ids of consumer groups in its requests.
    `opened`: connections whose first request is in the record.
    """

    client: Client
    broker_id: int
    incarnation: str
    since: float
    until: float
    uses: dict[tuple[int, int], Use] = field(default_factory=dict)
    errors: dict[tuple[int, int], int] = field(default_factory=dict)
    offsets_back: int = 0
    transaction_timeout: float | None = None
    groups: set[str] = field(default_factory=set)
    opened: int = 0

    def use(self, api_key: int, version: int) -> Use:
        current = self.uses.get((api_key, version))
        if current is None:
            current = self.uses[api_key, version] = Use()
        return current


class UnnamedRefusal(NamedTuple):
    """Requests of a version that the broker does not serve, on connections without a known client."""

    address: str
    broker_id: int
    incarnation: str
    api_key: int
    version: int
    first: float
    last: float
    requests: int


class FailedLogin(NamedTuple):
    """Connections from an address whose authentication failed. `mechanism`: if the broker's message names it."""

    address: str
    broker_id: int
    incarnation: str
    mechanism: str | None
    reason: str
    first: float
    last: float
    connections: int


def in_order(login: FailedLogin) -> tuple[object, ...]:
    """Sort key of failed logins: by time, then by all else. Brokers do not always name the mechanism, and two logins of
    one millisecond may differ in nothing but that.
    """
    return login.first, *login._replace(mechanism=login.mechanism or "")


class BrokerRun(NamedTuple):
    """A broker incarnation. `releases`: the exact releases that it may run, oldest first; `until`: when it stopped or
    was last seen; `is_running`: nothing shows that it stopped.
    """

    broker_id: int
    incarnation: str
    releases: tuple[str, ...]
    started: float
    until: float
    is_running: bool = False


class FeatureLevels(NamedTuple):
    """The finalized feature levels that a broker reported at that time. `incarnation`: the reporting one; empty = any."""

    at: float
    levels: Mapping[str, int]
    incarnation: str = ""


@dataclass
class Evidence:
    """`slot_seconds`: how exact the times of activities are. `has_failed_logins`: whether failed logins were recorded
    at all (False: no server.log next to the request log); `has_refusals` likewise.
    """

    cluster_id: str
    runs: list[BrokerRun]
    features: list[FeatureLevels]
    activities: list[Activity]
    unnamed_refusals: list[UnnamedRefusal]
    failed_logins: list[FailedLogin]
    slot_seconds: float
    has_failed_logins: bool = True
    has_refusals: bool = True
    fine_from: float = inf
    fine_slot_seconds: float = 0.0
    """From that time on, from shortly before the first broker changed its release, activities are more exact."""
    data_from: float | None = None
    """When the first activity begins, if the activities are stored elsewhere."""
    broker_events: list[str] = field(default_factory=list)
    """Sentences about what happened to brokers beside the upgrade itself."""
    requests_until: float = inf
    """Until when all requests are in the records, though brokers ran longer: those of open connections come with the
    next snapshot."""
    listeners: dict[str, frozenset[str]] = field(default_factory=dict)
    """Names of the brokers' listeners by security protocol, where the records have them."""

    @property
    def first(self) -> float | None:
        """When records of clients begin; None if there are none."""
        if self.data_from is not None:
            return self.data_from
        return min((activity.since for activity in self.activities), default=None)
