from typing import Any

import pytest
from client_telemetry.subscriptions.goal import (
    REVIEWED,
    WORDS,
    UnusableGoal,
    goal_of,
    names_about,
    quoted,
    shortest_prefixes,
    suggest,
)
from client_telemetry.subscriptions.instances import ClientInstance
from client_telemetry.subscriptions.java_runtime import JavaRuntime
from client_telemetry.subscriptions.observed import ObservedInstance, known_metrics

ASKED = frozenset((71,))


def client(client_id: str | None, name: str = "apache-kafka-java", **fields: Any) -> ObservedInstance:
    instance = ClientInstance(None, client_id, name, "4.3.1", "10.0.0.1", None)
    return ObservedInstance(instance, **{"roles": ("producer",), "api_keys": ASKED, **fields})


METRICS = [
    "org.apache.kafka.producer.node.request.latency.",
    "org.apache.kafka.producer.record.queue.",
]
FLEET = [
    client("orders-a", owner="orders"),
    client("orders-b", owner="orders"),
    client("orders-c", owner="orders", roles=("group_consumer",)),
    client("billing", owner="billing"),
    client("orders-go", "kgo", owner="orders"),
    client("a=b,c", owner="odd"),
]


def test_latency_of_all_java_producers_of_an_owner(java: JavaRuntime) -> None:
    goal = goal_of(
        {"metrics": "latency", "owner": "orders", "library": "apache-kafka-java", "client_type": "producer"}
    )
    found = suggest(goal, FLEET, (4, 3, 1), java)
    assert found.change["match"] == {"client_id": "(orders-a|orders-b)"}
    assert found.change["metrics"] == METRICS
    assert (found.wanted, found.missing, found.unwanted) == (2, (), ())
    assert "percentiles" in found.remarks[0]


def test_everybody_needs_no_selector(java: JavaRuntime) -> None:
    assert suggest(goal_of({"metrics": "upgrade review"}), FLEET, (4, 3, 1), java).change["match"] == {}


def test_one_library_is_selected_by_its_name(java: JavaRuntime) -> None:
    found = suggest(goal_of({"metrics": "connections", "library": "franz-go"}), FLEET, (4, 3, 1), java)
    assert found.change["match"] == {"client_software_name": "kgo"}


def test_a_client_id_that_a_selector_cannot_hold_is_quoted(java: JavaRuntime) -> None:
    found = suggest(goal_of({"metrics": ["*"], "client_ids": ["a=b,c"]}), FLEET, (4, 3, 1), java)
    assert found.change["match"] == {"client_id": r"a\x3Db\x2Cc"} and not found.unwanted and not found.missing


def test_what_cannot_be_distinguished_is_said(java: JavaRuntime) -> None:
    fleet = [client("same", owner="a"), client("same", owner="b")]
    found = suggest(goal_of({"metrics": ["*"], "owner": "a"}), fleet, (4, 3, 1), java)
    assert found.unwanted == (fleet[1],)


@pytest.mark.parametrize("text", ["a.b*c", " x ", "(a|b)", "tab\t", "żółć", "\u202e", "a&&b", "[x]"])
def test_quoted_texts_match_themselves_only(java: JavaRuntime, text: str) -> None:
    texts = java.texts([text, "other", text + "x"])
    assert texts.matching(java.compile(quoted(text))) == {text}


def test_prefixes_are_as_short_as_possible() -> None:
    known = ["k.p.a.x", "k.p.a.y", "k.p.b", "k.c.a"]
    assert shortest_prefixes(["k.p.a.x", "k.p.a.y"], known) == ["k.p.a."]
    assert shortest_prefixes(["k.p.a.x"], known) == ["k.p.a.x"]
    assert shortest_prefixes(known, known) == ["k."]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "a goal is an object"),
        ({"metrics": "speed"}, "'speed' is none of latency"),
        ({"metrics": "latency", "team": "a"}, "unknown key 'team'"),
        ({"metrics": "latency", "client_type": "broker"}, "client_type is producer or consumer"),
    ],
)
def test_an_unusable_goal_is_one_line(content: Any, message: str) -> None:
    with pytest.raises(UnusableGoal, match=message):
        goal_of(content)


def test_nobody_of_this_kind(java: JavaRuntime) -> None:
    with pytest.raises(UnusableGoal, match="no client that can push is of this kind"):
        suggest(goal_of({"metrics": "latency", "owner": "nobody"}), FLEET, (4, 3, 1), java)


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("kind", ["producer", "consumer"])
def test_each_goal_delivers_its_metrics_and_no_other_known_one(words: str, kind: str) -> None:
    names = names_about(words, kind)
    prefixes = shortest_prefixes(names, known_metrics())
    delivered = {name for name in known_metrics() if any(name.startswith(prefix) for prefix in prefixes)}
    assert delivered <= set(names) and all(any(n.startswith(p) for p in prefixes) for n in names)
    assert len(set(prefixes)) == len(prefixes) <= len(names)
    nothing_about = {("rebalances", "producer")}
    assert bool(names) == ((words, kind) not in nothing_about)


def test_the_upgrade_review_gets_what_it_reads() -> None:
    from client_telemetry.activity.client_metrics import NAMES

    assert {f"{kind}.{name}" for kind, names in REVIEWED.items() for name in names} == NAMES
