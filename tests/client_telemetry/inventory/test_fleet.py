"""The 42 applications of the sample's fleet (and two later ones) with their real lock files: tests/data/artefacts/fleet."""

import csv
import json
from pathlib import Path

import pytest
from client_telemetry.artefacts.scan import scan
from client_telemetry.formats.written_file import CONTRADICTION, PROBABLE, PROVED
from client_telemetry.inventory import workload_files
from client_telemetry.inventory.joined import join
from client_telemetry.inventory.seen import from_report
from client_telemetry.inventory.workloads import Workloads
from client_telemetry.inventory.written import collect

DATA = Path(__file__).parents[2] / "data/artefacts"
FLEET, IMAGES = DATA / "fleet", DATA / "fleet_images"
with (FLEET / "apps.csv").open(encoding="utf-8", newline="") as opened:
    APPS = {row["app"]: row for row in csv.DictReader(opened)}
BINDINGS = {"confluent-kafka": "confluent-kafka-python", "confluent-kafka-go": "confluent-kafka-go"}
SHARED_ID = "orders-service"
LATER = {"fraud-scorer-v2", "erp-report-v2"}
"""Deployed after the time of the report."""
OPERATORS = {"lab-admin", "ops-admin"}
"""Tools of those who ran the fleet: no application of it."""
ADDRESSES = {"": "10.20.0.11", "3.9.1": "10.20.0.12"}
"""Of the two applications with one client id, by the version that they declare."""


def expected(app: str) -> tuple[str, str]:
    """Library or binding, and its version."""
    library = APPS[app]["library"].removeprefix("segmentio/")
    return BINDINGS.get(library, library), APPS[app]["version"]


def said(client) -> tuple[str, str]:
    written = client.written
    return (
        (written.binding, written.binding_version) if written.binding else (written.library, written.version)
    )


def app_of(client) -> str:
    """Which application of the fleet a client of the report is, by what `apps.csv` says of it."""
    if client.client_id == SHARED_ID:
        return "orders-service-new" if client.version else "orders-service-old"
    by_id = [app for app, row in APPS.items() if row["client_id"] == client.client_id]
    by_group = [app for app, row in APPS.items() if row["group"] and row["group"] in client.groups]
    return (by_id or by_group or [""])[0]


def report():
    document = json.loads((FLEET / "report.json").read_text(encoding="utf-8"))
    for row in document["clients"]:
        if row["client_id"] == SHARED_ID:
            version = row["client_software_version"]
            row["address_sample"] = [ADDRESSES["3.9.1" if version == "3.9.1" else ""]]
    return from_report(document)


@pytest.mark.parametrize("app", sorted(APPS))
def test_the_lock_files_of_an_application_name_its_library_and_version(app):
    found = scan([FLEET / app], "3.9.1", "4.0.0").found
    assert {said(each.client) for each in found} == {expected(app)}


def test_every_client_is_known_once_files_and_pods_are_read():
    seen = report()
    assert sum(client.is_unidentified for client in seen.clients) == 8
    written = collect([FLEET, IMAGES], seen.source, seen.target)
    joined = join(written, seen, workload_files.read([IMAGES / "pods.json"]))
    right, unknown = set(), []
    for row in joined.rows:
        app = app_of(row.client)
        named = [each for each in row.findings if each.kind in (PROVED, PROBABLE)]
        if row.client.is_unidentified and not named:
            unknown.append(row.client.client_id)
        assert not [each for each in row.findings if each.kind == CONTRADICTION]
        of_app = (
            [link for link in row.links if link.artefact.name.rpartition("/")[2].startswith(app)]
            if app
            else []
        )
        if of_app and {said(each.client) for each in of_app[0].artefact.clients} == {expected(app)}:
            right.add(app)
            assert all(" ".join(expected(app)) in each.text for each in named)
    assert unknown == []
    assert right == set(APPS) - LATER
    assert {row.client.client_id for row in joined.rows if not row.links} == OPERATORS
    proved = {
        row.client.client_id for row in joined.rows if any(each.kind == PROVED for each in row.findings)
    }
    assert proved == {SHARED_ID}
    later = {row.artefact.name.rpartition("/")[2] for row in joined.not_seen}
    assert later == LATER


def test_two_applications_with_one_client_id_are_not_told_by_names():
    """What runs where is needed: of each artefact alone, nothing is concluded."""
    seen = report()
    joined = join(collect([FLEET], seen.source, seen.target), seen, Workloads())
    of_shared = [row for row in joined.rows if row.client.client_id == SHARED_ID]
    assert {link.certainty for row in of_shared for link in row.links} == {"possible"}
    assert all(not row.findings for row in of_shared)
