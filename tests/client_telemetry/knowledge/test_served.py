import pytest
from client_telemetry.knowledge import apis, releases, served


def key(name: str) -> int:
    return apis.find(name).key


@pytest.mark.parametrize(
    ("release", "api", "in_use", "advertised"),
    [
        ("3.9.1", "Produce", (0, 11), (0, 11)),
        ("4.0.0", "Produce", (3, 12), (0, 12)),  # KAFKA-18659
        ("4.0.0", "JoinGroup", (2, 9), (2, 9)),
        ("4.0.1", "JoinGroup", (0, 9), (0, 9)),  # KAFKA-19444
        ("4.0.0", "OffsetCommit", (2, 9), (2, 9)),
        ("4.1.0", "OffsetCommit", (2, 9), (2, 9)),  # 10 exists and is unstable
        ("0.10.0.0", "Fetch", (0, 2), (0, 2)),
    ],
)
def test_ranges(release, api, in_use, advertised):
    found = served.by(release)[key(api)]
    assert (tuple(found.served), tuple(found.advertised)) == (in_use, advertised)


def test_what_is_not_served():
    assert key("ShareFetch") not in served.by("4.0.0")  # only with unstable.api.versions.enable
    assert key("LeaderAndIsr") not in served.by("3.9.1")  # between brokers
    assert served.by("4.0.0")[key("PushTelemetry")].condition == "telemetry plugin"


def test_dropped():
    assert {apis.name(each) for each in served.dropped("3.9.2", "4.0.0")} >= {"Produce", "Fetch", "JoinGroup"}
    assert key("JoinGroup") not in served.dropped("3.9.2", "4.0.1")
    assert served.dropped("4.0.0", "4.3.1") == frozenset()
    assert served.dropped("3.0.0", "3.9.2") == frozenset()


@pytest.mark.parametrize(
    ("source", "target", "alarms"),
    [
        ("3.9.1", "4.0.0", {}),
        ("3.9.1", "4.0.1", {"JoinGroup": (0, 1)}),
        ("3.9.2", "4.0.1", {}),
        ("2.8.2", "4.0.0", {}),
    ],
)
def test_deprecation_marks_that_are_false_alarms(source, target, alarms):
    found = served.falsely_deprecated(source, target)
    assert {apis.name(each): tuple(versions) for each, versions in found.items()} == alarms


def test_brokers_3_7_over_report():
    names = {apis.name(each) for each in served.falsely_deprecated("3.7.1", "4.0.1")}
    assert {"Produce", "Metadata", "FindCoordinator", "JoinGroup"} <= names


def test_every_release_serves_the_basics():
    for release in releases.known():
        assert {key("Produce"), key("Fetch"), key("Metadata"), key("JoinGroup")} <= set(served.by(release))


def test_a_range_in_words():
    assert str(served.Versions(2, 9)) == "2–9"
    assert str(served.Versions(0, 0)) == "0"


@pytest.mark.parametrize(
    ("declared", "key", "release", "expected"),
    [
        (served.Versions(0, 11), 0, "4.0.0", True),
        (served.Versions(0, 2), 0, "4.0.0", False),  # chooses 2, which is advertised and refused
        (served.Versions(0, 0), 2, "4.0.0", False),
        (served.Versions(0, 1), 2, "4.0.0", True),
        (served.Versions(3, 12), 0, "2.8.2", True),
        (served.Versions(10, 12), 0, "2.8.2", False),
    ],
)
def test_a_negotiating_client_takes_the_highest_version_of_both(declared, key, release, expected):
    assert served.by(release)[key].works_with(declared) is expected
