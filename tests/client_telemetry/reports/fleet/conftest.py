"""Rows of a day as the tables hand them over, with chosen values."""

from datetime import UTC, date, datetime
from types import SimpleNamespace

import pytest
from client_telemetry.subscriptions.instances import kafka_uuid

DAY = date(2026, 11, 21)
AT = datetime(2026, 11, 21, 5, 40, tzinfo=UTC)
CLUSTER_ID = "fL33tG0ldTruth000000-w"


def use(api_key: int, version: int, requests: int = 10, rejected: int = 0) -> dict:
    return {"api_key": api_key, "version": version, "requests": requests, "rejected": rejected}


def client(client_id: str | None = "orders", name="apache-kafka-java", version="3.9.1", **changes) -> dict:
    return {
        "client_id": client_id,
        "principal": "User:orders",
        "client_software_name": name,
        "client_software_version": version,
        "client_family": client_id,
        "looks_like": None,
        "looks_like_because": [],
        "related": [],
        "instances": 1,
        "connections": 3,
        "refusals": 0,
        "addresses": 1,
        "address_sample": ["10.0.0.1"],
        "api_uses": [use(0, 11), use(3, 12)],
        "first_seen_at": AT,
        "last_seen_at": AT,
        "owner": "orders",
        "flags": [],
        **changes,
    }


def instance(metrics=(), families=("producer",), **changes) -> dict:
    return {
        "client_instance_id": bytes(range(16)),
        "client_id": "orders",
        "principal": "User:orders",
        "client_software_name": "apache-kafka-java",
        "client_software_version": "3.9.1",
        "client_addresses": ["10.0.0.1"],
        "broker_ids": [1],
        "pushes": 3,
        "first_evidence_at": AT,
        "last_evidence_at": AT,
        "end_reason": "still_open",
        "metrics": list(metrics),
        "metric_families": list(families),
        "racks": [],
        "number": 1,
        **changes,
    }


def index_of(clients=(), instances=()):
    """What clients and instances of rows in memory are found by."""
    from client_telemetry.reports.fleet.search import (
        SearchIndex,
        as_json,
        client_entry,
        instance_entry,
        names_of,
    )

    clients = [{**row, "client_addresses": row["address_sample"]} for row in clients]
    return SearchIndex(
        "fleet",
        str(DAY),
        [as_json(client_entry(row)) for row in clients],
        [as_json(instance_entry(row)) for row in instances],
        sorted({kafka_uuid(row["client_instance_id"]) for row in instances}),
        sorted({name for row in (*clients, *instances) for name in names_of(row)}),
    )


def text_of(index, name: str) -> str:
    """A file of the index."""
    return "".join(dict(index.files())[name])


def broker(broker_id: int = 1, version: str | None = "3.9.1", subscriptions: list | None = None) -> dict:
    return {
        "dt": DAY,
        "broker_id": broker_id,
        "broker_incarnation": f"{broker_id:032x}",
        "software_name": "apache-kafka",
        "software_version": version,
        "releases": [version],
        "releases_known_by": "declared",
        "started_at": AT,
        "last_evidence_at": AT,
        "subscriptions": subscriptions,
    }


def subscription(*metrics: str, **match: str) -> dict:
    return {"name": "s", "interval_ms": 10000, "metrics": list(metrics), "match": match}


def hour(hour: int, requests: list | None = None, broker_id: int = 1) -> dict:
    return {
        "dt": DAY,
        "broker_id": broker_id,
        "hour": hour,
        "pushes_expected": None,
        "connection_events_expected": None,
        "completeness": ["complete"],
        "incarnations": ["00112233445566778899aabbccddeeff"],
        "registry_mode": "continuous",
        "registry_windows": None,
        "requests_counted": requests,
    }


@pytest.fixture(scope="session")
def day_rows() -> SimpleNamespace:
    makers = (use, client, instance, broker, subscription, hour, index_of, text_of)
    return SimpleNamespace(**{maker.__name__: maker for maker in makers}, DAY=DAY, AT=AT)


@pytest.fixture(scope="session")
def build():
    """A fleet day of the given rows; what is not given is one client, one instance and one broker."""
    from client_telemetry.reports.fleet.build import build_fleet_day

    def made(
        clients=None,
        instances=None,
        hours=None,
        brokers=None,
        quality=(),
        earlier=None,
        asked=None,
        refused=(),
        never_pushed=(),
        with_application_metrics=(),
    ):
        return build_fleet_day(
            DAY,
            [client()] if clients is None else clients,
            [instance()] if instances is None else instances,
            asked or {},
            [hour(h) for h in range(24)] if hours is None else hours,
            [broker()] if brokers is None else brokers,
            quality,
            earlier or {},
            refused_pushes=refused,
            never_pushed=never_pushed,
            with_application_metrics=with_application_metrics,
            cluster_id=CLUSTER_ID,
            cluster_name="fleet",
            created_at=AT,
        )

    return made
