"""The tables whose retention the clusters file may change.

Generated from spark/client_telemetry/lake/maintenance.py and never edited by hand: tasks must not import the job side
(`make generated`).
"""

RETENTION_TABLES: tuple[str, ...] = (
    "raw_objects",
    "undecodable_records",
    "client_pushes",
    "client_metrics",
    "client_metric_histograms",
    "connection_events",
    "brokers",
    "broker_hours",
    "client_connections",
    "client_sessions",
    "clients",
    "artefacts",
    "quality_results",
    "publications",
    "upgrade_reports",
    "upgrade_verdicts",
    "upgrade_findings",
    "upgrade_outcomes",
    "metric_changes",
    "rule_records",
    "campaign_states",
)
