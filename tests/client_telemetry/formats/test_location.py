"""Objects of a raw location in a folder, and of one in a store."""

import datetime as dt
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from client_telemetry.formats.raw.file_system import forget_file_systems
from client_telemetry.formats.raw.location import DATASETS, RawLocation
from client_telemetry.formats.raw.stored_object import StoredObject

DAY = dt.date(2026, 11, 20)
NAME = "000102030405060708090a0b0c0d0e0f-00000000000000000000-00000000000000000006.bin"


def put(
    root: Path, dataset: str, name: str = NAME, cluster: str = "c", day: dt.date = DAY, data: bytes = b"abc"
) -> str:
    key = f"v1/dataset={dataset}/cluster={cluster}/dt={day}/hour=07/broker=3/{name}"
    path = root / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return key


def test_a_location_without_anything_has_nothing(tmp_path):
    empty = RawLocation(str(tmp_path))
    assert empty.clusters() == [] and list(empty.objects("c", DAY)) == []
    assert empty.sizes("c", [DAY, DAY + dt.timedelta(days=1)]) == {}


def test_clusters_are_those_with_any_object(tmp_path):
    for dataset, cluster in zip(DATASETS, ("b", "a", "c"), strict=True):
        put(tmp_path, dataset, cluster=cluster)
    (tmp_path / "v1/dataset=connections/other=x").mkdir()
    assert RawLocation(str(tmp_path)).clusters() == ["a", "b", "c"]


def test_objects_of_a_day_in_order_without_what_is_not_ours(tmp_path):
    later = NAME.replace("-00000000000000000000", "-00000000000000000003")
    keys = [
        put(tmp_path, "client_pushes"),
        put(tmp_path, "client_pushes", later),
        put(tmp_path, "connections", data=b"abcdefg"),
        put(tmp_path, "manifests", "000102030405060708090a0b0c0d0e0f.json"),
    ]
    for name in (".hidden.bin", "_SUCCESS"):
        put(tmp_path, "connections", name)
    put(tmp_path, "connections", day=DAY + dt.timedelta(days=1))
    (tmp_path / "v1/dataset=connections/cluster=c/dt=2026-11-20/strange.bin").write_bytes(b"")
    location = RawLocation(str(tmp_path))
    found = list(location.objects("c", DAY))
    assert [each.key.key for each in found] == keys
    assert [each.bytes for each in found] == [3, 3, 7, 3]
    assert all(abs(dt.datetime.now(dt.UTC) - each.modified_at) < dt.timedelta(minutes=5) for each in found)
    newest = max(each.modified_at for each in found)
    assert location.sizes("c", [DAY, DAY - dt.timedelta(days=1)]) == {DAY: (4, newest)}
    assert location.beginning(keys[2], 100) == b"abcdefg"


def test_what_is_not_read_is_named(tmp_path):
    read = put(tmp_path, "connections")
    day = tmp_path / f"v1/dataset=connections/cluster=c/dt={DAY}"
    for strange in ("hour=5/broker=3", "hour=05/broker=abc"):
        (day / strange).mkdir(parents=True)
        (day / strange / NAME).write_bytes(b"abc")
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "broker=3").mkdir(parents=True)
    (elsewhere / "broker=3" / NAME).write_bytes(b"abc")
    (day / "hour=08").symlink_to(elsewhere)
    (day / "hour=07/broker=3" / NAME.replace("06.bin", "07.bin")).symlink_to(elsewhere / "broker=3" / NAME)
    skipped: list[str] = []
    linked_root = tmp_path / "root"
    linked_root.symlink_to(tmp_path)  # the location itself may be one
    found = list(RawLocation(str(linked_root)).objects("c", DAY, skipped))
    assert [each.key.key for each in found] == [read]
    kinds = sorted("link" if "a symbolic link" in each else each.split(":")[0] for each in skipped)
    assert kinds == ["link", "link", "not a key of contract version 1", "not a key of contract version 1"]


def test_what_is_stored_is_read_whatever_its_ending(tmp_path):
    key = put(tmp_path, "connections", NAME.replace(".bin", ".gz"), data=b"no gzip")
    assert RawLocation(str(tmp_path)).beginning(key, 100) == b"no gzip"


class OneObject(BaseHTTPRequestHandler):
    """Answers as S3 does to whoever reads an object; `requests`: so far."""

    protocol_version = "HTTP/1.1"
    content = random.Random(1).randbytes(5 * 2**20)
    requests: ClassVar[list[str]] = []

    def do_HEAD(self) -> None:
        self._answer(200, self.content, b"")

    def do_GET(self) -> None:
        first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
        part = self.content[first : last + 1]
        self._answer(206, part, part, f"bytes {first}-{first + len(part) - 1}/{len(self.content)}")

    def _answer(self, status: int, part: bytes, body: bytes, content_range: str = "") -> None:
        self.requests.append(self.command)
        self.send_response(status)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("Content-Range", content_range)
        self.send_header("Last-Modified", "Fri, 20 Nov 2026 07:00:00 GMT")
        self.send_header("ETag", '"e"')
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_an_object_of_a_store_is_read_in_two_requests(monkeypatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), OneObject)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    forget_file_systems()
    try:
        with RawLocation("s3://of-one-object/dump").read("object.bin") as source:
            assert b"".join(StoredObject(source, "object.bin").pieces()) == OneObject.content
        assert OneObject.requests == ["HEAD", "GET"]
    finally:
        forget_file_systems()
        server.shutdown()
        server.server_close()
