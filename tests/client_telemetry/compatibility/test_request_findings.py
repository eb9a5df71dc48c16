"""What a request of one API tells, beyond the truth tables: what brokers of other releases answered, and what waits already."""

import pytest
from client_telemetry.compatibility import ClientEvidence, judge, parse_api_uses, request_findings
from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.verdict import Finding
from client_telemetry.knowledge.vocabulary import Confidence, Verdict, When

MEMBER = (
    "Fetch:11 Metadata:9 OffsetCommit:8 OffsetFetch:7 FindCoordinator:3 JoinGroup:7 Heartbeat:4 SyncGroup:5"
)
LIST_OFFSETS = 2


def elsewhere(*answered: tuple[str, str]) -> ClientEvidence:
    """A consumer that was not seen to look offsets up, but by brokers of these releases."""
    uses = tuple((release, use) for release, text in answered for use in parse_api_uses(text))
    return ClientEvidence(api_uses=parse_api_uses(MEMBER), uses_elsewhere=uses)


def finding(evidence: ClientEvidence, source: str, target: str) -> Finding | None:
    found = request_findings.of(Case.of(evidence, source, target))
    return next((each for each in found if each.api_key == LIST_OFFSETS), None)


@pytest.mark.parametrize(
    ("answered", "verdict", "versions"),
    [
        ((("3.9.1", "ListOffsets:0"),), Verdict.BREAKS, "0"),
        ((("2.8.2", "ListOffsets:0"), ("3.9.1", "ListOffsets:5")), Verdict.BREAKS, "0"),
        ((("3.9.1", "ListOffsets:1"),), Verdict.SAFE, "1"),
        ((("2.8.2", "ListOffsets:5"), ("3.9.1", "ListOffsets:1,7")), Verdict.SAFE, "1, 5, 7"),
    ],
)
def test_what_the_same_client_sent_to_brokers_of_other_releases(answered, verdict, versions):
    """They offered a version that the target serves: who did not take it does not have it."""
    found = finding(elsewhere(*answered), "3.8.1", "4.0.1")
    assert found is not None
    assert (found.verdict, found.confidence, found.versions, found.requests) == (
        verdict,
        Confidence.INFERRED,
        versions,
        0,
    )
    where = ", ".join(release for release, _ in answered)
    assert found.explanation.endswith(f"4.0.1 accepts v1–v10 (seen with brokers on {where})")
    assert found.when == (When.LATENT if verdict == Verdict.BREAKS else None)


def test_brokers_that_offered_nothing_better_prove_no_refusal():
    """0.10.0 had ListOffsets 0 alone: what the client has besides is not known."""
    found = finding(elsewhere(("0.10.0.1", "ListOffsets:0")), "3.8.1", "4.0.1")
    assert found is None or "seen with brokers" not in found.explanation
    found = finding(elsewhere(("0.10.0.1", "ListOffsets:0"), ("3.9.1", "ListOffsets:1")), "3.8.1", "4.0.1")
    assert found is None or "seen with brokers" not in found.explanation


def test_a_version_that_was_seen_elsewhere_is_told_as_it_was_seen():
    verdict = judge(elsewhere(("3.9.1", "ListOffsets:1")), "3.8.1", "4.0.1")
    assert verdict.verdict == Verdict.SAFE and "ListOffsets v1," in verdict.explanation


def test_what_a_library_cannot_use_on_either_release_waits_there_already():
    sent = "Metadata:4 FindCoordinator:1 JoinGroup:5 SyncGroup:3 Heartbeat:3 OffsetFetch:5 OffsetCommit:7 Fetch:11"
    librdkafka = ClientEvidence("librdkafka", "1.7.0", api_uses=parse_api_uses(sent))
    found = finding(librdkafka, "4.0.0", "4.2.0")
    assert found is not None and found.as_before
    assert (
        found.explanation
        == "librdkafka 1.7.0 can use ListOffsets v0; 4.2.0 accepts v1–v11 (as on 4.0.0 already)"
    )
    assert (found.verdict, found.when) == (Verdict.BREAKS, When.LATENT)
    upgrade = finding(librdkafka, "3.9.1", "4.2.0")
    assert upgrade is not None and not upgrade.as_before, "here it is the upgrade that takes it away"
    newer = ClientEvidence("librdkafka", "2.3.0", api_uses=parse_api_uses(sent))
    assert finding(newer, "4.0.0", "4.2.0") is None
