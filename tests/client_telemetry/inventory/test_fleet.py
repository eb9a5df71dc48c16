"""The 42 applications of the sample's fleet (and two later ones) with their real lock files: tests/data/artefacts/fleet."""

import pytest
from client_telemetry.artefacts.scan import scan
from client_telemetry.formats.written_file import CONTRADICTION, PROBABLE, PROVED
from client_telemetry.inventory import workload_files
from client_telemetry.inventory.joined import join
from client_telemetry.inventory.seen import from_report
from client_telemetry.inventory.workloads import Workloads
from client_telemetry.inventory.written import collect

from tests.fleet import APPS, FLEET, LATER, OPERATORS, SHARED_ID, app_of, expected, report_document, said

IMAGES = FLEET.parent / "fleet_images"
ADDRESSES = {"": "10.20.0.11", "3.9.1": "10.20.0.12"}
"""Of the two applications with one client id, by the version that they declare."""


def report():
    document = report_document()
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
