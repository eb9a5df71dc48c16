"""What libraries say when they are refused: which row is about a client."""

import pytest
from client_telemetry import knowledge
from client_telemetry.compatibility import ClientEvidence, judge
from client_telemetry.knowledge import DamagedKnowledge, client_messages, client_versions
from client_telemetry.knowledge.broker_release import csv_text
from client_telemetry.knowledge_package import brokers

PRODUCE, FETCH = 0, 1


def use(*rows: str) -> None:
    cells = [row.split("|") for row in rows]
    text = csv_text(client_messages.COLUMNS, cells)
    knowledge.use_package(brokers.base().with_texts({client_messages.FILE: text}))


@pytest.fixture(autouse=True)
def _knowledge_as_before():
    before = knowledge.in_use()
    yield
    knowledge.use(before)


def words(version: str, target: str, *, roles=("producer",), keys=(PRODUCE,), gives_up=False) -> str | None:
    number = client_versions.parse(version)
    message = client_messages.of("kafkajs", number, roles, target, keys, gives_up=gives_up)
    return message and message.says


def test_the_newest_measured_version_up_to_the_clients_own_counts():
    use(
        "kafkajs|1.0.0||producer|4.0.0||Produce:2|old|run",
        "kafkajs|1.8.0||producer|4.0.0||Produce:2|newer|run",
        "kafkajs|1.8.0||producer|0.10.0.0|0.10.2.2||older brokers|run",
        "kafkajs|1.8.0||group_consumer|4.0.0||Fetch:1|group|run",
    )
    assert words("1.5.0", "4.0.1") == "old" and words("1.9.0", "4.4.0") == "newer"
    assert words("0.9.0", "4.0.1") == "old"
    assert words("1.9.0", "0.10.1.1", gives_up=True) == "older brokers"
    assert words("1.9.0", "0.10.1.1") is None, "it was seen to send what it does not send by itself"
    assert words("1.9.0", "3.9.1") is None
    assert words("1.9.0", "4.0.1", keys=(FETCH,)) is None, "it was refused another request"
    assert words("1.9.0", "4.0.1", roles=("group_consumer",), keys=(FETCH,)) == "group"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("kafkajs|1.0.0||reader|4.0.0|||no|run", "role 'reader' is none of"),
        ("kafkajs|1.0.0||producer|4.0.99|||no|run", "4.0.99"),
        ("kafkajs|1.0.0||producer|4.0.0||Prodce:2|no|run", "Prodce"),
        ("kafkajs|one||producer|4.0.0|||no|run", "version"),
    ],
)
def test_a_row_that_cannot_be_is_refused(row, expected):
    use(row)
    with pytest.raises(DamagedKnowledge, match=expected):
        client_messages.every()


def test_a_package_from_before_the_file_has_no_messages():
    package = brokers.base()
    use("kafkajs|1.0.0||producer|4.0.0||Produce:2|old|run")
    assert client_messages.every()
    texts = {file: package.text(file) for file in package.names() if file != client_messages.FILE}
    knowledge.use_package(type(package).of_texts("older", package.built_at, texts))
    assert client_messages.every() == ()


def declared(version: str) -> ClientEvidence:
    return ClientEvidence(
        client_software_name="apache-kafka-java", client_software_version=version, api_uses=((PRODUCE, 2, 9),)
    )


def test_the_verdict_repeats_the_words_of_the_library():
    use(
        "kafka-clients|1.1.1||producer|4.0.0||Produce:2|UnsupportedVersionException: no|run",
        "kafka-clients|0.10.2.0||producer|4.0.0||Produce:2||run",
        "kafka-clients|1.1.1||producer|3.9.2|3.9.2|Produce:2|not asked about|run",
    )
    said = {
        "1.1.1": " It says then: “UnsupportedVersionException: no”.",
        "1.0.0": "",  # 0.10.2 was silent while it was measured, which says nothing of later
        "0.10.2.0": "",
        "2.0.0": " kafka-clients 1.1.1 says then: “UnsupportedVersionException: no”.",
    }
    for version, words in said.items():
        verdict = judge(declared(version), "3.9.1", "4.0.1")
        assert verdict.verdict == "breaks"
        assert verdict.explanation == f"writes records with Produce v2; 4.0.1 accepts v3–v12.{words}"
    assert "says" not in judge(declared("1.1.1"), "3.9.1", "3.9.2").explanation


def test_a_client_whose_lowest_version_is_above_what_older_brokers_have_breaks_with_its_own_words():
    """As it was measured: kafka-clients 4.4.0 has no Produce below v3, and 0.10.2 none above v2."""
    evidence = ClientEvidence(
        client_software_name="apache-kafka-java", client_software_version="4.4.0", api_uses=((PRODUCE, 9, 5),)
    )
    verdict = judge(evidence, "3.9.1", "0.10.2.2")
    assert verdict.verdict == "breaks"
    assert "The node does not support INIT_PRODUCER_ID" in verdict.explanation


def test_a_client_of_unknown_lowest_version_is_not_called_broken():
    evidence = ClientEvidence(api_uses=((18, 3, 1), (PRODUCE, 9, 5)))
    verdict = judge(evidence, "3.9.1", "0.10.2.2")
    assert verdict.verdict == "insufficient_evidence"
