import csv
from pathlib import Path

import pytest
from client_telemetry.reports.client_strings import client_label, shortened, shown, without_invisible
from hypothesis import given
from hypothesis import strategies as st

TABLE = Path(__file__).parents[2] / "data/reports/client_strings.csv"
CASES = list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_shown(case):
    text = "".join(chr(int(code, 16)) for code in case["code_points"].split())
    assert shown(text) == case["shown"]


@given(st.text())
def test_nothing_invisible_is_left_and_it_can_be_written(text):
    for result in (shown(text), without_invisible(text)):
        result.encode()
        assert all(character.isprintable() for character in result)
    assert shown(text) == shown(text).strip(" ")


@given(st.text(), st.integers(min_value=1, max_value=80))
def test_shortened_keeps_the_limit_and_both_ends(text, limit):
    short = shortened(text, limit)
    assert len(short) <= limit or short == text
    if limit > 2 and len(text) > limit:
        assert short[0] == text[0] and short[-1] == text[-1] and "…" in short


def test_no_client_id_and_an_empty_one_differ():
    assert client_label(None) == "(no client id)"
    assert client_label("") == "(empty)"
