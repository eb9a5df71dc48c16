"""What a client sends says of APIs that it was not seen to use."""

from client_telemetry.compatibility import ClientEvidence, judge, parse_api_uses
from client_telemetry.knowledge.vocabulary import Verdict

GROUP_MEMBER = "OffsetFetch:1 Fetch:11x50 JoinGroup:5 Heartbeat:3x50 SyncGroup:3 OffsetCommit:7x50"


def test_an_old_request_that_a_library_with_all_these_sends_is_not_ruled_out():
    """Its requests are all of 0.11 or later. Some library that sends just these asks for offsets with ListOffsets v0, which
    4.0.0 refuses; ListOffsets itself was not seen. That library declares its name, which this source does not have."""
    found = judge(ClientEvidence(api_uses=parse_api_uses(GROUP_MEMBER)), "3.9.1", "4.0.0")
    assert found.verdict == Verdict.INSUFFICIENT_EVIDENCE
    assert found.missing[0].startswith("which version of ListOffsets it uses")


def test_the_same_is_ruled_out_where_every_library_with_all_these_sends_a_newer_one():
    seen = "FindCoordinator:3 Metadata:9x50 OffsetFetch:6 Fetch:11x50 JoinGroup:5 Heartbeat:3x50 SyncGroup:3 OffsetCommit:7x50"
    found = judge(ClientEvidence(api_uses=parse_api_uses(seen)), "3.9.1", "4.0.0")
    assert not any("ListOffsets" in each for each in found.missing)
    assert found.verdict == Verdict.SAFE
