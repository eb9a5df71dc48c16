"""What the fleet page needs of a day beside the tables' own rows: which standard metrics each client instance
delivered, and the addresses of each client. What they mean is in reports/fleet/."""

from collections.abc import Collection

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.tables.clients import CLIENT_KEY

PREFIX = "org.apache.kafka."


def delivered_metrics(points: DataFrame, histograms: DataFrame, standard: Collection[str]) -> DataFrame:
    """One row per client instance: `metrics`, those of `standard` that it delivered, and `metric_families`, the word
    after `org.apache.kafka.` of any. Rows of `client_metrics` and `client_metric_histograms` of the day."""
    each = points.select("client_instance_id", "metric").unionByName(
        histograms.select("client_instance_id", "metric")
    )
    kafkas = each.where(F.col("client_instance_id").isNotNull() & F.col("metric").startswith(PREFIX))
    return kafkas.groupBy("client_instance_id").agg(
        F.collect_set(F.when(F.col("metric").isin(*standard), F.col("metric"))).alias("metrics"),
        F.collect_set(F.split_part("metric", F.lit("."), F.lit(4))).alias("metric_families"),
    )


def client_addresses(connections: DataFrame) -> DataFrame:
    """One row per client: CLIENT_KEY and `addresses`. Rows of `client_connections` of the day."""
    return connections.groupBy(*CLIENT_KEY).agg(F.collect_set("client_address").alias("addresses"))
