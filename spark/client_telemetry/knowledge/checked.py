"""When the rows that people wrote (CHECKED_FILES) were last compared with their sources.

An old row says what it said: it is for a person to read its source again, and to write the day into the row.
"""

import datetime as dt
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from client_telemetry import knowledge
from client_telemetry.knowledge import CHECKED_FILES, CHECKED_ON, DamagedKnowledge

STALE_DAYS = 365


class CheckedRow(NamedTuple):
    file: str
    line: int
    key: str
    """The cells that identify the row, separated by spaces."""
    checked_on: dt.date | None
    """None: the row does not say."""
    source: str


def shipped() -> list[CheckedRow]:
    """The rows of the package in use, or those that ship with the program."""
    return list(_rows(knowledge.texts()))


def own() -> list[CheckedRow]:
    """The user's own rows; `file` has the path of their folder."""
    mine = knowledge.in_use().own
    return list(
        _rows({str(Path(mine.folder) / file): text for file, text in mine.texts.items()} if mine else {})
    )


def _rows(texts: Mapping[str, str]) -> Iterator[CheckedRow]:
    for file, text in texts.items():
        key = CHECKED_FILES.get(Path(file).name)
        if key is None:
            continue
        (_, header), *lines = knowledge.numbered(text)
        for line, cells in lines:
            row = dict(zip(header, cells, strict=True))
            day = knowledge.day(file, line, row.get(CHECKED_ON, ""))
            yield CheckedRow(
                file, line, " ".join(filter(None, (row[column] for column in key))), day, row["source"]
            )


def refuse_future(rows: Collection[CheckedRow], now: dt.datetime) -> None:
    """Raises DamagedKnowledge for a day that has not begun anywhere at `now` (UTC): time zones are up to 14 hours ahead."""
    newest = (now + dt.timedelta(hours=14)).date()
    for row in rows:
        if row.checked_on and row.checked_on > newest:
            raise DamagedKnowledge(row.file, row.line, f"{CHECKED_ON} {row.checked_on} is in the future")


def stale(rows: Collection[CheckedRow], at: dt.date) -> list[CheckedRow]:
    """Those that were last checked more than STALE_DAYS before a day, oldest first."""
    last = at - dt.timedelta(days=STALE_DAYS)
    dated = [(row.checked_on, row) for row in rows if row.checked_on]
    return [row for day, row in sorted(dated) if day < last]


def sentence(rows: Collection[CheckedRow], at: dt.date) -> str:
    """How many there are, the oldest day, and how many are stale on a day."""
    days = [row.checked_on for row in rows if row.checked_on]
    count = f"Rows written by people: {len(rows):,}"
    if not days:
        return f"{count}; when they were last checked is not known"
    unknown = f"; of {len(rows) - len(days):,} the day is not known" if len(days) < len(rows) else ""
    return (
        f"{count}; last checked on {min(days)} or later, {len(stale(rows, at)):,} of them more than "
        f"{STALE_DAYS} days before {at}{unknown}"
    )
