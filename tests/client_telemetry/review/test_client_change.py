"""Clients that are replaced during the upgrade: by which evidence that is known, and what is said where it is not. Produce v2
is accepted by 3.9.1 and refused by 4.0.1, and both accept v7."""

import pytest
import scenarios
from client_telemetry.activity.records import Evidence
from client_telemetry.review.in_parts import review
from client_telemetry.review.model import ReviewedClient


def of(
    did: str, unnamed: str = "", opened: tuple[float, ...] = (), software: str = "unknown"
) -> ReviewedClient:
    evidence = scenarios.evidence([(scenarios.client("orders", software), did)], unnamed)
    (client,) = review(with_opened(evidence, opened), "3.9.1", "4.0.1").clients
    return client


def with_opened(evidence: Evidence, times: tuple[float, ...]) -> Evidence:
    for activity in evidence.activities:
        activity.opened = sum(activity.since <= at < activity.until for at in times)
    return evidence


def fared(client: ReviewedClient) -> dict[str, tuple[str, str | None]]:
    return {happened.phase: (happened.outcome, happened.kind) for happened in client.outcomes}


def test_one_unknown_library_that_was_refused_is_replaced_by_another() -> None:
    client = of(
        "Produce:2@0-320/2 Produce:2@322-480/2x Metadata:1@0-900/5 Produce:7@484-900/2", opened=(484.0,)
    )
    assert fared(client) == {
        "rolling": ("failing", "refused"),
        "not_finalized": ("changed", "fixed"),
        "finalized": ("unaffected", None),
    }
    (changed,) = [happened for happened in client.outcomes if happened.outcome == "changed"]
    assert changed.since == 484.0 and changed.confidence == "likely"
    assert changed.reasons == (
        "Produce v2 until 00:08:00, then v7 on brokers of the same release: another library, another version of it or "
        "other settings; it declares no name",
    )
    assert client.comparison == "happened"


def test_it_is_replaced_while_it_still_writes_to_brokers_that_are_not_upgraded() -> None:
    """Broker 1 is upgraded last, at 388 s."""
    client = of("Produce:2@0-318/2 Metadata:1@0-900/5 Produce:7@322-900/2", opened=(322.0,))
    assert fared(client)["rolling"] == ("changed", "fixed")
    assert client.comparison == "fixed_meanwhile"


@pytest.mark.parametrize(
    ("case", "did", "opened"),
    [
        ("no connection was opened", "Produce:2@0-318/2 Produce:7@322-900/2", ()),
        ("both go on: two programs", "Produce:5@0-900/2 Produce:7@322-900/2", (322.0,)),
        ("both were there before", "Produce:5@0-318/2 Produce:7@100-900/2", (322.0,)),
        (
            "upgraded brokers accept more",
            "ListGroups:4@0-379/2 Metadata:1@0-900/5 ListGroups:5@388-900/2",
            (388.0,),
        ),
    ],
)
def test_other_versions_do_not_always_show_another_client(
    case: str, did: str, opened: tuple[float, ...]
) -> None:
    assert "changed" not in {happened.outcome for happened in of(did, opened=opened).outcomes}, case


def test_versions_of_transactions_rise_with_the_feature() -> None:
    client = of(
        "Produce:11@0-640/2 EndTxn:4@0-640/2 Produce:12@644-900/2 EndTxn:5@644-900/2", opened=(644.0,)
    )
    assert {happened.outcome for happened in client.outcomes} == {"unaffected"}


def test_between_releases_it_cannot_be_told_whether_a_client_was_replaced_or_adapts() -> None:
    client = of("Produce:2@0-379/2 Metadata:1@0-900/5 Produce:7@389-900/2", opened=(389.0,))
    last = client.outcomes[-1]
    assert (last.outcome, last.confidence) == ("unaffected", "possible")
    assert last.reasons[0] == (
        "Produce v2 until 00:06:18, then v7, but not both on brokers of one release: whether it was replaced or adapts "
        "to the brokers cannot be told"
    )
    assert client.prediction is not None and client.prediction.verdict == "breaks"
    assert client.comparison == "cannot_tell"


@pytest.mark.parametrize(
    ("case", "did", "why"),
    [
        (
            "refused since",
            "Produce:9@0-540/2 Produce:2@544-900/2x Metadata:9@0-540/5 Metadata:1@544-900/5",
            "Produce v2 rejected",
        ),
        (
            "no heartbeats since",
            "Fetch:11@0-540/1 Heartbeat:3@0-540/3 Fetch:4@544-900/1",
            "stopped sending heartbeats",
        ),
    ],
)
def test_a_client_that_fails_since_it_was_replaced_is_worse(case: str, did: str, why: str) -> None:
    client = of(did, opened=(544.0,))
    happened = [each for each in client.outcomes if each.phase in ("not_finalized", "finalized")]
    assert {(each.outcome, each.kind) for each in happened} == {("changed", "worse")}, (case, happened)
    assert all(any(why in reason for reason in each.reasons) for each in happened)
    assert not client.is_failing and client.comparison == "not_counted"


def test_a_named_version_that_fails_since_it_came_is_worse() -> None:
    old = scenarios.client("orders", "apache-kafka-java 3.9.1")
    new = old._replace(software_name="sarama", software_version="1.27.0")
    evidence = scenarios.evidence(
        [(old, "Produce:9@0-540/2 Metadata:9@0-540/5"), (new, "Produce:2@544-900/2x Metadata:1@544-900/5")]
    )
    (client,) = review(evidence, "3.9.1", "4.0.1").clients
    assert fared(client)["finalized"] == ("changed", "worse")
    assert client.last_outcome.reasons[0] == "apache-kafka-java 3.9.1 until 00:09:00, then sarama 1.27.0"


def test_what_stopped_when_both_the_client_and_a_broker_changed_is_not_blamed_on_the_change() -> None:
    client = of("Fetch:11@0-320/1 Heartbeat:3@0-320/3 Fetch:4@322-900/1", opened=(322.0,))
    last = client.last_outcome
    assert (last.outcome, last.kind) == ("failing", "silent_function")
    assert "Fetch v11 until 00:05:20, then v4" in last.reasons[0]


def test_harm_from_before_the_change_is_the_upgrades() -> None:
    client = of(
        "Produce:2@0-320/2 Produce:2@322-900/2x Metadata:1@0-500/5 Metadata:4@504-900/5", opened=(504.0,)
    )
    assert (client.last_outcome.outcome, client.last_outcome.kind) == ("failing", "refused")


def test_several_names_that_end_for_one_that_came_are_one_client() -> None:
    one = scenarios.client("orders", "kgo v1.19.1")
    ended = one._replace(software_name="sarama", software_version="1.43.0")
    came = one._replace(software_name="apache-kafka-java", software_version="4.0.1")
    evidence = scenarios.evidence(
        [
            (one, "Produce:9@0-500/2"),
            (ended, "Fetch:11@0-500/2"),
            (came, "Produce:9@510-900/2 Fetch:12@510-900/2"),
        ]
    )
    found = review(evidence, "3.9.1", "4.0.1").clients
    assert [(client.software_name, fared(client)["not_finalized"]) for client in found] == [
        ("apache-kafka-java", ("changed", "fixed"))
    ]
