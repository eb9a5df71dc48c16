import csv
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from client_telemetry.formats.raw.errors import BadManifest
from client_telemetry.formats.raw.manifest import (
    FeatureLevels,
    Listener,
    Manifest,
    ManifestFile,
    Plugin,
    Reconciliation,
    Registry,
    ScramUser,
    Subscription,
    parse_manifest,
)
from client_telemetry.formats.raw.object_key import parse_object_key

DATA = Path(__file__).parents[2] / "data/raw"
INCARNATION = "000102030405060708090a0b0c0d0e0f"
REQUIRED = {
    "schema_version": 1,
    "cluster_id": "c",
    "broker_id": 7,
    "incarnation": INCARNATION,
    "hour": "2026-11-20T13",
    "broker_started_at": "2026-11-20T12:59:00.250Z",
    "broker_software_name": "apache-kafka",
    "broker_software_version": "4.3.1",
    "files": [],
    "dropped": {"queue_full": 0, "spool_full": 0, "oversized": 2},
}
FOLDERS = "v1/dataset=manifests/cluster=c/dt=2026-11-20/hour=13/broker=7"


def parse(**changes) -> Manifest:
    return parse_manifest(json.dumps(REQUIRED | changes).encode())


def bad_manifests():
    with (DATA / "bad_manifests.csv").open(newline="") as file:
        return [pytest.param(row, id=row["case"]) for row in csv.DictReader(file)]


def test_what_is_required_suffices_and_the_rest_is_null():
    assert parse() == Manifest(
        cluster_id="c",
        broker_id=7,
        incarnation=INCARNATION,
        hour=datetime(2026, 11, 20, 13, tzinfo=UTC),
        broker_started_at=datetime(2026, 11, 20, 12, 59, 0, 250_000, tzinfo=UTC),
        broker_software_name="apache-kafka",
        broker_software_version="4.3.1",
        files=(),
        dropped={"queue_full": 0, "spool_full": 0, "oversized": 2},
    )
    assert parse().requests is None and parse().recovered is False


def test_everything_that_the_contract_has():
    manifest = parse_manifest((DATA / "whole_manifest.json").read_bytes())
    moment = datetime(2026, 11, 20, 13, tzinfo=UTC)
    assert manifest.files == (ManifestFile("v1/…", "connections", 3, 99, 4, 6, moment, moment, "ab" * 32),)
    assert manifest.recovered is True
    assert (manifest.api_versions, manifest.requests) == (((0, 3, 12),), ((1, 12, 2**40),))
    assert manifest.finalized_features == {"metadata.version": 27}
    assert manifest.feature_levels == (FeatureLevels(moment, {"metadata.version": 27}),)
    assert manifest.listeners == (Listener("SASL", "SASL_SSL", ("PLAIN",)),)
    assert manifest.registry == Registry("sampled", (("13:00:00", "13:05:00"),))
    assert manifest.connections[0].count == 4
    assert manifest.client_metrics == {"instance_count": 3, "plugin_export_time_avg_ms": 0.5}
    assert manifest.plugin == Plugin("broker-plugin", "1.2.0")
    assert manifest.identifiers == {"principal": "hmac", "rack": "omit"}
    assert manifest.failed_logins == 0
    assert manifest.settings == {"process.roles": "[broker]"}
    assert manifest.reconciliation == Reconciliation(12, None, None, None)
    assert manifest.subscriptions == (Subscription("all", 5000, ("*",), {"client_id": "a.*"}),)
    assert manifest.alive_at == datetime(2026, 11, 20, 13, 59, 51, 500_000, tzinfo=UTC)
    assert manifest.scram_users == (ScramUser("User:alice", ("SCRAM-SHA-512",)), ScramUser(None, ()))


def test_null_and_unknown_keys():
    assert parse(requests=None, registry=None, recovered=None, invented_later={"a": [1]}) == parse()


@pytest.mark.parametrize("row", bad_manifests())
def test_a_bad_manifest_is_refused_with_the_key_that_is_wrong(row):
    document = {k: v for k, v in REQUIRED.items() if k != row["key"]}
    if row["value"]:
        document[row["key"]] = json.loads(row["value"])
    with pytest.raises(BadManifest) as raised:
        parse_manifest(json.dumps(document).encode())
    assert row["message"] in str(raised.value)


@pytest.mark.parametrize(
    "data", [b"", b"{", b"<html>", b"\xff\xfe\xfa", b'{"schema_version": 1', b"[" * 100_000]
)
def test_what_is_not_json(data):
    with pytest.raises(BadManifest, match=r"^not JSON: "):
        parse_manifest(data)


@pytest.mark.parametrize("data", [b"[]", b"null", b"7", b'"text"'])
def test_json_that_is_no_object(data):
    with pytest.raises(BadManifest, match=r"^the manifest: .* is not an object"):
        parse_manifest(data)


def test_a_manifest_agrees_with_its_key():
    data = json.dumps(REQUIRED).encode()
    parse_manifest(data, parse_object_key(f"{FOLDERS}/{INCARNATION}.json"))
    parse_manifest(data, parse_object_key(f"copy/{FOLDERS}/another-name.json"))
    for name, folders in (
        ("cluster_id", FOLDERS.replace("cluster=c", "cluster=d")),
        ("broker_id", FOLDERS.replace("broker=7", "broker=8")),
        ("hour", FOLDERS.replace("hour=13", "hour=14")),
    ):
        with pytest.raises(BadManifest, match=f"^{name}: .* lies under"):
            parse_manifest(data, parse_object_key(f"{folders}/{INCARNATION}.json"))
    with pytest.raises(BadManifest, match=r"^incarnation: "):
        parse_manifest(data, parse_object_key(f"{FOLDERS}/{'0' * 32}.json"))
