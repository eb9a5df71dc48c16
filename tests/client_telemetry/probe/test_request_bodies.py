"""What a probe can send: the rows of two files, and nothing else."""

import re
import struct

import pytest
from client_telemetry.knowledge import apis, releases, served
from client_telemetry.probe import request_bodies
from client_telemetry.probe.request_bodies import NO, permission, requests

KEPT_BACK = {
    "InitProducerId",
    "CreateDelegationToken",
    "ElectLeaders",
    "UnregisterBroker",
    "UnregisterController",
    "GetTelemetrySubscriptions",
    "AddRaftVoter",
    "RemoveRaftVoter",
    "WriteTxnMarkers",
    "AlterPartition",
    "Envelope",
}


@pytest.mark.parametrize("name", sorted(KEPT_BACK))
def test_what_changes_something_is_not_permitted(name):
    (key,) = {request.api_key for request in requests().values() if request.api_name == name}
    assert {permission(key, version).permitted for version in range(20)} == {NO}


def test_an_api_that_nobody_has_looked_at_is_not_permitted():
    assert permission(999, 0).permitted == NO


def test_every_permission_names_an_api_and_has_a_reason():
    by_key = apis.by_key()
    for key, name, _, permitted, reason, source in request_bodies._rows(
        request_bodies.PERMISSIONS_FILE, request_bodies.PERMISSIONS_COLUMNS
    ):
        assert by_key[int(key)].name == name
        assert permitted in (NO, request_bodies.YES, request_bodies.WITH_OFFSETS_TOPIC)
        assert reason and source


def test_no_body_has_a_text_but_the_name_of_the_probe():
    for request in requests().values():
        text = request.body.replace(b"client-telemetry-probe", b"")
        assert not re.search(rb"[A-Za-z]{2}", text), request


def test_every_version_that_a_release_serves_to_clients_has_a_request_or_a_reason():
    missing = [
        (release, key, version)
        for release in releases.known()
        if releases.parse(release) >= (3, 7)
        for key, api in served.by(release).items()
        for version in range(api.served.min, api.served.max + 1)
        if (key, version) not in requests()
    ]
    assert missing == []


def test_a_frame_says_who_asks():
    frame = requests()[18, 3].frame(7)
    length, key, version, correlation_id = struct.unpack_from(">ihhi", frame)
    assert (length, key, version, correlation_id) == (len(frame) - 4, 18, 3, 7)
    assert frame.count(b"client-telemetry-probe") == 2
