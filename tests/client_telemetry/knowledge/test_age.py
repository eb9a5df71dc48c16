import datetime as dt

from client_telemetry.knowledge import age

BUILT = dt.datetime(2026, 9, 1, 4, tzinfo=dt.UTC)


def test_the_sentence_has_version_date_age_and_what_is_not_known():
    assert age.sentence("3f2a", BUILT, BUILT) == "Knowledge base 3f2a of 2026-09-01, less than a day old"
    a_day_later = BUILT + dt.timedelta(days=1)
    gaps = "not known for 4.5.0: feature levels"
    assert (
        age.sentence("3f2a", BUILT, a_day_later, gaps)
        == f"Knowledge base 3f2a of 2026-09-01, 1 day old; {gaps}"
    )
    assert age.sentence("3f2a", None, BUILT) == "Knowledge base 3f2a", (
        "a report of a release that did not record it"
    )


def test_it_is_old_after_sixty_days():
    assert age.warning(BUILT, BUILT + dt.timedelta(days=60)) == ""
    assert age.warning(BUILT, BUILT + dt.timedelta(days=61)).startswith("The knowledge base is 61 days old: ")
    assert age.warning(None, BUILT) == ""
