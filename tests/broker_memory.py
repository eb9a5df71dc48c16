"""What one broker remembers about client instances, and its answer to each telemetry request in order.

Source: ClientMetricsManager, ClientMetricsInstance, ClientTelemetryExporterPlugin. Times are milliseconds of the
broker's clock. Expiry by time (after max(60 s, 3 intervals) without a request, from 3.8) is up to the caller, through
`forget`.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from client_telemetry.knowledge.error_codes import KafkaError
from client_telemetry.subscriptions.answers import Answer
from client_telemetry.subscriptions.check import exempts_after_errors, limits_decompressed_bytes
from client_telemetry.subscriptions.instances import ClientInstance

NONE = 0

REMEMBERED_INSTANCES = 16_384
COMPRESSION_TYPES = range(5)
NO_ID = b""
"""Stands for an unknown instance id."""
_RESERVED_IDS = (bytes(16), bytes(15) + b"\1")
_EXEMPT_FROM_THROTTLING = (KafkaError.UNKNOWN_SUBSCRIPTION_ID, KafkaError.UNSUPPORTED_COMPRESSION_TYPE)


def forgets_at_disconnect(release: tuple[int, ...]) -> bool:
    return release >= (4, 0)


def decompresses(release: tuple[int, ...]) -> bool:
    """Whether the plugin gets decompressed bytes; 3.7 hands compressed ones over."""
    return release >= (3, 8)


@dataclass(frozen=True)
class Push:
    """`decompressed_bytes`: None if the payload cannot be decompressed. `plugin_fails`: an exporter throws."""

    instance_id: bytes
    subscription_id: int
    terminating: bool
    compression_type: int
    payload_bytes: int
    decompressed_bytes: int | None
    plugin_fails: bool = False


@dataclass
class _Remembered:
    instance: ClientInstance
    answer: Answer
    version: int
    last_get: int = 0
    last_push: int = 0
    terminating: bool = False
    last_error: int = NONE


class BrokerMemory:
    """`answer_of`: the answer according to the configuration at the time of the call; call `changed` after each change."""

    def __init__(
        self, release: tuple[int, ...], max_bytes: int, answer_of: Callable[[ClientInstance], Answer]
    ) -> None:
        self._release = release
        self._max_bytes = max_bytes
        self._answer_of = answer_of
        self._version = 0
        self._instances: OrderedDict[bytes, _Remembered] = OrderedDict()
        self._connections: dict[str, bytes] = {}

    def changed(self) -> None:
        self._version += 1

    def get_subscriptions(
        self, instance: ClientInstance, connection: str, now: int
    ) -> tuple[int, Answer | None]:
        """Error code and, without one, the answer."""
        remembered = self._remembered(instance, connection)
        if now - max(remembered.last_get, remembered.last_push) >= remembered.answer.push_interval_ms:
            remembered.last_get = now
        elif remembered.last_error not in _EXEMPT_FROM_THROTTLING or not exempts_after_errors(self._release):
            return KafkaError.THROTTLING_QUOTA_EXCEEDED, None
        remembered.last_error = NONE
        return NONE, remembered.answer

    def push(self, instance: ClientInstance, push: Push, connection: str, now: int) -> int:
        """Error code. `instance`: the sender, used if the broker does not remember the instance."""
        if push.instance_id in _RESERVED_IDS:
            return KafkaError.INVALID_REQUEST
        remembered = self._remembered(instance, connection)
        error = self._refusal(remembered, push, now)
        remembered.terminating = push.terminating
        if not error and push.payload_bytes and self._export_fails(push):
            error = KafkaError.INVALID_RECORD
        remembered.last_error = error
        return error

    def disconnect(self, connection: str) -> None:
        if forgets_at_disconnect(self._release):
            instance_id = self._connections.pop(connection, None)
            if instance_id is not None:
                self.forget(instance_id)

    def forget(self, instance_id: bytes) -> None:
        self._instances.pop(instance_id, None)

    def _remembered(self, instance: ClientInstance, connection: str) -> _Remembered:
        """An instance keeps the attributes of its first request; a change of subscriptions resets the rest."""
        instance_id = instance.instance_id or NO_ID
        earlier = self._instances.get(instance_id)
        if earlier is not None and earlier.version == self._version:
            self._instances.move_to_end(instance_id)
            return earlier
        first = instance if earlier is None else earlier.instance
        remembered = _Remembered(first, self._answer_of(first), self._version)
        self._instances[instance_id] = remembered
        self._instances.move_to_end(instance_id)
        if len(self._instances) > REMEMBERED_INSTANCES:
            self._instances.popitem(last=False)
        self._connections[connection] = instance_id
        return remembered

    def _refusal(self, remembered: _Remembered, push: Push, now: int) -> int:
        if remembered.terminating:
            return KafkaError.INVALID_REQUEST
        first_after_get = remembered.last_get > remembered.last_push
        if first_after_get or now - remembered.last_push >= remembered.answer.push_interval_ms:
            remembered.last_push = now
        elif not push.terminating:
            return KafkaError.THROTTLING_QUOTA_EXCEEDED
        if push.subscription_id != remembered.answer.subscription_id:
            return KafkaError.UNKNOWN_SUBSCRIPTION_ID
        if push.compression_type not in COMPRESSION_TYPES:
            return KafkaError.UNSUPPORTED_COMPRESSION_TYPE
        return KafkaError.TELEMETRY_TOO_LARGE if push.payload_bytes > self._max_bytes else NONE

    def _export_fails(self, push: Push) -> bool:
        if push.compression_type != 0 and decompresses(self._release):
            if push.decompressed_bytes is None:
                return True
            if limits_decompressed_bytes(self._release) and push.decompressed_bytes > self._max_bytes:
                return True
        return push.plugin_fails
