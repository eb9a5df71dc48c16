"""What is read from answers: advertised versions and features, the brokers of a cluster, mechanisms of a listener.

Every reader takes bytes that may be anything and raises NotKafka for those that do not have the form.
"""

import struct
from typing import Final, NamedTuple

from client_telemetry.knowledge.error_codes import KafkaError
from client_telemetry.probe.connection import Address, NotKafka

UNSUPPORTED_MECHANISM: Final = 33
_SUPPORTED_FEATURES, _FINALIZED_FEATURES = 0, 2
_MOST_ENTRIES: Final = 100_000
_LONGEST_TEXT: Final = 1000
"""Characters that are kept of a text."""


class AdvertisedVersions(NamedTuple):
    """An answer to ApiVersions."""

    error: int
    versions: dict[int, tuple[int, int]]
    """API key -> lowest and highest version."""
    supported_features: dict[str, tuple[int, int]]
    finalized_features: dict[str, int]


class ClusterMember(NamedTuple):
    node_id: int
    address: Address


class Cluster(NamedTuple):
    cluster_id: str | None
    brokers: tuple[ClusterMember, ...]


class AnswerBytes:
    """Reads Kafka's primitive types one after the other (kafka.apache.org/protocol, "Protocol Primitive Types")."""

    def __init__(self, content: bytes) -> None:
        self._content, self._place = content, 0

    def take(self, count: int) -> bytes:
        taken = self._content[self._place : self._place + count]
        if count < 0 or len(taken) < count:
            raise NotKafka("the answer ends too early: this is not a Kafka broker")
        self._place += count
        return taken

    @property
    def rest(self) -> bytes:
        """What was not read yet."""
        return self._content[self._place :]

    def number(self, form: str) -> int:
        (value,) = struct.unpack(form, self.take(struct.calcsize(form)))
        return int(value)

    def int16(self) -> int:
        return self.number(">h")

    def int32(self) -> int:
        return self.number(">i")

    def uvarint(self) -> int:
        value = 0
        for shift in range(0, 35, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise NotKafka("the answer has a number of more than 5 bytes: this is not a Kafka broker")

    def count(self, compact: bool) -> int:
        """Entries of a list; none for null."""
        count = self.uvarint() - 1 if compact else self.int32()
        if count > _MOST_ENTRIES:
            raise NotKafka(f"the answer claims {count:,} entries: this is not a Kafka broker")
        return max(0, count)

    def text(self, compact: bool = False) -> str | None:
        """What a terminal would take for a command is replaced: these texts are printed."""
        length = self.uvarint() - 1 if compact else self.int16()
        if length < 0:
            return None
        text = self.take(length).decode("utf-8", "replace")[:_LONGEST_TEXT]
        return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)

    def skip_tags(self) -> None:
        for _ in range(self.uvarint()):
            self.uvarint()
            self.take(self.uvarint())


def error_code(payload: bytes, error_at: int | None) -> int | None:
    """None for answers without an error code of their own."""
    if error_at is None or len(payload) < error_at + 2:
        return None
    return int(struct.unpack_from(">h", payload, error_at)[0])


def api_versions(payload: bytes, version: int) -> AdvertisedVersions:
    """`payload`: from the correlation id on. Of an answer with error 35, in which implementations differ, nothing else is read."""
    answer = AnswerBytes(payload)
    answer.int32()
    error = answer.int16()
    if error == KafkaError.UNSUPPORTED_VERSION:
        return AdvertisedVersions(error, {}, {}, {})
    flexible = version >= 3
    versions = {}
    for _ in range(answer.count(flexible)):
        key, low, high = answer.int16(), answer.int16(), answer.int16()
        versions[key] = (low, high)
        if flexible:
            answer.skip_tags()
    supported: dict[str, tuple[int, int]] = {}
    finalized: dict[str, int] = {}
    if flexible:
        answer.int32()
        for _ in range(answer.uvarint()):
            tag, content = answer.uvarint(), AnswerBytes(answer.take(answer.uvarint()))
            if tag == _SUPPORTED_FEATURES:
                supported = _feature_levels(content)
            elif tag == _FINALIZED_FEATURES:
                finalized = {name: high for name, (high, _) in _feature_levels(content).items()}
    return AdvertisedVersions(error, versions, supported, finalized)


def _feature_levels(content: AnswerBytes) -> dict[str, tuple[int, int]]:
    levels = {}
    for _ in range(content.count(compact=True)):
        name = content.text(compact=True)
        levels[name or ""] = (content.int16(), content.int16())
        content.skip_tags()
    return levels


def cluster(payload: bytes) -> Cluster:
    """From an answer to Metadata version 2."""
    answer = AnswerBytes(payload)
    answer.int32()
    brokers = []
    for _ in range(answer.count(compact=False)):
        node_id, host, port = answer.int32(), answer.text(), answer.int32()
        answer.text()
        if not host or not 0 < port < 65536:
            raise NotKafka(f"broker {node_id} has no address that can be connected to: {host!r}, port {port}")
        brokers.append(ClusterMember(node_id, Address(host, port)))
    return Cluster(answer.text(), tuple(sorted(brokers)))


def mechanisms(payload: bytes) -> tuple[str, ...]:
    """From an answer to SaslHandshake version 0 or 1, sorted."""
    answer = AnswerBytes(payload)
    answer.int32()
    answer.int16()
    return tuple(sorted(answer.text() or "" for _ in range(answer.count(compact=False))))


def authenticated(payload: bytes) -> tuple[int, str, bytes]:
    """Error, its message and the broker's token, from an answer to SaslAuthenticate version 0."""
    answer = AnswerBytes(payload)
    answer.int32()
    error, message = answer.int16(), answer.text()
    return error, message or "", answer.take(max(0, answer.int32()))
