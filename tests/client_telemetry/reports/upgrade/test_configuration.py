"""What a report says about the configuration of brokers."""

import json

import pytest
from client_telemetry.reports.upgrade import configuration
from client_telemetry.reports.upgrade.build import build_report

from tests.client_telemetry.reports.conftest import texts


def test_what_differs_is_on_the_page_in_the_ticket_and_in_json(rows):
    given = [rows.verdict("a")]
    asked = rows.question(len(given)) | {"from_release": "3.9.1", "to_release": "4.0.1"}
    report = build_report(asked, given, [], [], [rows.broker(1)], [], cluster_name="fleet")
    assert report.configuration.changes[0].change == configuration.GONE
    files = texts(report)
    page = files["index.html"]
    assert '<h3 id="configuration">Broker configuration</h3>' in page
    assert "<li>Gone: auto.include.jmx.reporter; " in page and "; 20 of zookeeper.*; " in page
    assert "num.recovery.threads.per.data.dir: 1 → 2" in page
    ticket = files["report.md"]
    assert "- Broker configuration: From 3.9.1 to 4.0.1, " in ticket and "check each yourself" in ticket
    assert "The page lists them." in ticket and "auto.include.jmx.reporter" not in ticket
    kept = json.loads(files["report.json"])["configuration"]
    assert (kept["not_known_for"], kept["new_keys"]) == ([], len(report_new_keys()))
    assert {
        "scope": "broker",
        "key": "log.segment.bytes",
        "change": "valid_range",
        "before": "[14,...]",
        "after": "[1048576,...]",
    } in kept["changes"]


def report_new_keys():
    from client_telemetry.knowledge import broker_configuration

    return [
        key
        for scope in broker_configuration.SCOPES
        for key, _ in broker_configuration.changes(scope, "3.9.1", "4.0.1").new
    ]


def test_a_release_that_was_not_read_is_said_to_be_unknown(monkeypatch):
    monkeypatch.setattr(configuration.broker_configuration, "read", lambda: ("3.9.1",))
    found = configuration.changes("3.9.1", "4.0.1")
    assert (found.not_known_for, found.changes, found.new_keys) == (("4.0.1",), (), None)
    assert configuration.summary(found, "3.9.1", "4.0.1") == (
        "Configuration keys and defaults of 4.0.1 are not known."
    )


@pytest.mark.parametrize(
    ("pair", "says"),
    [
        (("4.0.0", "4.0.1"), "No configuration key or default differs between 4.0.0 and 4.0.1."),
        (("4.0.1", "4.1.0"), "From 4.0.1 to 4.1.0, "),
    ],
)
def test_it_is_one_sentence(pair, says):
    assert configuration.summary(configuration.changes(*pair), *pair).startswith(says)
