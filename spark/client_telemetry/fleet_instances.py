"""What the fleet page needs of a day beside the tables' own rows: which standard metrics each client instance
delivered, and of each client its addresses and the lives that ended before a push. What they mean is in
reports/fleet/."""

from collections.abc import Collection

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.tables.clients import CLIENT_KEY

PREFIX = "org.apache.kafka."
GET_TELEMETRY_SUBSCRIPTIONS = 71
"""The request that gives a client instance its id and tells it what to push (KIP-714)."""
NOTHING_PUSHED = ("no_instance", "no_instance_at_the_time")
"""Rules of client_connections.link_rule: the client is known, and no instance of it pushed then."""


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


def of_clients(connections: DataFrame) -> DataFrame:
    """One row per client: CLIENT_KEY; `addresses`; `asked_without_push`, connections on which it was given a
    subscription and of which no instance pushed. Rows of `client_connections` of the day."""
    asked = F.exists(
        "api_uses", lambda use: (use.api_key == GET_TELEMETRY_SUBSCRIPTIONS) & (use.requests > 0)
    )
    return connections.groupBy(*CLIENT_KEY).agg(
        F.collect_set("client_address").alias("addresses"),
        F.count_if(asked & F.col("link_rule").isin(*NOTHING_PUSHED)).alias("asked_without_push"),
    )
