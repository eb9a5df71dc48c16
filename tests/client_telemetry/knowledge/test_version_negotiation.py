"""Whom libraries ask which request versions there are, rows that cannot be read, and a user's own."""

from collections.abc import Iterator

import pytest
from client_telemetry import knowledge
from client_telemetry.compatibility import own_knowledge
from client_telemetry.knowledge import DamagedKnowledge, Package, client_versions, version_negotiation
from client_telemetry.knowledge_package import differences

HEADER = ",".join(version_negotiation.COLUMNS)


@pytest.fixture(autouse=True)
def shipped_alone() -> Iterator[None]:
    yield
    knowledge.use(None)


def asks(library: str, version: str) -> str | None:
    negotiation = version_negotiation.of(library, client_versions.parse(version))
    return negotiation.asks if negotiation else None


@pytest.mark.parametrize(
    ("library", "version", "whom"),
    [
        ("kafkajs", "2.2.4", "first_broker_until_disconnected"),
        ("kafka-python", "2.0.2", "first_broker"),
        ("kafka-python", "2.3.2", "first_broker"),
        ("kafka-python", "3.0.0", "each_connection"),
        ("aiokafka", "0.12.0", "first_broker"),
        ("aiokafka", "0.13.0", "each_connection"),
        ("franz-go", "1.20.7", "each_broker"),
        ("franz-go", "1.21.0", "each_connection"),
        ("sarama", "1.45.2", None),
        ("kafka-rust", "0.10.0", None),
    ],
)
def test_whom_a_library_asks(library, version, whom):
    assert asks(library, version) == whom


def test_versions_of_a_library_do_not_overlap():
    rows = version_negotiation.every()
    assert not [
        (one, other)
        for one in rows
        for other in rows
        if one is not other
        and one.library == other.library
        and one.version_from <= other.version_to
        and other.version_from <= one.version_to
    ]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (
            "kafkajs,1.0.0,2.2.4,somebody,wiki",
            "asks 'somebody' is none of first_broker, first_broker_until_disconnected",
        ),
        ("kafkajs,2.0.0,1.0.0,each_broker,wiki", "version_from 2.0.0 is above version_to 1.0.0"),
        ("kafkajs,1.0.0,2.2.4,each_broker,", "source is required"),
        ("kafkajz,1.0.0,2.2.4,each_broker,wiki", "library kafkajz is not in"),
        ("kafkajs,new,2.2.4,each_broker,wiki", "version_from 'new' does not begin with a version number"),
    ],
)
def test_a_mistake_of_ones_own_says_its_line(tmp_path, row, reason):
    (tmp_path / version_negotiation.FILE).write_text(f"{HEADER}\n{row}\n")
    with pytest.raises(DamagedKnowledge, match=rf"{version_negotiation.FILE} line 2: {reason}"):
        own_knowledge.use_folder(tmp_path)


def test_a_row_of_ones_own_comes_first_and_is_said(tmp_path, capsys):
    """Also beside a package that was built before there was this file."""
    row = "kafkajs,1.0.0,2.2.4,each_connection,our fork"
    (tmp_path / version_negotiation.FILE).write_text(f"{HEADER}\n{row}\n")
    assert own_knowledge.main([str(tmp_path)]) == 0
    assert "overrides the row of kafkajs 1.0.0" in capsys.readouterr().out
    assert asks("kafkajs", "2.2.4") == "each_connection"
    texts = {
        file: text for file, text in knowledge.shipped_texts().items() if file != version_negotiation.FILE
    }
    knowledge.use_package(Package.of_texts("old", knowledge.shipped_built_at(), texts))
    assert asks("kafkajs", "2.2.4") == "each_connection" and asks("kafka-python", "2.0.2") is None
    assert own_knowledge.main([str(tmp_path)]) == 0
    assert "overrides" not in capsys.readouterr().out


def test_a_change_is_said_in_a_sentence():
    before = {version_negotiation.FILE: f"{HEADER}\nkafkajs,1.0.0,2.2.4,first_broker,a\n"}
    after = {
        version_negotiation.FILE: f"{HEADER}\nkafkajs,1.0.0,2.2.4,each_broker,a\nsarama,1.46.0,1.60.1,each_broker,b\n"
    }
    assert differences.sentences(before, after) == [
        "version negotiation of kafkajs 1.0.0 changed: asks each_broker (was first_broker).",
        "version negotiation of sarama 1.46.0 is new.",
    ]
