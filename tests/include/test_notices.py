"""A daily run that failed tells operators, if it is configured, and fails no more for that."""

import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from include.notices import tell_failure


@pytest.fixture
def chat(monkeypatch):
    texts = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            texts.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    monkeypatch.setenv("CLIENT_TELEMETRY_CHAT_WEBHOOK", f"http://127.0.0.1:{server.server_port}/")
    yield texts
    server.shutdown()
    thread.join()
    server.server_close()


def test_operators_are_told_once(tmp_path, monkeypatch, chat):
    (tmp_path / "notices.yaml").write_text("owners: no\n")
    monkeypatch.setenv("CLIENT_TELEMETRY_NOTICES", str(tmp_path / "notices.yaml"))
    for _ in range(2):
        tell_failure("client_telemetry_daily of 2026-11-21", "east: decode failed. See the log.")
    assert chat == ["client_telemetry_daily of 2026-11-21 failed\neast: decode failed. See the log.\n"]


def test_a_file_that_cannot_be_used_fails_nothing_and_is_logged(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("CLIENT_TELEMETRY_NOTICES", str(tmp_path / "none.yaml"))
    with caplog.at_level(logging.WARNING):
        tell_failure("r", "x")
    assert "No such file" in caplog.text


def test_without_a_file_nobody_is_told(monkeypatch, caplog):
    monkeypatch.delenv("CLIENT_TELEMETRY_NOTICES", raising=False)
    tell_failure("r", "x")
    assert not caplog.text
