"""What checks of data quality found, in words."""

import json
import re
from typing import Protocol

UNEXPECTED_ROWS = "partial_unexpected_list"
"""Great Expectations' name for examples of what violates an expectation."""
_SHARE = re.compile(r"at most (?P<limit>[0-9.]+ %) (?P<what>of .*)")


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


def unexpected_rows(result: str | None) -> list[dict[str, object]]:
    """The examples in a validation result of Great Expectations, as stored in `quality_results`."""
    return json.loads(result)["result"].get(UNEXPECTED_ROWS, []) if result else []


def found(check: Check) -> str:
    """What a check found: the rows that break it, or its number. An expectation about a share has the percentage that it
    allows in its description; before 0.2.0, the word.
    """
    if check.unexpected_count is not None:
        return f"{check.unexpected_count:,} of {check.rows:,} row{'' if check.rows == 1 else 's'}"
    if "share" not in check.description and not _SHARE.match(check.description):
        return check.observed_value
    counted = _counted(check)
    return f"{counted} ({_percent(check)})" if counted else _percent(check)


def _percent(check: Check) -> str:
    percent = 100 * float(check.observed_value)
    return f"{percent:.2g} %" if 0 < percent < 1 else f"{percent:.0f} %"


def _counted(check: Check) -> str:
    """'28 of 28' for a share of all rows; empty if it is of some of them, and so no whole number of all."""
    number = float(check.observed_value) * check.rows
    return f"{number:,.0f} of {check.rows:,}" if check.rows and abs(number - round(number)) < 1e-3 else ""


def failed_check(check: Check) -> str:
    """What a failed check found, the value first."""
    if check.unexpected_count is not None:
        return f"{found(check)} break the rule: {check.description}"
    if share := _SHARE.match(check.description):
        what, colon, why = share["what"].partition(": ")
        counted = f"{counted}; " if (counted := _counted(check)) else ""
        return f"{_percent(check)} {what} ({counted}at most {share['limit']} expected){colon}{why}"
    if check.description.startswith("no "):
        return f"{found(check)} {check.description.removeprefix('no ')}"
    return f"{check.description} ({found(check)})"
