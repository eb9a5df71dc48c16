import pytest
from client_telemetry.knowledge import apis, releases, served
from client_telemetry.knowledge.broker_guess import candidates, oldest_release, possible_releases


def _advertised(release: str) -> list[tuple[int, int, int]]:
    return [(key, *api.advertised) for key, api in served.by(release).items()]


@pytest.mark.parametrize("release", releases.known())
def test_a_release_is_among_those_that_explain_its_own_answers(release):
    assert release in candidates(_advertised(release))
    without_telemetry = [each for each in _advertised(release) if each[0] not in (71, 72)]
    assert candidates(without_telemetry) == candidates(_advertised(release))


@pytest.mark.parametrize(
    ("release", "expected"),
    [("4.0.0", ("4.0.0",)), ("4.0.2", ("4.0.1", "4.0.2")), ("3.9.1", ("3.9.0", "3.9.1", "3.9.2"))],
)
def test_patch_releases_that_answer_alike(release, expected):
    assert candidates(_advertised(release)) == expected


def test_a_forwarded_api_that_an_older_controller_lowers_hides_nothing():
    lowered = [
        (k, low, low) if apis.by_key()[k].name == "CreateTopics" else (k, low, high)
        for k, low, high in _advertised("3.9.1")
    ]
    assert "3.9.1" in candidates(lowered)


@pytest.mark.parametrize(
    ("case", "release", "features", "expected"),
    [
        (
            "KRaft brokers of 3.3 and 3.4 answer alike",
            "3.3.2",
            {},
            ("3.3.0", "3.3.1", "3.3.2", "3.4.0", "3.4.1"),
        ),
        ("only 3.4 supports level 8", "3.4.1", {"metadata.version": 8}, ("3.4.0", "3.4.1")),
        ("a level that is not yet finalized", "3.4.0", {"metadata.version": 7}, None),
        ("a level that brokers of 4.0 no longer support", "4.0.0", {"metadata.version": 1}, ()),
        ("a feature that is not used", "3.9.1", {"metadata.version": 21, "group.version": 0}, None),
        ("a feature that it does not have", "3.9.1", {"share.version": 1}, ()),
        ("a level that no release has", "4.4.0", {"metadata.version": 99}, ()),
    ],
)
def test_finalized_levels_exclude_releases(case, release, features, expected):
    found = candidates(_advertised(release), features)
    assert found == (candidates(_advertised(release)) if expected is None else expected), case


@pytest.mark.parametrize(
    ("name", "version", "offers", "expected"),
    [
        ("apache-kafka", "3.9.1", "4.0.0", (("3.9.1",), "declared")),
        ("apache-kafka", "7.9.1-ccs", None, (("3.9.0", "3.9.1", "3.9.2"), "confluent_platform")),
        ("apache-kafka", "7.6.1-14-ce", None, (("3.6.0", "3.6.1", "3.6.2"), "confluent_platform")),
        ("confluent-server", "7.6.1-ce", None, (("3.6.0", "3.6.1", "3.6.2"), "confluent_platform")),
        ("apache-kafka", "3.9.1.vendor-7", "3.9.1", (("3.9.1",), "vendor_build")),
        ("apache-kafka", "3.9.0.redhat-00001", None, (("3.9.0",), "vendor_build")),
        ("apache-kafka", "2.8.1.amzn-0", None, (("2.8.1",), "vendor_build")),
        ("apache-kafka", "3.4.1.7.2.18.0-641", None, (("3.4.1",), "vendor_build")),
        ("apache-kafka", "0.10.2.1-cp1", None, (("0.10.2.1",), "vendor_build")),
        ("apache-kafka", "3.9.1.vendor-7", "4.0.0", (("4.0.0",), "guessed")),
        ("apache-kafka", "4.0.0-rc1", "4.0.0", (("4.0.0",), "guessed")),
        ("apache-kafka", "3.9.1-SNAPSHOT", None, ((), None)),
        ("apache-kafka", "3.9.77.vendor-7", None, ((), None)),
        ("automq", "1.1.0", None, ((), None)),
        ("redpanda", "7.6.1", None, ((), None)),
        ("automq", "3.9.1", "3.9.1", ((), None)),
        (None, None, "4.0.0", (("4.0.0",), "guessed")),
        ("apache-kafka", "", None, ((), None)),
        ("redpanda", "v25.1.1", "3.9.1", ((), None)),
    ],
)
def test_what_is_declared_comes_first(name, version, offers, expected):
    assert possible_releases(name, version, _advertised(offers) if offers else ()) == expected


def test_offers_of_no_known_release_are_distinguished_from_none():
    other = [(0, 0, 7), (1, 0, 11), (18, 0, 2)]
    assert possible_releases(None, None, other) == ((), "none_explains")
    assert possible_releases("apache-kafka", "5.0.0", other) == ((), "none_explains")
    assert possible_releases(None, None) == ((), None)
    assert possible_releases("redpanda", "v25.1.1", other) == ((), None)


@pytest.mark.parametrize(
    ("declared", "release"),
    [
        ("3.9.1", "3.9.1"),
        ("7.6.1-ccs", "3.6.0"),
        ("confluent-server 7.6.1-ce", "3.6.0"),
        ("3.9.0.redhat-00001", "3.9.0"),
        ("automq 1.1.0", None),
        ("Azure Event Hubs 1.0.0", None),
        ("", None),
        (None, None),
    ],
)
def test_what_requests_to_a_broker_are_held_against(declared, release):
    assert oldest_release(declared) == release


def test_what_no_release_of_kafka_offers_has_no_candidates():
    assert candidates([(0, 0, 7), (1, 0, 11), (18, 0, 2)]) == ()
    assert candidates([]) == ()


def test_keys_of_a_vendor_say_nothing_of_the_release():
    advertised = [(key, *api.advertised) for key, api in served.by("3.9.1").items()]
    assert "3.9.1" in candidates([*advertised, (10000, 0, 4), (10012, 0, 0)])


@pytest.mark.parametrize(("release", "is_explained"), [("2.4.1", True), ("3.9.1", True), ("4.0.1", False)])
def test_an_old_inter_broker_protocol_hides_transactions(release, is_explained):
    hidden = {22, 23, 24, 25, 26, 28}
    advertised = [(key, *api.advertised) for key, api in served.by(release).items() if key not in hidden]
    assert (release in candidates(advertised)) == is_explained
    assert candidates([api for api in advertised if api[0] != 8]) == ()
