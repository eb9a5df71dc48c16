"""Downloads go on after a server that fails, keep what has arrived, and end with one line where there is no going on."""

import hashlib
import os
import re
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
UV = CHECKOUT / "var/uv/bin/uv"


@dataclass
class FailingServer:
    """`files`: content by path. `failures`: what the next answers to a path are instead, "500" or "half" (the connection ends in
    the middle of the content). `asked`: paths of all requests."""

    files: dict[str, bytes] = field(default_factory=dict)
    failures: dict[str, list[str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    url: str = ""

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        self.asked.append(request.path)
        waiting = self.failures.get(request.path)
        failure = waiting.pop(0) if waiting and request.command == "GET" else None
        content = self.files.get(request.path)
        if failure == "500" or content is None:
            request.send_error(500 if failure else 404)
            return
        request.send_response(200)
        request.send_header(
            "Content-Type", "text/html" if request.path.endswith("/") else "application/octet-stream"
        )
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        if request.command == "GET":
            request.wfile.write(content[: len(content) // 2] if failure == "half" else content)
            request.close_connection = True


@pytest.fixture
def server() -> Iterator[FailingServer]:
    served = FailingServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.answer(self)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{http.server_address[1]}"
    thread = threading.Thread(target=http.serve_forever)
    thread.start()
    yield served
    http.shutdown()
    thread.join()
    http.server_close()


def download(folder: Path, *command: object, **environment: str) -> subprocess.CompletedProcess[str]:
    arguments = [
        str(part) for part in (CHECKOUT / "include/download.sh", "a package", folder / "log", *command)
    ]
    return subprocess.run(
        arguments,
        env={**os.environ, "DOWNLOAD_PAUSES": "0 0 0", **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def metadata(name: str) -> str:
    return f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"


def wheel(folder: Path, name: str) -> bytes:
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.bin", os.urandom(300_000))
        archive.writestr(f"{name}-1.0.dist-info/METADATA", metadata(name))
        archive.writestr(
            f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return path.read_bytes()


@pytest.fixture
def packages(server, tmp_path) -> tuple[FailingServer, list[object]]:
    """An index with two packages, and the command that installs them with hashes from it alone, each attempt as uv makes it."""
    lines = []
    for name in ("whole", "torn"):
        content = wheel(tmp_path, name)
        server.files[f"/{name}-1.0-py3-none-any.whl"] = content
        server.files[f"/{name}-1.0-py3-none-any.whl.metadata"] = metadata(name).encode()
        link = f'<a data-core-metadata="true" href="/{name}-1.0-py3-none-any.whl">{name}-1.0-py3-none-any.whl</a>'
        server.files[f"/simple/{name}/"] = link.encode()
        lines.append(f"{name}==1.0 --hash=sha256:{hashlib.sha256(content).hexdigest()}\n")
    (tmp_path / "requirements.txt").write_text("".join(lines))
    command = [
        *(UV, "pip", "install", "--require-hashes", "--no-config", "--target", tmp_path / "target", "--python", sys.executable),
        *("--cache-dir", tmp_path / "cache", "--index-url", f"{server.url}/simple/", "-r", tmp_path / "requirements.txt"),
    ]  # fmt: skip
    return server, command


def test_a_download_goes_on_after_errors_of_the_server(packages, tmp_path):
    server, command = packages
    server.failures["/torn-1.0-py3-none-any.whl"] = ["500", "half", "half"]
    done = download(tmp_path, *command, UV_HTTP_RETRIES="0")
    assert (done.returncode, done.stderr) == (0, ""), (tmp_path / "log").read_text()
    assert {"whole.bin", "torn.bin"} <= {path.name for path in (tmp_path / "target").iterdir()}
    assert server.failures["/torn-1.0-py3-none-any.whl"] == []


def test_what_has_arrived_is_not_fetched_again(packages, tmp_path):
    server, command = packages
    server.failures["/torn-1.0-py3-none-any.whl"] = ["half"] * 3
    assert download(tmp_path, *command, UV_HTTP_RETRIES="0").returncode == 0
    assert (
        server.asked.count("/whole-1.0-py3-none-any.whl")
        < server.asked.count("/torn-1.0-py3-none-any.whl")
        == 4
    )


def test_a_server_that_stays_broken_ends_it_with_one_line(packages, tmp_path):
    server, command = packages
    server.failures["/torn-1.0-py3-none-any.whl"] = ["500"] * 100
    done = download(tmp_path, *command, UV_HTTP_RETRIES="0")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith("a package could not be downloaded: ") and "500" in done.stderr
    assert str(tmp_path / "log") in done.stderr
    assert len(server.failures["/torn-1.0-py3-none-any.whl"]) == 100 - 4, "attempts"


def test_another_content_than_the_pinned_one_is_refused_at_once(packages, tmp_path):
    server, command = packages
    server.files["/torn-1.0-py3-none-any.whl"] = wheel(tmp_path, "torn")
    done = download(tmp_path, *command)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "Hash mismatch" in done.stderr
    assert server.asked.count("/torn-1.0-py3-none-any.whl") == 1


def test_jars_of_spark_are_fetched_in_spite_of_a_server_that_fails(server, tmp_path):
    """With the Makefile's own command, and Ivy's settings of a mirror instead of the public one."""
    jar = "/com/example/one/1.0/one-1.0.jar"
    server.files[jar] = os.urandom(300_000)
    server.files["/com/example/one/1.0/one-1.0.pom"] = (
        b'<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        b"<groupId>com.example</groupId><artifactId>one</artifactId><version>1.0</version></project>"
    )
    server.failures[jar] = ["half", "500"]
    settings = tmp_path / "ivysettings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="mirror"/><resolvers>'
        f'<ibiblio name="mirror" m2compatible="true" root="{server.url}/"/></resolvers></ivysettings>'
    )
    done = download(
        tmp_path,
        *("spark-submit", "--packages", "com.example:one:1.0"),
        *("--conf", f"spark.jars.ivy={tmp_path}/ivy", "--conf", f"spark.jars.ivySettings={settings}"),
        *(CHECKOUT / "spark/resolve_jars.py", tmp_path / "ivy/jars", tmp_path / "jars"),
        PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        SPARK_CONF_DIR=str(CHECKOUT / "spark/conf"),
        PYSPARK_PYTHON=sys.executable,
    )
    assert (done.returncode, done.stderr) == (0, ""), (tmp_path / "log").read_text()
    (fetched,) = (tmp_path / "jars").iterdir()
    assert fetched.read_bytes() == server.files[jar]
    assert server.failures[jar] == []


def test_every_download_of_the_makefiles_is_tried_again():
    for makefile in ("Makefile", "broker-plugin/plugin.mk", "spark/executors/pack.sh"):
        lines = (CHECKOUT / makefile).read_text().replace("\\\n", " ").splitlines()
        fetching = [line for line in lines if any(word in line for word in FETCHING)]
        assert fetching, makefile
        assert [
            line
            for line in fetching
            if not re.search(r"\$\(call download,|/download\.sh|--packages \$\(1\)", line)
        ] == []


FETCHING = (
    "uv pip install",
    'uv" pip install',
    "uv pip sync",
    "pip download",
    "bin/pip install",
    "copy-dependencies",
    "dependency:copy ",
    "go install",
    "&& go build",
    "--packages",
)
"""Parts of the commands that download."""
