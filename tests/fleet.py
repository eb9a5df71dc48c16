"""The 42 applications of the sample's fleet and two later ones, as tests/data/artefacts/fleet has them, and what a scan should say."""

import csv
import json
from pathlib import Path
from typing import Any

from client_telemetry.artefacts.libraries import Client as WrittenClient
from client_telemetry.inventory.seen import Client

FLEET = Path(__file__).parent / "data/artefacts/fleet"
with (FLEET / "apps.csv").open(encoding="utf-8", newline="") as opened:
    APPS = {row["app"]: row for row in csv.DictReader(opened)}
BINDINGS = {"confluent-kafka": "confluent-kafka-python", "confluent-kafka-go": "confluent-kafka-go"}
SHARED_ID = "orders-service"
LATER = {"fraud-scorer-v2", "erp-report-v2"}
"""Deployed after the time of the report."""
OPERATORS = {"lab-admin", "ops-admin"}
"""Tools of those who ran the fleet: no application of it."""


def expected(app: str) -> tuple[str, str]:
    """Library or binding, and its version."""
    library = APPS[app]["library"].removeprefix("segmentio/")
    return BINDINGS.get(library, library), APPS[app]["version"]


def said(client: WrittenClient) -> tuple[str, str]:
    """The same of what a scan found."""
    written = client.written
    if written is None:
        return client.library, client.why_unknown
    return (
        (written.binding, written.binding_version) if written.binding else (written.library, written.version)
    )


def app_of(client: Client) -> str:
    """Which application of the fleet a client of the report is, by what `apps.csv` says of it; empty for none of them."""
    if client.client_id == SHARED_ID:
        return "orders-service-new" if client.version else "orders-service-old"
    by_id = [app for app, row in APPS.items() if row["client_id"] == client.client_id]
    by_group = [app for app, row in APPS.items() if row["group"] and row["group"] in client.groups]
    return (by_id or by_group or [""])[0]


def report_document() -> Any:
    """The content of report.json. The fleet ran on one host: all addresses are 127.0.0.1."""
    return json.loads((FLEET / "report.json").read_text(encoding="utf-8"))
