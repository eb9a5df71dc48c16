"""publish_fleet: the fleet of a day as HTML, CSV and JSON, and what a client instance is found by.

Reads the snapshots that were published together, and compares with the day and the week before.
"""

import datetime as dt
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from pyspark.sql import DataFrame

from client_telemetry.compatibility import knowledge
from client_telemetry.pipeline import stages
from client_telemetry.pipeline.stage import Outcome, Stage, days, parser, run
from client_telemetry.publish import fleet_curves
from client_telemetry.publish.fleet_instances import (
    LABELS,
    application_metrics,
    delivered_metrics,
    given_instances,
    of_clients,
    refused_pushes,
    resource_labels,
    streams_labels,
)
from client_telemetry.publish.place import published_place
from client_telemetry.reports.client_key import client_key
from client_telemetry.reports.fleet.build import build_fleet_day, days_compared
from client_telemetry.reports.fleet.client_metrics import standard_metrics
from client_telemetry.reports.fleet.day_curves import ClientFiles, FleetCurves, Grid
from client_telemetry.reports.fleet.files import PAGE, publish_fleet_day
from client_telemetry.reports.fleet.search import SearchIndex
from client_telemetry.reports.names import folder_name
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
from client_telemetry.tables.table import Table

STAGES_OF_A_DAY = {stage.name for stage in stages.DAILY}
READ = (
    BROKERS,
    BROKER_HOURS,
    CLIENT_CONNECTIONS,
    CLIENT_SESSIONS,
    CLIENTS,
    CLIENT_METRICS,
    CLIENT_PUSHES,
    CONNECTION_EVENTS,
)


def publish_fleet(stage: Stage) -> Outcome:
    snapshots = stage.lake.published()
    processed = _processed_days(stage)
    pages = {}
    for day in stage.arguments.days:
        pages[day] = _publish_day(stage, day, snapshots, processed)
    last = max(pages)
    page, sentence = pages[last]
    details: dict[str, object] = {"page": page, "sentence": sentence}
    return Outcome(f"publish_fleet: {last}: {sentence}\n{page}", {"pages": len(pages)}, details)


def _publish_day(
    stage: Stage, day: dt.date, snapshots: dict[str, int], processed: set[dt.date]
) -> tuple[str, str]:
    lake, args = stage.lake, stage.arguments

    def rows(table: Table, of: dt.date = day) -> list[dict[str, Any]]:
        return lake.rows(table, snapshots[table.name], cluster_id=stage.cluster, dt=of)

    clients = rows(CLIENTS)
    instances = _instances(stage, day, rows(CLIENT_SESSIONS), snapshots)
    connections = _of_the_day(stage, CLIENT_CONNECTIONS, day, snapshots)
    pushed = {bytes(row["client_instance_id"]) for row in instances}
    never_pushed = [
        row.asDict()
        for row in given_instances(connections).collect()
        if bytes(row["client_instance_id"]) not in pushed
    ]
    seen = {client_key(row.asDict()): row for row in of_clients(connections).collect()}
    fleet = build_fleet_day(
        day,
        clients,
        instances,
        {key: row["asked_without_push"] for key, row in seen.items() if row["asked_without_push"]},
        rows(BROKER_HOURS),
        rows(BROKERS),
        _latest_results(stage, day),
        {other: rows(CLIENTS, other) if other in processed else None for other in days_compared(day)},
        refused_pushes=[
            row.asDict()
            for row in refused_pushes(_of_the_day(stage, CLIENT_PUSHES, day, snapshots)).collect()
        ],
        never_pushed=never_pushed,
        cluster_id=stage.cluster,
        cluster_name=args.cluster_name,
        snapshots={table.name: snapshots[table.name] for table in READ},
        knowledge_version=knowledge.version(),
        code_version=version("client-telemetry"),
        created_at=dt.datetime.now(dt.UTC),
    )
    curves, client_files = _curves(stage, day, snapshots, connections, rows(BROKERS), len(clients))
    fleet = replace(fleet, curves=curves)
    addresses = {key: row["addresses"] for key, row in seen.items()}
    index = SearchIndex(fleet.cluster_name, day.isoformat(), clients, instances, addresses, never_pushed)
    with published_place(args.publish, f"fleet/{folder_name(fleet.cluster_name)}") as place:
        folder = publish_fleet_day(fleet, index, place.root, client_files)
        return place.shown(folder / PAGE), fleet.sentence


def _curves(
    stage: Stage,
    day: dt.date,
    snapshots: dict[str, int],
    connections: DataFrame,
    brokers: list[dict[str, Any]],
    clients: int,
) -> tuple[FleetCurves | None, ClientFiles | None]:
    times = fleet_curves.grid(connections)
    if times is None:
        return None, None
    events, pushes, metrics = (
        _of_the_day(stage, table, day, snapshots)
        for table in (CONNECTION_EVENTS, CLIENT_PUSHES, CLIENT_METRICS)
    )
    used = fleet_curves.usage(events, times).persist()
    open_ = fleet_curves.opened(connections, times).persist()
    values = fleet_curves.measured(pushes, metrics, times).persist()
    marks = broker_starts(brokers, times)
    found = FleetCurves(times, marks, fleet_curves.versions(used, open_, values, times))
    files = fleet_curves.client_files(used, open_, values, clients, times, marks)
    for frame in (used, open_, values):
        frame.unpersist()
    return found, files


def broker_starts(brokers: list[dict[str, Any]], times: Grid) -> tuple[tuple[float, str], ...]:
    """Starts within the time, in words. A broker that was not there before did not change."""
    found = []
    for row in brokers:
        started = row["started_at"].timestamp() if row["started_at"] else None
        if started is not None and times.since < started < times.until:
            release = row["software_version"] or " or ".join(row["releases"] or ()) or "an unknown release"
            found.append((started, f"broker {row['broker_id']} started on {release}"))
    return tuple(sorted(found))


def _of_the_day(stage: Stage, table: Table, day: dt.date, snapshots: dict[str, int]) -> DataFrame:
    where = stage.condition({"cluster_id": stage.cluster, "dt": day})
    return stage.lake.read(table, snapshots[table.name]).where(where)


def _instances(
    stage: Stage, day: dt.date, sessions: list[dict[str, Any]], snapshots: dict[str, int]
) -> list[dict[str, Any]]:
    """Rows of `client_sessions` with the metrics that each instance delivered."""
    standard = [metric for metrics in standard_metrics().values() for metric in metrics]
    points, histograms = (
        _of_the_day(stage, table, day, snapshots) for table in (CLIENT_METRICS, CLIENT_METRIC_HISTOGRAMS)
    )
    found = {
        bytes(row["client_instance_id"]): row.asDict()
        for row in delivered_metrics(points, histograms, standard).collect()
    }
    labels = {
        bytes(row["client_instance_id"]): row.asDict()
        for row in resource_labels(_of_the_day(stage, CLIENT_PUSHES, day, snapshots)).collect()
    }
    more: dict[bytes, dict[str, Any]] = {}
    for frame in (application_metrics(points, histograms), streams_labels(points)):
        for row in frame.collect():
            more.setdefault(bytes(row["client_instance_id"]), {}).update(row.asDict())
    nothing: dict[str, Any] = {"metrics": [], "metric_families": []}
    without: dict[str, Any] = {name: [] for name in LABELS}
    return [
        {
            **row,
            **found.get(row["client_instance_id"], nothing),
            **labels.get(row["client_instance_id"], without),
            **more.get(row["client_instance_id"], {}),
        }
        for row in sessions
    ]


def _processed_days(stage: Stage) -> set[dt.date]:
    """Days whose clients were published, also if there were none."""
    rows = stage.lake.rows(PUBLICATIONS, cluster_id=stage.cluster)
    return {day for row in rows if row["stage"] == "profile" for day in row["days"]}


def _latest_results(stage: Stage, day: dt.date) -> list[dict[str, Any]]:
    """What the gates found last about each expectation."""
    latest: dict[tuple[Any, ...], dict[str, Any]] = {}
    rows = stage.lake.rows(QUALITY_RESULTS, cluster_id=stage.cluster, dt=day)
    for row in sorted(rows, key=lambda row: row["evaluated_at"]):
        if row["stage"] in STAGES_OF_A_DAY:
            latest[row["table_name"], row["expectation"]] = row
    return list(latest.values())


def main(argv: list[str] | None = None) -> int:
    arguments = parser("publish_fleet", __doc__)
    arguments.add_argument("--days", required=True, type=days, help="days to publish, UTC")
    arguments.add_argument(
        "--publish", required=True, help="folder or file:// URL in which fleet/... is written"
    )
    arguments.add_argument("--cluster-name", help="display name of the cluster")
    return run(
        arguments,
        publish_fleet,
        argv,
        lambda args: None if args.days else "publish_fleet: no day was processed, nothing to do",
    )
