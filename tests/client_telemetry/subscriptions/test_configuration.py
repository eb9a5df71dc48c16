"""What Kafka refuses and with which words. The comparison with Kafka's classes is in tests/end_to_end."""

import pytest
from client_telemetry.subscriptions.configuration import RefusedByKafka, parse
from client_telemetry.subscriptions.java_runtime import JavaRuntime

EVERY = ((3, 7, 1), (3, 9, 1), (4, 0, 1), (4, 3, 1))


@pytest.mark.parametrize("release", EVERY)
@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"intervall.ms": "1000"}, "Unknown client metrics configuration: intervall.ms"),
        (
            {"interval.ms": "99"},
            "Invalid value 99 for interval.ms, interval must be between 100 and 3600000 (1 hour)",
        ),
        (
            {"interval.ms": "3600001"},
            "Invalid value 3600001 for interval.ms, interval must be between 100 and 3600000 (1 hour)",
        ),
        ({"match": "client_id=a=b"}, "Illegal client matching pattern: client_id=a=b"),
        ({"match": "client_id="}, "Illegal client matching pattern: client_id="),
        ({"match": "client.id=a"}, "Illegal client matching pattern: client.id=a"),
        ({"match": "client_id=["}, "Illegal client matching pattern: client_id=["),
        ({"match": "client_id=a{2,3}"}, "Illegal client matching pattern: client_id=a{2"),
        ({"match": "client_id"}, "Illegal client matching pattern: client_id"),
    ],
)
def test_refused_by_every_release(
    java: JavaRuntime, release: tuple[int, ...], properties: dict[str, str], message: str
) -> None:
    with pytest.raises(RefusedByKafka) as refused:
        parse("s", properties, release, java)
    assert refused.value.message == message and refused.value.by_controller


def test_a_name_is_needed(java: JavaRuntime) -> None:
    with pytest.raises(RefusedByKafka, match="Subscription name can't be empty"):
        parse("", {}, (4, 3, 1), java)


@pytest.mark.parametrize(
    ("interval", "release", "error"),
    [
        (" 5000 ", (3, 9, 1), "NumberFormatException"),
        (" 5000 ", (4, 0, 1), None),
        ("5s", (3, 9, 1), "NumberFormatException"),
        ("5s", (4, 3, 1), "ConfigException"),
        ("+5000", (3, 9, 1), None),
        ("99999999999", (4, 3, 1), "ConfigException"),
    ],
)
def test_spellings_of_an_interval(
    java: JavaRuntime, interval: str, release: tuple[int, ...], error: str | None
) -> None:
    if error is None:
        assert parse("s", {"interval.ms": interval}, release, java).interval_ms == 5000
    else:
        with pytest.raises(RefusedByKafka) as refused:
            parse("s", {"interval.ms": interval}, release, java)
        assert refused.value.error == error


def test_selectors_are_trimmed_and_the_last_of_a_key_stays(java: JavaRuntime) -> None:
    parsed = parse("s", {"match": " client_id = a.* , client_id=b , client_source_port=1=="}, (4, 3, 1), java)
    assert [(each.attribute, each.regex) for each in parsed.selectors] == [
        ("client_id", "b"),
        ("client_source_port", "1"),
    ]


def test_what_the_controller_accepts_and_brokers_do_not(java: JavaRuntime) -> None:
    with pytest.raises(RefusedByKafka) as refused:
        parse("s", {"match": "client_id=a,"}, (3, 9, 1), java)
    assert not refused.value.by_controller
    with pytest.raises(RefusedByKafka) as refused:
        parse("s", {"match": "client_id=a,"}, (4, 0, 1), java)
    assert refused.value.by_controller and refused.value.message == "Illegal client matching pattern: "
    with pytest.raises(RefusedByKafka) as refused:
        parse("s", {"match": "client_id=a,"}, (4, 2, 0), java)
    assert refused.value.message == "Configuration 'match' values must not be empty."


def test_duplicates_and_empty_metrics_by_release(java: JavaRuntime) -> None:
    assert parse("s", {"metrics": "a,a,"}, (4, 1, 2), java).metrics == ("a", "a", "")
    assert parse("s", {"metrics": "a,a"}, (4, 2, 0), java).metrics == ("a",)
    with pytest.raises(RefusedByKafka, match="Configuration 'metrics' values must not be empty"):
        parse("s", {"metrics": "a,"}, (4, 2, 0), java)
