"""What waits for a client on the brokers of now as on those that are to come: told, and never plainly safe."""

from client_telemetry.compatibility import ClientEvidence, judge, parse_api_uses
from client_telemetry.knowledge.vocabulary import Verdict

MEMBER = "Metadata:4 FindCoordinator:1 JoinGroup:5 SyncGroup:3 Heartbeat:3x90 OffsetFetch:5 OffsetCommit:7 Fetch:11x90"


def member(name: str | None, version: str | None, more: str = "", **columns) -> ClientEvidence:
    return ClientEvidence(name, version, api_uses=parse_api_uses(f"{MEMBER} {more}"), **columns)


def test_an_offset_reset_that_fails_on_both_releases():
    verdict = judge(member("librdkafka", "1.7.0"), "4.0.0", "4.3.1")
    assert (verdict.verdict, verdict.when, verdict.as_before) == (Verdict.BREAKS, "latent", True)
    assert not verdict.already_failing  # nothing shows that the event has come
    assert "(as on 4.0.0 already)" in verdict.explanation and "offset reset" in verdict.explanation
    assert verdict.fix == "upgrade librdkafka to 2.6.1 or later"
    assert {step.verdict for step in verdict.steps.values()} == {Verdict.BREAKS}


def test_one_that_was_answered_does_not():
    assert judge(member("librdkafka", "1.7.0", "ListOffsets:2"), "4.0.0", "4.3.1").verdict == Verdict.SAFE


def test_it_is_the_upgrade_where_the_brokers_of_now_serve_it():
    verdict = judge(member("librdkafka", "1.7.0"), "3.9.1", "4.0.0")
    assert (verdict.verdict, verdict.as_before) == (Verdict.BREAKS, False)


def test_a_range_that_both_releases_refuse():
    """Without the issue: what name and version tell of ListOffsets is enough."""
    verdict = judge(member("librdkafka", "1.7.0", sasl_mechanism="PLAIN"), "4.1.0", "4.1.1")
    assert verdict.as_before and "ListOffsets" in {each.api_name for each in verdict.findings}


def test_a_client_that_kafka_does_not_support_on_either_release():
    uses = parse_api_uses("Produce:5x90 Metadata:5 ApiVersions:1")
    verdict = judge(ClientEvidence("apache-kafka-java", "2.0.1", api_uses=uses), "4.0.0", "4.3.1")
    assert (verdict.verdict, verdict.as_before) == ("unsupported", True)


def test_what_hangs_on_a_condition_is_told_beside_a_safe_verdict():
    """Subscriptions that nobody knows: librdkafka 2.5.0 aborts on brokers from 3.7 on if none of its metrics matches."""
    verdict = judge(member("librdkafka", "2.5.0", security_protocol="PLAINTEXT"), "3.9.1", "3.9.2")
    assert verdict.verdict == Verdict.SAFE
    assert "breaks later if a KIP-714 subscription matches none" in verdict.condition
    assert "(as on 3.9.1 already)" in verdict.explanation


def test_what_nothing_settles_is_not_told_again():
    """Broker bugs that wait for an event of the brokers, in both releases."""
    transactions = "Produce:11x90 InitProducerId:5 AddPartitionsToTxn:3 EndTxn:3 Metadata:12"
    uses = parse_api_uses(transactions)
    verdict = judge(ClientEvidence("apache-kafka-java", "3.9.1", api_uses=uses), "3.8.0", "3.8.1")
    assert (verdict.verdict, verdict.condition) == (Verdict.SAFE, "")
