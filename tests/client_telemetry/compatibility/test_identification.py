"""Clients that declare nothing: the library is named where it is as good as certain, otherwise its candidates are."""

import pytest
from client_telemetry.compatibility import identification
from client_telemetry.compatibility.evidence import ApiUse
from client_telemetry.compatibility.identification import LEAST, Candidate, Identification
from client_telemetry.knowledge import apis

RELEASE = "3.9.1"
SARAMA = {0: 10, 1: 12, 2: 6, 3: 11, 8: 8, 9: 8}
"""What sarama 1.60 takes on these brokers, as many APIs as a name needs."""


def of(uses: dict[int, int], client_id: str | None = "orders", release: str = RELEASE) -> Identification:
    """`uses`: API key to version."""
    found = identification.of(
        client_id, {key: [ApiUse(key, version)] for key, version in uses.items()}, release
    )
    assert found is not None
    return found


def candidate(uses: dict[int, int], library: str, release: str = RELEASE) -> str:
    return next(each.text for each in of(uses, release=release).candidates if each.library == library)


@pytest.mark.parametrize(
    ("since", "until", "text"),
    [
        (None, None, "brod (any version)"),
        ((3, 16, 0, 0), None, "brod (any version since 3.16.0)"),
        (None, (3, 16, 0, 0), "brod up to 3.16.0"),
        ((3, 16, 0, 0), (3, 16, 0, 0), "brod 3.16.0"),
        ((3, 16, 0, 0), (4, 0, 0, 0), "brod 3.16.0 to 4.0.0"),
    ],
)
def test_a_candidate_in_words(since, until, text):
    found = Candidate("brod", since, until)
    assert found.text == text
    assert found.includes((3, 16, 0, 0))
    assert found.includes((3, 15, 9, 0)) == (since is None)
    assert found.includes((4, 0, 1, 0)) == (until is None)


def test_requests_name_a_library_where_enough_apis_fit_no_other():
    found = of(SARAMA)
    assert (found.library, found.text) == ("sarama", "probably sarama (any version since 1.60.0)")
    assert found.looks_like.startswith("looks like sarama (any version since 1.60.0; all 6 APIs have")


def test_too_few_apis_name_no_library():
    few = dict(list(SARAMA.items())[: LEAST - 1])
    found = of(few)
    assert found.named is None and found.candidates[0].library == "sarama"
    assert found.text == "not identified, candidates: sarama, platformatic-kafka or franz-go"
    assert found.reasons[0] == "5 of 5 APIs have the version that sarama uses here"


def test_setting_up_a_connection_does_not_count_as_an_api():
    few = dict(list(SARAMA.items())[: LEAST - 1])
    assert of({**few, apis.API_VERSIONS: 0, 17: 1, 36: 1}).named is None


def test_the_default_client_id_names_a_library_that_can_have_sent_the_requests():
    assert of({3: 1}, "consumer-1").text == "probably kafka-clients 0.10.0 to 2.3.1"
    assert of({3: 1}, "sarama").text == "probably sarama (any version since 1.17.0)"
    assert identification.of("nothing-known", {}, RELEASE) is None


def test_a_client_id_of_a_library_that_cannot_have_sent_the_requests_is_not_believed():
    assert of(SARAMA, "consumer-1").library != "kafka-clients"


@pytest.mark.parametrize(
    ("case", "uses", "release", "text"),
    [
        ("any version can have sent it", {3: 0}, "2.3.1", "kafka-clients (any version)"),
        ("since 1.0 it would take Produce 5", {0: 3, 18: 1}, "2.3.1", "kafka-clients 0.11.0 to 0.11.0.3"),
        ("since 4.0 it does not send Produce v1", {0: 1}, "2.3.1", "kafka-clients up to 3.9.2"),
        ("since 2.4 it would declare its name (KIP-511)", {3: 0}, "3.9.1", "kafka-clients up to 2.3.1"),
        ("all of it", {12: 1, 18: 1}, "3.9.1", "kafka-clients 0.11.0 to 1.1.1"),
    ],
)
def test_versions_that_can_have_sent_the_requests(case, uses, release, text):
    assert candidate(uses, "kafka-clients", release) == text, case


def test_a_library_that_may_be_configured_not_to_ask_can_be_of_any_version():
    # api.version.request=false: the configuration decides which version it sends, not the release.
    assert candidate({11: 2}, "librdkafka", "2.3.1") == "librdkafka (any version)"
    # Later versions would have taken JoinGroup 5.
    assert candidate({11: 2, 18: 0}, "librdkafka", "2.3.1") == "librdkafka 1.0.0 to 1.2.2"


@pytest.mark.parametrize(
    ("uses", "reasons"),
    [
        (
            {3: 0},
            (
                "its only API has the version that kafka-rust, sarama and kafka-clients use here",
                "ApiVersions, with which brod, franz-go, kafka-clients, kafkajs and librdkafka begin, was not seen; "
                "before a SASL login it does not show",
            ),
        ),
        (
            {0: 10, 1: 12, 2: 6, 3: 11, 8: 8, 18: 0},
            ("5 of 5 APIs have the version that sarama uses here", "none that of platformatic-kafka"),
        ),
    ],
)
def test_what_tells_candidates_apart_says_each_thing_once(uses, reasons):
    assert of(uses).reasons == reasons


def test_libraries_that_ask_first_are_less_likely_where_nothing_asked():
    asked, not_asked = ([each.library for each in of(uses).candidates] for uses in ({3: 1, 18: 0}, {3: 1}))
    assert asked.index("kafka-clients") < asked.index("kafka-go")
    assert not_asked.index("kafka-clients") > not_asked.index("kafka-go")
    assert "kafka-clients" in of({3: 1}).reasons[-1]
    assert not any("ApiVersions" in reason for reason in of({3: 1, 18: 0}).reasons)
