import argparse
import re
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from client_telemetry.console.arguments import exact_release

from include.run_day import RELEASE, day_of


def _run(start, run_after):
    return SimpleNamespace(data_interval_start=start, run_after=run_after)


NIGHT = datetime(2026, 11, 22, 2, tzinfo=UTC)


def test_a_nightly_run_answers_for_the_day_on_which_its_interval_starts():
    assert day_of(_run(datetime(2026, 11, 21, 2, tzinfo=UTC), NIGHT), {"day": None}) == "2026-11-21"


def test_the_day_of_the_trigger_form_wins():
    assert day_of(_run(datetime(2026, 11, 21, 2, tzinfo=UTC), NIGHT), {"day": "2026-03-01"}) == "2026-03-01"


def test_a_run_without_an_interval_answers_for_the_day_before_it_was_triggered():
    assert day_of(_run(None, datetime(2026, 11, 22, 0, 5, tzinfo=UTC)), {}) == "2026-11-21"


@pytest.mark.parametrize(
    "text", ["4.0.1", "0.10.2.2", "msk-eu", "4.0", "3.x", "4.0.1-rc0", "1.2.3.4.5", "", " 4.0.1", "9.9.9"]
)
def test_the_form_takes_the_releases_that_the_command_takes(text):
    """DAG files import nothing of the job side, so each has the pattern."""
    try:
        taken = exact_release(text) == text
    except argparse.ArgumentTypeError:
        taken = False
    assert bool(re.search(RELEASE["pattern"], text)) == taken
