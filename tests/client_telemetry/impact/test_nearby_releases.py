import pytest
from client_telemetry.compatibility import ClientEvidence, judge, parse_api_uses, targets
from client_telemetry.compatibility.judgement import what_decides
from client_telemetry.impact.nearby_releases import decided_by, differing, on_nearby_targets


def client(uses: str, **columns) -> ClientEvidence:
    return ClientEvidence(api_uses=parse_api_uses(uses), **{"security_protocol": "PLAINTEXT"} | columns)


JOINS_WITH_1 = client(
    "JoinGroup:1x12 SyncGroup:1 Heartbeat:1 OffsetCommit:2 OffsetFetch:1 Fetch:4 ListOffsets:1"
)
PRODUCES_WITH_2 = client("Produce:2x7 Metadata:1")


def on_targets(evidence: ClientEvidence, *releases: str):
    judged = on_nearby_targets(evidence, *releases, judge(evidence, *releases))
    return judged, differing(judged, releases[1])


def test_a_client_that_fails_on_4_0_0_only_names_the_request():
    judged, others = on_targets(JOINS_WITH_1, "3.9.1", "4.0.0")
    assert judged["4.0.0"].counted_as == "breaks_at_once"
    assert [each["to_release"] for each in others] == list(targets.nearby("3.9.1", "4.0.0"))
    assert {each["reason"] for each in others} == {"JoinGroup v1"}
    assert "breaks" not in {each["verdict"] for each in others}


def test_where_it_fares_the_same_nothing_is_listed():
    assert on_targets(JOINS_WITH_1, "3.9.1", "4.0.1")[1] == []


def test_the_reason_is_of_the_release_that_refuses():
    _, others = on_targets(PRODUCES_WITH_2, "3.4.1", "3.5.0")
    assert {(row["verdict"], row["when"], row["reason"]) for row in others} == {
        ("breaks", "at_once", "Produce v2")
    }
    assert all(row["to_release"].startswith("4.") for row in others)


def test_what_waits_for_a_trigger_is_counted_apart():
    old = client("Fetch:4", client_software_name="librdkafka", client_software_version="1.7.0")
    assert on_targets(old, "3.9.1", "4.0.1")[0]["4.0.1"].counted_as == "breaks_latent"


def test_a_rollback_compares_older_releases():
    judged, _ = on_targets(PRODUCES_WITH_2, "4.0.1", "3.9.1")
    assert len(judged) > 1 and all(release.startswith("3.") for release in judged)


def test_several_requests_are_named_once_each():
    verdict = judge(client("Produce:0-2 Fetch:2"), "3.9.1", "4.0.0")
    assert decided_by(verdict) == "Produce v0–v2, Fetch v2"


@pytest.mark.parametrize(
    ("differs", "source", "target", "other"),
    [
        ("the requests that are served", "3.9.1", "2.2.0", "2.3.0"),
        ("the newest levels of features", "3.3.1", "3.3.2", "3.4.0"),
        ("the known issues", "3.9.1", "4.0.1", "4.0.2"),
        ("whether it is a rollback", "3.5.1", "3.5.0", "3.5.2"),
    ],
)
def test_targets_that_differ_are_judged_apart(differs, source, target, other):
    assert what_decides(source, target) != what_decides(source, other), differs


def test_targets_that_do_not_differ_are_judged_once():
    assert what_decides("3.9.1", "3.1.1") == what_decides("3.9.1", "3.1.2")
