"""The report of a subscription check: all its files, with hostile client ids, and the answer in a sentence."""

import datetime as dt
import json
from dataclasses import replace
from pathlib import Path

import pytest
from client_telemetry.reports.subscription.content import Question, content
from client_telemetry.reports.subscription.page import let_out
from client_telemetry.reports.subscription.publish import files, publish
from client_telemetry.subscriptions.check import HARMS, LOSES_FOR_GOOD, TOO_LARGE, Situation, check
from client_telemetry.subscriptions.configured_file import Resource
from client_telemetry.subscriptions.instances import ClientInstance
from client_telemetry.subscriptions.java_runtime import JavaRuntime
from client_telemetry.subscriptions.observed import ABORTS, DISCONNECTS, MetricShare, ObservedInstance
from client_telemetry.subscriptions.proposal import operations_of

HOSTILE = "=cmd|' /C calc'!A0<script>alert(1)</script>"
QUESTION = Question(
    "run 1",
    "cluster-id",
    "orders",
    dt.date(2026, 11, 20),
    dt.date(2026, 11, 21),
    dt.datetime(2026, 11, 22, tzinfo=dt.UTC),
    "4.3.1",
    (),
    "broker:9092",
    "knowledge 1",
    "0.2.0",
)


def found() -> dict:
    observed = [
        ObservedInstance(
            ClientInstance(bytes(15) + b"\2", HOSTILE, "librdkafka", "2.5.0", "10.0.0.1", 1),
            "User:a",
            roles=("producer",),
            api_keys=frozenset((71,)),
            seconds=60.0,
        )
    ]
    change = {"action": "add", "name": "it's", "metrics": ["org.apache.kafka.consumer."], "interval_ms": 1000}
    with JavaRuntime() as java:
        result = check([], operations_of([change]), observed, Situation((4, 3, 1), True), java)
    return content(QUESTION, result)


def test_the_answer_and_all_files(tmp_path: Path) -> None:
    answer = found()
    assert answer["answer"] == "no-go"
    assert "Of 1 client instances 1 start to push." in answer["sentence"]
    assert "aborts at the first push" in answer["sentence"]
    written = files(answer)
    assert sorted(written) == [
        "clients.csv",
        "index.html",
        "instances.csv",
        "report.json",
        "report.md",
        "summary.json",
    ]
    assert "<script>alert" not in written["index.html"]
    assert "--name 'it'\"'\"'s'" in written["report.md"]
    assert json.loads(written["report.json"])["client_instances"][0]["client_id"] == HOSTILE
    assert "'=cmd" in written["clients.csv"]
    folder = publish(answer, tmp_path)
    assert folder == tmp_path / "subscription_check" / "orders" / folder.name
    pointer = json.loads((folder.parent / "latest.json").read_text(encoding="utf-8"))
    assert pointer["path"] == f"{folder.name}/index.html"


def test_the_report_lists_the_clients_in_a_table() -> None:
    answer = found()
    lines = files(answer)["report.md"].splitlines()
    head = next(at for at, line in enumerate(lines) if line.startswith("| Client "))
    assert lines[head + 1] == "| --- | --- | --- | --- | --- | --- |"
    assert "librdkafka 2.5.0" in lines[head + 2] and "1,000 ms" in lines[head + 2]


def test_a_harm_names_the_clients_that_it_concerns() -> None:
    for harm in found()["harms"]:
        assert harm["instances"] == 1 and harm["client_ids"] == [HOSTILE]


def test_selectors_that_let_a_client_out_are_grouped_with_their_subscriptions() -> None:
    selectors = ["client_id=orders.*"]
    client = {"let_out_by": {"one": selectors, "two": selectors, "three": ["client_id=bills.*"]}}
    assert let_out(client) == [
        (("client_id=orders.*",), ["one", "two"]),
        (("client_id=bills.*",), ["three"]),
    ]


def test_whole_report(same_as_kept) -> None:
    """Each word and number, as tests/data/reports/whole/subscription/ keeps it: of instances that start, change, stop or neither
    push nor are asked to."""

    def instance(number: int, name: str, version: str, role: str, **more: object) -> ObservedInstance:
        own = ClientInstance(
            bytes(15) + bytes((number,)), f"app-{number}", name, version, f"10.0.0.{number}", 9000
        )
        return ObservedInstance(own, f"User:{number}", roles=(role,), **more)

    observed = [
        instance(1, "apache-kafka-java", "3.9.1", "consumer", api_keys=frozenset((71, 72)), seconds=3600.0, pushes=60),
        instance(2, "librdkafka", "2.5.0", "producer", api_keys=frozenset((71,)), seconds=60.0),
        instance(3, "apache-kafka-java", "3.7.0", "producer", api_keys=frozenset((71, 72)), seconds=7200.0, owner="orders"),
        instance(4, "unknown", "unknown", "consumer", seconds=60.0),
    ]  # fmt: skip
    consumers = {"metrics": "org.apache.kafka.consumer.", "interval.ms": "60000", "match": "client_id=app-1"}
    configured = [
        Resource("consumers", consumers),
        Resource("all", {"metrics": "org.apache.kafka.producer.connection."}),
    ]
    proposal = [
        {"action": "add", "name": "it's", "metrics": ["org.apache.kafka.consumer."], "interval_ms": 1000},
        {"action": "delete", "name": "all"},
        {"action": "alter", "name": "consumers", "interval_ms": 30000},
    ]
    with JavaRuntime() as java:
        result = check(
            configured, operations_of(proposal), observed, Situation((4, 3, 1), True, days=2), java
        )
    same_as_kept("reports/whole/subscription", files(content(QUESTION, result)), is_whole=True)


def test_whole_report_of_many(same_as_kept) -> None:
    """More clients than are shown, a subscription that Kafka refuses, and what it would do that was hardly meant."""

    def instance(number: int) -> ObservedInstance:
        version = ("2.5.0", "2.6.1")[number % 2]
        own = ClientInstance(
            number.to_bytes(16, "big"), f"app-{number:03}", "librdkafka", version, "10.0.0.1", 9000
        )
        pushed = {
            "pushes": 30,
            "points": 900,
            "payload_bytes": 60_000_000 * (number % 3),
            "largest_payload_bytes": 3_000_000,
        }
        more = {
            "push_interval_ms": 60_000,
            "metrics": {"org.apache.kafka.producer.x": MetricShare(30, 900)},
            **pushed,
        }
        return ObservedInstance(
            own, None if number % 7 else "User:a", roles=("producer",), api_keys=frozenset((71, 72)), seconds=1800.0,
            **(more if number % 2 else {}),
        )  # fmt: skip

    configured = [Resource("all", {"metrics": "org.apache.kafka.producer.", "interval.ms": "60000"})]
    proposal = [
        {"action": "add", "name": "refused", "metrics": ["org.apache.kafka."], "interval_ms": 1},
        {
            "action": "alter",
            "name": "all",
            "metrics": ["*", "org.apache.kafka.producer."],
            "match": {"client_id": "app-0.*"},
        },
        {"action": "delete", "name": "not there"},
    ]
    with JavaRuntime() as java:
        observed = [instance(number) for number in range(130)]
        result = check(configured, operations_of(proposal), observed, Situation((4, 3, 1), True), java)
    found = content(QUESTION, result)
    written = files(found)
    del written["instances.csv"], written["report.json"]  # as those of few
    same_as_kept("reports/whole/subscription_of_many", written, is_whole=True)
    found["clients"] = [
        {**client, "client_id": f"{n} {client['client_id']}"} for n in range(5) for client in found["clients"]
    ]
    assert "more in clients.csv" not in written["index.html"]
    page = files(found)["index.html"]
    assert "0 app-000" in page and "4 app-000" not in page


@pytest.mark.parametrize("harm", HARMS)
def test_what_a_change_does_for_good_speaks_against_it(harm) -> None:
    observed = ObservedInstance(
        ClientInstance(bytes(15) + b"\1", "app", "apache-kafka-java", "3.9.1", "10.0.0.1", 9000),
        "User:a",
        roles=("producer",),
        api_keys=frozenset((71, 72)),
        seconds=3600.0,
        pushes=60,
    )
    change = {
        "action": "add",
        "name": "one",
        "metrics": ["org.apache.kafka.producer."],
        "interval_ms": 60_000,
    }
    with JavaRuntime() as java:
        result = check([], operations_of([change]), [observed], Situation((4, 3, 1), True), java)
    assert content(QUESTION, result)["answer"] == "go"
    harmed = replace(result, instances=[replace(each, harms=(harm,)) for each in result.instances])
    answer = content(QUESTION, harmed)
    is_serious = harm in (ABORTS, DISCONNECTS, LOSES_FOR_GOOD, TOO_LARGE)
    assert answer["answer"] == ("no-go" if is_serious else "go")
    assert (HARMS[harm] in answer["sentence"]) == is_serious
