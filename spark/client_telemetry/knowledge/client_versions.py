"""Version numbers of client libraries, as they are declared.

Libraries write them in many ways (1.7.0, v1.22.2, 1.4.2-dirty, 3.5.0.redhat-00012); the leading numbers decide the
order.
"""

import re
from functools import lru_cache

from client_telemetry.knowledge import DamagedKnowledge

LENGTH = 4


class NotAVersion(ValueError):
    """A text without a leading version number."""


@lru_cache(maxsize=4096)
def parse(text: str) -> tuple[int, ...]:
    """'v1.4.2-dirty' -> (1, 4, 2, 0). Always four numbers, so that 2.6 equals 2.6.0."""
    match = re.match(r"v?(\d{1,9}(?:\.\d{1,9})*)", text)
    if not match:
        raise NotAVersion(f"{text!r} does not begin with a version number")
    numbers = [int(number) for number in match[1].split(".")][:LENGTH]
    return tuple(numbers + [0] * (LENGTH - len(numbers)))


def of_cell(file: str, line: int, column: str, text: str) -> tuple[int, ...]:
    """A knowledge base cell as a version."""
    try:
        return parse(text)
    except NotAVersion as error:
        raise DamagedKnowledge(file, line, f"{column} {error}") from error


def range_of(file: str, line: int, first: str, last: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The cells version_from and version_to of a row. Raises DamagedKnowledge, also for an end before the beginning."""
    since, until = of_cell(file, line, "version_from", first), of_cell(file, line, "version_to", last)
    if since > until:
        raise DamagedKnowledge(file, line, f"version_from {first} is above version_to {last}")
    return since, until


_LAST = 10**9 + 1
"""Stands for any number: 1.0.x is (1, 0, _LAST, _LAST)."""


def before(version: tuple[int, ...]) -> tuple[int, ...]:
    """The greatest version below this one: 2.4.0 -> 2.3.x."""
    for place in reversed(range(LENGTH)):
        if version[place]:
            return (*version[:place], version[place] - 1, *[_LAST] * (LENGTH - place - 1))
    return version


def after(version: tuple[int, ...]) -> tuple[int, ...]:
    """The least version above this one."""
    for place in reversed(range(LENGTH)):
        if version[place] != _LAST:
            return (*version[:place], version[place] + 1, *[0] * (LENGTH - place - 1))
    return version


def text(version: tuple[int, ...]) -> str:
    """(1, 7, 0, 0) -> '1.7.0'; a fourth number only if it is not 0; '2.3.x' for any patch of 2.3."""
    if _LAST in version:
        return ".".join([*(str(number) for number in version[: version.index(_LAST)]), "x"])
    return ".".join(str(number) for number in (version if version[3] else version[:3]))
