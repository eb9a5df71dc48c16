"""Clusters whose finalized features are not the defaults of their release: upgraded in place and never finalized, formatted with
an older release, downgraded. The levels decide what works today and after the next hop.
"""

import pytest
from client_telemetry.compatibility import ClientEvidence, judge, parse_api_uses
from client_telemetry.compatibility.evidence import FailedApi
from client_telemetry.knowledge.vocabulary import Step

NEVER_FINALIZED = (("metadata.version", 21),)
DEFAULTS = (("group.version", 1), ("metadata.version", 25), ("transaction.version", 2))
MEMBER = "ConsumerGroupHeartbeat:1x50 FindCoordinator:6x2 Metadata:13x2 Fetch:17x99 OffsetCommit:9x5 OffsetFetch:9 ListOffsets:10"
TRANSACTIONS = "FindCoordinator:6 InitProducerId:5 Metadata:13"


@pytest.mark.parametrize(("case", "features", "client", "uses", "verdict", "failing"), [
    ("levels are not known", None, ("apache-kafka-java", "4.1.0"), MEMBER, "safe", False),
    ("a new cluster", DEFAULTS, ("apache-kafka-java", "4.1.0"), MEMBER, "safe", False),
    ("upgraded and never finalized", NEVER_FINALIZED, ("apache-kafka-java", "4.1.0"), MEMBER, "breaks", True),
    ("never finalized, classic member", NEVER_FINALIZED, ("apache-kafka-java", "4.1.0"), MEMBER.replace("ConsumerGroupHeartbeat:1", "Heartbeat:4"), "safe", False),
    ("transactions of franz-go", NEVER_FINALIZED, ("kgo", "v1.19.1"), TRANSACTIONS, "breaks", True),
    ("transactions of franz-go on a new cluster", DEFAULTS, ("kgo", "v1.19.1"), TRANSACTIONS, "safe", False),
])  # fmt: skip
def test_the_sources_levels_decide_before_finalization(case, features, client, uses, verdict, failing):
    evidence = ClientEvidence(
        *client, "x", parse_api_uses(uses), security_protocol="PLAINTEXT", source_features=features
    )
    found = judge(evidence, "4.0.1", "4.1.1")
    assert found.steps[Step.NOT_FINALIZED].verdict == verdict
    assert found.verdict == "safe", "after finalization"
    assert found.already_failing == failing


def test_what_a_closed_version_was_answered_is_said_in_words():
    evidence = ClientEvidence(
        "apache-kafka-java", "4.1.0", "x", parse_api_uses(MEMBER), source_features=NEVER_FINALIZED
    )
    found = judge(evidence, "4.0.1", "4.1.1")
    assert (
        "4.0.1 refuses ConsumerGroupHeartbeat v1 until group.version 1 is finalized; it is 0"
        in found.explanation
    )


def test_an_answer_that_was_an_error_proves_no_level():
    evidence = ClientEvidence(
        "apache-kafka-java",
        "4.0.0",
        "x",
        parse_api_uses("ConsumerGroupHeartbeat:0x9 FindCoordinator:6x9"),
        failed_apis=(FailedApi(68, 35),),
    )
    assert judge(evidence, "3.9.1", "4.0.1").steps[Step.NOT_FINALIZED].verdict == "breaks"
