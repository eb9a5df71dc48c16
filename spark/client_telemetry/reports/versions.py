"""The order in which software versions are listed. For display: what a version means is the knowledge base's."""

import re


def version_order(version: str | None) -> tuple[object, ...]:
    """Sort key: numbers by value, other text by its letters, no version last.

    >>> sorted(["2.10.0", None, "v2.9.1", "2.9.0-rc1", "2.9.0"], key=version_order)
    ['2.9.0', '2.9.0-rc1', 'v2.9.1', '2.10.0', None]
    """
    if version is None:
        return (1, (), "")
    parts = re.findall(r"[0-9]{1,12}|[^0-9.]+", version.removeprefix("v"))
    return (0, tuple((0, int(p), "") if p.isdecimal() and p.isascii() else (1, 0, p) for p in parts), version)
