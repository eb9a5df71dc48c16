import pytest
from client_telemetry.knowledge import client_ranges
from client_telemetry.knowledge.client_versions import parse


def versions(library: str, version: str, key: int):
    found = client_ranges.of(library, parse(version), key)
    return tuple(found.versions) if found else None


def test_ranges_by_version():
    assert versions("librdkafka", "1.7.0", 2) == (0, 0)
    assert versions("librdkafka", "1.8.2", 2) == (0, 2)
    assert versions("kafka-clients", "3.9.1", 0) == (0, 11)
    assert versions("kafka-clients", "4.0.0", 0) == (3, 12)


def test_newer_than_known_is_taken_as_the_newest():
    assert versions("kafka-clients", "5.9", 0) == versions("kafka-clients", "4.3.1", 0)


@pytest.mark.parametrize(
    ("library", "version"), [("kafka-clients", "10.2.0"), ("librdkafka", "8.0"), ("kafka-python", "2021.3")]
)
def test_a_major_version_after_the_next_is_not_known(library, version):
    """10.2.0 is 0.10.2.0 without its zero."""
    assert versions(library, version, 0) is None
    assert not client_ranges.covers(library, parse(version))


def test_older_than_known_is_not_known():
    assert versions("kafka-clients", "0.8.2", 0) is None
    assert not client_ranges.covers("kafka-clients", parse("0.8.2"))


@pytest.mark.parametrize(
    ("library", "file", "published"),
    [
        ("platformatic-kafka", client_ranges.FILE, ("2.10.0", "2.11.0", "2.12.0")),
        ("sarama", client_ranges.UNNAMED_FILE, ("1.60.2", "1.61.0")),
    ],
)
def test_releases_between_two_rows_of_an_api_have_one(library, file, published):
    """A version without a row counts as one that does not use the API."""
    rows = [
        row for row in client_ranges.read(file) if row.library == library and row.configuration in ("", "any")
    ]
    newest = max(row.version_to for row in rows)
    older = {row.api_key for row in rows if row.version_from <= parse(published[0])}
    lasting = older & {row.api_key for row in rows if row.version_to == newest}
    for version in map(parse, published):
        assert lasting <= {row.api_key for row in rows if row.version_from <= version <= row.version_to}


def test_platformatic_kafka_has_older_versions_since_2_10():
    """Measured: 2.11.0 produces and consumes on brokers since 0.11."""
    assert [versions("platformatic-kafka", version, 12) for version in ("2.9.0", "2.11.0")] == [
        (4, 4),
        (0, 4),
    ]
    assert [versions("platformatic-kafka", version, 0) for version in ("2.9.0", "2.11.0")] == [
        (7, 11),
        (3, 11),
    ]


def test_platformatic_kafka_describes_quotas_with_v1_alone():
    """Its file is named v0 and declares version 1."""
    assert versions("platformatic-kafka", "2.9.0", 48) == (1, 1)


def test_an_api_or_library_that_is_not_there():
    assert versions("rskafka", "0.6.0", 11) is None
    assert versions("no-such-library", "1.0", 0) is None
    assert client_ranges.covers("rskafka", parse("0.6.0"))
