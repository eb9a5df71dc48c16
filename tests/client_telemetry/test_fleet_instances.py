"""What each client instance delivered, from points of any kind."""

from client_telemetry.fleet_instances import delivered_metrics, of_clients

A, B = b"a" * 16, b"b" * 16
QUEUE = "org.apache.kafka.producer.record.queue.time.avg"


def test_delivered_metrics_of_each_instance(spark):
    schema = "client_instance_id binary, metric string"
    points = spark.createDataFrame(
        [(A, QUEUE), (A, QUEUE), (A, "org.apache.kafka.producer.x"), (B, "com.example.y"), (None, QUEUE)],
        schema,
    )
    histograms = spark.createDataFrame([(B, "org.apache.kafka.consumer.z")], schema)
    found = {
        bytes(row["client_instance_id"]): (row["metrics"], row["metric_families"])
        for row in delivered_metrics(points, histograms, [QUEUE]).collect()
    }
    assert found == {A: ([QUEUE], ["producer"]), B: ([], ["consumer"])}


KEY = (
    "principal string, client_id string, client_software_name string, client_software_version string, "
    "client_address string, link_rule string, api_uses array<struct<api_key int, requests bigint>>"
)


def test_addresses_of_a_client_are_all_there(spark):
    rows = [("p", None, "n", "v", f"10.0.0.{n}", "no_instance", []) for n in range(20)]
    (found,) = of_clients(spark.createDataFrame(rows, KEY)).collect()
    assert len(found["addresses"]) == 20


def test_lives_that_asked_for_a_subscription_and_pushed_nothing(spark):
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
