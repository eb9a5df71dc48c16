"""Versions of libraries that registries have since a day."""

import datetime as dt
from dataclasses import replace

import pytest
from client_telemetry.rehearsal import newer
from client_telemetry.rehearsal.workplace import NotInstalled

DAY = dt.date(2026, 11, 1)


@pytest.fixture
def registry(monkeypatch):
    """Of one program: its registry lists these versions, of which it had `older` before any day."""

    def of(listed: list[str], older: list[str]) -> None:
        program = replace(
            newer.BY_NAME["kafkajs"], published=lambda _, before: listed if before is None else older
        )
        monkeypatch.setattr(newer, "BY_NAME", {"kafkajs": program})
        monkeypatch.setattr(newer, "newest_known", lambda _: (1, 0))

    return of


def test_what_was_not_there_before_the_day_is_newer(registry, tmp_path):
    registry(["1.0", "1.1", "2.0rc1"], ["1.0"])
    assert newer.since("kafkajs", tmp_path, DAY) == ["1.1"]


def test_a_library_that_is_younger_than_the_day_is_new_as_a_whole(registry, tmp_path):
    registry(["1.0", "1.1"], [])
    assert newer.since("kafkajs", tmp_path, DAY) == ["1.0", "1.1"]


def test_a_registry_that_lists_nothing_is_not_asked(registry, tmp_path):
    registry([], [])
    with pytest.raises(NotInstalled, match="lists no release"):
        newer.since("kafkajs", tmp_path, DAY)
