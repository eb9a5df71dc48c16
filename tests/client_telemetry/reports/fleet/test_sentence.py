"""The sentence of the day."""

from datetime import date

import pytest
from client_telemetry.reports.fleet.model import Changes
from client_telemetry.reports.fleet.sentence import sentence


def _changes(words, known=True, new=0, gone=0, deprecated=0):
    return Changes(
        date(2026, 11, 20),
        words,
        known,
        40,
        new + 3,
        gone + 3,
        (),
        (),
        deprecated + 3,
        new_applications=new,
        gone_applications=gone,
        deprecated_applications=deprecated,
    )


YESTERDAY, LAST_WEEK = "the day before", "a week before"


@pytest.mark.parametrize(
    ("clients", "deprecated", "changes", "expected"),
    [
        (0, 0, [], "No client was seen."),
        (1, 0, [], "1 application with 1 client, none uses a request version that a newer release refuses."),
        (1, 1, [], "1 application with 1 client, 1 uses request versions that 4.0.0 and later refuse."),
        (
            42,
            12,
            [_changes(YESTERDAY, new=3, gone=1), _changes(LAST_WEEK, deprecated=14)],
            "21 applications with 42 clients, 3 new, 1 gone since the day before; 12 use request versions that 4.0.0 and later refuse: "
            "2 fewer than a week before.",
        ),
        (
            42,
            12,
            [_changes(YESTERDAY, known=False), _changes(LAST_WEEK, new=5, deprecated=12)],
            "21 applications with 42 clients, 5 new, none gone since a week before; 12 use request versions that 4.0.0 and later refuse: "
            "as many as a week before.",
        ),
        (
            2000,
            1,
            [_changes(YESTERDAY, deprecated=0), _changes(LAST_WEEK, known=False)],
            "1,000 applications with 2,000 clients, none new, none gone since the day before; 1 uses request versions that 4.0.0 and later "
            "refuse: 1 more than the day before.",
        ),
    ],
)
def test_sentence(clients, deprecated, changes, expected):
    by_release = {"4.0.0": deprecated, "4.0.0 and later": deprecated}
    counts = {
        "applications": clients // 2 or 1,
        "clients": clients,
        "applications_with_deprecated_versions": deprecated,
    }
    assert "".join(phrase.text for phrase in sentence(counts, changes, by_release)) == expected


def test_the_number_is_of_what_it_stands_before():
    """Two of fourteen use a version that 4.0.0 alone refuses."""
    counts = {"applications": 42, "clients": 48, "applications_with_deprecated_versions": 14}
    phrases = sentence(counts, [], {"4.0.0": 2, "4.0.0 and later": 12})
    assert "".join(phrase.text for phrase in phrases).endswith(
        "14 use request versions that newer releases refuse (12 of them: 4.0.0 and later)."
    )
