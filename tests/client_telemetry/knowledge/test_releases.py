import pytest
from client_telemetry.knowledge import releases


def test_known_releases_are_in_order_of_releases():
    known = releases.known()
    assert known[0] == "0.10.0.0" and "4.4.0" in known
    assert known.index("3.9.2") < known.index("4.0.0") < known.index("4.0.1")
    assert len(set(known)) == len(known) >= 79


def test_exact():
    assert releases.exact(" 4.0.1 ") == "4.0.1"


@pytest.mark.parametrize(
    ("given", "reason", "says"),
    [
        ("4.0", releases.NotAnExactRelease, "use one of 4.0.0, 4.0.1, 4.0.2"),
        ("0.10", releases.NotAnExactRelease, "0.10.2.2"),
        ("4", releases.NotAnExactRelease, "4.3.1"),
        ("4.0.9", releases.UnknownRelease, "nearest are 4.1.0, 4.1.1, 4.1.2, 4.0."),
        ("2.9.0", releases.UnknownRelease, "nearest are 3.0.0, 3.0.1, 3.0.2, 2.8.2"),
        ("9.9.9", releases.UnknownRelease, "the newest is "),
        ("latest", releases.UnknownRelease, "is not a Kafka release"),
        ("", releases.UnknownRelease, "is not a Kafka release"),
        ("4.0.1-ccs", releases.UnknownRelease, "is not a Kafka release"),
        ("²", releases.UnknownRelease, "is not a Kafka release"),
    ],
)
def test_what_is_no_exact_release(given, reason, says):
    with pytest.raises(reason, match=says):
        releases.exact(given)


def test_upgrade():
    assert releases.upgrade("3.9.2", "4.0.0") == ("3.9.2", "4.0.0")
    assert releases.upgrade("4.0.0", "3.9.2") == ("4.0.0", "3.9.2")
    with pytest.raises(releases.NothingToUpgrade, match=r"already run 4\.0\.0"):
        releases.upgrade("4.0.0", "4.0.0")


def test_a_rollback_goes_to_an_older_release():
    assert releases.is_rollback("4.0.0", "3.9.2")
    assert releases.is_rollback("3.9.10", "3.9.9")
    assert not releases.is_rollback("3.9.2", "4.0.0")


def test_newer_than():
    assert releases.newer_than("4.3.0")[:2] == ("4.3.1", "4.4.0")
