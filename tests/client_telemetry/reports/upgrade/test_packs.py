"""What 500 owners get: a message and a table each, that fit into a ticket system and open in a spreadsheet."""

import csv
import io
import re

import pytest
from client_telemetry.reports.names import folder_name
from client_telemetry.reports.outcomes import OUTCOMES
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.spreadsheet import OWNER_COLUMNS
from client_telemetry.reports.upgrade.ticket_cells import LARGEST

from tests.client_telemetry.reports.conftest import large_rows, question, texts

OWNERS = 500
LARGE = "team-0"
"""Has 2,000 applications of the same kind beside the others, no two with the same reason."""


@pytest.fixture(scope="module")
def report():
    given = large_rows(5_000, OWNERS)
    pattern = next(row for row in given["verdict_rows"] if row["owner"] == LARGE)
    name = "a-rather-long-name-of-an-application-in-production"
    given["verdict_rows"] += [
        pattern
        | {
            "client_id": f"{name}-{number}",
            "principal": f"User:{name}-{number}",
            "explanation": f"reason {number}: joins its group with JoinGroup v1; 4.0.0 accepts v2–v9",
        }
        for number in range(2_000)
    ]
    safe = given["verdict_rows"][4_999]
    assert safe["verdict"] == "safe"
    given["verdict_rows"] += [safe | {"client_id": "fine", "principal": "User:fine", "owner": "team-fine"}]
    given["verdict_rows"] += [
        pattern | {"client_id": "zahlung-ü", "principal": "User:z", "owner": "Zahlung Süd"}
    ]
    return build_report(**{**given, "question": question(len(given["verdict_rows"]))})


@pytest.fixture(scope="module")
def packs(report) -> dict[str, str]:
    return {name: text for name, text in texts(report).items() if name.startswith("owners/")}


def test_who_has_work_has_a_pack_and_nobody_else(report, packs):
    at_work = {client.owner for client in report.clients if client.verdict != "safe"}
    assert len(at_work) == OWNERS + 1 and "team-fine" in {client.owner for client in report.clients}
    assert {name.split("/")[1] for name in packs} == {folder_name(owner) for owner in at_work}


def test_every_message_fits_into_a_ticket_and_names_its_work(packs):
    messages = {name: text for name, text in packs.items() if name.endswith("/report.md")}
    assert len(messages) == OWNERS + 1
    for name, text in messages.items():
        assert len(text) < LARGEST == 32_000, name
        assert re.search(r"^## (Change 1|Library not identified): ", text, re.M), name
        assert "## How to check that it worked" in text, name
        assert "Truncated here" not in text, name
    large = messages[f"owners/{LARGE}/report.md"]
    assert "more in clients.csv." in large


def test_every_table_opens_in_a_spreadsheet_with_when_and_priority(report, packs):
    tables = {name: text for name, text in packs.items() if name.endswith("/clients_full.csv")}
    clients = 0
    for name, text in tables.items():
        data = text.encode("utf-8")
        assert data.isascii() or data.startswith(b"\xef\xbb\xbf"), name
        rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
        clients += len(rows)
        assert {"client_id", "when", "priority", "owner", "fix"} <= set(rows[0]), name
        for row in rows:
            assert int(row["priority"]) == 1 + list(OUTCOMES).index(row["outcome"]), name
            assert row["verdict"] != "breaks" or row["when"] in ("at_once", "latent"), name
    assert not tables[f"owners/{folder_name('Zahlung Süd')}/clients_full.csv"].isascii()
    assert clients == sum(client.owner != "team-fine" for client in report.clients)


def test_an_owner_reads_twelve_columns_in_the_order_of_questions(report, packs):
    for name, text in packs.items():
        if name.endswith("/clients.csv"):
            rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
            assert tuple(rows[0]) == OWNER_COLUMNS and len(OWNER_COLUMNS) == 12
            full = packs[name.replace("clients.csv", "clients_full.csv")]
            assert len(rows) == len(list(csv.reader(io.StringIO(full))))
