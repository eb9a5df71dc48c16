"""A proxy that stands for a release: what it offers, what it accepts, and what it does with the rest."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from client_telemetry.knowledge import served
from client_telemetry.rehearsal import offering_proxy
from client_telemetry.rehearsal.offering_proxy import OfferingProxy, Sent
from client_telemetry.rehearsal.sandbox_broker import free_ports

METADATA, API_VERSIONS, SHARE_FETCH = 3, 18, 78
ENTRY = struct.Struct(">hhh")
HAS = [(0, 0, 11), (METADATA, 0, 12), (API_VERSIONS, 0, 4), (SHARE_FETCH, 1, 1)]
"""What the broker behind the proxy offers."""


@contextmanager
def broker() -> Iterator[str]:
    """Answers ApiVersions in the form of its version, and everything else with what it was sent."""

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                while frame := receive(connection):
                    key, version, correlation = struct.unpack_from(">hhi", frame)
                    answer = api_versions(version) if key == API_VERSIONS else frame
                    send(connection, struct.pack(">i", correlation) + answer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


def api_versions(version: int) -> bytes:
    entries = [ENTRY.pack(*each) for each in HAS]
    if version < 3:
        throttle = struct.pack(">i", 7) if version else b""
        return struct.pack(">hi", 0, len(HAS)) + b"".join(entries) + throttle
    tagged = b"".join(each + b"\0" for each in entries)
    return struct.pack(">hB", 0, len(HAS) + 1) + tagged + struct.pack(">iB", 7, 0)


def send(connection: socket.socket, frame: bytes) -> None:
    connection.sendall(struct.pack(">i", len(frame)) + frame)


def receive(connection: socket.socket) -> bytes:
    head = connection.recv(4, socket.MSG_WAITALL)
    return connection.recv(struct.unpack(">i", head)[0], socket.MSG_WAITALL) if len(head) == 4 else b""


@contextmanager
def stands_for(release: str) -> Iterator[tuple[OfferingProxy, socket.socket]]:
    (port,) = free_ports(1)
    with broker() as address:
        proxy = OfferingProxy(f"127.0.0.1:{port}", served.by(release), address)
        with offering_proxy.running(proxy), socket.create_connection(("127.0.0.1", port), 10) as client:
            yield proxy, client


def request(key: int, version: int, correlation: int = 1) -> bytes:
    return struct.pack(">hhih", key, version, correlation, -1)


@pytest.mark.parametrize("version", [0, 1, 3])
def test_it_offers_what_both_have(version):
    with stands_for("3.9.1") as (_, client):
        send(client, request(API_VERSIONS, version))
        answer = receive(client)
    has = {key: (low, high) for key, low, high in HAS if key != SHARE_FETCH}
    of_release = served.by("3.9.1")[METADATA].advertised
    has[METADATA] = (of_release.min, min(12, of_release.max))
    count = answer[6] - 1 if version >= 3 else struct.unpack_from(">i", answer, 6)[0]
    size, begin = (7, 7) if version >= 3 else (6, 10)
    offered = {
        key: (low, high)
        for key, low, high in (ENTRY.unpack_from(answer, begin + size * place) for place in range(count))
    }
    assert offered == has
    assert (
        answer[begin + size * count :]
        == {0: b"", 1: struct.pack(">i", 7), 3: struct.pack(">iB", 7, 0)}[version]
    )


def test_a_version_that_the_release_has_goes_through_and_another_ends_the_connection():
    with stands_for("0.11.0.3") as (proxy, client):
        send(client, request(METADATA, 4, 5))
        assert receive(client)[4:] == request(METADATA, 4, 5)
        send(client, request(METADATA, 9))
        assert receive(client) == b""
    assert proxy.sent == [Sent(METADATA, 4, True), Sent(METADATA, 9, False)]


@pytest.mark.parametrize(("release", "entries"), [("2.1.1", []), ("2.4.1", [(API_VERSIONS, 0, 3)])])
def test_a_question_in_a_newer_form_gets_error_35_and_may_be_asked_again(release, entries):
    with stands_for(release) as (proxy, client):
        send(client, request(API_VERSIONS, 4, 6))
        answer = receive(client)
        send(client, request(API_VERSIONS, 0, 7))
        assert struct.unpack_from(">ih", receive(client)) == (7, 0)
    assert answer == struct.pack(">ihi", 6, 35, len(entries)) + b"".join(
        ENTRY.pack(*each) for each in entries
    )
    assert proxy.sent == [Sent(API_VERSIONS, 4, False), Sent(API_VERSIONS, 0, True)]
