"""The rollback of an upgrade, for clients that were watched before it."""

import pytest
from client_telemetry.compatibility import ClientEvidence, judge, judge_rollback, parse_api_uses


def back(uses: str, source: str, target: str, name: str | None = None, version: str | None = None):
    evidence = ClientEvidence(name, version, None, parse_api_uses(uses))
    return judge_rollback(evidence, source, target, judge(evidence, source, target))


def test_what_was_seen_to_work_works_again():
    outlook = back("Produce:9x120 Metadata:12x7", "3.9.1", "4.0.1")
    assert (outlook.verdict, outlook.confidence, outlook.when) == ("safe", "observed", None)
    assert outlook.explanation == (
        "3.9.1 answered its requests (Produce v9, Metadata v12) and accepts the same again."
    )


def test_the_way_back_cures_what_the_upgrade_breaks():
    outlook = back("Produce:2", "3.9.1", "4.0.0")
    assert outlook.verdict == "safe" and "What stops working on 4.0.0 works again." in outlook.explanation


def test_a_long_list_is_cut():
    outlook = back("Produce:9 Fetch:12 JoinGroup:7 SyncGroup:5 Heartbeat:4 OffsetCommit:8", "3.9.1", "4.0.1")
    assert "and 2 more)" in outlook.explanation


@pytest.mark.parametrize(
    ("source", "version", "uses", "is_named"),
    [
        ("3.9.1", "3.9.1", "Fetch:12 JoinGroup:9", True),
        ("3.6.2", "3.9.1", "Fetch:12 JoinGroup:9", True),
        ("4.0.0", "3.9.1", "Fetch:12 JoinGroup:9", False),
        ("3.9.1", "3.9.1", "Produce:9", False),
        ("3.9.1", "2.8.2", "Fetch:12 JoinGroup:7", False),
    ],
)
def test_consumers_that_could_take_up_the_new_group_protocol(source, version, uses, is_named):
    outlook = back(uses, source, "4.0.1", "apache-kafka-java", version)
    assert outlook.verdict == "safe"
    assert ("group.protocol=classic" in outlook.explanation) == is_named


def test_a_library_that_must_not_be_taken_further_until_then():
    outlook = back("Fetch:11 JoinGroup:5", "2.6.3", "2.8.2", "librdkafka", "2.5.0")
    assert "not taken to librdkafka 2.6.0 until then: it sends Fetch v12" in outlook.explanation
    assert "2.6.0" not in back("Fetch:11", "2.7.2", "2.8.2", "librdkafka", "2.5.0").explanation


def test_trouble_that_a_client_has_today_comes_back():
    outlook = back("FindCoordinator:2 JoinGroup:5 Metadata:4", "2.6.3", "2.8.2", "librdkafka", "2.6.0")
    assert (outlook.verdict, outlook.when) == ("breaks", "at_once")
    assert outlook.explanation.startswith("As today on 2.6.3: librdkafka 2.6.0 sends Fetch v12")


def test_without_any_request_the_declared_ranges_decide():
    known = back("", "3.9.1", "4.0.1", "apache-kafka-java", "3.6.1")
    assert (known.verdict, known.confidence) == ("safe", "declared")
    unsupported = back("", "2.0.1", "3.9.1", "apache-kafka-java", "4.1.1")
    assert unsupported.verdict == "unsupported"
    of_new_groups = back("", "3.9.1", "4.0.1", "apache-kafka-java", "4.1.1")
    assert of_new_groups.verdict == "insufficient_evidence"
    assert "ConsumerGroupHeartbeat" in of_new_groups.explanation
    unknown = back("ApiVersions:0", "3.9.1", "4.0.1")
    assert (unknown.verdict, unknown.confidence) == ("insufficient_evidence", "none")


def test_who_asks_for_versions_takes_older_ones_of_what_was_not_seen():
    """4.1 serves ListOffsets to a later version than 3.9 and from the same on: a program of any library that asks copes."""
    uses = parse_api_uses("ApiVersions:3x10 Fetch:16x100 Metadata:1x3")
    judged = judge(ClientEvidence(None, None, None, uses), "4.1.0", "3.9.1")
    assert judged.verdict == "safe" and "ListOffsets" not in judged.explanation
    without = parse_api_uses("Fetch:16x100 Metadata:1x3")
    asks_not = judge(ClientEvidence(None, None, None, without), "4.1.0", "3.9.1")
    assert "ListOffsets" in asks_not.explanation
