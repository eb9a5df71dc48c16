"""What each client instance delivered, from points of any kind."""

import datetime as dt

from client_telemetry.fleet.instances import (
    SHARE_CONSUMER,
    application_metrics,
    delivered_metrics,
    given_instances,
    of_clients,
    refused_pushes,
    resource_labels,
    streams_labels,
)

A, B = b"a" * 16, b"b" * 16
QUEUE = "org.apache.kafka.producer.record.queue.time.avg"


def test_delivered_metrics_of_each_instance(spark):
    schema = "client_instance_id binary, metric string"
    points = spark.createDataFrame(
        [(A, QUEUE), (A, QUEUE), (A, "org.apache.kafka.producer.x"), (B, "com.example.y"), (None, QUEUE)],
        schema,
    )
    histograms = spark.createDataFrame(
        [(B, "org.apache.kafka.consumer.z"), (B, SHARE_CONSUMER + "x")], schema
    )
    found = {
        bytes(row["client_instance_id"]): (row["metrics"], sorted(row["metric_families"]))
        for row in delivered_metrics(points, histograms, [QUEUE]).collect()
    }
    assert found == {A: ([QUEUE], ["producer"]), B: ([], ["consumer", "share_consumer"])}


KEY = (
    "principal string, client_id string, client_software_name string, client_software_version string, "
    "client_address string, link_rule string, api_uses array<struct<api_key int, requests bigint>>"
)


def test_addresses_of_a_client_are_all_there(spark):
    rows = [("p", None, "n", "v", f"10.0.0.{n}", "no_instance", []) for n in range(20)]
    (found,) = of_clients(spark.createDataFrame(rows, KEY)).collect()
    assert len(found["addresses"]) == 20


def test_sessions_that_asked_for_a_subscription_and_pushed_nothing(spark):
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
    rows = [("p", case, "n", "v", "10.0.0.1", rule, uses) for case, rule, uses, _ in cases]
    found = {
        row["client_id"]: row["asked_without_push"]
        for row in of_clients(spark.createDataFrame(rows, KEY)).collect()
    }
    assert found == {case: expected for case, _, _, expected in cases}


def test_labels_of_an_instance(spark):
    schema = "client_instance_id binary, resources array<map<string,string>>"
    rows = [
        (A, [{"group_id": "g", "client_rack": "r"}, {"group_member_id": "m"}]),
        (A, [{"group_id": "g"}]),
        (B, [{"group_member_id": "m"}]),
        (None, [{"group_id": "x"}]),
    ]
    (found,) = resource_labels(spark.createDataFrame(rows, schema)).collect()
    assert bytes(found["client_instance_id"]) == A
    assert (found["racks"], found["group_ids"], found["transactional_ids"]) == (["r"], ["g"], [])


def test_refused_pushes_by_client_and_error(spark):
    schema = (
        "principal string, client_id string, client_software_name string, client_software_version string, "
        "client_instance_id binary, error_code int, received_at timestamp"
    )
    rows = [("p", "c", "n", "v", A, code, None) for code in (None, 0, 117, 117, 89)]
    found = {
        row["error_code"]: (row["pushes"], row["instances"])
        for row in refused_pushes(spark.createDataFrame(rows, schema)).collect()
    }
    assert found == {117: (2, 1), 89: (1, 1)}


def test_instances_that_brokers_gave_an_id(spark):
    schema = (
        "principal string, client_id string, client_software_name string, client_software_version string, "
        "client_address string, broker_id int, first_seen_at timestamp, last_seen_at timestamp, "
        "given_instance_ids array<binary>"
    )
    at = [dt.datetime(2026, 11, 21, hour, tzinfo=dt.UTC) for hour in range(4)]
    rows = [
        ("p", "a", "n", "v", "10.0.0.2", 2, at[1], at[3], [A]),
        ("p", "a", "n", "v", "10.0.0.1", 1, at[0], at[2], [A, B]),
        ("p", "b", "n", "v", "10.0.0.1", 1, at[0], at[2], []),
        ("p", "c", "n", "v", "10.0.0.1", 1, at[0], at[2], None),
    ]
    found = {
        bytes(row["client_instance_id"]): row
        for row in given_instances(spark.createDataFrame(rows, schema)).collect()
    }
    assert set(found) == {A, B}
    assert (found[A]["client_id"], found[A]["client_addresses"]) == ("a", ["10.0.0.1", "10.0.0.2"])
    assert (found[A]["broker_ids"], found[B]["broker_ids"]) == ([1, 2], [1])


def test_metrics_of_the_application_are_not_kafkas(spark):
    metrics = (QUEUE, "org.apache.kafka.stream.thread.x", "org.apache.kafka.shop.carts", "com.example.y")
    points = spark.createDataFrame(
        [(A, name) for name in metrics], "client_instance_id binary, metric string"
    )
    (found,) = application_metrics(points, points.where("false")).collect()
    assert found["application_metrics"] == ["com.example.y", "org.apache.kafka.shop.carts"]


def test_labels_of_streams(spark):
    rows = [
        (A, "org.apache.kafka.stream.client.state", {"application_id": "fraud", "process_id": "p1"}),
        (A, "org.apache.kafka.stream.thread.x", {"process_id": "p1", "thread_id": "t"}),
        (B, QUEUE, {"process_id": "not of Streams"}),
    ]
    schema = "client_instance_id binary, metric string, attributes map<string, string>"
    (found,) = streams_labels(spark.createDataFrame(rows, schema)).collect()
    assert (found["application_ids"], found["process_ids"]) == (["fraud"], ["p1"])
