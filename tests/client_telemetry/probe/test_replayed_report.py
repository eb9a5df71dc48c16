"""What a replay says beside the verdicts of a report: rows of (verdict, what is replayed, what was predicted) and the result."""

import pytest
from client_telemetry.probe import replayed_report
from client_telemetry.probe.replay import ABOVE, BELOW, NONE, Replayed, Sent
from client_telemetry.probe.replayed_report import ANSWERED, NOT_REPLAYED, OPEN, REFUSED, Result


def replayed(
    key: int, version: int, outcome: str = "answered", side: str = "", lowest: int | None = 0
) -> Replayed:
    sent = Sent("c", "User:a", "orders", "shop", ("CLIENTS",), (key, version), 5)
    return Replayed(sent, outcome, side, lowest, None)


FETCH, JOIN, TELEMETRY, CREATE = 1, 11, 71, 19
OLD_JOIN = replayed(JOIN, 1, "closed", BELOW, 2)


@pytest.mark.parametrize(
    ("verdict", "pairs", "predicted", "outcome", "contradicts"),
    [
        ("safe", [], set(), NOT_REPLAYED, False),
        ("safe", [replayed(FETCH, 12), replayed(CREATE, 5, "advertised")], set(), ANSWERED, False),
        ("breaks_at_once", [replayed(FETCH, 12), OLD_JOIN], {(JOIN, 1)}, REFUSED, False),
        ("safe", [replayed(FETCH, 12), OLD_JOIN], set(), REFUSED, True),
        ("insufficient_evidence", [OLD_JOIN], set(), REFUSED, False),
        ("breaks_at_once", [replayed(JOIN, 1)], {(JOIN, 1)}, ANSWERED, True),
        ("breaks_at_once", [replayed(FETCH, 12)], set(), ANSWERED, False),
        ("safe", [replayed(FETCH, 18, "closed", ABOVE, 4)], set(), OPEN, False),
        ("safe", [replayed(FETCH, 12, "silent")], set(), OPEN, False),
        ("safe", [replayed(FETCH, 12), replayed(TELEMETRY, 0, "not asked")], set(), ANSWERED, False),
        ("safe", [replayed(CREATE, 5, "closed", NONE, None)], set(), REFUSED, True),
    ],
)
def test_results(verdict, pairs, predicted, outcome, contradicts):
    result = replayed_report.of_application(verdict, pairs, predicted, "3.9.1")
    assert (result.outcome, result.contradicts) == (outcome, contradicts)


def test_a_client_of_old_brokers_had_no_newer_version_to_take():
    refused = [replayed(0, 2, "closed", BELOW, 3)]
    assert replayed_report.of_application("safe", refused, set(), "0.10.2.2") == Result(
        OPEN, "whether it works without Produce v2 (closed) is not known"
    )
    assert replayed_report.of_application("safe", refused, set(), "3.9.1").contradicts
    assert replayed_report.of_application("safe", refused, set(), "measured-elsewhere").outcome == OPEN


def test_only_refusals_of_requests_that_were_seen_are_predictions():
    findings = [
        {"rule_id": "observed_version_refused", "api_key": JOIN, "versions": "0, 1"},
        {"rule_id": "declared_version_refused", "api_key": FETCH, "versions": "0-3"},
    ]
    assert replayed_report.predicted([{"findings": findings}]) == {(JOIN, 0), (JOIN, 1)}


def test_brokers_that_answer_like_other_releases_contradict_no_verdict():
    question = {"report_id": "r", "cluster_id": "c", "from_release": "3.9.1", "to_release": "4.0.0"}
    application = {"anchor": "a", "name": "orders", "principal": "User:a", "owner": "shop", "outcome": "safe"}
    application |= {"safe_so_far": True, "clients": [0]}
    report = {"question": question, "clients": [{"findings": []}], "applications": [application]}
    for like, to_release, contradicts in (
        (["4.0.1", "4.0.2"], "4.0.0", False),
        (["4.0.1", "4.0.2"], "4.0.1", True),
        (["4.0.1"], "measured-1234", True),
        ([], "4.0.0", True),
    ):
        question["to_release"] = to_release
        brokers = replayed_report.Brokers("b1:9092", like, "2026-11-28T04:00:00Z")
        found = replayed_report.document(report, [OLD_JOIN], brokers)
        (result,) = found["applications"]
        assert (result["outcome"], result["contradicts"]) == (REFUSED, contradicts)
        assert result["known_by"] == ["rule", "replayed"]
        assert found["counts"] == {ANSWERED: 0, REFUSED: 1, OPEN: 0, NOT_REPLAYED: 0}
    assert found["target"] == "b1:9092"
