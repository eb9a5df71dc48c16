"""The stages of the pipeline: their order, and the tables that each writes.

The one place that lists them, used by spark/run_stage.py, the documentation, the fleet page and the command line. A new
stage needs an entry here, a module, its tables with their suites, and a task in a DAG (docs/extend.md).
"""

from typing import Final, NamedTuple

WORKERS_IMPORT: Final = "CLIENT_TELEMETRY_WORKERS_IMPORT"
"""Environment variable of Spark's workers with the module that those of a stage import (worker_daemon.py); by default
WORKERS_IMPORT_ALWAYS, whose compiled code takes longest.
"""
WORKERS_IMPORT_ALWAYS: Final = "client_telemetry.decode.worker"
DRIVERS_PACKAGE: Final = "CLIENT_TELEMETRY_PACKAGE"
"""Environment variable of a cluster's executors with the digest of the driver's package, which theirs has to equal."""


class StageEntry(NamedTuple):
    """`name`: the argument of spark/run_stage.py, and the module of client_telemetry.jobs that has `main(argv) -> exit code`.
    `writes`: names of tables.
    """

    name: str
    writes: tuple[str, ...]


DAILY: Final = (
    StageEntry("collect", ("raw_objects", "brokers", "broker_hours")),
    StageEntry(
        "decode",
        (
            "undecodable_records",
            "client_pushes",
            "client_metrics",
            "client_metric_histograms",
            "connection_events",
            "raw_objects",
            "broker_hours",
        ),
    ),
    StageEntry("sessionize", ("client_connections", "client_sessions")),
    StageEntry("profile", ("clients",)),
    StageEntry("publish_fleet", ()),
)
"""One run: one cluster and one day. Facts come before what is derived from them."""

UPGRADE_QUESTION: Final = (
    StageEntry(
        "impact",
        ("upgrade_reports", "upgrade_verdicts", "upgrade_findings"),
    ),
    StageEntry("publish", ()),
)
"""One run: one upgrade question."""

UPGRADE_REVIEW: Final = (StageEntry("review", ("upgrade_outcomes", "metric_changes", "rule_records")),)
"""One run: one upgrade that happened, or is under way."""

SUBSCRIPTION_QUESTION: Final = (StageEntry("subscription_check", ()),)
"""One run: one change of KIP-714 subscriptions."""

INVENTORY: Final = (StageEntry("artefact_inventory", ("artefacts",)),)
"""One run: what is written about the clients of a cluster, on one day."""

CAMPAIGN: Final = (StageEntry("upgrade_campaign", ("campaign_states",)),)
"""One run: one planned upgrade, on one of its clusters."""

UPKEEP: Final = StageEntry("lake_maintenance", ())
"""One run: the whole lake. It writes no table of its own but rewrites all of them."""

STAGES: Final = DAILY + UPGRADE_QUESTION + UPGRADE_REVIEW + SUBSCRIPTION_QUESTION + INVENTORY + CAMPAIGN

WRITTEN_BY_EVERY_STAGE: Final = ("quality_results", "publications")
"""Quality results and publications: written by the harness, not by a stage."""


def tables_in_order() -> tuple[str, ...]:
    """Names of all tables, in the order in which they are first written."""
    tables = [table for stage in STAGES for table in stage.writes]
    return tuple(dict.fromkeys([*tables, *WRITTEN_BY_EVERY_STAGE]))
