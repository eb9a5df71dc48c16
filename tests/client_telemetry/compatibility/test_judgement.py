"""Truth tables: the fleet's applications, documented cases, and the rules one by one."""

import csv
from pathlib import Path

import pytest
from client_telemetry.compatibility import ApiUse, ClientEvidence, judge, parse_api_uses
from client_telemetry.knowledge.releases import NotAnExactRelease, NothingToUpgrade
from client_telemetry.knowledge.vocabulary import CONFIDENCES, PRECEDENCE

DATA = Path(__file__).parents[2] / "data" / "compatibility"


def table(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def evidence(row: dict[str, str]) -> ClientEvidence:
    subscriptions, also = row.get("subscriptions", ""), row.get("also_declared", "").split()
    return ClientEvidence(
        row.get("client_software_name") or None,
        row.get("client_software_version") or None,
        row.get("client_id") or None,
        parse_api_uses(row.get("api_uses", "")),
        row.get("sasl_mechanism") or None,
        row.get("security_protocol") or None,
        None if not subscriptions else () if subscriptions == "none" else tuple(subscriptions.split()),
        tuple(zip(also[::2], also[1::2], strict=True)),
    )


def cases(name: str):
    return [pytest.param(row, id=f"{row['case']} → {row.get('to', '4.0.0')}") for row in table(name)]


@pytest.mark.parametrize("row", cases("fleet_3.9.1_to_4.0.0.csv"))
def test_fleet_application(row):
    """Evidence of real applications on 3.9.1 against what became of them on 4.0.0.

    From the sample include/sample/fleet: connections to 3.9.1 brokers opened before the first one changed,
    by principal, client id, name and version. The experiment's own tools are left out; the two deployments
    that came later (fraud-scorer-v2, erp-report-v2) have no evidence from before.
    """
    verdict = judge(evidence(row), "3.9.1", "4.0.0")
    assert (verdict.verdict, verdict.when or "", verdict.confidence) == (
        row["predicted"],
        row["when"],
        row["confidence"],
    )
    as_it_happened = "breaks" if "broken" in row["happened"] else "safe"
    assert bool(row["explained"]) == (
        row["predicted"] != as_it_happened or row["happened"] == "not run again"
    )


@pytest.mark.parametrize("row", cases("documented_cases.csv"))
def test_documented_case(row):
    verdict = judge(evidence(row), row["from"], row["to"])
    assert (verdict.verdict, verdict.when or "") == (row["verdict"], row["when"])


@pytest.mark.parametrize("row", cases("rules.csv"))
def test_rule(row):
    verdict = judge(evidence(row), row["from"], row["to"])
    assert (verdict.verdict, verdict.when or "", verdict.confidence) == (
        row["verdict"],
        row["when"],
        row["confidence"],
    )
    assert row["rule"] in {each.rule_id for each in verdict.findings} | {""}
    assert row["says"] in "\n".join((verdict.explanation, verdict.fix, *verdict.missing))


def test_every_verdict_is_explained_and_every_harm_has_a_fix():
    for name in ("fleet_3.9.1_to_4.0.0.csv", "documented_cases.csv", "rules.csv"):
        for row in table(name):
            verdict = judge(evidence(row), row.get("from", "3.9.1"), row.get("to", "4.0.0"))
            assert verdict.verdict in PRECEDENCE and verdict.confidence in CONFIDENCES
            assert verdict.explanation.endswith(".")
            assert bool(verdict.fix) == (verdict.verdict in ("breaks", "degrades", "unsupported"))
            if verdict.verdict == "insufficient_evidence":
                assert verdict.missing
            for finding in verdict.findings:
                assert finding.source and finding.explanation
                assert bool(finding.condition) == (finding.condition_met is not None)
                assert bool(finding.trigger) == (finding.when == "latent")


def test_findings_carry_the_evidence():
    verdict = judge(
        ClientEvidence(
            api_uses=(ApiUse(0, 2, 7, 1, 1_000, 5_000), ApiUse(0, 7, 2, 0, 2_000, 9_000)),
            security_protocol="PLAINTEXT",
        ),
        "3.9.1",
        "4.0.0",
    )
    (finding,) = verdict.findings
    assert (finding.api_key, finding.api_name, finding.versions) == (0, "Produce", "2")
    assert (finding.requests, finding.first_seen, finding.last_seen) == (7, 1_000, 5_000)
    assert finding.explanation == "writes records with Produce v2; 4.0.0 accepts v3–v12"


def test_refused_requests_are_no_versions_in_use():
    uses = (ApiUse(0, 2, 0, 9), ApiUse(0, 7, 3))
    refused = judge(ClientEvidence(api_uses=uses, security_protocol="PLAINTEXT"), "3.9.1", "4.0.0")
    assert refused.verdict == "safe"


def test_strongest_finding_comes_first():
    verdict = judge(
        ClientEvidence(
            api_uses=parse_api_uses("Produce:7 CreateTopics:0 OffsetCommit:1 Fetch:4 ListOffsets:0"),
            security_protocol="PLAINTEXT",
        ),
        "3.9.1",
        "4.0.0",
    )
    assert [(each.verdict, each.when, each.api_name) for each in verdict.findings] == [
        ("breaks", "at_once", "OffsetCommit"),
        ("breaks", "latent", "ListOffsets"),
        ("degrades", "at_once", "CreateTopics"),
        ("safe", None, "Produce"),
        ("safe", None, "Fetch"),
    ]
    assert verdict.when == "at_once"


def test_releases_are_checked():
    with pytest.raises(NotAnExactRelease):
        judge(ClientEvidence(), "3.9.1", "4.0")
    with pytest.raises(NothingToUpgrade):
        judge(ClientEvidence(), "4.0.0", "4.0.0")


def test_perhaps_unsupported_only_where_one_library_explains_every_request_exactly():
    java_1_1 = "Produce:5 Fetch:7 ListOffsets:2 OffsetCommit:3 OffsetFetch:3 FindCoordinator:1 JoinGroup:2 Heartbeat:1"
    for metadata, listed in (("Metadata:5", True), ("Metadata:4", False)):
        known = ClientEvidence(api_uses=parse_api_uses(f"{java_1_1} SyncGroup:1 {metadata} ApiVersions:1"))
        verdict = judge(known, "3.9.1", "4.0.0")
        assert verdict.verdict == "safe" and verdict.confidence == "observed"
        assert ("java_below_2_1_unsupported" in {each.rule_id for each in verdict.findings}) == listed


@pytest.mark.parametrize(
    ("release", "uses"),
    [
        (
            "0.11",
            "Produce:3 Fetch:5 ListOffsets:2 Metadata:4 OffsetCommit:3 OffsetFetch:3 FindCoordinator:1 JoinGroup:2 "
            "Heartbeat:1 SyncGroup:1 ApiVersions:1",
        ),
        (
            "1.1",
            "Produce:5 Fetch:7 ListOffsets:2 Metadata:5 OffsetCommit:3 OffsetFetch:3 FindCoordinator:1 JoinGroup:2 "
            "Heartbeat:1 SyncGroup:1 ApiVersions:1",
        ),
    ],
)
@pytest.mark.parametrize("target", ["4.0.0", "4.0.1", "4.3.1"])
def test_a_default_client_id_alone_makes_nobody_unsupported(release, uses, target):
    """Java before 2.1 declares no name. Under its default client id and under one of its own it fares the same."""
    verdicts = {
        client_id: judge(ClientEvidence(client_id=client_id, api_uses=parse_api_uses(uses)), "3.9.1", target)
        for client_id in ("consumer-1", "producer-1", "billing", None)
    }
    found = {(each.verdict, each.when, each.confidence) for each in verdicts.values()}
    assert found == {("safe", None, "observed")}, verdicts
