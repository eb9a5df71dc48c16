"""All tables of the lake, in the order in which they are published."""

from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_metric_histograms import CLIENT_METRIC_HISTOGRAMS
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.quality_results import QUALITY_RESULTS
from client_telemetry.tables.raw_objects import RAW_OBJECTS
from client_telemetry.tables.table import Table
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_reports import UPGRADE_REPORTS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS

TABLES: tuple[Table, ...] = (
    RAW_OBJECTS,
    BROKERS,
    BROKER_HOURS,
    UNDECODABLE_RECORDS,
    CLIENT_PUSHES,
    CLIENT_METRICS,
    CLIENT_METRIC_HISTOGRAMS,
    CONNECTION_EVENTS,
    CLIENT_CONNECTIONS,
    CLIENT_SESSIONS,
    CLIENTS,
    UPGRADE_REPORTS,
    UPGRADE_VERDICTS,
    UPGRADE_FINDINGS,
    QUALITY_RESULTS,
    PUBLICATIONS,
)
"""Facts before what is derived from them; the last two are written by the gate, not through it."""
