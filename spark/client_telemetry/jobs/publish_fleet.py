"""publish_fleet: the fleet of a day as HTML, CSV and JSON, and the search index of client instances.

Reads the snapshots that were published together, and compares with the day and the week before.
"""

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry import knowledge
from client_telemetry.fleet import curves as fleet_curves
from client_telemetry.fleet.instances import (
    alike,
    application_metrics,
    delivered_metrics,
    given_instances,
    of_clients,
    refused_pushes,
    resource_labels,
    streams_labels,
    with_all_addresses,
)
from client_telemetry.fleet.search import search_index
from client_telemetry.identity.hosts import NO_HOSTS, HostNames, host_names
from client_telemetry.lake.files import stored_rows
from client_telemetry.pipeline.one_query import in_one_query
from client_telemetry.pipeline.place import published_place
from client_telemetry.pipeline.stage import Outcome, Stage, days, parser, run
from client_telemetry.pipeline.text_file import read_text_file
from client_telemetry.reports.client_key import client_key
from client_telemetry.reports.fleet.build import build_fleet_day, days_compared
from client_telemetry.reports.fleet.client_metrics import Subscriptions, standard_metrics
from client_telemetry.reports.fleet.day_curves import ClientFiles, FleetCurves, Grid
from client_telemetry.reports.fleet.files import PAGE, publish_fleet_day
from client_telemetry.reports.names import folder_name
from client_telemetry.tables import stages
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_metric_histograms import CLIENT_METRIC_HISTOGRAMS
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.clients import CLIENT_KEY, CLIENTS
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.quality_results import QUALITY_RESULTS
from client_telemetry.tables.raw_objects import RAW_OBJECTS
from client_telemetry.tables.rows import BrokerRow, QualityResultRow
from client_telemetry.tables.table import Row, Table

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
    RAW_OBJECTS,
)


def publish_fleet(stage: Stage) -> Outcome:
    snapshots = stage.lake.published(stage.cluster)
    processed = stage.lake.published_days(stage.cluster, "profile")
    location = stage.arguments.hosts
    hosts = read_text_file(location, "host names", host_names) if location else NO_HOSTS
    pages = {}
    for day in stage.arguments.days:
        pages[day] = _publish_day(stage, day, snapshots, processed, hosts)
    last = max(pages)
    page, sentence = pages[last]
    details: dict[str, object] = {"page": page, "sentence": sentence}
    return Outcome(f"publish_fleet: {last}: {sentence}\n{page}", {"pages": len(pages)}, details)


def _publish_day(
    stage: Stage, day: dt.date, snapshots: dict[str, int], processed: set[dt.date], hosts: HostNames
) -> tuple[str, str]:
    lake, args = stage.lake, stage.arguments

    def rows(table: Table[Row], of_day: dt.date = day) -> list[Row]:
        return lake.rows(table, snapshots[table.name], cluster_id=stage.cluster, dt=of_day)

    def read(table: Table) -> DataFrame:
        return lake.read(table, snapshots[table.name]).where(
            stage.condition({"cluster_id": stage.cluster, "dt": day})
        )

    clients = rows(CLIENTS)
    pushes, points, histograms, connections = map(
        read, (CLIENT_PUSHES, CLIENT_METRICS, CLIENT_METRIC_HISTOGRAMS, CLIENT_CONNECTIONS)
    )
    of_table = F.monotonically_increasing_id().alias("place")
    sessions = read(CLIENT_SESSIONS).select("*", of_table)
    never_pushed = given_instances(connections).join(sessions, "client_instance_id", "left_anti").persist()
    by_client = of_clients(connections).persist()
    without_push = by_client.where("asked_without_push > 0").select(*CLIENT_KEY, "asked_without_push")
    standard = [metric for metrics in standard_metrics().values() for metric in metrics]
    delivered = delivered_metrics(points, histograms, standard)
    brokers = rows(BROKERS)
    answers = in_one_query(
        {
            "alike": alike(sessions, delivered, Subscriptions.of(brokers).select_by_instance),
            "without_push": without_push,
            "with_application_metrics": sessions.join(
                application_metrics(points, histograms), "client_instance_id"
            ).select(*CLIENT_KEY, "application_metrics"),
            "of_streams": sessions.join(streams_labels(points), "client_instance_id").select(
                "client_id", "application_ids", "process_ids"
            ),
            "refused_pushes": refused_pushes(pushes),
            "never_pushed": never_pushed,
        }
    )
    fleet = build_fleet_day(
        day,
        clients,
        answers["alike"],
        {client_key(row): row["asked_without_push"] for row in answers["without_push"]},
        rows(BROKER_HOURS),
        brokers,
        _latest_results(stage, day),
        {
            compared_day: rows(CLIENTS, compared_day) if compared_day in processed else None
            for compared_day in days_compared(day)
        },
        with_application_metrics=answers["with_application_metrics"],
        of_streams=answers["of_streams"],
        refused_pushes=answers["refused_pushes"],
        never_pushed=answers["never_pushed"],
        object_rows=rows(RAW_OBJECTS),
        cluster_id=stage.cluster,
        cluster_name=args.cluster_name,
        snapshots={table.name: snapshots[table.name] for table in READ},
        knowledge_version=knowledge.version(),
        knowledge_built_at=knowledge.built_at(),
        code_version=version("client-telemetry"),
        created_at=dt.datetime.now(dt.UTC),
    )
    with_labels = sessions.join(resource_labels(pushes), "client_instance_id", "left")
    with_addresses = with_all_addresses(read(CLIENTS).select("*", of_table), by_client)
    index = search_index(
        fleet.cluster_name, day.isoformat(), with_addresses, with_labels, never_pushed, hosts
    )
    events, of_connections = (
        lake.files(table, snapshots[table.name], cluster_id=stage.cluster, dt=[day])
        for table in (CONNECTION_EVENTS, CLIENT_CONNECTIONS)
    )
    place_of_page = f"fleet/{folder_name(fleet.cluster_name)}"
    with (
        _curves(
            fleet_curves.grid(stored_rows(of_connections, CLIENT_CONNECTIONS, fleet_curves.SEEN)),
            lambda times: fleet_curves.usage(stage.spark, events, times),
            pushes,
            points,
            connections,
            read(CLIENTS),
            brokers,
            len(clients),
        ) as (
            curves,
            client_files,
        ),
        published_place(args.publish, place_of_page) as place,
    ):
        folder = publish_fleet_day(replace(fleet, curves=curves), index, place.root, client_files)
        page = place.shown(folder / PAGE)
    for frame in (never_pushed, by_client):
        frame.unpersist()
    return page, fleet.sentence


@contextmanager
def _curves(
    times: Grid | None,
    usage: Callable[[Grid], DataFrame],
    pushes: DataFrame,
    metrics: DataFrame,
    connections: DataFrame,
    clients: DataFrame,
    brokers: list[BrokerRow],
    number: int,
) -> Iterator[tuple[FleetCurves | None, ClientFiles | None]]:
    if times is None:
        yield None, None
        return
    used = usage(times).persist()
    open_ = fleet_curves.opened(connections, times).persist()
    values = fleet_curves.measured(pushes, metrics, times).persist()
    marks = broker_starts(brokers, times)
    groups = fleet_curves.groups(used, open_, values, clients, times)
    curves = FleetCurves(times, marks, groups.versions, groups.owners)
    yield curves, fleet_curves.client_files(used, open_, values, groups, number, times, marks)
    for frame in (used, open_, values):
        frame.unpersist()


def broker_starts(brokers: list[BrokerRow], times: Grid) -> tuple[tuple[float, str], ...]:
    """Starts of brokers within the time, in words. A broker that was not there before does not count as changed."""
    starts = []
    for row in brokers:
        started = row["started_at"].timestamp() if row["started_at"] else None
        if started is not None and times.since < started < times.until:
            release = row["software_version"] or " or ".join(row["releases"] or ()) or "an unknown release"
            starts.append((started, f"broker {row['broker_id']} started on {release}"))
    return tuple(sorted(starts))


def _latest_results(stage: Stage, day: dt.date) -> list[QualityResultRow]:
    """The gates' last result for each expectation."""
    latest: dict[tuple[Any, ...], QualityResultRow] = {}
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
    arguments.add_argument("--hosts", help="file of addresses and host names, in the form of /etc/hosts")
    return run(
        arguments,
        publish_fleet,
        argv,
        lambda args: None if args.days else "publish_fleet: no day was processed, nothing to do",
    )
