"""From rows of the tables to the fleet page's model. All numbers of the page come from here."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta

from client_telemetry.formats.typed_values import of_row
from client_telemetry.identity.client_key import ClientKey, HasClientKey, client_key
from client_telemetry.knowledge import releases
from client_telemetry.knowledge.kip511 import declared
from client_telemetry.reports.coverage import coverage
from client_telemetry.reports.fleet import applications, client_metrics, refused, request_versions, software
from client_telemetry.reports.fleet.model import (
    SCHEMA_VERSION,
    FleetClient,
    FleetDay,
    NeverPushed,
    QualityCheck,
)
from client_telemetry.reports.fleet.sentence import sentence
from client_telemetry.reports.lost_data import lost_data
from client_telemetry.reports.quality import quality_warnings
from client_telemetry.subscriptions.instances import kafka_uuid
from client_telemetry.tables.quality_findings import unexpected_rows
from client_telemetry.tables.rows import BrokerHourRow, BrokerRow, ClientRow, QualityResultRow, RawObjectRow

COUNTS = {
    "applications": "what an owner would call one program: one or more of these clients (docs/clients.md)",
    "clients": "clients: principal, client id, software name and version",
    "instances": "client instances that pushed metrics (KIP-714)",
    "connections": "connections of these clients",
    "requests": "requests of these clients that a broker answered",
    "applications_without_software": "applications with a client that declares no software name (KIP-511)",
    "applications_without_owner": "applications without a matching owner rule",
    "applications_with_deprecated_versions": "applications with a client that uses a request version that a newer release "
    "refuses",
    "clients_without_software": "clients that declare no software name (KIP-511)",
    "clients_without_owner": "clients without a matching owner rule",
    "clients_with_deprecated_versions": "clients that use a request version that a newer release refuses",
    "asked_without_push": "connections of these clients on which a metrics subscription was requested and no "
    "client instance pushed",
    "unidentified_connections": "connections and refusals that cannot be attributed to a client",
    "brokers": "brokers named by a manifest or object of the day",
}
"""What a day's counts mean."""

COMPARED = ((1, "the day before"), (7, "a week before"))
"""Days back, and the words for it."""


def days_compared(day: date) -> tuple[date, ...]:
    return tuple(day - timedelta(days=back) for back, _ in COMPARED)


class NeverPushedRow(HasClientKey):
    """Row of fleet/instances.given_instances."""

    client_instance_id: bytes
    client_addresses: list[str]
    first_evidence_at: datetime
    last_evidence_at: datetime


def build_fleet_day(
    day: date,
    client_rows: Sequence[ClientRow],
    instances: Iterable[client_metrics.Instance],
    asked_without_push: Mapping[ClientKey, int],
    hour_rows: Sequence[BrokerHourRow],
    broker_rows: Sequence[BrokerRow],
    quality_rows: Iterable[QualityResultRow],
    earlier: Mapping[date, Sequence[ClientRow] | None],
    *,
    with_application_metrics: Iterable[applications.Pushed] = (),
    of_streams: Iterable[applications.StreamsInstance] = (),
    refused_pushes: Iterable[refused.RefusedRow] = (),
    never_pushed: Iterable[NeverPushedRow] = (),
    object_rows: Iterable[RawObjectRow] = (),
    cluster_id: str,
    cluster_name: str | None = None,
    snapshots: Mapping[str, int] | None = None,
    knowledge_version: str = "",
    knowledge_built_at: datetime | None = None,
    code_version: str = "",
    created_at: datetime,
) -> FleetDay:
    """The fleet of one day. Rows are as read from `clients`, `broker_hours`, `brokers` and `quality_results` (the last
    result of each expectation) of the day, times with their zone. `instances`: see client_metrics.py;
    `asked_without_push`: see software.fleet_clients. `with_application_metrics`, `of_streams`: see applications.py. `refused_pushes`: see refused.py. `object_rows`: rows of `raw_objects` of the day. `never_pushed`: rows of fleet/instances.given_instances. `earlier`: rows of `clients` of days_compared(day); None = that day was not processed."""
    release = _oldest_release(broker_rows)
    clients = software.fleet_clients(client_rows, asked_without_push, release)
    seen = coverage(day, day, None, hour_rows, broker_rows)
    compared = tuple(
        software.changes(client_rows, earlier.get(against), against, words, release)
        for against, (_, words) in zip(days_compared(day), COMPARED, strict=True)
    )
    nobodys = [row for row in client_rows if not software.is_client(row)]
    counts = _counts(clients, nobodys, len(seen.broker_ids))
    deprecated = request_versions.deprecated_versions(clients)
    subscriptions = client_metrics.Subscriptions.of(broker_rows)
    uses = {client_key(row): row["api_uses"] for row in client_rows}
    metrics, of_unknown_kind = client_metrics.metrics_of_libraries(instances, uses, subscriptions)
    phrases = sentence(counts, compared, request_versions.applications_by_release(clients))
    quality_rows = list(quality_rows)
    return FleetDay(
        schema_version=SCHEMA_VERSION,
        cluster_id=cluster_id,
        cluster_name=cluster_name or cluster_id,
        day=day,
        created_at=created_at,
        phrases=phrases,
        sentence="".join(phrase.text for phrase in phrases),
        counts=counts,
        compared_with_release=release,
        software=software.software_of_the_day(clients, earlier.get(days_compared(day)[0])),
        unnamed=software.unnamed(clients),
        changes=compared,
        deprecated=deprecated,
        clients=clients,
        metrics=metrics,
        instances_of_unknown_kind=of_unknown_kind,
        subscriptions_known=subscriptions.known and all(each.subscribed is not None for each in metrics),
        refused_pushes=refused.refused_pushes(refused_pushes),
        never_pushed=_never_pushed(never_pushed),
        application_metrics=applications.application_metrics(with_application_metrics),
        streams_applications=applications.streams_applications(of_streams),
        request_counts=request_versions.request_counts(
            hour_rows, filter(software.is_client, client_rows), nobodys, release
        ),
        coverage=seen,
        quality=_quality(quality_rows),
        quality_warnings=quality_warnings(quality_rows),
        lost=lost_data(object_rows, hour_rows),
        snapshots=dict(sorted((snapshots or {}).items())),
        knowledge_version=knowledge_version,
        knowledge_built_at=knowledge_built_at,
        code_version=code_version,
    )


def _never_pushed(rows: Iterable[NeverPushedRow]) -> tuple[NeverPushed, ...]:
    found = [
        of_row(
            NeverPushed,
            row,
            client_instance_id=kafka_uuid(bytes(row["client_instance_id"])),
            first_at=row["first_evidence_at"],
            last_at=row["last_evidence_at"],
        )
        for row in rows
    ]
    return tuple(sorted(found, key=lambda each: (each.client_id or "", each.client_instance_id)))


def _oldest_release(brokers: Iterable[BrokerRow]) -> str | None:
    """Of the releases of Apache Kafka that the day's brokers can be, declared or guessed; None where none is known."""
    can_be = {
        each
        for row in brokers
        # Rows that were written before there was a guess have none.
        for each in ([row["software_version"]] if row["releases"] is None else row["releases"])
    }
    known = set(releases.known()) & can_be
    return min(known, key=releases.parse, default=None)


def _counts(clients: Sequence[FleetClient], nobodys: Sequence[ClientRow], brokers: int) -> dict[str, int]:
    some = (
        [client for client in clients if declared(client.client_software_name) is None],
        [client for client in clients if client.owner is None],
        [client for client in clients if client.deprecated],
    )
    counted = (
        request_versions.applications(clients),
        len(clients),
        *software.sums(clients).values(),
        *map(request_versions.applications, some),
        *map(len, some),
        sum(client.asked_without_push for client in clients),
        sum(row["connections"] + row["refusals"] for row in nobodys),
        brokers,
    )
    return dict(zip(COUNTS, counted, strict=True))


def _quality(rows: Iterable[QualityResultRow]) -> tuple[QualityCheck, ...]:
    checks = [of_row(QualityCheck, row, examples=tuple(unexpected_rows(row["result"]))) for row in rows]
    return tuple(
        sorted(checks, key=lambda each: (each.success, each.stage, each.table_name, each.expectation))
    )
