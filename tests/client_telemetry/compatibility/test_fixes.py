import pytest
from client_telemetry.compatibility import fixes, served
from client_telemetry.compatibility.served import Versions


@pytest.mark.parametrize(
    ("declared", "key", "release", "expected"),
    [
        (Versions(0, 11), 0, "4.0.0", True),
        (Versions(0, 2), 0, "4.0.0", False),  # chooses 2, which is advertised and refused
        (Versions(0, 0), 2, "4.0.0", False),
        (Versions(0, 1), 2, "4.0.0", True),
        (Versions(3, 12), 0, "2.8.2", True),
        (Versions(10, 12), 0, "2.8.2", False),
    ],
)
def test_a_negotiating_client_takes_the_highest_version_of_both(declared, key, release, expected):
    assert fixes.works(declared, served.by(release)[key]) is expected
