import pytest
from client_telemetry.compatibility.evidence import (
    ApiUse,
    ClientEvidence,
    UnreadableApiUses,
    format_versions,
    parse_api_uses,
    versions_in_use,
)


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("", []),
        ("Produce:3", [(0, 3, 1)]),
        ("Produce:3-5", [(0, 3, 1), (0, 4, 1), (0, 5, 1)]),
        ("FETCH:4,11x120", [(1, 4, 1), (1, 11, 120)]),
        ("11:5x2 JoinGroup:5x3", [(11, 5, 5)]),
        ("Produce:3; Fetch:4", [(0, 3, 1), (1, 4, 1)]),
    ],
)
def test_api_uses(text, uses):
    assert parse_api_uses(text) == tuple(ApiUse(*each) for each in uses)


@pytest.mark.parametrize(
    "text",
    [
        "Produce",
        "Produce:",
        "Produce:x",
        "Produce:5-3",
        "Fech:1",
        ":3",
        "Produce:99999",
        "Produce:3x",
        "999:1",
    ],
)
def test_unreadable_api_uses(text):
    with pytest.raises(UnreadableApiUses):
        parse_api_uses(text)


def test_a_word_without_versions_is_told_how_to_be_written():
    with pytest.raises(UnreadableApiUses, match="'Produce' is not API:versions, like Produce:3-7"):
        parse_api_uses("Produce")


def test_a_use_that_was_only_refused_is_no_version_in_use():
    evidence = ClientEvidence(api_uses=(ApiUse(18, 4, 0, 1), ApiUse(18, 3, 1), (0, 9, 4, 0, None, None)))
    assert {key: [use.version for use in uses] for key, uses in versions_in_use(evidence).items()} == {
        0: [9],
        18: [3],
    }


@pytest.mark.parametrize(
    ("name", "declares"), [(None, False), ("", False), ("unknown", False), ("kgo", True)]
)
def test_declares_software(name, declares):
    assert ClientEvidence(name).declares_software is declares


def test_versions_in_words():
    assert format_versions([5, 3, 4, 4, 9]) == "3–5, 9"
    assert format_versions([]) == ""


@pytest.mark.parametrize(
    ("requests", "rejected", "seconds", "expected"),
    [
        (49, 0, None, False),
        (50, 0, None, True),
        (20, 30, None, True),
        (9, 0, 40, False),
        (10, 0, 40, True),
        (4, 6, 40, True),
        (10, 0, 29, False),
        (10, 0, 30, True),
        (10, 0, 600, True),
        (10, 0, 601, False),
        (1000, 0, 0, False),
    ],
)
def test_how_often_is_again_and_again(requests, rejected, seconds, expected):
    last = None if seconds is None else seconds * 1_000_000
    use = ApiUse(0, 9, requests, rejected, None if seconds is None else 0, last)
    assert use.is_frequent is expected
    assert use._replace(often=not expected).is_frequent is not expected
    assert use._replace(first_seen=None).is_frequent is (requests + rejected >= 50)
