"""clients.csv and findings.csv: for spreadsheets, and safe to open in one. Columns: docs/report-format.md."""

import csv
import io
from collections.abc import Iterable
from dataclasses import fields
from datetime import datetime
from functools import lru_cache
from typing import Any

from client_telemetry.reports.client_strings import client_label, shown
from client_telemetry.reports.evidence import RelatedClient
from client_telemetry.reports.upgrade.document import timestamp
from client_telemetry.reports.upgrade.model import (
    CLIENT_COLUMNS,
    QUESTION_COLUMNS,
    CandidateLibrary,
    ClientVerdict,
    DaySeen,
    Finding,
    OtherTarget,
    Question,
    Step,
    outcome,
)
from client_telemetry.reports.upgrade.wording import minute

IDENTITY_COLUMNS = ("client_id", "principal", "client_software_name", "client_software_version", "program")
FINDING_COLUMNS = tuple(field.name for field in fields(Finding))

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "＝", "＋", "－", "＠")
"""What a spreadsheet may take for the start of a formula (OWASP, CSV Injection; `|` and `%` for DDE)."""


def clients_csv(question: Question, clients: Iterable[ClientVerdict]) -> str:
    """One row per client: columns of `upgrade_verdicts`, then the derived ones."""
    asked = [getattr(question, name) for name in QUESTION_COLUMNS]
    rows = ([*asked, *(getattr(client, name) for name in CLIENT_COLUMNS)] for client in clients)
    return table_csv((*QUESTION_COLUMNS, *CLIENT_COLUMNS), rows)


def findings_csv(question: Question, clients: Iterable[ClientVerdict]) -> str:
    """One row per client and finding: columns of `upgrade_findings`."""
    asked = [getattr(question, name) for name in QUESTION_COLUMNS]
    rows = (
        [
            *asked,
            *(getattr(client, c) for c in IDENTITY_COLUMNS),
            *(getattr(finding, c) for c in FINDING_COLUMNS),
        ]
        for client in clients
        for finding in client.findings
    )
    return table_csv((*QUESTION_COLUMNS, *IDENTITY_COLUMNS, *FINDING_COLUMNS), rows)


def cell(value: Any) -> Any:
    """What stands in a cell. Text has its invisible characters made visible, so that no cell spans lines, and an
    apostrophe in front where a spreadsheet would see a formula; report.json has the text itself.

    >>> cell('=HYPERLINK("http://x")')
    '\\'=HYPERLINK("http://x")'
    """
    if value is None:
        return ""
    if isinstance(value, tuple):
        return cell("; ".join(_item(item) for item in value))
    if isinstance(value, datetime):
        return timestamp(value)
    return _text_cell(value) if isinstance(value, str) else value


@lru_cache(maxsize=20_000)
def _text_cell(text: str) -> str:
    guard = "'" if text.lstrip(" ").startswith(FORMULA_STARTS) else ""
    return guard + shown(text)


def _item(value: Any) -> str:
    if type(value) is str:
        return value
    if value is None:  # among client ids
        return client_label(None)
    if isinstance(value, OtherTarget):
        return f"{value.to_release}: {outcome(value.verdict, value.when)} ({value.reason})"
    if isinstance(value, CandidateLibrary):
        return f"{value.versions} ({value.exact} APIs match)"
    if isinstance(value, RelatedClient):
        name = " ".join(filter(None, (value.client_software_name, value.client_software_version)))
        return f"{value.relation}: {client_label(value.client_id)} {name}: {value.because}"
    if isinstance(value, DaySeen):
        return f"{minute(value.first_seen_at)} to {minute(value.last_seen_at)}"
    if isinstance(value, Step):
        return f"{value.step}: {value.verdict} ({value.explanation})"
    return str(value)


def table_csv(header: tuple[str, ...], rows: Iterable[Iterable[Any]]) -> str:
    """RFC 4180, UTF-8, every text quoted. With a byte order mark where it is not plain ASCII: without one Excel reads another
    encoding."""
    return with_mark(csv_lines([header]) + csv_lines(rows))


def csv_lines(rows: Iterable[Iterable[Any]]) -> str:
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


def with_mark(text: str) -> str:
    return text if text.isascii() else f"\ufeff{text}"
