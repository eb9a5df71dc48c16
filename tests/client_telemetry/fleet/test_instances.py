"""What each client instance delivered, from points of any kind."""

import datetime as dt

from client_telemetry.fleet.instances import (
    GIVEN_INSTANCES,
    METRICS,
    OF_CLIENTS,
    OF_STREAMS,
    REFUSED_PUSHES,
    RESOURCE_LABELS,
    SHARE_CONSUMER,
    WITH_APPLICATION_METRICS,
    delivered_metrics,
)

A, B = b"a" * 16, b"b" * 16
POINT = "client_instance_id binary, metric string"
SESSION = "client_instance_id binary, principal string, client_id string, client_software_name string, client_software_version string"
QUEUE = "org.apache.kafka.producer.record.queue.time.avg"


def rows(queries, text):
    return list(queries.answers({"found": text})["found"])


def test_delivered_metrics_of_each_instance(given):
    points = [(A, QUEUE), (A, QUEUE), (A, "org.apache.kafka.producer.x"), (B, "com.example.y"), (None, QUEUE)]
    histograms = [(B, "org.apache.kafka.consumer.z"), (B, SHARE_CONSUMER + "x")]
    queries = given(client_metrics=(points, POINT), client_metric_histograms=(histograms, POINT))
    queries.define("metrics", METRICS)
    found = {
        row["client_instance_id"]: (row["metrics"], sorted(row["metric_families"]))
        for row in rows(queries, delivered_metrics([QUEUE]))
    }
    assert found == {A: ([QUEUE], ["producer"]), B: ([], ["consumer", "share_consumer"])}


KEY = (
    "principal string, client_id string, client_software_name string, client_software_version string, "
    "client_address string, link_rule string, api_uses array<struct<api_key int, requests bigint>>"
)


def test_addresses_of_a_client_are_all_there(given):
    connections = [("p", None, "n", "v", f"10.0.0.{n}", "no_instance", []) for n in range(20)]
    (found,) = rows(given(client_connections=(connections, KEY)), OF_CLIENTS)
    assert len(found["addresses"]) == 20


def test_sessions_that_asked_for_a_subscription_and_pushed_nothing(given):
    cases = [
        ("closed before its first push", "no_instance", [(18, 1), (71, 1)], 1),
        ("another instance pushed, hours before", "no_instance_at_the_time", [(71, 1)], 1),
        ("it pushed", "push_on_connection", [(71, 1), (72, 3)], 0),
        ("it pushed on another connection", "only_instance_at_the_time", [(71, 1)], 0),
        ("one of several pushed", "several_at_the_time", [(71, 1)], 0),
        ("the broker refused the question", "no_instance", [(71, 0)], 0),
        ("it did not ask", "no_instance", [(3, 5)], 0),
        ("nobody is known", "unknown_client", [(71, 1)], 0),
    ]
    connections = [("p", case, "n", "v", "10.0.0.1", rule, uses) for case, rule, uses, _ in cases]
    queries = given(client_connections=(connections, KEY))
    found = {row["client_id"]: row["asked_without_push"] for row in rows(queries, OF_CLIENTS)}
    assert found == {case: expected for case, _, _, expected in cases}


def test_labels_of_an_instance(given):
    schema = "client_instance_id binary, resources array<map<string,string>>"
    pushes = [
        (A, [{"group_id": "g", "client_rack": "r"}, {"group_member_id": "m"}]),
        (A, [{"group_id": "g"}]),
        (B, [{"group_member_id": "m"}]),
        (None, [{"group_id": "x"}]),
    ]
    (found,) = rows(given(client_pushes=(pushes, schema)), RESOURCE_LABELS)
    assert found["client_instance_id"] == A
    assert (found["racks"], found["group_ids"], found["transactional_ids"]) == (["r"], ["g"], [])


def test_labels_of_an_instance_are_sorted(given):
    schema = "client_instance_id binary, resources array<map<string,string>>"
    names = ["z", "\u00e9", "a'b", "B", "", "a\0b", "\U0001f600", "m", "k"]
    pushes = [(A, [dict.fromkeys(("group_id", "client_rack", "transactional_id"), name)]) for name in names]
    (found,) = rows(given(client_pushes=(pushes, schema)), RESOURCE_LABELS)
    assert found["racks"] == found["group_ids"] == found["transactional_ids"] == sorted(names)


def test_refused_pushes_by_client_and_error(given):
    schema = (
        "principal string, client_id string, client_software_name string, client_software_version string, "
        "client_instance_id binary, error_code int, received_at timestamp"
    )
    pushes = [("p", "c", "n", "v", A, code, None) for code in (None, 0, 117, 117, 89)]
    found = {
        row["error_code"]: (row["pushes"], row["instances"])
        for row in rows(given(client_pushes=(pushes, schema)), REFUSED_PUSHES)
    }
    assert found == {117: (2, 1), 89: (1, 1)}


def test_instances_that_brokers_gave_an_id(given):
    schema = (
        "principal string, client_id string, client_software_name string, client_software_version string, "
        "client_address string, broker_id int, first_seen_at timestamp, last_seen_at timestamp, "
        "given_instance_ids array<binary>"
    )
    at = [dt.datetime(2026, 11, 21, hour, tzinfo=dt.UTC) for hour in range(4)]
    connections = [
        ("p", "a", "n", "v", "10.0.0.2", 2, at[1], at[3], [A]),
        ("p", "a", "n", "v", "10.0.0.1", 1, at[0], at[2], [A, B]),
        ("p", "b", "n", "v", "10.0.0.1", 1, at[0], at[2], []),
        ("p", "c", "n", "v", "10.0.0.1", 1, at[0], at[2], None),
    ]
    queries = given(client_connections=(connections, schema))
    found = {row["client_instance_id"]: row for row in rows(queries, GIVEN_INSTANCES)}
    assert set(found) == {A, B}
    assert (found[A]["client_id"], found[A]["client_addresses"]) == ("a", ["10.0.0.1", "10.0.0.2"])
    assert (found[A]["broker_ids"], found[B]["broker_ids"]) == ([1, 2], [1])


def test_an_instance_id_that_two_clients_were_given_at_once_is_the_first_by_name(given):
    schema = (
        "principal string, client_id string, client_software_name string, client_software_version string, "
        "client_address string, broker_id int, first_seen_at timestamp, last_seen_at timestamp, "
        "given_instance_ids array<binary>"
    )
    at = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)
    connections = [("p", name, "n", "v", "10.0.0.1", 1, at, at, [A]) for name in ("b", None, "a", "c")]
    for rows_given in (connections, connections[::-1]):
        (found,) = rows(given(client_connections=(rows_given, schema)), GIVEN_INSTANCES)
        assert found["client_id"] is None


def test_metrics_of_the_application_are_not_kafkas(given):
    metrics = (QUEUE, "org.apache.kafka.stream.thread.x", "org.apache.kafka.shop.carts", "com.example.y")
    queries = given(
        client_metrics=([(A, name) for name in metrics], POINT),
        client_metric_histograms=([], POINT),
        client_sessions=([(A, "p", "c", "n", "v"), (B, "p", "d", "n", "v")], SESSION),
    )
    queries.define("metrics", METRICS)
    (found,) = rows(queries, WITH_APPLICATION_METRICS)
    assert found["client_id"] == "c"
    assert found["application_metrics"] == ["com.example.y", "org.apache.kafka.shop.carts"]


def test_labels_of_streams(given):
    points = [
        (A, "org.apache.kafka.stream.client.state", {"application_id": "fraud", "process_id": "p1"}),
        (A, "org.apache.kafka.stream.thread.x", {"process_id": "p1", "thread_id": "t"}),
        (B, QUEUE, {"process_id": "not of Streams"}),
    ]
    schema = "client_instance_id binary, metric string, attributes map<string, string>"
    sessions = [(A, "p", "a", "n", "v"), (B, "p", "b", "n", "v")]
    (found,) = rows(given(client_metrics=(points, schema), client_sessions=(sessions, SESSION)), OF_STREAMS)
    assert (found["client_id"], found["application_ids"], found["process_ids"]) == ("a", ["fraud"], ["p1"])
