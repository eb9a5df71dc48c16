import pytest
from client_telemetry.knowledge.kip511 import is_known, is_valid


# Run through Kafka's own ApiVersionsRequest.
@pytest.mark.parametrize(
    "text",
    ["apache-kafka-java", "2.15.0-rdkafka-2.15.0", "v1.15.3-0.20231204", "a", "A", "0", "a.-.b", "x" * 5000],
)
def test_valid(text: str):
    assert is_valid(text)


@pytest.mark.parametrize(
    "text",
    [
        "v1.2.3+dirty",
        "a_b",
        "-a",
        "a-",
        ".a",
        "a.",
        "",
        " ",
        "a b",
        "a\n",
        "\na",
        "é",
        "٣",
        "a\u200b",
        "librdkafka/1.0",
    ],
)
def test_invalid(text: str):
    assert not is_valid(text)


@pytest.mark.parametrize(
    ("registered", "known"),
    [("kgo", True), ("unknown", False), ("", False), (None, False), ("Unknown", True)],
)
def test_known(registered: str | None, known: bool):
    assert is_known(registered) is known
