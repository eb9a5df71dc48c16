from datetime import UTC, datetime
from types import SimpleNamespace

from include.run_day import day_of


def _run(start, run_after):
    return SimpleNamespace(data_interval_start=start, run_after=run_after)


NIGHT = datetime(2026, 11, 22, 2, tzinfo=UTC)


def test_a_nightly_run_answers_for_the_day_on_which_its_interval_starts():
    assert day_of(_run(datetime(2026, 11, 21, 2, tzinfo=UTC), NIGHT), {"day": None}) == "2026-11-21"


def test_the_day_of_the_trigger_form_wins():
    assert day_of(_run(datetime(2026, 11, 21, 2, tzinfo=UTC), NIGHT), {"day": "2026-03-01"}) == "2026-03-01"


def test_a_run_without_an_interval_answers_for_the_day_before_it_was_triggered():
    assert day_of(_run(None, datetime(2026, 11, 22, 0, 5, tzinfo=UTC)), {}) == "2026-11-21"
