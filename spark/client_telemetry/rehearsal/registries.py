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
        listed = re.findall(r'"([^"]+)"', at.do("npm", "view", package, "versions", "--json"))
        if before is None:
            return listed
        times = _object(at.do("npm", "view", package, "time", "--json"))
        if undated := [version for version in listed if version not in times]:
            raise NotInstalled(f"npm does not say when {undated[0]} was published")
        return [version for version in listed if times[version] < before.isoformat()]

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
    """Cargo prints the newest version alone; the others, and when each was published (`pubtime`), stand in the copy of the index
    that it keeps. Without a copy that can be read, as of a vendored folder, only the newest is known.
    """

    def published(at: Workplace, before: dt.date | None) -> list[str]:
        newest = re.search(r"^version: (\S+)", at.do("cargo", "info", crate), re.MULTILINE)
        days: dict[str, dt.date | None] = {newest[1]: None} if newest else {}
        environment = at.environment()
        home = Path(environment.get("CARGO_HOME") or Path(environment["HOME"], ".cargo"))
        for copy in home.glob(f"registry/index/*/.cache/*/*/{crate}"):
            days |= {version: day for version, day in _days_in_index(copy) if day or version not in days}
        if before is None:
            return list(days)
        if undated := [version for version, day in days.items() if day is None]:
            raise NotInstalled(f"its index does not say when {undated[0]} was published")
        return [version for version, day in days.items() if day and day < before]

    return published


def _days_in_index(copy: Path) -> list[tuple[str, dt.date | None]]:
    """(version, day in UTC on which it was published, or None) of the versions that are not yanked. A copy has a JSON object for each
    version, between NUL bytes (rust-lang/cargo: src/cargo/sources/registry/index/cache.rs). Empty if it cannot be read.
    """
    try:
        packages = [json.loads(each) for each in copy.read_bytes().split(b"\0") if each.startswith(b"{")]
        return [(each["vers"], _day(each.get("pubtime"))) for each in packages if not each.get("yanked")]
    except (OSError, ValueError, KeyError):
        return []


def _day(time: object) -> dt.date | None:
    """The day of a time in RFC 3339, which names its zone; None without one."""
    try:
        parsed = dt.datetime.fromisoformat(str(time))
    except ValueError:
        return None
    return parsed.astimezone(dt.UTC).date() if parsed.tzinfo else None
