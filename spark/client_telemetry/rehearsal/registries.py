"""Which versions of a library a registry has, asked with the registry's own tool; and which of them it had before a day.

Each function takes a workplace and a day, in UTC, or None for now. It returns versions in any order, candidates among them, and raises
NotInstalled if the registry cannot be asked.
"""

import datetime as dt
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from client_telemetry.rehearsal.workplace import NotInstalled, Workplace

Published = Callable[[Workplace, dt.date | None], list[str]]
_WITH_DAYS = "pip>=26.1"
"""Knows --uploaded-prior-to in `pip index`."""
_AT_ONCE = 10
"""Go modules whose dates are asked in one go, newest first."""


def of_pip(package: str) -> Published:
    def published(at: Workplace, before: dt.date | None) -> list[str]:
        pip = (_python(at), "-m", "pip")
        until: tuple[str, ...] = ()
        if before is not None:
            at.do(*pip, "install", "--quiet", "--disable-pip-version-check", _WITH_DAYS)
            until = (f"--uploaded-prior-to={before.isoformat()}T00:00:00Z",)
        listed = re.search(r"Available versions: (.*)", at.do(*pip, "index", "versions", *until, package))
        return listed[1].split(", ") if listed else []

    return published


def _python(at: Workplace) -> Path:
    """Of one environment for the lists of all packages: making one takes longer than asking."""
    environment = at.cache / "lists" / "environment"
    python = environment / "bin" / "python"
    if not python.exists():
        at.do(sys.executable, "-m", "venv", "--clear", environment)
    return python


def of_npm(package: str) -> Published:
    def published(at: Workplace, before: dt.date | None) -> list[str]:
        if before is None:
            return re.findall(r'"([^"]+)"', at.do("npm", "view", package, "versions", "--json"))
        times = _object(at.do("npm", "view", package, "time", "--json"))
        return [version for version, time in times.items() if time < before.isoformat()]

    return published


def _object(output: str) -> dict[str, str]:
    """What npm prints as JSON, after its own warnings."""
    try:
        found = json.loads(output[output.index("{") :])
    except ValueError:
        raise NotInstalled("npm says of no version when it was published") from None
    return {str(name): str(value) for name, value in found.items()}


def of_go(module_of: Callable[[str], str]) -> Published:
    """`module_of`: version -> path of the module, which changes with the major version."""

    def published(at: Workplace, before: dt.date | None) -> list[str]:
        module = module_of("2.0.0")
        (at.folder / "go.mod").write_text("module lists\n", encoding="utf-8")
        versions = at.do("go", "list", "-m", "-versions", module).split()[1:]
        if before is not None:
            young = {version for version, day in _newest_days(at, module, versions, before) if day >= before}
            versions = [version for version in versions if version not in young]
        return [version.removeprefix("v") for version in versions]

    return published


def _newest_days(
    at: Workplace, module: str, versions: Sequence[str], since: dt.date
) -> Iterator[tuple[str, dt.date]]:
    """Version -> day of its commit, newest version first, up to the first ten of which all are older than `since`: asking for each of
    them is a request."""
    form = '{{.Version}} {{.Time.Format "2006-01-02"}}'
    for end in range(len(versions), 0, -_AT_ONCE):
        asked = [f"{module}@{version}" for version in versions[max(0, end - _AT_ONCE) : end]]
        lines = at.do("go", "list", "-m", "-f", form, *asked).splitlines()
        days = [(version, dt.date.fromisoformat(day)) for version, day in (line.split() for line in lines)]
        yield from days
        if all(day < since for _, day in days):
            return


def of_cargo(crate: str) -> Published:
    """The newest one alone: cargo lists no others, and says of none when it was published."""

    def published(at: Workplace, before: dt.date | None) -> list[str]:
        if before is not None:
            raise NotInstalled("cargo does not say when a version was published")
        newest = re.search(r"^version: (\S+)", at.do("cargo", "info", crate), re.MULTILINE)
        return [newest[1]] if newest else []

    return published
