import pytest
from client_telemetry.compatibility import apis, releases, served
from client_telemetry.compatibility.broker_guess import candidates


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


def test_what_no_release_of_kafka_offers_has_no_candidates():
    assert candidates([(0, 0, 7), (1, 0, 11), (18, 0, 2)]) == ()
    assert candidates([]) == ()
