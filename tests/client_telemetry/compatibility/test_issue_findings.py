"""Known issues that only take a function away: shown where they apply for certain, said where they may apply."""

import pytest
from client_telemetry.compatibility import ClientEvidence, judge, parse_api_uses

MEMBER = "ApiVersions:3 Metadata:12 FindCoordinator:4 JoinGroup:5 SyncGroup:3 Heartbeat:3 Fetch:11"
TELEMETRY = f"{MEMBER} GetTelemetrySubscriptions:0"


def franz_go(version: str | None, subscriptions: tuple[str, ...] | None, uses: str = TELEMETRY):
    client = ClientEvidence(
        "kgo",
        version,
        api_uses=parse_api_uses(uses),
        subscriptions=subscriptions,
        security_protocol="PLAINTEXT",
    )
    return judge(client, "3.6.2", "3.7.2")


def test_a_degrading_issue_of_this_version_whose_condition_is_met_decides():
    verdict = franz_go("v1.20.4", ("*",))
    assert (verdict.verdict, verdict.when) == ("degrades", "latent")
    assert {"franz_go_telemetry_lost", "franz_go_telemetry_wrong"} <= set(verdict.rules)


@pytest.mark.parametrize("version", [None, "v0.0.0-20250811101112-abcdefabcdef"])
def test_of_an_unknown_version_it_is_not_called_safe_where_all_else_is_met(version):
    verdict = franz_go(version, ("*",))
    assert verdict.verdict == "insufficient_evidence"
    assert "degrades later if it is franz-go 1.20.4 and " in verdict.condition
    assert "Degrades if it is franz-go 1.20.4 and " in verdict.explanation
    assert "Breaks if" not in verdict.explanation


def test_of_an_unknown_version_a_condition_that_somebody_can_settle_is_said():
    verdict = franz_go(None, None)
    assert verdict.verdict == "safe"
    assert "degrades later if it is franz-go 1.20.4 and " in verdict.condition


def test_where_nothing_matches_it_nothing_is_said():
    assert franz_go(None, ()).verdict == "safe"
    assert "franz-go 1.20.4" not in franz_go(None, ()).condition


def test_what_degrades_for_certain_outranks_what_may_degrade():
    """4.0 refuses CreateTopics v1, whatever the version of the library."""
    client = ClientEvidence(
        "kgo",
        None,
        api_uses=parse_api_uses(f"{TELEMETRY} OffsetCommit:8 OffsetFetch:6 ListOffsets:5 CreateTopics:1"),
        subscriptions=("*",),
        security_protocol="PLAINTEXT",
    )
    verdict = judge(client, "3.6.2", "4.0.1")
    assert verdict.verdict == "degrades"
    assert "degrades later if it is franz-go 1.20.4 and " in verdict.condition


def test_sarama_never_shows_its_version_so_its_degrading_issues_are_said():
    """Sarama declares the version of the application: each of its releases is possible (IBM/sarama issue 2443)."""
    client = ClientEvidence(
        "sarama",
        "v5.0.1",
        api_uses=parse_api_uses("ApiVersions:3 Metadata:5 DescribeGroups:4 ListGroups:0"),
        security_protocol="PLAINTEXT",
    )
    verdict = judge(client, "3.9.1", "2.3.1")
    assert (
        "degrades if it is sarama 1.34.0 to 1.38.1 and its config.Version is 2.3.0 or later"
        in verdict.condition
    )


@pytest.mark.parametrize(("target", "is_said"), [("2.8.2", True), ("4.4.0", True), ("2.7.2", False)])
def test_sarama_that_alters_configurations_with_a_wrong_request(target, is_said):
    """1.60.0 and 1.61.0 with config.Version 2.8.0: nil on 2.7.2, EOF on 2.8.2 and 4.4.0; 1.61.1: nil (a run of each)."""
    client = ClientEvidence(
        "sarama",
        "v1.0.0",
        api_uses=parse_api_uses("ApiVersions:3 AlterConfigs:1"),
        security_protocol="PLAINTEXT",
    )
    verdict = judge(client, "2.6.3", target)
    assert ("degrades if it is sarama 1.60.0 to 1.61.0 and " in verdict.condition) == is_said, verdict
