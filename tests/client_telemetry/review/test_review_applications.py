"""A review counts applications, and lists their clients."""

import datetime as dt
import json
from typing import Any

import scenarios
from client_telemetry.reports.review.document import files
from client_telemetry.reports.review.page import review_page
from client_telemetry.reports.review.report import ReviewReport
from client_telemetry.review import applications, decision
from client_telemetry.review.in_parts import assembled, part, setting
from client_telemetry.review.model import Review

STREAMS = "shop-4efc20b4-55db-4613-a647-74511e0162b8-StreamThread-{}-{}"
THREADS = [STREAMS.format(n, role) for n in (1, 2) for role in ("consumer", "producer")]
REFUSED = "Produce:2@0-379/2 Metadata:1@0-900/5 Produce:2@320-900/2x"


def reviewed(names: applications.Names | None = None) -> Review:
    """Four clients of a Streams application, two of which are refused, and one of somebody else."""
    clients = [
        (scenarios.client(name), REFUSED if "producer" in name else "Fetch:11@0-900/2") for name in THREADS
    ]
    evidence = scenarios.evidence([*clients, (scenarios.client("billing"), REFUSED)])
    common = setting(evidence, "3.9.1", "4.0.1")
    made, tracks = part(evidence.activities, common)
    found, _, _ = assembled([made], evidence, common)
    if names is None:
        names = applications.of_tracks(tracks, common.upgrade.old)
    return applications.with_applications(found, names)


def report(found: Review) -> ReviewReport:
    now = dt.datetime(2026, 11, 21, 13, tzinfo=dt.UTC)
    return ReviewReport(found, "r", "fleet", now, decision.decisions(found), "made now")


def test_the_sentence_and_the_decision_count_applications() -> None:
    found = reviewed()
    assert {client.application for client in found.clients} == {"shop", "billing"}
    assert "2 of 2 predicted immediate breaks happened, 0 unexpected" in report(found).sentence
    assert {each.reason for each in decision.decisions(found)} == {
        "2 applications failing since it was upgraded"
    }
    assert applications.outcome_counts(found.clients) == {"failing": 2}


def test_the_page_counts_applications_and_lists_clients() -> None:
    found = reviewed()
    page = review_page(report(found))
    many = len(found.clients)
    assert f'All clients<span class="count">2 applications, {many} clients</span>' in page
    assert "in shop · User:orders" in page
    document = json.loads("".join(files(report(found))["review.json"]))
    assert {row["application"] for row in document["clients"]} == {"shop", "billing"}


def test_applications_of_the_daily_table_count_and_the_latest_day_decides() -> None:
    def row(day: int, client_id: str, application: str) -> Any:
        at = dt.date(2026, 11, day)
        software = {"client_software_name": "unknown", "principal": "User:orders"}
        return {"dt": at, "client_id": client_id, "application": application, **software}

    rows = [row(21, "billing", "shop"), row(20, "billing", "billing")]
    rows += [row(21, name, "shop") for name in THREADS]
    found = reviewed(applications.of_rows(rows))
    assert {client.application for client in found.clients} == {"shop"}
    assert "1 of 1 predicted" in report(found).sentence


def test_a_client_that_no_table_knows_is_an_application_of_its_own() -> None:
    found = reviewed({})
    assert len(applications.keys(found.clients)) == len(found.clients)
