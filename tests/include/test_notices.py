"""A daily run that failed tells operators, if it is configured, and fails no more for that."""

import logging

import pytest

from include.notices import tell_failure
from tests.chat import listening


@pytest.fixture
def chat(monkeypatch):
    with listening() as (address, texts):
        monkeypatch.setenv("CLIENT_TELEMETRY_CHAT_WEBHOOK", address)
        yield texts


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
