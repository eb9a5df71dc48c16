"""clients.csv and findings.csv: for spreadsheets, and safe to open in one. Columns: docs/report-format.md."""

from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import chain

from client_telemetry.reports.spreadsheet import csv_lines, with_mark
from client_telemetry.reports.upgrade.model import (
    CLIENT_COLUMNS,
    QUESTION_COLUMNS,
    ClientVerdict,
    Finding,
    Question,
)

IDENTITY_COLUMNS = ("client_id", "principal", "client_software_name", "client_software_version", "program")
FINDING_COLUMNS = tuple(field.name for field in fields(Finding))


def client_line(question: Question, client: ClientVerdict) -> str:
    """The row of one client: columns of `upgrade_verdicts`, then the derived ones."""
    asked = (getattr(question, name) for name in QUESTION_COLUMNS)
    return csv_lines([[*asked, *(getattr(client, name) for name in CLIENT_COLUMNS)]])


def clients_csv(lines: Iterable[str]) -> Iterator[str]:
    """clients.csv in pieces, of rows that `client_line` made."""
    return with_mark(chain([csv_lines([(*QUESTION_COLUMNS, *CLIENT_COLUMNS)])], lines))


def findings_csv(question: Question, clients: Iterable[ClientVerdict]) -> Iterator[str]:
    """One row per client and finding, in pieces: columns of `upgrade_findings`."""
    asked = [getattr(question, name) for name in QUESTION_COLUMNS]

    def of_client(client: ClientVerdict) -> str:
        identity = [getattr(client, name) for name in IDENTITY_COLUMNS]
        return csv_lines(
            [*asked, *identity, *(getattr(finding, name) for name in FINDING_COLUMNS)]
            for finding in client.findings
        )

    header = csv_lines([(*QUESTION_COLUMNS, *IDENTITY_COLUMNS, *FINDING_COLUMNS)])
    return with_mark(chain([header], map(of_client, clients)))
