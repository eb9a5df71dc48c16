"""What manifests tell of an hour, beside what the jobs' tests show."""

import dataclasses
import datetime as dt
import json

import pytest
from client_telemetry.decode.coverage import ManifestRead, broker_hours, brokers
from client_telemetry.formats.raw.manifest import parse_manifest
from client_telemetry.formats.raw.object_key import parse_object_key
from client_telemetry.knowledge import served

DAY = dt.date(2026, 11, 21)


def read(incarnation: str, requests: list | None, **fields: object) -> ManifestRead:
    key = f"v1/dataset=manifests/cluster=c/dt={DAY}/hour=05/broker=1/{incarnation}.json"
    manifest = {
        "schema_version": 1,
        "cluster_id": "c",
        "broker_id": 1,
        "incarnation": incarnation,
        "hour": f"{DAY}T05",
        "broker_started_at": f"{DAY}T04:00:00Z",
        "broker_software_name": "apache-kafka",
        "broker_software_version": "4.3.1",
        "files": [],
        "dropped": {},
        "requests": requests,
        **fields,
    }
    return ManifestRead(parse_object_key(key), parse_manifest(json.dumps(manifest).encode()))


@pytest.mark.parametrize(
    ("case", "reported", "expected"),
    [
        ("not reported", [None], None),
        ("one of two incarnations does not tell", [[[0, 9, 5]], None], None),
        ("no request", [[]], []),
        ("summed over incarnations", [[[0, 9, 5], [1, 4, 2]], [[0, 9, 7]]], [(0, 9, 12), (1, 4, 2)]),
    ],
)
def test_requests_that_the_brokers_counted(case, reported, expected):
    manifests = [read(f"{number:032x}", requests) for number, requests in enumerate(reported)]
    row = {"cluster_id": "c", "broker_id": 1, "hour": 5, "dataset": "manifests", "first_sequence": None}
    row["object_key"] = str(manifests[0].key)
    found = broker_hours([row], manifests, DAY)[5]["requests_counted"]
    assert (found and [tuple(each.values()) for each in found]) == (
        expected and [tuple(each) for each in expected]
    ), case


def test_connections_that_the_brokers_counted_are_of_the_last_incarnation_of_the_hour():
    def gauge(listener: str, name: str, count: int) -> dict:
        of = {"client_software_name": name, "client_software_version": "1", "count": count}
        return {"listener": listener, **of}

    first = read(f"{1:032x}", None, connections=[gauge("A", "kgo", 9)])
    last = read(
        f"{2:032x}", None, connections=[gauge("A", "kgo", 2), gauge("B", "kgo", 1), gauge("B", "gone", 0)]
    )
    row = {"cluster_id": "c", "broker_id": 1, "hour": 5, "dataset": "manifests", "first_sequence": None}
    row["object_key"] = str(first.key)
    hours = broker_hours([row], [first, last], DAY)
    (counted,) = hours[5]["connections_counted"]
    assert tuple(counted.values()) == ("kgo", "1", 3)
    assert hours[6]["connections_counted"] is None


def test_a_broker_that_declares_no_release_is_guessed_by_what_it_offers():
    offers = {
        "broker_software_version": "",
        "api_versions": [[k, *api.advertised] for k, api in served.by("4.0.2").items()],
    }
    (row,) = brokers([read("0f" * 16, None, **offers)], DAY)
    assert (row["software_version"], row["releases"]) == ("", ["4.0.1", "4.0.2"])
    assert row["releases_known_by"] == "guessed"
    (row,) = brokers([read("0f" * 16, None)], DAY)
    assert (row["releases"], row["releases_known_by"]) == (["4.3.1"], "declared")


@pytest.mark.parametrize(
    ("case", "reported", "expected"),
    [("not reported", [None, None], None), ("none", [0, None], 0), ("summed over hours", [2, None, 3], 5)],
)
def test_failed_logins_that_the_brokers_log_shows(case, reported, expected):
    (row,) = brokers([read("0f" * 16, None, failed_logins=count) for count in reported], DAY)
    assert row["failed_logins"] == expected, case


@pytest.mark.parametrize(
    ("case", "figures", "expected", "missed"),
    [
        ("not compared", None, ["complete"], (None, None)),
        ("adds up", (7, 7, 5000, 5000), ["complete"], (0, 0)),
        ("requests on their way", (7, 7, 5000, 4984), ["complete"], (0, 16)),
        ("a connection that no logger tells of", (7, 6, 5000, 5000), ["registry_incomplete"], (1, 0)),
        ("the request log fell silent", (7, 7, 5000, 40), ["registry_incomplete"], (0, 4960)),
        ("requests were not watched", (7, 7, None, None), ["complete"], (0, None)),
        ("the registry has more", (7, 9, 10, 11), ["complete"], (0, 0)),
    ],
)
def test_an_hour_in_which_the_registry_missed_clients_is_not_complete(case, figures, expected, missed):
    names = ("connections_by_gauge", "connections_in_registry", "requests_by_counter", "requests_in_registry")
    reconciliation = {"reconciliation": figures and dict(zip(names, figures, strict=True))}
    manifest = read("0f" * 16, [], registry={"mode": "continuous", "windows": []}, **reconciliation)
    row = {"cluster_id": "c", "broker_id": 1, "hour": 5, "dataset": "manifests", "first_sequence": None}
    hour = broker_hours([row | {"object_key": str(manifest.key)}], [manifest], DAY)[5]
    assert hour["completeness"] == expected, case
    assert (hour["connections_missed"], hour["requests_missed"]) == missed, case


def test_a_broker_without_records_ran_until_it_last_noted_its_manifest():
    """Else a client that closed long before its broker was killed would count as one that the broker's end cut off."""
    (row,) = brokers([read("0f" * 16, None, alive_at=f"{DAY}T05:30:00Z")], DAY)
    assert row["last_evidence_at"] == dt.datetime(2026, 11, 21, 5, 30, tzinfo=dt.UTC)


def hour(number: int, **fields: object) -> ManifestRead:
    key = f"v1/dataset=manifests/cluster=c/dt={DAY}/hour={number:02}/broker=1/{'0f' * 16}.json"
    manifest = read("0f" * 16, None, **fields).manifest
    start = dt.datetime(2026, 11, 21, number, tzinfo=dt.UTC)
    return ManifestRead(parse_object_key(key), dataclasses.replace(manifest, hour=start))


def changes_of(*manifests: ManifestRead) -> list[tuple[str, int]] | None:
    (row,) = brokers(manifests, DAY)
    levels = row["feature_levels"]
    return levels and [(f"{each['at']:%H:%M}", each["levels"]["metadata.version"]) for each in levels]


def test_feature_levels_are_in_force_at_the_end_of_the_first_hour_with_them():
    old, new = {"metadata.version": 21}, {"metadata.version": 25}
    assert changes_of(
        hour(7, finalized_features=new, alive_at=f"{DAY}T07:59:55Z"),
        hour(5, finalized_features=old, alive_at=f"{DAY}T05:59:50Z"),
        hour(6, finalized_features=new),
    ) == [("05:59", 21), ("07:00", 25)]


def test_feature_levels_of_a_writer_that_knows_the_time():
    changed = [
        {"since": f"{DAY}T05:10:00Z", "levels": {"metadata.version": 21}},
        {"since": f"{DAY}T05:42:00Z", "levels": {"metadata.version": 25}},
    ]
    manifest = hour(5, finalized_features={"metadata.version": 25}, feature_levels=changed)
    assert changes_of(manifest) == [("05:10", 21), ("05:42", 25)]
    assert changes_of(hour(5)) is None
