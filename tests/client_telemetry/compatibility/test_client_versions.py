import pytest
from client_telemetry.compatibility import client_versions


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1.7.0", (1, 7, 0, 0)),
        ("v1.22.2", (1, 22, 2, 0)),
        ("1.4.2-dirty", (1, 4, 2, 0)),
        ("3.5.0.redhat-00012", (3, 5, 0, 0)),
        ("2.6", (2, 6, 0, 0)),
        ("1.2.3.4.5", (1, 2, 3, 4)),
    ],
)
def test_parse(text, numbers):
    assert client_versions.parse(text) == numbers


@pytest.mark.parametrize("text", ["", "dev", "unknown", "v", "(devel)"])
def test_not_a_version(text):
    with pytest.raises(client_versions.NotAVersion):
        client_versions.parse(text)
