import pytest
from client_telemetry.compatibility import eras, parse_api_uses


@pytest.mark.parametrize(
    ("uses", "young"),
    [
        ("", False),
        ("ApiVersions:3 SaslHandshake:1", False),
        ("Fetch:4", True),
        ("Fetch:3", False),
        ("Fetch:4 Metadata:0", False),
        ("ApiVersions:0 SaslHandshake:0 Fetch:4", True),
    ],
)
def test_what_speaks_as_of_0_11_by_its_requests_for_data_and_administration(uses: str, young: bool) -> None:
    assert eras.speaks_as_of_0_11(parse_api_uses(uses)) is young


@pytest.mark.parametrize(
    ("uses", "young"),
    [
        ("Fetch:4", False),
        ("ApiVersions:1 Fetch:4", True),
        ("ApiVersions:0 Fetch:4", False),
        ("ApiVersions:1 Fetch:3", False),
    ],
)
def test_what_asks_for_versions_as_of_0_11(uses: str, young: bool) -> None:
    assert eras.negotiates_as_of_0_11(parse_api_uses(uses)) is young
