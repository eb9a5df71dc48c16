import pytest
from client_telemetry.knowledge import client_versions


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


ANY = client_versions.before((2, 4, 0, 0))[2]


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        ((1, 2, 3, 4), (1, 2, 3, 5)),
        ((2, 3, ANY, ANY), (2, 4, 0, 0)),
        ((1, ANY, ANY, ANY), (2, 0, 0, 0)),
    ],
)
def test_before_and_after(lower, higher):
    """Nothing lies between them: any number stands for the greatest."""
    assert client_versions.after(lower) == higher
    assert client_versions.before(higher) == lower
    assert client_versions.before((0, 0, 0, 0)) == (0, 0, 0, 0)
