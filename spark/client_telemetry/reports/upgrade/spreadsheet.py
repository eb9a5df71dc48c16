"""clients.csv and findings.csv: for spreadsheets, and safe to open in one. Columns: docs/report-format.md."""

from collections.abc import Iterable
from dataclasses import fields

from client_telemetry.reports.spreadsheet import csv_lines, table_csv, with_mark
from client_telemetry.reports.upgrade.model import (
    CLIENT_COLUMNS,
    QUESTION_COLUMNS,
    ClientVerdict,
    Finding,
    Question,
)

IDENTITY_COLUMNS = ("client_id", "principal", "client_software_name", "client_software_version", "program")
FINDING_COLUMNS = tuple(field.name for field in fields(Finding))


def clients_csv(question: Question, clients: Iterable[ClientVerdict]) -> str:
    """One row per client: columns of `upgrade_verdicts`, then the derived ones."""
    return with_client_header(client_line(question, client) for client in clients)


def client_line(question: Question, client: ClientVerdict) -> str:
    """The row of one client."""
    asked = (getattr(question, name) for name in QUESTION_COLUMNS)
    return csv_lines([[*asked, *(getattr(client, name) for name in CLIENT_COLUMNS)]])


def with_client_header(lines: Iterable[str]) -> str:
    """clients.csv of rows that `client_line` made."""
    return "".join(with_mark([csv_lines([(*QUESTION_COLUMNS, *CLIENT_COLUMNS)]), *lines]))


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
