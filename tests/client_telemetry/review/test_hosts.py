"""One client id on two hosts: a host that fails is named, whatever the other does."""

import pytest
import scenarios
from client_telemetry.review.in_parts import review
from client_telemetry.review.model import ReviewedClient

HERE, THERE = scenarios.ADDRESS, "10.0.0.8"
CONSUMES = "Fetch:11@0-900/1 Heartbeat:3@0-900/3 OffsetCommit:7@0-900/5"


def on_two_hosts(here: str, there: str, refused: str = "", logins: str = "") -> ReviewedClient:
    one = scenarios.client("orders")
    other = one._replace(address=THERE)
    (client,) = review(
        scenarios.evidence([(one, here), (other, there)], refused, logins), "3.9.1", "4.0.1"
    ).clients
    return client


@pytest.mark.parametrize(
    ("case", "here", "there", "kind", "why"),
    [
        (
            "refused",
            "Produce:2@0-320/2 Metadata:1@0-900/5 Produce:2@320-900/2x",
            "Produce:7@0-900/2",
            "refused",
            "Produce v2 rejected",
        ),
        (
            "refused in one of two APIs",
            "Fetch:2@0-320/2 Metadata:1@0-900/5 Fetch:2@320-900/2x",
            "Fetch:11@0-900/2",
            "refused",
            "Fetch v2 rejected",
        ),
        (
            "no more commits, by the same versions",
            "Fetch:11@0-900/1 Heartbeat:3@0-900/3 OffsetCommit:7@0-320/5",
            CONSUMES,
            "silent_function",
            "stopped committing offsets",
        ),
        (
            "out of its group",
            "Fetch:11@0-900/1 Heartbeat:3@0-320/3 OffsetCommit:7@0-320/5",
            CONSUMES,
            "silent_function",
            "stopped sending heartbeats",
        ),
        (
            "no more records",
            "Produce:9@0-320/2 Metadata:9@0-900/5",
            "Produce:9@0-900/2",
            "silent_function",
            "stopped writing records",
        ),
        (
            "stuck",
            "InitProducerId:4@0-310/5 EndTxn:3@0-310/5 Produce:9@0-310/5 InitProducerId:4@312-900/5!51",
            "InitProducerId:4@0-900/50 EndTxn:3@0-900/5 Produce:9@0-900/5",
            "stuck",
            "InitProducerId has returned nothing but error 51",
        ),
    ],
)
def test_a_host_that_fails_is_named(case: str, here: str, there: str, kind: str, why: str) -> None:
    client = on_two_hosts(here, there)
    last = client.last_outcome
    assert (last.outcome, last.kind) == ("failing", kind), (case, last)
    assert any(why in reason for reason in last.reasons), last
    assert last.reasons[-1] == f"only from {HERE}, not from {THERE}", last


@pytest.mark.parametrize(
    ("case", "here", "there"),
    [
        ("both go on", CONSUMES, CONSUMES),
        ("left without partitions", "Fetch:11@0-320/1 Heartbeat:3@0-900/3 OffsetCommit:7@0-320/5", CONSUMES),
        (
            "its share was taken over",
            "Produce:9@0-320/2 Metadata:9@0-900/5",
            "Produce:9@0-320/2 Produce:9@321-900/1",
        ),
        (
            "connections of one client come from two addresses",
            "Fetch:11@0-900/1",
            "Heartbeat:3@0-320/3 OffsetCommit:7@0-320/5 Metadata:9@0-900/9 Heartbeat:3@321-900/3 OffsetCommit:7@321-900/5",
        ),
        (
            "a coordinator's connection comes from the other address now",
            "Fetch:11@0-900/1 Heartbeat:3@0-320/3 OffsetCommit:7@0-320/5",
            "Fetch:11@0-900/1 Heartbeat:3@0-320/3 OffsetCommit:7@0-320/5 Heartbeat:3@321-900/1.5 OffsetCommit:7@321-900/2.5",
        ),
        ("only one was there before", CONSUMES, CONSUMES.replace("@0-", "@400-")),
        ("the other is gone", "Produce:9@0-320/2", "Produce:9@0-900/2"),
    ],
)
def test_work_that_moved_is_no_failure(case: str, here: str, there: str) -> None:
    client = on_two_hosts(here, there)
    assert {happened.outcome for happened in client.outcomes} == {"unaffected"}, (case, client.outcomes)


def test_a_host_that_fell_silent_is_named_and_not_called_failing() -> None:
    client = on_two_hosts("Produce:9@0-320/2", "Produce:9@0-900/2")
    assert client.last_outcome.reasons == (f"{HERE}: no requests since 00:05:20",)
    moved = scenarios.client("orders")
    three = [
        (moved, "Produce:9@0-320/2"),
        (moved._replace(address=THERE), "Produce:9@0-900/2"),
        (moved._replace(address="10.0.0.9"), "Produce:9@330-900/2"),
    ]
    (client,) = review(scenarios.evidence(three), "3.9.1", "4.0.1").clients
    assert client.last_outcome.reasons == ()


def test_a_host_that_begins_to_fail_is_named_where_another_failed_before() -> None:
    last = on_two_hosts(
        "Fetch:11@0-900/1 OffsetCommit:7@0-320/5",
        "Fetch:11@0-900/1 OffsetCommit:7@0-900/5 ListGroups:0@0-900/7x",
    ).last_outcome
    assert (last.outcome, last.reasons[-1]) == (
        "failing",
        f"only from {HERE}, from {THERE} already before the upgrade",
    )


def test_requests_refused_without_a_client_belong_to_the_host_at_their_address() -> None:
    last = on_two_hosts(
        "Produce:2@0-320/2 Metadata:1@0-900/5",
        "Produce:2@0-320/2 Produce:7@321-900/2",
        refused="Produce:2@321-900/2",
    ).last_outcome
    assert (last.outcome, last.kind) == ("failing", "refused")
    assert last.reasons[-1] == f"only from {HERE}, not from {THERE}"


def test_a_host_that_cannot_log_in_is_named() -> None:
    """Its requests ended when it had to log in again, and failed logins came from its address since."""
    one = scenarios.client("orders", "librdkafka 2.3.0", "SASL_PLAINTEXT")
    evidence = scenarios.evidence(
        [(one, "Produce:7@0-320/2"), (one._replace(address=THERE), "Produce:7@0-900/2")], "", "321-900/2"
    )
    (client,) = review(evidence, "3.9.1", "4.0.1").clients
    last = client.last_outcome
    assert (last.outcome, last.kind) == ("failing", "authentication_failed"), last
    assert last.reasons[-1] == f"only from {HERE}, not from {THERE}"
