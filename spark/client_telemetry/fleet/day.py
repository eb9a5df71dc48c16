"""The fleet of a day, from tables and their files to its published pages."""

import datetime as dt
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from importlib.metadata import version

from client_telemetry import knowledge
from client_telemetry.fleet import curves as fleet_curves
from client_telemetry.fleet import instances as fleet_instances
from client_telemetry.fleet import search as fleet_search
from client_telemetry.identity.client_key import client_key
from client_telemetry.identity.hosts import HostNames
from client_telemetry.lake.files import stored_rows
from client_telemetry.pipeline.inputs import StageInputs, latest_results
from client_telemetry.pipeline.place import published_place
from client_telemetry.pipeline.queries import Queries, queries
from client_telemetry.pipeline.stage import Stage
from client_telemetry.reports.fleet.build import build_fleet_day, days_compared
from client_telemetry.reports.fleet.client_metrics import Subscriptions, standard_metrics
from client_telemetry.reports.fleet.day_curves import ClientFiles, FleetCurves, Grid
from client_telemetry.reports.fleet.files import publish_fleet_day
from client_telemetry.reports.fleet.model import FleetDay
from client_telemetry.reports.folder import PAGE
from client_telemetry.reports.names import folder_name
from client_telemetry.tables import stages
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.raw_objects import RAW_OBJECTS
from client_telemetry.tables.rows import BrokerRow
from client_telemetry.tables.table import Table


def _columns(*read: Mapping[Table, Sequence[str]]) -> dict[Table, tuple[str, ...]]:
    """All of a table that any of them names."""
    tables = dict.fromkeys(table for each in read for table in each)
    return {
        table: tuple(dict.fromkeys(column for each in read for column in each.get(table, ())))
        for table in tables
    }


STAGES_OF_A_DAY = {stage.name for stage in stages.DAILY}
_QUERIED = _columns(fleet_instances.READ, fleet_search.READ, fleet_curves.READ)
READ = (BROKERS, BROKER_HOURS, CONNECTION_EVENTS, RAW_OBJECTS, *_QUERIED)


def publish_day(
    stage: Stage, inputs: StageInputs, processed: Set[dt.date], hosts: HostNames
) -> tuple[str, str]:
    """Where the page of the one day of `inputs` is, and its sentence. `processed`: days that can be compared with."""
    (day,) = inputs.days
    with queries(stage, inputs, _QUERIED, inputs.count(CONNECTION_EVENTS)) as of_day:
        fleet = _fleet_day(stage, inputs, processed, of_day)
        index = fleet_search.search_index(of_day, fleet.cluster_name, day.isoformat(), hosts)
        curves, client_files = _curves(inputs, of_day)
        name = f"fleet/{folder_name(fleet.cluster_name)}"
        with published_place(stage.arguments.publish, name) as place:
            folder = publish_fleet_day(replace(fleet, curves=curves), index, place.root, client_files)
            return place.shown(folder / PAGE), fleet.sentence


def _fleet_day(stage: Stage, inputs: StageInputs, processed: Set[dt.date], of_day: Queries) -> FleetDay:
    (day,) = inputs.days
    fleet_instances.define_instances(
        of_day, [metric for metrics in standard_metrics().values() for metric in metrics]
    )
    brokers = inputs.rows(BROKERS)
    answers = of_day.answers(
        {
            "alike": fleet_instances.alike(Subscriptions.of(brokers).select_by_instance),
            "without_push": f"select {fleet_instances.KEY}, asked_without_push from of_clients where asked_without_push > 0",
            "with_application_metrics": fleet_instances.WITH_APPLICATION_METRICS,
            "of_streams": fleet_instances.OF_STREAMS,
            "refused_pushes": fleet_instances.REFUSED_PUSHES,
            "never_pushed": "select * from never_pushed",
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


def _curves(inputs: StageInputs, of_day: Queries) -> tuple[FleetCurves | None, ClientFiles | None]:
    seen = stored_rows(inputs.files(CLIENT_CONNECTIONS), CLIENT_CONNECTIONS, fleet_curves.SEEN)
    times = fleet_curves.grid(seen)
    if times is None:
        return None, None
    fleet_curves.define_curves(of_day, inputs.files(CONNECTION_EVENTS), times)
    marks = broker_starts(inputs.rows(BROKERS), times)
    groups = fleet_curves.groups(of_day, times)
    curves = FleetCurves(times, marks, groups.versions, groups.owners)
    return curves, fleet_curves.client_files(of_day, groups, inputs.count(CLIENTS), times, marks)


def broker_starts(brokers: list[BrokerRow], times: Grid) -> tuple[tuple[float, str], ...]:
    """Starts of brokers within the time, in words. A broker that was not there before does not count as changed."""
    starts = []
    for row in brokers:
        started = row["started_at"].timestamp() if row["started_at"] else None
        if started is not None and times.since < started < times.until:
            release = row["software_version"] or " or ".join(row["releases"] or ()) or "an unknown release"
            starts.append((started, f"broker {row['broker_id']} started on {release}"))
    return tuple(sorted(starts))
