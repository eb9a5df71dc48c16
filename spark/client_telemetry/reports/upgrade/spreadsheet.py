"""clients.csv, findings.csv and the owners' tables: for spreadsheets, and safe to open in one. Columns: docs/report-format.md."""

from collections.abc import Iterable, Iterator
from dataclasses import fields
from datetime import date
from itertools import chain

from client_telemetry.reports.spreadsheet import csv_lines, with_mark
from client_telemetry.reports.upgrade import wording
from client_telemetry.reports.upgrade.model import (
    CLIENT_COLUMNS,
    QUESTION_COLUMNS,
    ClientVerdict,
    Finding,
    Question,
)

IDENTITY_COLUMNS = ("client_id", "principal", "client_software_name", "client_software_version", "program")
FINDING_COLUMNS = tuple(field.name for field in fields(Finding))
OWNER_COLUMNS = (
    "application",
    "what_happens",
    "change",
    "by",
    "why",
    "software",
    "client_id",
    "principal",
    "addresses",
    "groups",
    "last_seen_at",
    "confidence",
)
"""What an owner reads, in that order; all else is in clients_full.csv."""


def client_line(question: Question, client: ClientVerdict) -> str:
    """The row of one client: columns of `upgrade_verdicts`, then the derived ones."""
    asked = (getattr(question, name) for name in QUESTION_COLUMNS)
    return csv_lines([[*asked, *(getattr(client, name) for name in CLIENT_COLUMNS)]])


def clients_csv(lines: Iterable[str]) -> Iterator[str]:
    """clients.csv in pieces, of rows that `client_line` made."""
    return with_mark(chain([csv_lines([(*QUESTION_COLUMNS, *CLIENT_COLUMNS)])], lines))


def owner_csv(clients: Iterable[ClientVerdict], planned_for: date | None) -> Iterator[str]:
    """The owner's clients.csv in pieces: OWNER_COLUMNS."""
    by = planned_for.isoformat() if planned_for else ""
    lines = (csv_lines([_owner_cells(client, by)]) for client in clients)
    return with_mark(chain([csv_lines([OWNER_COLUMNS])], lines))


def _owner_cells(client: ClientVerdict, by: str) -> tuple[object, ...]:
    needs_change = client.fix is not None
    return (
        client.application,
        f"{wording.happens(client)}{', and fails already' if client.already_failing else ''}",
        client.fix,
        by if needs_change else "",
        client.explanation,
        "; ".join(filter(None, (wording.software(client), client.identified_as))),
        client.client_id,
        client.principal,
        tuple(dict.fromkeys((*client.hosts, *client.address_sample))),
        client.group_ids,
        client.last_seen_at,
        client.confidence,
    )


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
