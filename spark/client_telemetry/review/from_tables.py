"""A review from the lake's tables: clients are judged, and what is written about them is written, in tasks."""

import datetime as dt
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from client_telemetry.activity.records import Evidence
from client_telemetry.activity.table_evidence import (
    OF_LOGINS,
    SHORTEST_SLOT_SECONDS,
    SLOTS,
    LoginRow,
    broker_runs,
    failed_logins,
    without_clients,
)
from client_telemetry.identity.owners import OwnerRule
from client_telemetry.lake.lake import Lake
from client_telemetry.pipeline.inputs import StageInputs
from client_telemetry.pipeline.queries import is_little, queries
from client_telemetry.pipeline.stage import Stage
from client_telemetry.review import applications
from client_telemetry.review.in_parts import assembled, setting
from client_telemetry.review.metric_review import Reviewed
from client_telemetry.review.model import Review
from client_telemetry.review.planned import Planned
from client_telemetry.review.setting import Setting
from client_telemetry.review.workers import ClientRows, Judged, ReportFiles, Write, Written
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.rows import BrokerRow
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS

READ = (BROKERS, CONNECTION_EVENTS, CLIENT_PUSHES, CLIENT_METRICS, CLIENTS)


def reviewed(
    stage: Stage,
    inputs: StageInputs,
    plan: Planned,
    owner_rules: Sequence[OwnerRule],
    writer_of: Callable[[Setting], Write[Written]],
) -> Reviewed[Written]:
    """`writer_of`: what to do in the workers with clients that are judged. Raises NoSuchUpgrade, WindowWithoutData."""
    brokers = inputs.rows(BROKERS)
    slot = _slot_seconds(brokers, min(inputs.days))
    rows = ClientRows(
        None if is_little(stage, inputs.count(CONNECTION_EVENTS)) else stage.spark,
        inputs.files(CONNECTION_EVENTS),
        _report_files(inputs.lake, inputs.cluster, plan.report_id),
        inputs.files(CLIENTS),
        slot,
    )
    gathered = _of_all_clients(stage, rows, inputs, brokers, slot)
    common = setting(gathered, plan.from_release, plan.to_release, owner_rules=owner_rules, began=plan.began)
    write = writer_of(common)
    judged = rows.judged(common, write)
    parts = [part for judged_bucket in judged for part in judged_bucket.parts]
    review, comparisons, curves = assembled(parts, gathered, common)
    review, of_suspects = _with_suspects(review, judged, write)
    written = [*(judged_bucket.written for judged_bucket in judged), of_suspects]
    tracks_of = partial(rows.tracks_of, common)
    return Reviewed(review, written, common, comparisons, curves, tracks_of, rows.close)


def _slot_seconds(brokers: Sequence[BrokerRow], first: dt.date) -> int:
    """From the days that are read: brokers may have run for months before."""
    runs = broker_runs(brokers, 0.0)
    first_day = dt.datetime.combine(first, dt.time(), dt.UTC).timestamp()
    span = max(run.until for run in runs) - max(first_day, min(run.started for run in runs))
    return max(SHORTEST_SLOT_SECONDS, round(span / SLOTS / 10) * 10)


def _of_all_clients(
    stage: Stage, rows: ClientRows, inputs: StageInputs, brokers: Sequence[BrokerRow], slot: int
) -> Evidence:
    """Everything but what single clients did."""

    def logins() -> list[LoginRow]:
        with queries(stage, inputs, OF_LOGINS) as of_days:
            return list(of_days.answers({"logins": failed_logins(slot)})["logins"])

    with ThreadPoolExecutor(1) as pool:
        failed = pool.submit(logins)
        known = rows.known()
    return without_clients(
        inputs.cluster,
        known.refusals.to_pylist(),
        failed.result(),
        brokers,
        slot,
        first=None if known.first_slot is None else known.first_slot * float(slot),
        last=(known.last_us or 0) / 1e6,
        snapshots={incarnation: at / 1e6 for incarnation, at in known.snapshots.items()},
    )


def _with_suspects(
    review: Review, judged: Sequence[Judged[Written]], write: Write[Written]
) -> tuple[Review, Written]:
    """Clients that were judged here get their applications, and are written."""
    names = {key: name for judged_bucket in judged for key, name in judged_bucket.names.items()}
    written = {
        client.key for judged_bucket in judged for part in judged_bucket.parts for client in part.clients
    }
    here = list(applications.named([c for c in review.clients if c.key not in written], names))
    named = {client.key: client for client in here}
    clients = tuple(named.get(client.key, client) for client in review.clients)
    return replace(review, clients=clients), write(here)


def _report_files(lake: Lake, cluster: str, report_id: str | None) -> ReportFiles:
    if report_id is None:
        return ReportFiles()
    lake.create([UPGRADE_VERDICTS, UPGRADE_FINDINGS])
    files = (
        lake.files(table, cluster_id=cluster, report_id=report_id)
        for table in (UPGRADE_VERDICTS, UPGRADE_FINDINGS)
    )
    return ReportFiles(report_id, *files)
