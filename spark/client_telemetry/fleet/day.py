"""The fleet of a day, from tables and their files to its published pages."""

import datetime as dt
from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version

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
from client_telemetry.identity.client_key import client_key
from client_telemetry.identity.hosts import HostNames
from client_telemetry.lake.files import stored_rows
from client_telemetry.pipeline.inputs import StageInputs, latest_results
from client_telemetry.pipeline.one_query import in_one_query
from client_telemetry.pipeline.place import published_place
from client_telemetry.pipeline.stage import Stage
from client_telemetry.reports.fleet.build import build_fleet_day, days_compared
from client_telemetry.reports.fleet.client_metrics import Subscriptions, standard_metrics
from client_telemetry.reports.fleet.day_curves import ClientFiles, FleetCurves, Grid
from client_telemetry.reports.fleet.files import PAGE, publish_fleet_day
from client_telemetry.reports.fleet.model import FleetDay
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
from client_telemetry.tables.raw_objects import RAW_OBJECTS
from client_telemetry.tables.rows import BrokerRow

STAGES_OF_A_DAY = {stage.name for stage in stages.DAILY}
READ = (
    BROKERS,
    BROKER_HOURS,
    CLIENT_CONNECTIONS,
    CLIENT_SESSIONS,
    CLIENTS,
    CLIENT_METRICS,
    CLIENT_METRIC_HISTOGRAMS,
    CLIENT_PUSHES,
    CONNECTION_EVENTS,
    RAW_OBJECTS,
)


def publish_day(
    stage: Stage, inputs: StageInputs, processed: Set[dt.date], hosts: HostNames
) -> tuple[str, str]:
    """Where the page of the one day of `inputs` is, and its sentence. `processed`: days that can be compared with."""
    (day,) = inputs.days
    place_number = F.monotonically_increasing_id().alias("place")
    sessions = inputs.frame(CLIENT_SESSIONS).select("*", place_number)
    pushes, connections = inputs.frame(CLIENT_PUSHES), inputs.frame(CLIENT_CONNECTIONS)
    never_pushed = given_instances(connections).join(sessions, "client_instance_id", "left_anti").persist()
    by_client = of_clients(connections).persist()
    fleet = _fleet_day(stage, inputs, processed, sessions, never_pushed, by_client)
    with_labels = sessions.join(resource_labels(pushes), "client_instance_id", "left")
    with_addresses = with_all_addresses(inputs.frame(CLIENTS).select("*", place_number), by_client)
    index = search_index(
        fleet.cluster_name, day.isoformat(), with_addresses, with_labels, never_pushed, hosts
    )
    name = f"fleet/{folder_name(fleet.cluster_name)}"
    with _curves(stage, inputs) as (curves, client_files):
        with published_place(stage.arguments.publish, name) as place:
            folder = publish_fleet_day(replace(fleet, curves=curves), index, place.root, client_files)
            page = place.shown(folder / PAGE)
    for frame in (never_pushed, by_client):
        frame.unpersist()
    return page, fleet.sentence


def _fleet_day(
    stage: Stage,
    inputs: StageInputs,
    processed: Set[dt.date],
    sessions: DataFrame,
    never_pushed: DataFrame,
    by_client: DataFrame,
) -> FleetDay:
    (day,) = inputs.days
    points, histograms = inputs.frame(CLIENT_METRICS), inputs.frame(CLIENT_METRIC_HISTOGRAMS)
    standard = [metric for metrics in standard_metrics().values() for metric in metrics]
    delivered = delivered_metrics(points, histograms, standard)
    brokers = inputs.rows(BROKERS)
    answers = in_one_query(
        {
            "alike": alike(sessions, delivered, Subscriptions.of(brokers).select_by_instance),
            "without_push": by_client.where("asked_without_push > 0").select(
                *CLIENT_KEY, "asked_without_push"
            ),
            "with_application_metrics": sessions.join(
                application_metrics(points, histograms), "client_instance_id"
            ).select(*CLIENT_KEY, "application_metrics"),
            "of_streams": sessions.join(streams_labels(points), "client_instance_id").select(
                "client_id", "application_ids", "process_ids"
            ),
            "refused_pushes": refused_pushes(inputs.frame(CLIENT_PUSHES)),
            "never_pushed": never_pushed,
        }
    )
    return build_fleet_day(
        day,
        inputs.rows(CLIENTS),
        answers["alike"],
        {client_key(row): row["asked_without_push"] for row in answers["without_push"]},
        inputs.rows(BROKER_HOURS),
        brokers,
        latest_results(stage, [day], lambda row: row["stage"] in STAGES_OF_A_DAY),
        {
            compared_day: inputs.on([compared_day]).rows(CLIENTS) if compared_day in processed else None
            for compared_day in days_compared(day)
        },
        with_application_metrics=answers["with_application_metrics"],
        of_streams=answers["of_streams"],
        refused_pushes=answers["refused_pushes"],
        never_pushed=answers["never_pushed"],
        object_rows=inputs.rows(RAW_OBJECTS),
        cluster_id=stage.cluster,
        cluster_name=stage.cluster_name,
        snapshots=inputs.snapshots,
        knowledge_version=knowledge.version(),
        knowledge_built_at=knowledge.built_at(),
        code_version=version("client-telemetry"),
        created_at=dt.datetime.now(dt.UTC),
    )


@contextmanager
def _curves(stage: Stage, inputs: StageInputs) -> Iterator[tuple[FleetCurves | None, ClientFiles | None]]:
    seen = stored_rows(inputs.files(CLIENT_CONNECTIONS), CLIENT_CONNECTIONS, fleet_curves.SEEN)
    times = fleet_curves.grid(seen)
    if times is None:
        yield None, None
        return
    used = fleet_curves.usage(stage.spark, inputs.files(CONNECTION_EVENTS), times).persist()
    open_ = fleet_curves.opened(inputs.frame(CLIENT_CONNECTIONS), times).persist()
    values = fleet_curves.measured(inputs.frame(CLIENT_PUSHES), inputs.frame(CLIENT_METRICS), times).persist()
    marks = broker_starts(inputs.rows(BROKERS), times)
    groups = fleet_curves.groups(used, open_, values, inputs.frame(CLIENTS), times)
    curves = FleetCurves(times, marks, groups.versions, groups.owners)
    yield curves, fleet_curves.client_files(used, open_, values, groups, inputs.count(CLIENTS), times, marks)
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
