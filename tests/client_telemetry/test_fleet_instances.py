"""What each client instance delivered, from points of any kind."""

from client_telemetry.fleet_instances import client_addresses, delivered_metrics

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


def test_addresses_of_a_client_are_all_there(spark):
    schema = (
        "principal string, client_id string, client_software_name string, client_software_version string, "
        "client_address string"
    )
    rows = [("p", None, "n", "v", f"10.0.0.{n}") for n in range(20)]
    (found,) = client_addresses(spark.createDataFrame(rows, schema)).collect()
    assert len(found["addresses"]) == 20
