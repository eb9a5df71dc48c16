"""The stages of the pipeline: their order, the tables that each writes, and the module that runs each.

The one place that lists them, used by spark/run_stage.py, the documentation, the fleet page and the command line. A new
stage needs an entry here, a module, its tables with their suites, and a task in a DAG (docs/extend.md).
"""

import importlib
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

WORKERS_IMPORT: Final = "CLIENT_TELEMETRY_WORKERS_IMPORT"
"""Environment variable of Spark's workers with the module that those of a stage import (worker_daemon.py); by default
they import that of decode, whose compiled code takes longest.
"""
DRIVERS_PACKAGE: Final = "CLIENT_TELEMETRY_PACKAGE"
"""Environment variable of a cluster's executors with the digest of the driver's package, which theirs has to equal."""


class StageEntry(NamedTuple):
    """`name`: the argument of spark/run_stage.py. `module`: has `main(argv) -> exit code`. `writes`: names of tables."""

    name: str
    module: str
    writes: tuple[str, ...]


DAILY: Final = (
    StageEntry("collect", "client_telemetry.collect.stage", ("raw_objects", "brokers", "broker_hours")),
    StageEntry(
        "decode",
        "client_telemetry.decode.stage",
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
    StageEntry("sessionize", "client_telemetry.sessionize.stage", ("client_connections", "client_sessions")),
    StageEntry("profile", "client_telemetry.profile.stage", ("clients",)),
    StageEntry("publish_fleet", "client_telemetry.publish.fleet_page", ()),
)
"""One run: one cluster and one day. Facts come before what is derived from them."""

UPGRADE_QUESTION: Final = (
    StageEntry(
        "impact",
        "client_telemetry.impact.stage",
        ("upgrade_reports", "upgrade_verdicts", "upgrade_findings"),
    ),
    StageEntry("publish", "client_telemetry.publish.upgrade_report", ()),
)
"""One run: one upgrade question."""

UPGRADE_REVIEW: Final = (
    StageEntry(
        "review", "client_telemetry.review.stage", ("upgrade_outcomes", "metric_changes", "rule_records")
    ),
)
"""One run: one upgrade that happened, or is under way."""

SUBSCRIPTION_QUESTION: Final = (
    StageEntry("subscription_check", "client_telemetry.subscription_check.stage", ()),
)
"""One run: one change of KIP-714 subscriptions."""

UPKEEP: Final = StageEntry("lake_maintenance", "client_telemetry.lake.upkeep_stage", ())
"""One run: the whole lake. It writes no table of its own but rewrites all of them."""

STAGES: Final = DAILY + UPGRADE_QUESTION + UPGRADE_REVIEW + SUBSCRIPTION_QUESTION

WRITTEN_BY_EVERY_STAGE: Final = ("quality_results", "publications")
"""Quality results and publications: written by the harness, not by a stage."""


def tables_in_order() -> tuple[str, ...]:
    """Names of all tables, in the order in which they are first written."""
    tables = [table for stage in STAGES for table in stage.writes]
    return tuple(dict.fromkeys([*tables, *WRITTEN_BY_EVERY_STAGE]))


def main_of(name: str) -> Callable[[Sequence[str] | None], int]:
    """The main function of a stage. Its module is imported when the function is called: Spark takes seconds to import."""
    (module,) = [stage.module for stage in (*STAGES, UPKEEP) if stage.name == name]

    def main(argv: Sequence[str] | None = None) -> int:
        result: int = importlib.import_module(module).main(argv)
        return result

    return main
