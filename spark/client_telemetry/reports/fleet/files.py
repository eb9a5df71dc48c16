"""The files of a fleet page, and where they are put: <root>/fleet/<cluster>/<day>/, and `latest.json` beside it."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path
from typing import Any

from client_telemetry.console.counted import counted
from client_telemetry.knowledge import kip511
from client_telemetry.reports.client_strings import client_label
from client_telemetry.reports.evidence import RelatedClient
from client_telemetry.reports.fleet.day_curves import ClientFiles
from client_telemetry.reports.fleet.model import (
    ApplicationMetrics,
    DeprecatedVersion,
    FleetClient,
    FleetDay,
    FleetVersion,
    MetricOfLibrary,
    NeverPushed,
    QualityCheck,
    RefusedPushes,
    StreamsApplication,
    UnexplainedRequests,
)
from client_telemetry.reports.fleet.numbers import fleet_numbers
from client_telemetry.reports.fleet.page import RELATIONS, fleet_page
from client_telemetry.reports.fleet.search import SearchIndex
from client_telemetry.reports.folder import PAGE, replace_file, replace_folder
from client_telemetry.reports.json_text import json_text
from client_telemetry.reports.names import folder_name
from client_telemetry.reports.open_metrics import publish_numbers
from client_telemetry.reports.spreadsheet import table_csv
from client_telemetry.tables.quality_findings import found


def publish_fleet_day(
    fleet: FleetDay, index: SearchIndex, root: Path, client_files: ClientFiles | None = None
) -> Path:
    """Writes the page's folder below `root` and returns it: all of its files or none, a page of the same day is
    replaced. Then `latest.json` of the cluster names the latest day that has a page."""
    cluster = root / "fleet" / folder_name(fleet.cluster_name)
    folder = cluster / fleet.day.isoformat()
    replace_folder(
        folder, chain(files(fleet).items(), index.files(), client_files.files() if client_files else ())
    )
    latest = max((path.parent.name for path in cluster.glob("[0-9]*/day.json")), default=folder.name)
    pointer = json.loads((cluster / latest / "day.json").read_text(encoding="utf-8"))
    replace_file(cluster / "latest.json", _json({"path": f"{latest}/{PAGE}", **pointer}))
    if latest == folder.name:
        publish_numbers(root, "fleet", fleet.cluster_name, fleet_numbers(fleet))
    return folder


def files(fleet: FleetDay) -> dict[str, str]:
    """Name within the folder to content; without what clients and instances are found by, and the curves of clients."""
    checks = [{**vars(check), "found": found(check)} for check in fleet.quality]
    return {
        PAGE: fleet_page(fleet),
        "fleet.json": _json(fleet),
        "day.json": _json(_summary(fleet)),
        "quality.json": _json({"schema_version": fleet.schema_version, "checks": checks, "lost": fleet.lost}),
        "software.csv": _software_csv(fleet),
        "clients.csv": _csv(fleet, FleetClient, map(_in_words, fleet.clients)),
        "deprecated.csv": _csv(fleet, DeprecatedVersion, fleet.deprecated),
        "metrics.csv": _csv(fleet, MetricOfLibrary, fleet.metrics),
        "requests.csv": _csv(fleet, UnexplainedRequests, fleet.request_counts.versions),
        "application_metrics.csv": _csv(fleet, ApplicationMetrics, fleet.application_metrics),
        "streams.csv": _csv(fleet, StreamsApplication, fleet.streams_applications),
        "never_pushed.csv": _csv(fleet, NeverPushed, fleet.never_pushed),
        "refused.csv": _csv(fleet, RefusedPushes, fleet.refused_pushes),
        "quality.csv": _csv(fleet, QualityCheck, fleet.quality),
    }


def _summary(fleet: FleetDay) -> dict[str, object]:
    """What lists and calendars show of a day."""
    coverage = fleet.coverage
    return {
        "schema_version": fleet.schema_version,
        "cluster_id": fleet.cluster_id,
        "cluster_name": fleet.cluster_name,
        "day": fleet.day,
        "created_at": fleet.created_at,
        "sentence": fleet.sentence,
        "counts": fleet.counts,
        "lost": fleet.lost.sentence,
        "oldest_release": fleet.compared_with_release,
        "releases": coverage.cluster_states[-1].releases if coverage.cluster_states else (),
        "coverage": {
            "broker_hours": coverage.broker_hours,
            "complete_broker_hours": coverage.complete_broker_hours,
            "runs": coverage.runs,
        },
        "quality": {
            "checks": len(fleet.quality),
            "failed_critical": sum(not c.success and c.severity == "critical" for c in fleet.quality),
            "failed_warning": sum(not c.success and c.severity != "critical" for c in fleet.quality),
        },
    }


def _json(document: object) -> str:
    return json_text(document) + "\n"


def _csv(fleet: FleetDay, kind: type, rows: Iterable[object]) -> str:
    names = tuple(field.name for field in fields(kind) if field.name != "examples")
    return _table(fleet, names, [[getattr(row, name) for name in names] for row in rows])


def _in_words(client: FleetClient) -> object:
    """With text for what a table has no columns for."""
    texts: dict[str, Any] = {
        "related": tuple(map(_relation, client.related)),
        "deprecated": tuple(
            f"{use.api_name} v{use.version} ({counted(use.requests, 'request')}; refused by {use.refused_by})"
            for use in client.deprecated
        ),
    }
    return replace(client, **texts)


def _relation(other: RelatedClient) -> str:
    software = kip511.software(other.client_software_name, other.client_software_version)
    words = RELATIONS.get(other.relation, other.relation)
    return f"{words} {client_label(other.client_id)} ({software}): {other.because}"


def _software_csv(fleet: FleetDay) -> str:
    """One row per software version; a software without versions has one row."""
    names = tuple(field.name for field in fields(FleetVersion))
    rows: list[list[object]] = []
    for software in fleet.software:
        for version in software.versions:
            rows.append([software.name, *(getattr(version, name) for name in names)])
        if not software.versions:
            sums = {"clients": software.clients, "instances": software.instances}
            sums |= {"connections": software.connections, "requests": software.requests}
            rows.append([software.name, *(sums.get(name) for name in names)])
    return _table(fleet, ("software", *names), rows)


def _table(fleet: FleetDay, names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    day = fleet.day.isoformat()
    return table_csv(("cluster_id", "day", *names), ([fleet.cluster_id, day, *row] for row in rows))
