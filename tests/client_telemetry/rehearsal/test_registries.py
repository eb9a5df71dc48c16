"""Which versions registries have, as their tools print it, and which they had before a day."""

import datetime as dt
import json
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


def test_an_npm_that_says_no_day_of_one_version_is_not_asked(tools):
    """It is neither older nor newer than the day."""
    at, _ = tools({"versions": '["1.9.0", "2.0.0"]', "time": '{"2.0.0": "2026-11-01T00:00:00Z"}'})
    with pytest.raises(NotInstalled, match=r"when 1\.9\.0 was published"):
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


INFO = {"info": "x #kafka\nA client\nversion: 0.10.0\nlicense: MIT\nrust-version: 1.74\n"}


@pytest.fixture
def cargo_keeps(tmp_path, monkeypatch):
    """Cargo with these copies of the index of a crate, one for each registry: a header, and each version with its JSON between NULs."""
    monkeypatch.setenv("CARGO_HOME", str(tmp_path / "cargo"))

    def keeps(**copies: list[dict[str, object]] | bytes) -> None:
        for registry, packages in copies.items():
            file = tmp_path / f"cargo/registry/index/{registry}/.cache/rd/ka/rdkafka"
            file.parent.mkdir(parents=True)
            if isinstance(packages, bytes):
                file.write_bytes(packages)
                continue
            entries = [f"{each['vers']}\0{json.dumps(each)}\0" for each in packages]
            file.write_bytes(b"\x03\x02\0\0\0etag: 1\0" + "".join(entries).encode())

    return keeps


def index(**times: str | None) -> list[dict[str, object]]:
    packages: list[dict[str, object]] = []
    for version, time in times.items():
        days = {"pubtime": time} if time else {}
        packages.append({"name": "rdkafka", "vers": version[1:].replace("_", "."), "yanked": False, **days})
    return packages


def test_cargo_keeps_all_versions_with_their_days(tools, cargo_keeps):
    at, _ = tools(INFO)
    cargo_keeps(crates=index(v0_9_0="2026-10-31T23:59:59Z", v0_10_0="2026-11-01T00:00:00Z"))
    assert registries.of_cargo("rdkafka")(at, None) == ["0.10.0", "0.9.0"]
    assert registries.of_cargo("rdkafka")(at, NOVEMBER) == ["0.9.0"]


def test_a_yanked_crate_is_none_and_a_mirror_may_say_the_day_that_another_does_not(tools, cargo_keeps):
    at, _ = tools(INFO)
    yanked = {"vers": "0.9.1", "yanked": True, "pubtime": "2026-10-01T00:00:00Z"}
    cargo_keeps(
        a_mirror=index(v0_9_0="2026-10-31T23:59:59Z", v0_10_0="2026-11-01T00:00:00Z"),
        crates=[*index(v0_9_0=None), yanked],
        damaged=b"\x03\x02\0\0\0etag: 1\x000.8.0\0{half",
    )
    assert registries.of_cargo("rdkafka")(at, NOVEMBER) == ["0.9.0"]


@pytest.mark.parametrize("time", [None, "last week", "2026-10-31T23:59:59"])
def test_an_index_that_says_no_day_is_not_asked_for_one(time, tools, cargo_keeps):
    at, _ = tools(INFO)
    cargo_keeps(crates=index(v0_10_0="2026-11-01T00:00:00Z", v0_9_0=time))
    assert registries.of_cargo("rdkafka")(at, None) == ["0.10.0", "0.9.0"]
    with pytest.raises(NotInstalled, match=r"its index does not say when 0\.9\.0 was published"):
        registries.of_cargo("rdkafka")(at, NOVEMBER)


def test_without_a_copy_of_the_index_cargo_tells_the_newest_version_and_no_day(tools, cargo_keeps):
    at, _ = tools(INFO)
    assert registries.of_cargo("rdkafka")(at, None) == ["0.10.0"]
    with pytest.raises(NotInstalled, match=r"its index does not say when 0\.10\.0 was published"):
        registries.of_cargo("rdkafka")(at, NOVEMBER)
