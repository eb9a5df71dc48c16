"""A proxy in front of a real broker that offers and accepts the request versions of another release, as that release does: whoever
sends one that it does not have is disconnected. It shows what a library sends to brokers that cannot be started any more, or that
offer less.
"""

import socket
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from client_telemetry.knowledge import apis
from client_telemetry.knowledge.apis import Versions
from client_telemetry.knowledge.error_codes import KafkaError
from client_telemetry.knowledge.served import BrokerApi
from client_telemetry.probe.answers import AnswerBytes
from client_telemetry.probe.connection import LARGEST_ANSWER

_COMPACT_SINCE = 3
"""Version of ApiVersions: its arrays are compact, and it came with KIP-511, after which error 35 comes with the broker's own range."""
_ENTRY = struct.Struct(">hhh")
_HEADER = struct.Struct(">hhi")


class Sent(NamedTuple):
    api_key: int
    version: int
    is_accepted: bool


@dataclass
class OfferingProxy:
    """`offered`: of the release that it stands for."""

    address: str
    offered: Mapping[int, BrokerApi]
    broker: str
    """Address of the real one; it is to advertise `address`."""
    sent: list[Sent] = field(default_factory=list)

    def accepts(self, key: int, version: int) -> bool:
        api = self.offered.get(key)
        return api is not None and api.served.has(version)


@contextmanager
def running(proxy: OfferingProxy) -> Iterator[None]:
    """Takes connections while the block runs."""
    with socket.create_server(_parsed(proxy.address)) as listening:
        taking = threading.Thread(target=_take, args=(proxy, listening), daemon=True)
        taking.start()
        try:
            yield
        finally:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
    taking.join()


def _parsed(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


def _take(proxy: OfferingProxy, listening: socket.socket) -> None:
    while True:
        try:
            client, _ = listening.accept()
        except OSError:
            return
        threading.Thread(target=_serve, args=(proxy, client), daemon=True).start()


def _serve(proxy: OfferingProxy, client: socket.socket) -> None:
    with client, suppress(OSError), socket.create_connection(_parsed(proxy.broker)) as broker:
        asked: dict[int, int] = {}
        back = threading.Thread(target=_answers, args=(proxy, client, broker, asked), daemon=True)
        back.start()
        _requests(proxy, client, broker, asked)
        with suppress(OSError):
            broker.shutdown(socket.SHUT_RDWR)
        back.join()


def _requests(
    proxy: OfferingProxy, client: socket.socket, broker: socket.socket, asked: dict[int, int]
) -> None:
    """To the broker, until the client has no more or sends what is not accepted. `asked`: ApiVersions requests, correlation id ->
    version."""
    for frame in _frames(client):
        key, version, correlation = _HEADER.unpack_from(frame)
        is_accepted = proxy.accepts(key, version)
        proxy.sent.append(Sent(key, version, is_accepted))
        if is_accepted:
            if key == apis.API_VERSIONS:
                asked[correlation] = version
            _send(broker, frame)
        elif key == apis.API_VERSIONS and key in proxy.offered:
            _send(client, _asked_too_new(correlation, proxy.offered[key].served))
        else:
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
            return


def _answers(
    proxy: OfferingProxy, client: socket.socket, broker: socket.socket, asked: dict[int, int]
) -> None:
    with suppress(OSError):
        for frame in _frames(broker):
            version = asked.pop(struct.unpack_from(">i", frame)[0], None)
            _send(client, frame if version is None else reduced(frame, version, proxy.offered))
    with suppress(OSError):
        client.shutdown(socket.SHUT_RDWR)


def _frames(stream: socket.socket) -> Iterator[bytes]:
    """Raises OSError where the other end is gone."""
    while head := _read(stream, 4):
        (length,) = struct.unpack(">i", head)
        if not _HEADER.size // 2 <= length <= LARGEST_ANSWER:
            return
        frame = _read(stream, length)
        if not frame:
            return
        yield frame


def _read(stream: socket.socket, count: int) -> bytes:
    """Empty at the end."""
    pieces = bytearray()
    while len(pieces) < count:
        piece = stream.recv(min(count - len(pieces), 65536))
        if not piece:
            return b""
        pieces += piece
    return bytes(pieces)


def _send(stream: socket.socket, frame: bytes) -> None:
    stream.sendall(struct.pack(">i", len(frame)) + frame)


def _asked_too_new(correlation: int, versions: Versions) -> bytes:
    """Error 35 in version 0, since KIP-511 with the versions of ApiVersions itself."""
    entries = [_ENTRY.pack(apis.API_VERSIONS, *versions)] if versions.max >= _COMPACT_SINCE else []
    head = struct.pack(">ihi", correlation, KafkaError.UNSUPPORTED_VERSION.value, len(entries))
    return head + b"".join(entries)


def reduced(answer: bytes, version: int, offered: Mapping[int, BrokerApi]) -> bytes:
    """An answer to ApiVersions with what both the broker and the release have.

    >>> from client_telemetry.knowledge import served
    >>> answer = struct.pack(">ihi", 7, 0, 2) + _ENTRY.pack(0, 0, 11) + _ENTRY.pack(68, 0, 1)
    >>> reduced(answer, 0, served.by("0.11.0.0")) == struct.pack(">ihi", 7, 0, 1) + _ENTRY.pack(0, 0, 3)
    True
    """
    fields = AnswerBytes(answer)
    head, is_compact = fields.take(6), version >= _COMPACT_SINCE
    tags = b"\0" if is_compact else b""
    entries = []
    for _ in range(fields.count(is_compact)):
        key, low, high = fields.int16(), fields.int16(), fields.int16()
        if is_compact:
            fields.skip_tags()
        if key in offered:
            of_release = offered[key].advertised
            entries.append((key, max(low, of_release.min), min(high, of_release.max)))
    kept = [_ENTRY.pack(*each) + tags for each in entries if each[1] <= each[2]]
    length = _of_varint(len(kept) + 1) if is_compact else struct.pack(">i", len(kept))
    return head + length + b"".join(kept) + fields.rest


def _of_varint(value: int) -> bytes:
    """Kafka's UNSIGNED_VARINT.

    >>> _of_varint(5), _of_varint(300)
    (b'\\x05', b'\\xac\\x02')
    """
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
