"""What a report says about metrics of brokers that are gone."""

import json

import pytest
from client_telemetry.reports.upgrade import broker_metrics
from client_telemetry.reports.upgrade.build import build_report

from tests.client_telemetry.reports.conftest import texts


def test_what_is_gone_is_on_the_page_and_in_json(rows):
    """ZooKeeper went with 4.0, and the metrics of the controller that needed it."""
    given = [rows.verdict("a")]
    asked = rows.question(len(given)) | {"from_release": "3.9.1", "to_release": "4.0.1"}
    files = texts(build_report(asked, given, [], [], [rows.broker(1)], [], cluster_name="fleet"))
    page = files["index.html"]
    assert '<h3 id="broker-metrics">Broker metrics</h3>' in page
    assert "<li>kafka.server:type=SessionExpireListener: SessionState</li>" in page
    kept = json.loads(files["report.json"])["broker_metrics"]
    assert "kafka.server:type=SessionExpireListener,name=SessionState" in kept["gone"]
    assert kept["not_known_for"] == [] and kept["new"] >= 1 and kept["not_seen"] >= 1


def test_a_release_of_which_no_broker_was_run_is_said_to_be_unknown(monkeypatch):
    monkeypatch.setattr("client_telemetry.knowledge.broker_metrics.read", lambda: ("2.4.0",))
    found = broker_metrics.changes("2.3.1", "2.4.0")
    assert found == broker_metrics.MetricChanges(("2.3.1",), (), None, None)
    assert broker_metrics.summary(found, "2.3.1", "2.4.0") == "Metrics of brokers of 2.3.1 are not known."


@pytest.mark.parametrize(
    ("gone", "not_seen", "says"),
    [
        ((), 0, "No metric of brokers is known to be gone in 4.0.0."),
        ((), 2, "gone in 4.0.0. 2 metrics more showed on 3.9.1 alone when both were run, though 4.0.0 may have them."),
        (("a:type=B",), 0, "1 metric of brokers on 3.9.1 is gone in 4.0.0: alerts and dashboards on it show nothing."),
    ],
)  # fmt: skip
def test_it_says_what_is_gone_and_what_is_unclear(gone, not_seen, says):
    found = broker_metrics.MetricChanges((), gone, 0, not_seen)
    assert broker_metrics.summary(found, "3.9.1", "4.0.0").endswith(says)
