import csv
from pathlib import Path

import pytest
from client_telemetry.reports.answer import answer, text
from client_telemetry.reports.model import OUTCOMES

TABLE = Path(__file__).parents[2] / "data/reports/answers.csv"
CASES = list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_sentence(case):
    counts = {outcome: int(case[outcome]) for outcome in OUTCOMES}
    triggers = case["triggers"].split("|") if case["triggers"] else [None]
    phrases = answer("c", "3.9.1", "4.0.0", counts, triggers)
    assert text(phrases) == case["sentence"]
    linked = [phrase.outcome for phrase in phrases if phrase.outcome]
    assert sorted(linked) == sorted(outcome for outcome, count in counts.items() if count)


def test_a_long_trigger_is_left_to_the_row():
    counts = {"breaks_at_once": 0, "breaks_latent": 1, "safe": 1}
    sentence = text(answer("c", "3.9.1", "4.0.0", counts, ["x" * 60]))
    assert "1 later, when something sets it off" in sentence


def test_going_back():
    counts = {"breaks_at_once": 2, "safe": 40}
    assert text(answer("c", "4.0.1", "3.9.1", counts, [], is_rollback=True)) == (
        "Going back from 4.0.1 to 3.9.1 on cluster c breaks 2 of 42 clients at once. 40 are safe, none lacks evidence."
    )


def test_a_short_time_is_told_first():
    counts = {"safe": 24}
    assert text(answer("c", "3.9.1", "4.0.0", counts, [], seen_in="10 minutes of requests")) == (
        "As far as 10 minutes of requests show, upgrading cluster c from 3.9.1 to 4.0.0 breaks none of 24 clients. "
        "24 are safe, none lacks evidence."
    )
