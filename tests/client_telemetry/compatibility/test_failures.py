"""What is left of a client whose requests are refused: what it asks before and after."""

import pytest
from client_telemetry.compatibility import ClientEvidence, failures, judge, parse_api_uses
from client_telemetry.compatibility.evidence import FailedApi, versions_in_use

AGAIN = "it looks its coordinator up again and again on 4.0.1, and {} of the requests that follow is answered"
NO_RECORD = "it is in its group on 4.0.1 and reads no record: no Fetch of it was answered"
MEMBER = "FindCoordinator:1 JoinGroup:2 Heartbeat:1x10"


def said(uses: str, source: str = "4.0.1", **who) -> str:
    evidence = ClientEvidence(api_uses=parse_api_uses(uses), **who)
    return "; ".join(failures.now(evidence, versions_in_use(evidence), source))


@pytest.mark.parametrize("uses, expected", [
    ("FindCoordinator:1x4 Metadata:4x9", ""),
    ("FindCoordinator:1x5 Metadata:4x9", AGAIN.format("none")),
    ("FindCoordinator:1x1 Metadata:4x10", AGAIN.format("none")),
    ("Metadata:4x10", ""),
    ("FindCoordinator:1x9 OffsetCommit:3x1 Metadata:4x10", ""),
    ("FindCoordinator:1x10 OffsetCommit:3x1", AGAIN.format("hardly any")),
    ("FindCoordinator:1x10 OffsetCommit:3x5", AGAIN.format("hardly any")),
    ("FindCoordinator:1x10 OffsetCommit:3x6", ""),
    ("FindCoordinator:1x5 CreateTopics:2x1", ""),
    (f"{MEMBER} OffsetFetch:3", NO_RECORD),
    (f"{MEMBER} OffsetCommit:3", NO_RECORD),
    (f"{MEMBER} OffsetFetch:3 Fetch:5", ""),
    (MEMBER, ""),
    ("FindCoordinator:1 JoinGroup:2 Heartbeat:1x9 OffsetFetch:3", ""),
])  # fmt: skip
def test_requests_that_nothing_follows(uses, expected):
    assert said(uses) == expected
    assert said(uses, "3.9.1") == ""
    assert said(f"ApiVersions:1 {uses}") == "", "no release refuses what clients as of 0.11 send"
    assert said(f"ApiVersions:0 {uses}") == expected


def test_a_client_that_names_itself_looks_up_topics_for_its_own_reasons():
    own_name = {"client_software_name": "librdkafka", "client_software_version": "2.3.0"}
    assert said("FindCoordinator:1x1 Metadata:4x10", **own_name) == ""
    assert said("FindCoordinator:1x5", **own_name) == AGAIN.format("none")


def answers(uses: str, *failed: tuple[int, int], **who) -> list[tuple[str, bool]]:
    evidence = ClientEvidence(
        api_uses=parse_api_uses(uses), failed_apis=tuple(FailedApi(*api) for api in failed), **who
    )
    return list(map(tuple, failures.by_answers(evidence, versions_in_use(evidence), "3.9.1")))


def test_what_is_answered_with_errors_only():
    ((reason, upgrade_helps),) = answers("Produce:7x9 Metadata:9x9", (0, 29))
    assert reason == (
        "3.9.1 answers each Produce with error 29 (TOPIC_AUTHORIZATION_FAILED): its principal has no permission (ACL) for the "
        "topic; the upgrade does not change that"
    )
    assert not upgrade_helps
    ((reason, upgrade_helps),) = answers("ConsumerGroupHeartbeat:0x9", (68, 35))
    assert "ConsumerGroupHeartbeat with error 35 (UNSUPPORTED_VERSION)" in reason and upgrade_helps
    ((reason, _),) = answers("JoinGroup:5x90 Heartbeat:3x90", (12, 27))
    assert (
        reason
        == "3.9.1 answers each Heartbeat with error 27 (REBALANCE_IN_PROGRESS): its group keeps rebalancing"
    )


def test_an_error_may_be_the_answer_to_an_administrative_request():
    assert answers("CreateTopics:5x9", (19, 36)) == []
    assert answers("CreateTopics:5x9", (19, 31)) != []
    assert answers("CreateTopics:5x9 Produce:9x9", (19, 31)) == [], "it still produces"


JAVA = {"client_software_name": "apache-kafka-java", "client_software_version": "4.4.0"}


@pytest.mark.parametrize(("uses", "fails"), [
    ("FindCoordinator:6x5 Metadata:12x5 ApiVersions:4x5", True),
    ("FindCoordinator:6x4 Metadata:12x5", False),
    ("FindCoordinator:6x5 OffsetCommit:9x1", False),
    ("FindCoordinator:6x5 InitProducerId:5x1", False),
    ("FindCoordinator:6x5 ConsumerGroupDescribe:0x5", False),
    ("FindCoordinator:6x5 DeleteGroups:2x5", False),
    ("FindCoordinator:6x5 Fetch:17x5", False),
    ("FindCoordinator:6x5 CreateTopics:7x1", False),
])  # fmt: skip
def test_a_java_client_that_asks_for_its_coordinator_and_for_nothing_there(uses, fails):
    assert bool(answers(uses, **JAVA)) == fails
    assert answers(uses, client_software_name="librdkafka", client_software_version="2.3.0") == []
    assert answers(uses) == []


def test_a_client_that_fails_for_its_permissions_does_not_work_again():
    evidence = ClientEvidence(
        "apache-kafka-java",
        "3.9.1",
        api_uses=parse_api_uses("Produce:9x9"),
        failed_apis=(FailedApi(0, 29),),
        security_protocol="PLAINTEXT",
    )
    verdict = judge(evidence, "3.9.1", "4.0.1")
    assert (verdict.verdict, verdict.already_failing, verdict.works_again) == ("safe", True, False)
    assert "It fails on 3.9.1 already: 3.9.1 answers each Produce with error 29" in verdict.explanation
