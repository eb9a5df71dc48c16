"""Clients that do not look like a producer or a consumer, or whose main job is another: each would be judged wrongly, or not
at all, without the rule that its test names."""

import pytest
from client_telemetry.compatibility import ClientEvidence, judge, parse_api_uses
from client_telemetry.compatibility.verdict import ClientVerdict
from client_telemetry.knowledge import products, roles
from client_telemetry.knowledge.vocabulary import Role, Verdict

GREETING = "ApiVersions:2x5 Metadata:8x9"
MEMBERSHIP = "FindCoordinator:2x2 JoinGroup:5x3 SyncGroup:3x3 Heartbeat:3x300"
SHARE = "ApiVersions:4 Metadata:13x9 FindCoordinator:6 ShareGroupHeartbeat:1x90 ShareFetch:1x900 ShareAcknowledge:1x90"
STREAMS = (
    "ApiVersions:4 Metadata:13x9 FindCoordinator:6 StreamsGroupHeartbeat:0x90 Fetch:17x900 OffsetFetch:9 OffsetCommit:9x90 "
    "Produce:12x90 InitProducerId:5 ListOffsets:9"
)


def verdict(uses: str, source: str = "3.9.1", target: str = "4.0.0", **who) -> ClientVerdict:
    who = {"security_protocol": "PLAINTEXT"} | who
    return judge(ClientEvidence(api_uses=parse_api_uses(uses), **who), source, target)


def test_a_connect_worker_joins_and_never_fetches():
    """Workers without connectors (protocol type connect) hold a group together and read nothing: what membership shows is
    enough, and that no Fetch was answered is no failure."""
    worker = verdict(f"{GREETING} {MEMBERSHIP}")
    assert (worker.verdict, worker.missing, worker.already_failing) == (Verdict.SAFE, (), False)
    declared = {"client_software_name": "apache-kafka-java", "client_software_version": "2.4.1"}
    assert verdict(f"ApiVersions:3 Metadata:9 {MEMBERSHIP}", **declared).verdict == Verdict.SAFE


def test_an_old_connect_worker_breaks_by_how_it_joins():
    old = verdict("ApiVersions:0 Metadata:2 FindCoordinator:0 JoinGroup:1 SyncGroup:0 Heartbeat:0x300")
    assert (old.verdict, old.when) == (Verdict.BREAKS, "at_once")


def test_an_exactly_once_consumer_commits_in_transactions():
    """TxnOffsetCommit and never OffsetCommit: the latter is not missed."""
    reads = f"{GREETING} {MEMBERSHIP} OffsetFetch:5 Fetch:10x900 ListOffsets:5"
    both = verdict(f"{reads} AddOffsetsToTxn:1x60 TxnOffsetCommit:2x60")
    assert (both.verdict, both.missing) == (Verdict.SAFE, ())
    assert 8 not in roles.needed_by(Role.GROUP_CONSUMER, {1, 11, 28})
    assert 8 in roles.needed_by(Role.GROUP_CONSUMER, {1, 11})


@pytest.mark.parametrize("versions", ["ApiVersions:1 Metadata:6", "ApiVersions:2 Metadata:8"])
def test_a_tool_that_only_greets_loses_nothing(versions):
    greeted = verdict(versions)
    assert (greeted.verdict, greeted.missing) == (Verdict.SAFE, ())


def test_a_tool_of_0_10_that_only_greets_may_do_more():
    assert verdict("ApiVersions:0 Metadata:2").verdict == Verdict.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize("versions", ["ApiVersions:0x900", "ApiVersions:3x900 ApiVersions:4"])
def test_watching_a_check_that_only_asks_for_versions_settles_nothing(versions):
    """It sends the same for as long as it is watched: what its owner says settles it, and every release answers it."""
    check = verdict(versions)
    assert check.verdict == Verdict.INSUFFICIENT_EVIDENCE
    (missing,) = check.missing
    assert "watch it" not in missing and "only checks that brokers answer, nothing changes" in missing
    assert "ask its owner" in missing
    # Brokers before 3.9 answer version 4 with an error, which a library has to understand.
    on_the_way_back = verdict("ApiVersions:4", "3.9.1", "3.8.1").missing
    assert "nothing changes" not in " ".join(on_the_way_back)
    (asks_more,) = verdict("ApiVersions:0 Metadata:1").missing
    assert "watch it longer" in asks_more


@pytest.mark.parametrize(("requests", "when"), [(1, "latent"), (900, "at_once")])
def test_burrow_asks_list_offsets_every_few_seconds(requests, when):
    """The role says that a consumer looks up offsets at a reset; how often it was sent says that this one polls."""
    reader = f"ApiVersions:0 Metadata:5x90 Fetch:4x900 ListOffsets:0x{requests}"
    polls = verdict(reader)
    assert (polls.verdict, polls.when) == (Verdict.BREAKS, when)


@pytest.mark.parametrize(("create", "when"), [("CreateTopics:1", "latent"), ("CreateTopics:2", None)])
def test_faust_creates_its_topics_as_it_starts(create, when):
    """CreateTopics beside data degrades; of a stream processor that makes no other admin call it breaks at the next start."""
    faust = (
        "Produce:3x60 Fetch:4x90 ListOffsets:1 JoinGroup:2 SyncGroup:1 Heartbeat:1x60 OffsetCommit:2x60 OffsetFetch:1 "
        f"FindCoordinator:1 Metadata:1 {create}"
    )
    started = verdict(faust, target="4.0.1")
    assert (started.verdict, started.when) == ((Verdict.BREAKS, when) if when else (Verdict.SAFE, None))
    tool = verdict(f"{faust} DescribeConfigs:1", target="4.0.1")
    assert tool.verdict != Verdict.BREAKS


@pytest.mark.parametrize("target", ["4.0.0", "4.0.2", "3.9.2"])
def test_share_consumers_stop_on_releases_without_them(target):
    """KIP-932: 4.0 had an early access with requests of its own, releases before none."""
    back = verdict(SHARE, "4.2.0", target)
    assert (back.verdict, back.when) == (Verdict.BREAKS, "at_once")


def test_share_consumers_go_on_from_4_1_to_4_2():
    """That 4.1 answered them shows that share.version is 1 there, though 4.1 leaves it at 0 by default: an upgraded broker
    keeps it."""
    on = verdict(SHARE, "4.1.0", "4.2.0")
    assert {step: outlook.verdict for step, outlook in on.steps.items()}["not_finalized"] == Verdict.SAFE
    assert (on.verdict, on.condition) == (Verdict.SAFE, "")


@pytest.mark.parametrize(
    ("source", "target"), [("4.2.0", "4.0.0"), ("4.2.0", "3.9.2"), ("4.1.0", "4.0.0"), ("4.1.2", "3.9.1")]
)
def test_members_of_streams_groups_stop_on_releases_without_them(source, target):
    """KIP-1071: a preview in 4.1 (brokers answered what 4.1 as released does not serve), unknown before."""
    back = verdict(STREAMS, source, target)
    assert (back.verdict, back.when) == (Verdict.BREAKS, "at_once")
    assert "StreamsGroupHeartbeat" in back.explanation


def test_a_preview_that_brokers_answered_is_not_safe_on_the_next_patch_release():
    on = verdict(STREAMS, "4.1.0", "4.1.1")
    assert on.verdict == Verdict.INSUFFICIENT_EVIDENCE
    assert "unstable.api.versions.enable" in " ".join(on.missing)


def test_an_api_that_nobody_knows_is_not_passed_over():
    """Answered today, and nothing tells what it is: not safe, and no mere loss of a function."""
    unknown = judge(
        ClientEvidence(api_uses=(*parse_api_uses(f"{GREETING} Produce:7x90"), (200, 0, 50))), "3.9.1", "4.0.0"
    )
    assert unknown.verdict == Verdict.INSUFFICIENT_EVIDENCE
    assert roles.loss(200, (Role.PRODUCER,)).without_it == Verdict.BREAKS


def test_no_api_that_moves_data_degrades_because_no_role_lists_it():
    listed = {(role, key) for role, needs in roles.needs().items() for key in needs}
    for role in set(roles.ROLES) - {Role.ADMIN}:
        for key in (0, 1, 8, 9, 11, 12, 14, 24, 25, 26, 28, 68, 76, 78, 79, 88):
            if (role, key) not in listed:
                assert roles.loss(key, (role,)).without_it == Verdict.BREAKS


def test_requests_between_brokers_say_nothing():
    leader = judge(ClientEvidence(api_uses=(*parse_api_uses("Fetch:17"), (56, 3, 50))), "4.0.0", "4.0.1")
    assert leader.verdict == Verdict.SAFE


NEW_GREETING = "ApiVersions:4x3 Metadata:12x9 Produce:11x90"


@pytest.mark.parametrize(
    ("who", "refused", "target", "concludes"),
    [
        ("mykafka", False, "3.8.1", Verdict.INSUFFICIENT_EVIDENCE),
        ("mykafka", True, "3.8.1", Verdict.SAFE),
        ("mykafka", False, "4.1.0", Verdict.SAFE),
        ("apache-kafka-java", False, "3.8.1", Verdict.SAFE),
    ],
)
def test_an_unknown_library_may_take_error_35_for_an_answer(who, refused, target, concludes):
    """Going back before 3.9, whose brokers do not have ApiVersions 4: KIP-511 wants a client to ask again, and franz-go 1.19.0
    does not. One that was refused it before and is here all the same does."""
    uses = (*parse_api_uses(NEW_GREETING), *(((18, 4, 0, 2),) if refused else ()))
    client = ClientEvidence(who, "4.0.0", api_uses=uses, security_protocol="PLAINTEXT")
    assert judge(client, "4.0.0", target).verdict == concludes


def test_names_are_told_apart_letter_for_letter():
    """KIP-511 compares nothing and libraries send a constant: LibRdKafka was typed by somebody, and may be any library."""
    assert judge(member_of("librdkafka"), "3.9.1", "4.0.0").identified_as == "librdkafka 2.6.1"
    assert judge(member_of("LibRdKafka"), "3.9.1", "4.0.0").identified_as.startswith("not identified")


def member_of(name: str) -> ClientEvidence:
    return ClientEvidence(name, "2.6.1", api_uses=parse_api_uses("Produce:9 Metadata:12"))


def test_a_member_that_reads_no_record_is_failing_only_where_it_looked_up_where_to_read():
    """On brokers that have removed request versions, a member of which no Fetch is answered has been refused it; a Connect worker,
    which fetches no committed offset either, has not asked."""
    member = "ApiVersions:0 Metadata:2 FindCoordinator:0 JoinGroup:2 SyncGroup:0 Heartbeat:0x300"
    assert not verdict(member, "4.0.1", "4.3.1").already_failing
    assert verdict(f"{member} OffsetFetch:1", "4.0.1", "4.3.1").already_failing


@pytest.mark.parametrize("who", [{"client_id": "admin-1"}, {"product": products.ADMIN_CLIENT_TOOLS}])
def test_a_tool_of_1_x_without_requests_that_4_0_refuses_is_safe(who):
    """As the command line knows it, by its client id, and as an upgrade question does, by the product of it alone."""
    assert verdict("ApiVersions:1 Metadata:5", **who).verdict == Verdict.SAFE


def test_a_reason_is_said_once():
    """A known issue that stops a client on both releases is the verdict's reason and why it fails today."""
    member = "ApiVersions:3 Metadata:2x20 FindCoordinator:1x2 JoinGroup:2x2 SyncGroup:1x2 Heartbeat:1x300 OffsetFetch:1x9"
    declared = {"client_software_name": "librdkafka", "client_software_version": "1.7.0"}
    failing = verdict(member, "4.0.0", "4.3.1", **declared)
    assert failing.already_failing and "It fails on 4.0.0 already" in failing.explanation
    assert failing.explanation.count("ListOffsets v0 only") == 1


@pytest.mark.parametrize("client_id", ["log-dirs-tool", "mine"])
def test_a_tool_of_1_x_that_was_seen_to_greet_only_is_not_safe(client_id):
    """kafka-log-dirs 1.1.1 sends ApiVersions v1 and Metadata v5, then DescribeLogDirs v0, which 4.0 refuses; 2.0 brought the
    v1 that it accepts, and ApiVersions v2."""
    of_1_x = verdict("ApiVersions:1 Metadata:5", client_id=client_id)
    assert of_1_x.verdict == Verdict.INSUFFICIENT_EVIDENCE and of_1_x.missing
    assert verdict("ApiVersions:2 Metadata:6", client_id=client_id).verdict == Verdict.SAFE
    assert verdict("ApiVersions:1 Metadata:5", "3.8.1", "3.9.1", client_id=client_id).verdict == Verdict.SAFE
    assert (
        verdict("ApiVersions:1 Metadata:5", client_id="admin-1").verdict == Verdict.SAFE
    )  # has no request of log dirs
