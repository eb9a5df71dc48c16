"""Which versions registries have, as their tools print it, and which they had before a day."""

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from client_telemetry.rehearsal import registries
from client_telemetry.rehearsal.workplace import NotInstalled, Workplace

NOVEMBER = dt.date(2026, 11, 1)


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """A workplace in which the tool that is called prints the text of the first key in its command."""

    def workplace(printed: Mapping[str, str]) -> tuple[Workplace, list[str]]:
        commands: list[str] = []

        def do(_: Workplace, *command: str | Path) -> str:
            commands.append(" ".join(map(str, command)))
            return next((text for key, text in printed.items() if key in commands[-1]), "")

        monkeypatch.setattr(Workplace, "do", do)
        return Workplace(tmp_path, tmp_path), commands

    return workplace


def test_pip_lists_what_was_uploaded_before_a_day(tools):
    at, commands = tools({"index versions": "x (2.0)\nAvailable versions: 2.0, 1.9\n  INSTALLED: 1.0\n"})
    assert registries.of_pip("x")(at, None) == ["2.0", "1.9"]
    assert not any("prior" in command for command in commands)
    registries.of_pip("x")(at, NOVEMBER)
    assert "--uploaded-prior-to=2026-11-01T00:00:00Z x" in commands[-1]


def test_npm_lists_what_was_published_before_a_day(tools):
    times = 'npm warn old\n{"modified": "2026-11-09T1:00", "1.9.0": "2026-10-31T23:59:59Z", "2.0.0": "2026-11-01T00:00:00Z"}'
    at, _ = tools({"versions": '["1.9.0", "2.0.0"]', "time": times})
    assert registries.of_npm("x")(at, None) == ["1.9.0", "2.0.0"]
    assert registries.of_npm("x")(at, NOVEMBER) == ["1.9.0"]


def test_an_npm_that_says_no_day_is_not_asked(tools):
    at, _ = tools({"time": "npm error"})
    with pytest.raises(NotInstalled, match="when it was published"):
        registries.of_npm("x")(at, NOVEMBER)


def days(*of_versions: str) -> str:
    return "\n".join(of_versions)


def of_go(at: Workplace, before: dt.date | None) -> Sequence[str]:
    return registries.of_go(lambda version: f"example.com/x/v{version[0]}")(at, before)


def test_go_is_asked_for_days_from_the_newest_version_to_ten_that_are_all_older(tools):
    versions = [f"v2.{minor}.0" for minor in range(25)]
    printed = {
        "-versions": f"example.com/x/v2 {' '.join(versions)}",
        "v2.24.0": days("v2.24.0 2026-11-09", "v2.23.0 2026-10-01"),
        "v2.14.0": days("v2.14.0 2026-11-02", "v2.13.0 2026-09-01"),
        "v2.4.0": days("v2.4.0 2026-01-01"),
    }
    at, commands = tools(printed)
    assert of_go(at, None) == [each.removeprefix("v") for each in versions]
    assert set(versions) - {f"v{each}" for each in of_go(at, NOVEMBER)} == {"v2.24.0", "v2.14.0"}
    assert len(commands) == 1 + 4
    at, commands = tools({**printed, "v2.24.0": days("v2.24.0 2026-10-09")})
    assert len(of_go(at, NOVEMBER)) == 25 and len(commands) == 2


def test_cargo_tells_the_newest_version_and_no_day(tools):
    at, _ = tools({"info": "x #kafka\nA client\nversion: 0.10.0\nlicense: MIT\nrust-version: 1.74\n"})
    assert registries.of_cargo("x")(at, None) == ["0.10.0"]
    with pytest.raises(NotInstalled, match="when a version was published"):
        registries.of_cargo("x")(at, NOVEMBER)
