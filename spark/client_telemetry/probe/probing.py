"""Asks one broker each permitted request, and tells a refusal from a broker that is slow or down."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.knowledge.error_codes import KafkaError
from client_telemetry.probe import answers, request_bodies
from client_telemetry.probe.answers import AdvertisedVersions
from client_telemetry.probe.connection import (
    Address,
    Answer,
    BrokenConnection,
    Connection,
    ConnectionClosed,
    NoAnswer,
    NotKafka,
)
from client_telemetry.probe.listener import Listener
from client_telemetry.probe.request_bodies import NO, WITH_OFFSETS_TOPIC, Request

ANSWERED, REFUSED, CLOSED, SILENT, GARBLED = "answered", "refused", "closed", "silent", "garbled"
"""Outcomes of a request: answered, with whatever error; answered with error 35 (UNSUPPORTED_VERSION); the broker closed the
connection twice, while it answered another request on the same connection; it did so and gave no answer; the answer was not one.
"""
_OFFSETS_TOPIC: Final = b"__consumer_offsets"
_HELLO_VERSIONS: Final = (4, 3, 0)
"""4 has all features, 3 those whose lowest level is not 0 (KIP-584, KAFKA-17492), and every broker has 0."""
_PAUSES_S: Final = (0.5, 2.0, 5.0)
"""Before a broker that does not even answer ApiVersions is asked again."""


class StoppedAnswering(Exception):
    """The broker no longer answers even ApiVersions."""


@dataclass(frozen=True)
class Limits:
    per_second: float = 100.0
    """Requests, at most."""
    answer_s: float = 5.0
    """How long to wait for an answer; three times as long when asked again."""
    broker_s: float = 600.0
    """How long to ask one broker."""


@dataclass
class BrokerAnswers:
    """What one broker did."""

    address: Address
    advertised: AdvertisedVersions
    outcomes: dict[tuple[int, int], str] = field(default_factory=dict)
    """(API key, version) -> outcome, of the requests that were sent."""
    not_asked: dict[tuple[int, int], str] = field(default_factory=dict)
    """(API key, version) -> why not."""
    has_offsets_topic: bool = False
    """Whether its answer to Metadata 0 has __consumer_offsets."""


class Asker:
    """Asks a broker request after request over one connection, and over a new one when that is closed."""

    def __init__(self, listener: Listener, limits: Limits) -> None:
        self.listener, self._limits = listener, limits
        self._connection: Connection | None = None
        self._next_at = time.monotonic()
        self._deadline = time.monotonic() + limits.broker_s

    @property
    def is_out_of_time(self) -> bool:
        return time.monotonic() > self._deadline

    def hello(self) -> AdvertisedVersions:
        """What the broker advertises: with features, if it tells them. Raises
        BrokenConnection.
        """
        for version in _HELLO_VERSIONS:
            try:
                advertised = answers.api_versions(
                    self._once(_request(ApiKey.API_VERSIONS, version)).payload, version
                )
            except (ConnectionClosed, NoAnswer):
                if version == _HELLO_VERSIONS[-1]:
                    raise
                continue
            if advertised.versions and not advertised.error:
                return advertised
        raise NotKafka(f"it answers ApiVersions with error {advertised.error} and no versions")

    def ask(self, request: Request, looked_for: bytes | None = None) -> tuple[str, Answer | None]:
        """Outcome and answer. Raises StoppedAnswering."""
        try:
            answer = self._once(request, looked_for=looked_for)
        except BrokenConnection:
            return self._again(request, looked_for)
        return _outcome(request, answer), answer

    def _again(self, request: Request, looked_for: bytes | None) -> tuple[str, Answer | None]:
        """On a new connection that has just answered ApiVersions: an overloaded broker, or one that is down, would not have."""
        self._prove_that_it_answers()
        try:
            answer = self._once(request, 3 * self._limits.answer_s, looked_for)
        except ConnectionClosed:
            return CLOSED, None
        except NoAnswer:
            return SILENT, None
        except BrokenConnection:
            return GARBLED, None
        return _outcome(request, answer), answer

    def _prove_that_it_answers(self) -> None:
        failure: BrokenConnection | None = None
        for pause_s in (0.0, *_PAUSES_S):
            time.sleep(pause_s)
            self.close()
            try:
                self._once(_request(ApiKey.API_VERSIONS, 0))
                return
            except BrokenConnection as error:
                failure = error
        raise StoppedAnswering(f"it stopped answering ({failure})")

    def _once(
        self, request: Request, timeout_s: float | None = None, looked_for: bytes | None = None
    ) -> Answer:
        time.sleep(max(0.0, self._next_at - time.monotonic()))
        self._next_at = time.monotonic() + 1 / self._limits.per_second
        if self._connection is None:
            self._connection = self.listener.open()
        try:
            return self._connection.ask(request.frame, timeout_s or self._limits.answer_s, looked_for)
        except BrokenConnection:
            self.close()
            raise

    def close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None


def _request(key: int, version: int) -> Request:
    return request_bodies.requests()[key, version]


def _outcome(request: Request, answer: Answer) -> str:
    code = answers.error_code(answer.payload, request.error_at)
    return REFUSED if code == KafkaError.UNSUPPORTED_VERSION else ANSWERED


def probe(
    asker: Asker, progress: Callable[[str], None], wanted: Collection[int] | None = None
) -> BrokerAnswers:
    """The answers of one broker to all requests, or to those of the `wanted` APIs, by key. Raises BrokenConnection if it does
    not even say which versions it has.
    """
    found = BrokerAnswers(asker.listener.address, asker.hello())
    stopped = ""
    for request in in_order(wanted):
        place = request.api_key, request.version
        if reason := stopped or _reason_not_to_ask(asker, found, request):
            found.not_asked[place] = reason
            continue
        progress(f"asking {found.address} {request.api_name} {request.version}")
        looked_for = _OFFSETS_TOPIC if request.api_key == ApiKey.METADATA else None
        try:
            outcome, answer = asker.ask(request, looked_for)
        except (StoppedAnswering, BrokenConnection) as error:
            stopped = str(error)
            found.not_asked[place] = stopped
            continue
        found.outcomes[place] = outcome
        found.has_offsets_topic |= answer is not None and answer.mentions
    asker.close()
    return found


def in_order(wanted: Collection[int] | None = None) -> Iterator[Request]:
    """The known requests, Metadata first: it tells whether __consumer_offsets exists, and so is always there."""
    requests = request_bodies.requests()
    yield from (request for request in requests.values() if request.api_key == ApiKey.METADATA)
    for request in requests.values():
        if request.api_key != ApiKey.METADATA and (wanted is None or request.api_key in wanted):
            yield request


def _reason_not_to_ask(asker: Asker, found: BrokerAnswers, request: Request) -> str:
    """Empty if it may be asked."""
    permission = request_bodies.permission(request.api_key, request.version)
    if permission.permitted == NO or (
        permission.permitted == WITH_OFFSETS_TOPIC and not found.has_offsets_topic
    ):
        return permission.reason
    if asker.listener.uses_sasl and request.api_key in (ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE):
        return "part of the login"
    if asker.is_out_of_time:
        return "the time for this broker was over"
    return ""


def unknown_versions(advertised: Mapping[int, tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """API key -> advertised versions that no known release has: nobody here knows what such a request looks like."""
    known = request_bodies.requests()
    unknown = {}
    for key, (low, high) in advertised.items():
        strange = [
            version
            for version in range(max(0, low), min(high, low + 1000) + 1)
            if (key, version) not in known
        ]
        if strange:
            unknown[key] = (strange[0], strange[-1])
    return unknown
