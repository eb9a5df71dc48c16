"""A version that names a line of releases only: what its releases have in common, and no more."""

import pytest
from client_telemetry.compatibility import ClientEvidence, judge, parse_api_uses
from client_telemetry.knowledge.vocabulary import Verdict

SCRAM = {"security_protocol": "SASL_SSL", "sasl_mechanism": "SCRAM-SHA-512"}
KERBEROS = {"security_protocol": "SASL_SSL", "sasl_mechanism": "GSSAPI"}
PLAIN = {"security_protocol": "PLAINTEXT"}
PRODUCER = "Produce:7x90 Metadata:12"


@pytest.mark.parametrize(
    ("name", "version", "login", "verdict"),
    [
        ("librdkafka", "2.6", SCRAM, Verdict.INSUFFICIENT_EVIDENCE),  # 2.6.0 cannot log in, 2.6.1 can
        ("librdkafka", "2.6.x", SCRAM, Verdict.INSUFFICIENT_EVIDENCE),
        ("librdkafka", "v2.6.X", SCRAM, Verdict.INSUFFICIENT_EVIDENCE),
        ("librdkafka", "2.5", SCRAM, Verdict.BREAKS),
        ("librdkafka", "2.7", SCRAM, Verdict.SAFE),
        ("kgo", "1.20", KERBEROS, Verdict.INSUFFICIENT_EVIDENCE),  # fixed in 1.20.7
        ("kgo", "1.19", KERBEROS, Verdict.BREAKS),
        ("kgo", "1.20", PLAIN, Verdict.SAFE),
        ("apache-kafka-java", "2.0", PLAIN, Verdict.UNSUPPORTED),
        ("apache-kafka-java", "3.0", PLAIN, Verdict.SAFE),
        ("apache-kafka-java", "0.10", PLAIN, Verdict.BREAKS),
    ],
)
def test_the_verdict_of_a_line_is_that_of_all_its_releases(name, version, login, verdict):
    judged = judge(
        ClientEvidence(name, version, api_uses=parse_api_uses(PRODUCER), **login), "3.9.1", "4.0.1"
    )
    if name == "apache-kafka-java" and verdict == Verdict.BREAKS:  # 0.10 sends no Produce v7
        judged = judge(ClientEvidence(name, version, **login), "3.9.1", "4.0.1")
    assert judged.verdict == verdict


def test_what_would_settle_it_is_said():
    judged = judge(
        ClientEvidence("librdkafka", "2.6", api_uses=parse_api_uses(PRODUCER), **SCRAM), "3.9.1", "4.0.1"
    )
    assert "Releases of 2.6 differ" in judged.explanation
    assert any("its whole version" in each for each in judged.missing)


def test_an_issue_in_the_middle_of_a_line_is_found():
    """franz-go 1.15.1 adds partitions with a version that waits for transaction.version 1; 1.15.0 and 1.15.2 do not."""
    uses = parse_api_uses("Produce:9x90 Metadata:12 InitProducerId:4 AddPartitionsToTxn:3")
    judged = judge(
        ClientEvidence("kgo", "1.15", api_uses=uses, **PLAIN),
        "3.9.1",
        "4.0.1",
        features={"transaction.version": 0},
    )
    assert judged.verdict == Verdict.INSUFFICIENT_EVIDENCE
