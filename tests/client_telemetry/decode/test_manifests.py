"""Manifests in an object store: a request to the store or two for each, many at the same time, over few connections."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from client_telemetry.decode.manifests import read_manifests
from client_telemetry.formats.raw.file_system import forget_file_systems
from client_telemetry.formats.raw.location import RawLocation
from client_telemetry.formats.raw.object_key import parse_object_key

BROKERS, AT_ONCE = 300, 8
CONTENT = b"no manifest"


class Store(ThreadingHTTPServer):
    """Answers as S3 does to who reads objects, all of which are CONTENT. `requests`, `connections`: so far; `most_at_once`:
    requests that were being answered at the same time."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        self.requests = self.connections = self.at_once = self.most_at_once = 0
        self.lock = threading.Condition()
        super().__init__(("127.0.0.1", 0), Answers)


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Store

    def setup(self) -> None:
        with self.server.lock:
            self.server.connections += 1
        super().setup()

    def do_HEAD(self) -> None:
        self._answer(200, b"")

    def do_GET(self) -> None:
        self._answer(206, CONTENT)

    def _answer(self, status: int, body: bytes) -> None:
        server = self.server
        with server.lock:
            server.requests += 1
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
            server.lock.notify_all()
            # The first requests wait for each other: a reader that asks one at a time waits in vain. Shorter than the three
            # seconds after which the client of the AWS SDK takes a silent server for dead.
            server.lock.wait_for(lambda: server.most_at_once >= AT_ONCE, timeout=2)
            server.at_once -= 1
        self.send_response(status)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.send_header("Content-Range", f"bytes 0-{len(CONTENT) - 1}/{len(CONTENT)}")
        self.send_header("Last-Modified", "Fri, 20 Nov 2026 07:00:00 GMT")
        self.send_header("ETag", '"e"')
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    server = Store()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    own = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    forget_file_systems()
    yield server
    forget_file_systems()
    server.shutdown()
    server.server_close()


def test_manifests_are_read_many_at_a_time_over_connections_that_stay(store: Store) -> None:
    name = "000102030405060708090a0b0c0d0e0f.json"
    keys = [
        parse_object_key(f"v1/dataset=manifests/cluster=c/dt=2026-11-20/hour=07/broker={broker}/{name}")
        for broker in range(BROKERS)
    ]
    read = read_manifests(RawLocation("s3://raw/dump"), keys)
    assert [each.key for each in read] == keys
    assert all(each.error is not None for each in read)
    assert store.requests >= BROKERS
    assert store.most_at_once >= AT_ONCE
    assert store.connections <= 64, "not one for each object"
