"""Which library versions a client of a report stands for."""

import csv
import re
from collections import defaultdict
from pathlib import Path

import pytest
from client_telemetry.knowledge import apis, client_versions
from client_telemetry.rehearsal import subjects
from client_telemetry.rehearsal.subjects import WayIn

MATRIX = Path(__file__).parents[3] / "benchmarks" / "matrix"


def client(
    name: str = "unknown",
    version: str = "unknown",
    identified_as: str = "",
    seen: dict[int, str] | None = None,
):
    findings = [
        {"rule_id": "observed_version_served", "api_key": key, "versions": versions}
        for key, versions in (seen or {}).items()
    ]
    return {
        "client_software_name": name,
        "client_software_version": version,
        "identified_as": identified_as,
        "findings": findings,
    }


def texts(wanted: subjects.Wanted) -> list[list[str]]:
    return [[subject.text for subject in alternatives] for alternatives in wanted.subjects]


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        ("apache-kafka-java", "3.6.2", [["kafka-clients 3.6.2"]]),
        ("apache-kafka-java", "3.5.0.redhat-00012", [["kafka-clients 3.5.0"]]),
        ("kgo", "v1.22.2", [["franz-go 1.22.2"]]),
        ("sarama", "v1.45.1", [["sarama 1.45.1"]]),
        ("kafka-python", "3.0.11", [["kafka-python 3.0.11"]]),
    ],
)
def test_a_declared_version_is_run_as_it_is(name, version, expected):
    wanted = subjects.of_client(client(name, version), "3.9.1")
    assert (texts(wanted), wanted.is_inferred) == (expected, False)


def test_librdkafka_runs_in_its_binding_or_in_another_that_carries_the_same():
    wanted = subjects.of_client(client("confluent-kafka-python", "1.7.0-rdkafka-1.7.0"), "3.9.1")
    assert texts(wanted) == [["confluent-kafka-python 1.7.0", "confluent-kafka-go 1.7.0"]]
    (alternatives,) = texts(subjects.of_client(client("librdkafka", "2.3.0"), "3.9.1"))
    assert (
        alternatives[0].startswith("confluent-kafka-python 2.3")
        and alternatives[-1] == "confluent-kafka-go 2.3.0"
    )


def test_both_ends_of_an_inferred_range_are_run():
    wanted = subjects.of_client(client(identified_as="probably kafka-clients 0.10.2 to 2.3.1"), "3.9.1")
    assert (texts(wanted), wanted.is_inferred) == (
        [["kafka-clients 0.10.2.0"], ["kafka-clients 2.3.1"]],
        True,
    )
    wanted = subjects.of_client(
        client(identified_as="probably franz-go 1.15.4, which other connections of it declare"), "3.9.1"
    )
    assert texts(wanted) == [["franz-go 1.15.4"]]


def test_an_open_end_is_the_newest_version_that_is_known():
    newest = subjects.known_versions()["sarama"][1]
    wanted = subjects.of_client(client(identified_as="probably sarama (any version since 1.41.0)"), "3.9.1")
    assert texts(wanted) == [["sarama 1.41.0"], [f"sarama {client_versions.text(newest)}"]]


@pytest.mark.parametrize(
    ("described", "reason"),
    [
        (client(identified_as="not identified, candidates: sarama or brod"), "its library is not known"),
        (client("someone", "1.0"), "no library is known that calls itself someone"),
        (client("apache-kafka-java", "unknown"), "the version of its kafka-clients is not known"),
        (client(identified_as="probably ruby-kafka 1.0.0"), "there is no program for ruby-kafka"),
    ],
)
def test_what_is_not_known_is_not_guessed(described, reason):
    assert subjects.of_client(described, "3.9.1").reason == reason


def test_a_pin_is_told_by_the_requests():
    pinned = {0: "2", 1: "3", 2: "1"}
    wanted = subjects.of_client(client(identified_as="probably kafka-python 2.0.2", seen=pinned), "3.9.1")
    assert texts(wanted) == [["kafka-python 2.0.2 (api_version=0.10.1)"]]
    unknown = subjects.of_client(
        client(identified_as="probably kafka-python 2.0.2", seen={0: "1", 1: "4"}), "3.9.1"
    )
    assert unknown.reason == "no api_version of kafka-python explains its requests"


def test_pins_of_real_clients_are_found():
    """Of every run of benchmarks/matrix: the setting, or none where the library sends the same without it."""
    keys = {api.name: key for key, api in apis.by_key().items()}
    pinned = 0
    for row in csv.DictReader((MATRIX / "evidence.csv").read_text(encoding="utf-8").splitlines()):
        library, version = row["library"], row["version"]
        if library not in ("kafka-python", "aiokafka") or row["brokers"] != "3.9.1":
            continue
        seen: dict[int, int] = defaultdict(int)
        for name, sent, _ in re.findall(r"(\w+):(\d+)x(\d+)", row["api_uses"]):
            seen[keys[name]] = max(seen[keys[name]], int(sent))
        found = subjects._pin(library, client_versions.parse(version), seen, row["brokers"])
        asked = row["configuration"].removeprefix("api_version=") if "=" in row["configuration"] else ""
        assert found in (asked, "", None), (library, version, asked, found)
        if asked == "0.10.1":
            assert found == asked, (library, version)
            pinned += 1
    assert pinned >= 4


def test_tokens_need_a_program_that_has_them():
    wanted = subjects.of_client(client("kgo", "v1.22.2"), "3.9.1", WayIn("OAUTHBEARER"))
    assert texts(wanted) == [["franz-go 1.22.2 (OAUTHBEARER)"]]
    wanted = subjects.of_client(
        client("confluent-kafka-python", "1.7.0-rdkafka-1.7.0"), "3.9.1", WayIn("OAUTHBEARER")
    )
    assert texts(wanted) == [["confluent-kafka-python 1.7.0 (OAUTHBEARER)"]]
    sarama = subjects.of_client(client("sarama", "v1.45.1"), "3.9.1", WayIn("OAUTHBEARER"))
    assert sarama.reason == "there is no program for sarama that logs in with OAUTHBEARER"
    assert subjects.of_client(client("sarama", "v1.45.1"), "3.9.1", WayIn("PLAIN")).subjects


def test_tls_and_kerberos_need_a_program_that_has_them():
    java = client("apache-kafka-java", "3.6.2")
    for way_in, text in [
        (WayIn(tls=True), "client certificate"),
        (WayIn("PLAIN", tls=True), "PLAIN, TLS"),
        (WayIn("GSSAPI"), "GSSAPI"),
    ]:
        assert texts(subjects.of_client(java, "3.9.1", way_in)) == [[f"kafka-clients 3.6.2 ({text})"]]
    without = [
        ("librdkafka", WayIn("GSSAPI"), "logs in with GSSAPI"),
        ("kafka-rust", WayIn(tls=True), "connects with TLS"),
    ]
    for library, way_in, lacking in without:
        wanted = subjects.of_client(
            client(identified_as=f"probably {library} (any version)"), "3.9.1", way_in
        )
        assert wanted.reason == f"there is no program for {library} that {lacking}"
