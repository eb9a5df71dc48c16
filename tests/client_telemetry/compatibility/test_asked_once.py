"""Libraries that ask for versions once: what they do while brokers differ, and when brokers go back."""

import pytest
from client_telemetry.compatibility import ClientEvidence, judge, parse_api_uses
from client_telemetry.compatibility.verdict import ASKED_ONCE
from client_telemetry.knowledge.software import WrittenLibrary
from client_telemetry.knowledge.vocabulary import Step

PRODUCER = "Produce:9 Metadata:12"


def client(name: str | None, version: str | None, uses: str) -> ClientEvidence:
    return ClientEvidence(name, version, api_uses=parse_api_uses(uses), security_protocol="PLAINTEXT")


def test_what_starts_at_an_upgraded_broker_sends_too_much_to_the_others():
    """Seen: platformatic-kafka 2.12.1 that asked 4.0.1 sends Produce v11 to 3.6.2, which has v9."""
    verdict = judge(client("platformatic-kafka", "2.12.1", PRODUCER), "3.6.2", "4.0.1")
    assert verdict.verdict == "safe"
    assert "breaks later if it starts at a broker on 4.0.1 while others run 3.6.2" in verdict.condition
    rolling = verdict.steps[Step.ROLLING].explanation
    assert "sends Produce v11 to brokers on 3.6.2 too" in rolling and "started anew" in rolling
    assert "If it was started in between" in verdict.steps[Step.ROLLBACK_BEFORE_FINALIZATION].explanation


def test_what_keeps_running_through_a_rollback_is_told_to_start_anew():
    """Seen of the same client: once 3.6.2 had taken the place of 4.0.1, each Produce failed until it was started anew."""
    verdict = judge(client("platformatic-kafka", "2.12.1", "Produce:11 Metadata:12"), "4.0.1", "3.6.2")
    assert "Not known: whether it keeps running while brokers go back to 3.6.2" in verdict.explanation
    assert "sends Produce v11 to brokers on 3.6.2 too" in verdict.explanation
    assert "settled by starting it anew once the last broker is back" in verdict.explanation
    assert "breaks if it keeps running while brokers go back to 3.6.2" in verdict.condition


def test_in_a_rollback_what_it_was_seen_to_send_counts():
    verdict = judge(client("platformatic-kafka", "2.12.1", "Produce:9 Metadata:12"), "3.9.1", "3.6.2")
    assert verdict.condition == ""


@pytest.mark.parametrize(("source", "target"), [("3.9.1", "4.0.1"), ("4.0.1", "3.9.1")])
def test_between_releases_that_accept_the_same_of_it_nothing_is_said(source, target):
    verdict = judge(client("platformatic-kafka", "2.12.1", "Produce:11 Metadata:12"), source, target)
    assert verdict.verdict == "safe"
    assert ASKED_ONCE not in {finding.rule_id for finding in verdict.findings}


@pytest.mark.parametrize(
    ("library", "version", "is_so"),
    [
        ("platformatic-kafka", "2.12.1", True),
        ("kafka-python", "2.3.1", True),
        ("kafka-python", "2.3.2", True),
        ("kafka-python", "3.0.11", False),
        ("confluent-kafka-python", "2.10.0", False),
        ("apache-kafka-java", "3.9.1", False),
    ],
)
def test_only_libraries_that_ask_once_are_concerned(library, version, is_so):
    uses = "Produce:7 Metadata:5 Fetch:10 JoinGroup:2 OffsetCommit:3 OffsetFetch:3 ListOffsets:2"
    verdict = judge(client(library, version, uses), "2.0.1", "2.8.2")
    assert (ASKED_ONCE in {finding.rule_id for finding in verdict.findings}) == is_so, verdict.findings


LISTED = [
    ("kafkajs", "2.2.4", "", True),
    ("kafka-python", "2.0.2", "", True),
    ("kafka-python", "2.0.2", "1.0.0", False),
    ("aiokafka", "0.12.0", "", True),
    ("aiokafka", "0.14.0", "", False),
]


@pytest.mark.parametrize(("library", "version", "pinned_to", "is_so"), LISTED)
def test_libraries_that_declare_no_name_are_concerned_where_a_list_names_them(
    library, version, pinned_to, is_so
):
    """Unless the code says which release to speak as: then the library asks nobody."""
    written = WrittenLibrary(library, version, pinned_to=pinned_to)
    verdict = judge(ClientEvidence(written=written, api_uses=parse_api_uses("Produce:6")), "2.0.1", "2.8.2")
    assert (ASKED_ONCE in {finding.rule_id for finding in verdict.findings}) == is_so, verdict.findings


def test_kafkajs_asks_anew_once_it_is_connected_to_no_broker():
    """Seen of 2.2.4 between two brokers that offered what 2.8.2 and 2.0.1 do: Produce v7 was sent to what was back on 2.0.1, until the
    second was, too.
    """
    evidence = ClientEvidence(
        written=WrittenLibrary("kafkajs", "2.2.4"), api_uses=parse_api_uses("Produce:7")
    )
    verdict = judge(evidence, "2.8.2", "2.0.1")
    assert "sends Produce v7 to brokers on 2.0.1 too" in verdict.explanation
    assert "until it is started anew or connected to none" in verdict.explanation
