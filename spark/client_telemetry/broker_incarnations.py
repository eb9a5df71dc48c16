"""One broker process from its start to its end: an incarnation."""

import datetime as dt

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.compatibility.broker_guess import APACHE_KAFKA
from client_telemetry.history import midnight, with_history

INCARNATION = ["cluster_id", "broker_id", "broker_incarnation"]
"""Columns that tell incarnations apart."""


def incarnations(brokers: DataFrame, day: dt.date) -> DataFrame:
    """One row per incarnation: its release (with the name of the software before it where that is not Apache Kafka, as
    broker_guess.declared writes it), and, if the next incarnation of its broker started before the end of the
    day, when that was (`replaced_at`) and when the incarnation itself was last seen (`stopped_at`).

    From rows of `brokers`; those of the day and of its history are used.
    """
    each = (
        with_history(brokers, day)
        .groupBy(*INCARNATION)
        .agg(
            F.max_by(_declared(), F.when(F.col("software_version").isNotNull(), F.col("dt"))).alias(
                "broker_software_version"
            ),
            F.min("started_at").alias("started_at"),
            F.max("last_evidence_at").alias("last_evidence_at"),
        )
    )
    later = each.where(F.col("started_at") < midnight(day + dt.timedelta(days=1))).select(
        "cluster_id", "broker_id", F.col("started_at").alias("later_at")
    )
    return (
        each.join(later, ["cluster_id", "broker_id"], "left")
        .groupBy(*INCARNATION, "broker_software_version", "last_evidence_at")
        .agg(F.min(F.when(F.col("later_at") > F.col("started_at"), F.col("later_at"))).alias("replaced_at"))
        .withColumn(
            "stopped_at",
            F.when(F.col("replaced_at").isNotNull(), F.coalesce("last_evidence_at", "replaced_at")),
        )
        .drop("last_evidence_at")
    )


def _declared() -> Column:
    is_kafka = F.coalesce("software_name", F.lit("")).isin("", APACHE_KAFKA)
    named = F.concat_ws(" ", "software_name", "software_version")
    return F.when(is_kafka | (F.col("software_version") == ""), F.col("software_version")).otherwise(named)
