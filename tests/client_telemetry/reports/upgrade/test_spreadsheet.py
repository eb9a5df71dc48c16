import csv
import io

import pytest
from client_telemetry.reports.spreadsheet import cell
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.spreadsheet import (
    CLIENT_COLUMNS,
    client_line,
    clients_csv,
    findings_csv,
)
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS


def read(text: str) -> list[dict]:
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def clients(report) -> str:
    return "".join(clients_csv(client_line(report.question, client) for client in report.clients))


@pytest.mark.parametrize(
    "start", ["=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "＝", "＋", "－", "＠", " =", "  @"]
)
def test_no_cell_starts_a_formula(start):
    text = cell(f"{start}1+1")
    assert text.startswith("'") and text.isprintable()


@pytest.mark.parametrize("text", ["orders", "User:a", "a=b", "1.2.3", "'quoted"])
def test_harmless_text_stays(text):
    assert cell(text) == text


def test_a_list_that_begins_like_a_formula():
    assert cell(("=1", "b")) == "'=1; b"


def test_excel_reads_the_encoding_and_plain_text_stays_plain(rows):
    """Excel takes a file without a byte order mark for the encoding of the machine."""
    texts = [
        clients(report)
        for client_id in ("é", "e")
        for report in [build_report(rows.question(1), [rows.verdict(client_id)], [], [], [])]
    ]
    assert texts[0].startswith("\ufeff") and texts[1].isascii()


def test_numbers_stay_numbers_and_null_is_empty():
    assert (cell(0), cell(None), cell((1, 2))) == (0, "", "1; 2")


def test_columns_are_those_of_the_tables_then_the_derived_ones(fleet_report):
    listed = read(clients(fleet_report))
    findings = read("".join(findings_csv(fleet_report.question, fleet_report.clients)))
    columns = [column.name for column in UPGRADE_VERDICTS.columns]
    derived = [name for name in CLIENT_COLUMNS if name not in columns]
    assert list(listed[0]) == [*columns, *derived] and derived[1] == "outcome"
    assert list(findings[0]) == [column.name for column in UPGRADE_FINDINGS.columns]
    assert len(listed) == 42
    assert len(findings) == sum(len(client.findings) for client in fleet_report.clients)


def test_hostile_client_ids_stay_in_their_cells(rows):
    ids = ['=HYPERLINK("http://x")<b>', 'a",=1,"b', "a\r\nb;=1", "\ud800", ","]
    given = [rows.verdict(text, principal=text) for text in ids]
    report = build_report(rows.question(len(ids)), given, [], [], [])
    text = clients(report)
    text.encode()
    assert len(text.splitlines()) == 1 + len(ids)
    assert {row["client_id"] for row in read(text)} == {
        '\'=HYPERLINK("http://x")<b>',
        'a",=1,"b',
        "a␍␊b;=1",
        "[U+D800]",
        ",",
    }


def test_other_releases_read_as_words(rows):
    other = {"to_release": "4.0.1", "verdict": "breaks", "when": "latent", "reason": "ListOffsets v0"}
    safe = {"to_release": "4.4.0", "verdict": "safe", "when": None, "reason": "JoinGroup v1"}
    given = [rows.verdict("a", "breaks", other_targets=[other, safe])]
    report = build_report(rows.question(1), given, [], [], [])
    assert "4.0.1: breaks_latent (ListOffsets v0); 4.4.0: safe (JoinGroup v1)" in clients(report)
