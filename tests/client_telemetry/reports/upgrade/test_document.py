import json
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from client_telemetry.reports.json_text import timestamp
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.document import report_json
from client_telemetry.reports.upgrade.model import SCHEMA_VERSION
from client_telemetry.reports.upgrade.spreadsheet import CLIENT_COLUMNS
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS

DERIVED = [name for name in CLIENT_COLUMNS if name not in UPGRADE_VERDICTS.schema.names]


@pytest.fixture(scope="module")
def document(fleet_report) -> dict:
    return json.loads("".join(report_json(fleet_report)))


def test_clients_have_the_columns_of_the_tables(document):
    columns = [column.name for column in UPGRADE_VERDICTS.columns]
    of_client = {
        "cluster_id",
        "report_id",
        "client_id",
        "principal",
        "client_software_name",
        "client_software_version",
        "program",
    }
    finding_columns = [c.name for c in UPGRADE_FINDINGS.columns if c.name not in of_client]
    assert document["schema_version"] == SCHEMA_VERSION
    for client in document["clients"]:
        assert list(client) == [*columns, *DERIVED, "findings"]
        assert all(list(finding) == finding_columns for finding in client["findings"])


def test_values_are_as_in_the_rows(document, rows):
    given = {
        (r["client_id"], r["principal"], r["client_software_version"]): r
        for r in rows.fleet_rows()["verdict_rows"]
    }
    for client in document["clients"]:
        row = given[(client["client_id"], client["principal"], client["client_software_version"])]
        same = [name for name in row if not name.endswith("_at")]
        assert {name: client[name] for name in same} == {name: row[name] for name in same}
        assert client["first_seen_at"] == row["first_seen_at"].strftime("%Y-%m-%dT%H:%M:%S.000000Z")


def test_times_are_in_utc_whatever_their_zone():
    east = timezone(timedelta(hours=2))
    assert timestamp(datetime(2026, 11, 21, 1, 30, 0, 7, tzinfo=east)) == "2026-11-20T23:30:00.000007Z"


def test_client_ids_are_exactly_as_they_came_in_plain_ascii(rows):
    ids = ["a\nb\u202e", "\ud800", "é", '"', "", None]
    report = build_report(rows.question(len(ids)), [rows.verdict(i) for i in ids], [], [], [])
    text = "".join(report_json(report))
    assert text.isascii()
    assert {client["client_id"] for client in json.loads(text)["clients"]} == set(ids)


def test_fields_are_documented(document):
    documented = (Path(__file__).parents[4] / "docs/report-format.md").read_text(encoding="utf-8")
    for name in document:
        assert f"`{name}`" in documented
    for part in ("question", "coverage"):
        for name in document[part]:
            assert f"`{name}`" in documented
    for part in ("owners", "software", "applications", "clients", "changes", "rules"):
        for name in document[part][0]:
            assert f"`{name}`" in documented
