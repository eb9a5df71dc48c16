"""CSV files for spreadsheets, safe to open in one. Columns: docs/report-format.md."""

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from tempfile import SpooledTemporaryFile

from client_telemetry.console.formulas import guarded
from client_telemetry.reports.client_strings import client_label, shown
from client_telemetry.reports.json_text import timestamp


def cell(value: object) -> object:
    """What stands in a cell. Text has its invisible characters made visible, so that no cell spans lines, and an
    apostrophe in front where a spreadsheet would see a formula; report.json has the text itself.

    >>> cell('=HYPERLINK("http://x")')
    '\\'=HYPERLINK("http://x")'
    """
    if value is None:
        return ""
    if isinstance(value, tuple):
        return cell("; ".join(client_label(None) if item is None else str(item) for item in value))
    if isinstance(value, datetime):
        return timestamp(value)
    return _text_cell(value) if isinstance(value, str) else value


@lru_cache(maxsize=20_000)
def _text_cell(text: str) -> str:
    is_formula = guarded(text) != text
    return f"'{shown(text)}" if is_formula else shown(text)


def table_csv(header: tuple[str, ...], rows: Iterable[Iterable[object]]) -> str:
    """RFC 4180, UTF-8, every text quoted. With a byte order mark where it is not plain ASCII: without one Excel reads another
    encoding."""
    return "".join(with_mark([csv_lines([header]), csv_lines(rows)]))


def csv_lines(rows: Iterable[Iterable[object]]) -> str:
    """Part of a table_csv."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    # The most frequent kinds first: there are millions of cells.
    writer.writerows(
        [
            _text_cell(value)
            if (kind := type(value)) is str
            else value
            if kind in _NUMBERS
            else ""
            if value is None
            else cell(value)
            for value in row
        ]
        for row in rows
    )
    return text.getvalue()


_NUMBERS = frozenset((int, float, bool))


def with_mark(pieces: Iterable[str]) -> Iterator[str]:
    """The pieces, after a byte order mark if one of them is not plain ASCII. Until that is known they are in memory, or,
    if they are longer than _IN_MEMORY bytes, in a temporary file: of 100,000 clients they are hundreds of megabytes.
    """
    with SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8", newline="") as text:
        is_ascii = True
        for piece in pieces:
            is_ascii = is_ascii and piece.isascii()
            text.write(piece)
        text.seek(0)
        if not is_ascii:
            yield "\ufeff"
        while piece := text.read(_PIECE):
            yield piece


_IN_MEMORY, _PIECE = 2**24, 2**16
