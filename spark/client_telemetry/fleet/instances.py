"""What the fleet page needs of a day in addition to the tables' own rows: which standard metrics each client instance
delivered, and for each client its addresses and the sessions that ended before a push. reports/fleet/ explains them.
"""

from collections.abc import Collection
from functools import reduce
from operator import and_

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.tables.clients import CLIENT_KEY

LABELS = {"racks": "client_rack", "group_ids": "group_id", "transactional_ids": "transactional_id"}
"""What people search for an instance by -> the resource attribute of its pushes that has it (KIP-714)."""

PREFIX = "org.apache.kafka."
SHARE_CONSUMER = "org.apache.kafka.consumer.share."
"""Groups consumer-share-metrics and those like it (CONSUMER_SHARE_METRIC_GROUP_PREFIX in ConsumerUtils)."""
KAFKAS_FAMILIES = ("producer", "consumer", "admin", "app", "kafka", "stream")
"""Words after `org.apache.kafka.` of the groups that Kafka's own clients register, Streams among them (KIP-1076). An
application's metrics (registerMetricForSubscription) have the name of their own group there."""
STREAMS = "org.apache.kafka.stream."
"""The request that assigns a client instance its id and says what to push (KIP-714)."""
NOTHING_PUSHED = ("no_instance", "no_instance_at_the_time")
"""Rules of client_connections.link_rule: the client is known, but no instance of it pushed at that time."""


def delivered_metrics(points: DataFrame, histograms: DataFrame, standard: Collection[str]) -> DataFrame:
    """One row per client instance: `metrics`, those of `standard` that it delivered, and `metric_families`, the word
    after `org.apache.kafka.` of any metric (`share_consumer` for what only share consumers have, KIP-932). Rows of
    `client_metrics` and `client_metric_histograms` of the day.
    """
    metrics = points.select("client_instance_id", "metric").unionByName(
        histograms.select("client_instance_id", "metric")
    )
    kafkas = metrics.where(F.col("client_instance_id").isNotNull() & F.col("metric").startswith(PREFIX))
    return kafkas.groupBy("client_instance_id").agg(
        F.collect_set(F.when(F.col("metric").isin(*standard), F.col("metric"))).alias("metrics"),
        F.collect_set(
            F.when(F.col("metric").startswith(SHARE_CONSUMER), F.lit("share_consumer")).otherwise(
                F.split_part("metric", F.lit("."), F.lit(4))
            )
        ).alias("metric_families"),
    )


def alike(sessions: DataFrame, delivered: DataFrame, is_each_its_own: bool) -> DataFrame:
    """Instances with their metrics, one row for those of a client that delivered the same: input of
    metrics_of_libraries. Rows of `client_sessions` and of delivered_metrics. `is_each_its_own`: instances that
    differ in id and addresses stay separate.
    """
    none = F.array().cast("array<string>")
    who = ("client_instance_id", "client_addresses")
    instances = sessions.join(delivered, "client_instance_id", "left").select(
        *(*CLIENT_KEY, *who),
        *(F.array_sort(F.coalesce(name, none)).alias(name) for name in ("metrics", "metric_families")),
    )
    if is_each_its_own:
        return instances.groupBy(*instances.columns).agg(F.count("*").alias("number"))
    return instances.groupBy(*CLIENT_KEY, "metrics", "metric_families").agg(
        F.count("*").alias("number"), *(F.min(name).alias(name) for name in who)
    )


def application_metrics(points: DataFrame, histograms: DataFrame) -> DataFrame:
    """One row per client instance that pushed metrics of its application (KIP-1076): `application_metrics`, their names.
    Rows of `client_metrics` and `client_metric_histograms` of the day."""
    metrics = points.select("client_instance_id", "metric").unionByName(
        histograms.select("client_instance_id", "metric")
    )
    kafkas = F.col("metric").startswith(PREFIX) & F.split_part("metric", F.lit("."), F.lit(4)).isin(
        *KAFKAS_FAMILIES
    )
    own = metrics.where(F.col("client_instance_id").isNotNull() & ~kafkas)
    names = F.array_sort(F.collect_set("metric"))
    return own.groupBy("client_instance_id").agg(names.alias("application_metrics"))


def streams_labels(points: DataFrame) -> DataFrame:
    """One row per client instance that pushed metrics of Kafka Streams: `application_ids` and `process_ids`, labels of these
    metrics (KIP-1091). Rows of `client_metrics` of the day."""
    streams = points.where(F.col("client_instance_id").isNotNull() & F.col("metric").startswith(STREAMS))
    return streams.groupBy("client_instance_id").agg(
        *(
            F.array_sort(F.collect_set(F.col("attributes")[label])).alias(f"{label}s")
            for label in ("application_id", "process_id")
        )
    )


def of_clients(connections: DataFrame) -> DataFrame:
    """One row per client: CLIENT_KEY; `addresses`; `asked_without_push`, connections on which it was given a
    subscription but no instance pushed. Rows of `client_connections` of the day.
    """
    asks_for_subscription = F.exists(
        "api_uses", lambda use: (use.api_key == ApiKey.GET_TELEMETRY_SUBSCRIPTIONS) & (use.requests > 0)
    )
    return connections.groupBy(*CLIENT_KEY).agg(
        F.collect_set("client_address").alias("addresses"),
        F.count_if(asks_for_subscription & F.col("link_rule").isin(*NOTHING_PUSHED)).alias(
            "asked_without_push"
        ),
    )


def with_all_addresses(clients: DataFrame, with_addresses: DataFrame) -> DataFrame:
    """Rows of `clients` with `client_addresses`: all of a client's. `with_addresses`: rows of of_clients."""
    is_same_client = reduce(and_, (clients[name].eqNullSafe(with_addresses[name]) for name in CLIENT_KEY))
    addresses = F.coalesce(with_addresses["addresses"], clients["address_sample"]).alias("client_addresses")
    return clients.join(with_addresses, is_same_client, "left").select(
        *(clients[name] for name in clients.columns), addresses
    )


def given_instances(connections: DataFrame) -> DataFrame:
    """One row per client instance id that brokers assigned in answers to GetTelemetrySubscriptions: CLIENT_KEY,
    `client_addresses`, `broker_ids`, `first_evidence_at`, `last_evidence_at`. Rows of `client_connections` of the
    day; only request logs have the answers.
    """
    instances = connections.select("*", F.explode("given_instance_ids").alias("given"))
    return instances.groupBy(F.col("given").alias("client_instance_id")).agg(
        *(F.min_by(name, "first_seen_at").alias(name) for name in CLIENT_KEY),
        F.array_sort(F.collect_set("client_address")).alias("client_addresses"),
        F.array_sort(F.collect_set("broker_id")).alias("broker_ids"),
        F.min("first_seen_at").alias("first_evidence_at"),
        F.max("last_seen_at").alias("last_evidence_at"),
    )


def resource_labels(pushes: DataFrame) -> DataFrame:
    """One row per client instance that has any: the values of LABELS in its pushes. Rows of `client_pushes`."""
    labels = pushes.where(F.col("client_instance_id").isNotNull()).select(
        "client_instance_id", F.explode("resources").alias("resource")
    )
    return (
        labels.where(F.arrays_overlap(F.map_keys("resource"), F.array(*map(F.lit, LABELS.values()))))
        .groupBy("client_instance_id")
        .agg(*(F.collect_set(F.col("resource")[label]).alias(name) for name, label in LABELS.items()))
    )


def refused_pushes(pushes: DataFrame) -> DataFrame:
    """One row per client and error code: pushes answered with it, instances, first and last. Rows of `client_pushes`;
    error codes are present if the source has them.
    """
    refused = pushes.where(F.col("error_code") != 0)
    return refused.groupBy(*CLIENT_KEY, "error_code").agg(
        F.count("*").alias("pushes"),
        F.count_distinct("client_instance_id").alias("instances"),
        F.min("received_at").alias("first_at"),
        F.max("received_at").alias("last_at"),
    )
