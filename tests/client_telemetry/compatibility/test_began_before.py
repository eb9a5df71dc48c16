"""Clients that began before they were watched: what they request once per start is known where all that they can be agree."""

import pytest
from client_telemetry.compatibility import ClientEvidence, judge, parse_api_uses

MEMBER = "Fetch:11x600 OffsetCommit:5x60 Heartbeat:3x100"


@pytest.mark.parametrize(("case", "client_id", "uses", "verdict"), [
    ("all that a steady member sends", "zz", MEMBER, "safe"),
    ("with transactions of aiokafka", "zz", "Produce:7x11 Fetch:4x190 OffsetCommit:3x12 Heartbeat:1x20 AddPartitionsToTxn:0x28 EndTxn:0x11", "safe"),
    ("librdkafka 1.3 declares no name and keeps ListOffsets 0", "zz", "Fetch:11x600 OffsetCommit:7x60 Heartbeat:3x100", "insufficient_evidence"),
    ("commits unseen", "zz", "Fetch:11x600 Heartbeat:3x100", "insufficient_evidence"),
    ("no member", "zz", "Fetch:11x600 OffsetCommit:5x60", "insufficient_evidence"),
    ("before 0.11", "zz", "Fetch:2x600 OffsetCommit:2x60 Heartbeat:0x100", "breaks"),
    ("sarama keeps OffsetCommit 1", "zz", "Fetch:10x600 OffsetCommit:1x60 Heartbeat:0x100", "breaks"),
    ("a Java producer without records", "producer-2", "Metadata:5", "safe"),
    ("any name", "zz", "Metadata:5", "insufficient_evidence"),
    ("franz-go by its client id, which may be a transactional producer", "kgo", "Metadata:9x40 ApiVersions:3x400", "insufficient_evidence"),
    ("a Java consumer by its client id", "consumer-1", "Fetch:7x900 Metadata:5", "safe"),
    ("a worker of Connect 1.x", "connect-1", "Metadata:5x3 Heartbeat:1x120 ApiVersions:1x2", "safe"),
    ("NestJS", "nestjs-consumer-server", MEMBER, "safe"),
    ("nginx with lua-resty-kafka", "worker9809", "Produce:0x163 Metadata:0x163", "breaks"),
    ("nginx, not one record yet", "worker9809", "Metadata:0x163", "breaks"),
])  # fmt: skip
def test_what_is_requested_once_per_start(case, client_id, uses, verdict):
    evidence = ClientEvidence(
        "unknown", "unknown", client_id, parse_api_uses(uses), security_protocol="PLAINTEXT"
    )
    found = judge(evidence, "3.9.1", "4.0.1")
    assert found.verdict == verdict, found.explanation


def test_the_answer_for_a_library_is_its_own():
    evidence = ClientEvidence(
        "unknown", "unknown", "worker9809", parse_api_uses("Produce:0x163 Metadata:0x163")
    )
    found = judge(evidence, "3.9.1", "4.0.1")
    assert found.identified_as.startswith("probably lua-resty-kafka")
    assert (
        found.fix
        == "probably lua-resty-kafka (not declared): replace lua-resty-kafka: no version of it sends Produce v3 or later (its api_version ends at 2)"
    )
