"""What a measured library adds to the knowledge base."""

import json

import pytest
from client_telemetry import knowledge
from client_telemetry.compatibility import own_knowledge
from client_telemetry.knowledge import client_ranges, client_versions, software
from client_telemetry.knowledge_package import brokers
from client_telemetry.rehearsal import library_rows, measured, newer, subjects
from client_telemetry.rehearsal.measured import Measured
from client_telemetry.rehearsal.subjects import Subject

NAME = (("franz-go", "1"),)
OK = {"connect": "ok", "produce": "ok", "txn": "n/a"}
PRODUCE, FETCH, METADATA = 0, 1, 3


def of(
    version: str, sent: dict[int, int], program: str = "franz-go", software=(("kgo", "v1"),), steps=OK
) -> Measured:
    return Measured(Subject(program, version), "4.4.0", steps, sent, software, ("kgo",))


@pytest.fixture
def newest() -> str:
    return client_versions.text(subjects.known_versions()["franz-go"][1])


@pytest.fixture(autouse=True)
def _knowledge_as_before():
    before = knowledge.in_use()
    yield
    knowledge.use(before)


def range_in(version: str, key: int):
    return next(
        row
        for row in client_ranges.read(client_ranges.FILE)
        if (row.library, row.api_key) == ("franz-go", key)
        and row.version_from <= client_versions.parse(version) <= row.version_to
    )


def test_rows_go_on_where_nothing_changed_and_say_what_was_not_measured(newest):
    compared = library_rows.compared("franz-go", of("99.0.0", {PRODUCE: 12}), of(newest, {PRODUCE: 12}))
    assert (compared.said, compared.for_a_person) == ((), ())
    before = range_in(newest, METADATA)
    knowledge.use_package(brokers.base().with_texts(compared.texts))
    own_knowledge.check()
    produce, metadata = range_in("99.0.0", PRODUCE), range_in("99.0.0", METADATA)
    assert produce.version_from < client_versions.parse(newest) and produce.confidence != "low"
    assert (metadata.confidence, metadata.versions) == ("low", before.versions)
    assert metadata.source == f"not sent when franz-go 99.0.0 was measured: as in {newest}"
    assert range_in(newest, METADATA) == before


def test_a_higher_version_has_a_row_of_its_own(newest):
    old = range_in(newest, PRODUCE)
    compared = library_rows.compared("franz-go", of("99.0.0", {PRODUCE: 14}), of(newest, {PRODUCE: 12}))
    assert compared.said == (f"Produce: up to v{old.versions.max} before, v14 in 99.0.0",)
    knowledge.use_package(brokers.base().with_texts(compared.texts))
    assert (range_in("99.0.0", PRODUCE).versions.max, range_in(newest, PRODUCE)) == (14, old)


@pytest.mark.parametrize(
    ("new", "known", "expected"),
    [
        (of("9.0.0", {PRODUCE: 11}), of("1.0.0", {PRODUCE: 12}), "sends Produce v11, and franz-go 1.0.0 v12"),
        (of("9.0.0", {FETCH: 11}), of("1.0.0", {}), "sends Fetch v11, which franz-go 1.0.0 does not send"),
        (of("9.0.0", {}), of("1.0.0", {FETCH: 11}), "sends no Fetch, and franz-go 1.0.0 sends v11"),
        (of("9.0.0", {}, steps={"connect": "EOF"}), of("1.0.0", {}), "failed at connect: EOF"),
        (of("9.0.0", {}, software=(("other", "1"),)), of("1.0.0", {}), "declares (('other', '1'),)"),
    ],
)
def test_what_is_not_a_plain_continuation_is_for_a_person(new, known, expected):
    compared = library_rows.compared("franz-go", new, known)
    assert compared.texts == {} and expected in compared.for_a_person[0]


def test_a_library_with_several_configurations_is_for_a_person():
    compared = library_rows.compared("kafka-go", of("9.0.0", {}, "kafka-go"), of("0.4.50", {}, "kafka-go"))
    assert compared.texts == {} and "depends on more than one run shows" in compared.for_a_person[0]


def test_a_run_of_a_version_before_the_newest_rows_says_nothing_about_them(newest):
    compared = library_rows.compared("franz-go", of("99.0.0", {PRODUCE: 12}), of("1.0.0", {PRODUCE: 12}))
    assert compared.texts == {} and "is older than rows that are known" in compared.for_a_person[0]


def test_a_binding_says_which_librdkafka_it_has():
    declared = (("confluent-kafka-python", "99.1.0-rdkafka-99.0.0"),)
    new = of("99.1.0", {PRODUCE: 10}, "confluent-kafka-python", declared)
    known = of("2.15.0", {PRODUCE: 10}, "confluent-kafka-python", declared)
    assert library_rows.library_version("librdkafka", new) == "99.0.0"
    compared = library_rows.compared("librdkafka", new, known)
    knowledge.use_package(brokers.base().with_texts(compared.texts))
    own_knowledge.check()
    assert software.bindings()["confluent-kafka-python"]["99.1.0"] == "99.0.0"
    assert subjects.known_versions()["librdkafka"][1] == client_versions.parse("99.0.0")


def binding_lines(binding: str) -> list[str]:
    """Versions in the order of the file."""
    return [
        row.split(",")[1]
        for row in knowledge.texts()[software.BINDINGS_FILE].splitlines()
        if row.startswith(f"{binding},")
    ]


@pytest.mark.parametrize(
    ("version", "librdkafka", "before"), [("2.15.99", "2.15.1", "2.15.1"), ("2.7.0", "2.6.1", "2.6.1")]
)
def test_a_binding_with_a_librdkafka_that_is_known_needs_no_comparison_with_the_newest(
    version, librdkafka, before
):
    """confluent-kafka-go follows confluent-kafka-python, which has newer ones: what its librdkafka sends is in the table."""
    assert client_versions.parse(librdkafka) < subjects.known_versions()["librdkafka"][1]
    new = of(version, {PRODUCE: 7}, "confluent-kafka-go", (("confluent-kafka-go", f"v{librdkafka}-linux"),))
    ranges = knowledge.texts()[client_ranges.FILE]
    compared = library_rows.carried("librdkafka", new)
    assert compared is not None and compared.for_a_person == ()
    assert f"carries librdkafka {librdkafka}" in compared.said
    knowledge.use_package(brokers.base().with_texts(compared.texts))
    own_knowledge.check()
    assert software.bindings()["confluent-kafka-go"][version] == librdkafka
    lines = binding_lines("confluent-kafka-go")
    assert lines[lines.index(version) - 1] == before
    assert knowledge.texts()[client_ranges.FILE] == ranges


def test_what_a_binding_with_a_known_librdkafka_sends_is_held_against_its_rows():
    declared = (("confluent-kafka-go", "2.15.1"),)
    compared = library_rows.carried("librdkafka", of("2.15.99", {PRODUCE: 2}, "confluent-kafka-go", declared))
    assert compared is not None and any("Produce v2: v" in each for each in compared.said)


def test_a_binding_that_failed_is_for_a_person():
    declared = (("confluent-kafka-go", "2.15.1"),)
    new = of("2.15.99", {}, "confluent-kafka-go", declared, {"connect": "EOF"})
    compared = library_rows.carried("librdkafka", new)
    assert compared is not None and compared.texts == {}
    assert "failed at connect: EOF" in compared.for_a_person[0]


def test_what_a_binding_has_is_known_only_as_far_as_the_table_goes():
    new = of("99.0.0", {PRODUCE: 12}, "confluent-kafka-go", (("confluent-kafka-go", "99.0.0"),))
    assert library_rows.carried("librdkafka", new) is None
    assert library_rows.carried("librdkafka", of("2.15.99", {}, "confluent-kafka-go", ())) is None
    assert library_rows.carried("franz-go", of("1.22.0", {})) is None


def line(key: int, version: int, listener: str = "PLAINTEXT", **request: str) -> str:
    header = {"requestApiKey": key, "requestApiVersion": version, "clientId": "me"}
    return "Completed request:" + json.dumps(
        {"requestHeader": header, "request": request, "listener": listener}
    )


def test_requests_of_the_broker_to_itself_are_not_the_librarys():
    lines = [
        line(0, 9),
        line(0, 11),
        line(62, 4, "CONTROLLER"),
        line(24, 5, "INTERNAL"),
        "noise",
        "Completed request:{",
        line(18, 3),
    ]
    entries = list(measured.entries_of_clients(lines))
    assert measured.highest_versions(entries) == {0: 11, 18: 3}


def test_what_differs_from_the_table_is_told(newest):
    told = library_rows.beside_the_table("franz-go", of(newest, {PRODUCE: 1, 999: 0}))
    assert told[0].startswith("Produce v1: v") and told[1] == "api key 999 v0: not in the table"


def test_every_library_that_can_be_asked_for_is_known():
    for program in newer.programs():
        assert newer.newest_known(program), program
    assert newer.library_of("confluent-kafka-python") == "librdkafka"
