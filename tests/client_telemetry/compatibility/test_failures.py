"""What is left of a client whose requests are refused: what it asks before and after."""

import pytest
from client_telemetry.compatibility import ClientEvidence, failures, parse_api_uses
from client_telemetry.compatibility.evidence import versions_in_use

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
