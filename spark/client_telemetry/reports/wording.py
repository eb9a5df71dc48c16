"""How values read in a sentence of any report. No markup, no counting."""

import re
from datetime import UTC, datetime
from typing import Protocol

from client_telemetry.reports.counted import counted

_SHARE = re.compile(r"at most (?P<limit>[0-9.]+ %) (?P<what>of .*)")


def number(value: int) -> str:
    """With commas between thousands."""
    return f"{value:,}"


class Check(Protocol):
    """These columns of `quality_results`."""

    @property
    def unexpected_count(self) -> int | None: ...

    @property
    def rows(self) -> int: ...

    @property
    def description(self) -> str: ...

    @property
    def observed_value(self) -> str: ...


def found(check: Check) -> str:
    """What a check found: the rows that break it, or its number. An expectation about a share has the percentage that it
    allows in its description; before 0.2.0, the word.
    """
    if check.unexpected_count is not None:
        return f"{check.unexpected_count:,} of {counted(check.rows, 'row')}"
    if "share" not in check.description and not _SHARE.match(check.description):
        return check.observed_value
    percent = 100 * float(check.observed_value)
    return f"{percent:.2g} %" if 0 < percent < 1 else f"{percent:.0f} %"


def failed_check(check: Check) -> str:
    """What a failed check found, the value first."""
    if check.unexpected_count is not None:
        return f"{found(check)} break the rule: {check.description}"
    if share := _SHARE.match(check.description):
        what, colon, why = share["what"].partition(": ")
        return f"{found(check)} {what} (at most {share['limit']} expected){colon}{why}"
    if check.description.startswith("no "):
        return f"{found(check)} {check.description.removeprefix('no ')}"
    return f"{check.description} ({found(check)})"


def minute(moment: datetime | None) -> str:
    """`2026-11-21 05:47`, in UTC; the zone is said once per report."""
    return "" if moment is None else moment.astimezone(UTC).isoformat(" ", "minutes")[:16]


def period(first: datetime | None, last: datetime | None) -> str:
    """From minute to minute; the day once where it is the same."""
    if first is None or last is None:
        return minute(first or last)
    start, end = minute(first), minute(last)
    if start == end:
        return start
    return f"{start} to {end[11:]}" if start[:10] == end[:10] else f"{start} to {end}"


def brokers(ids: tuple[int, ...]) -> str:
    if not ids:
        return ""
    return f"broker {ids[0]}" if len(ids) == 1 else f"brokers {', '.join(map(str, ids))}"
