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


@pytest.mark.parametrize(
    ("limit", "short"),
    [(21, "consumer-0123456789-e"), (20, "consumer-…23456789-e"), (12, "consu…6789-e"), (11, "consu…789-e"), (3, "c…e"), (2, "…e")],
)  # fmt: skip
def test_what_is_too_long_is_cut_in_the_middle(limit, short):
    assert shortened("consumer-0123456789-e", limit) == short


def test_a_client_id_of_64_characters_is_shown_whole():
    assert shortened("x" * 64) == "x" * 64
    assert shortened("x" * 65) == "x" * 31 + "…" + "x" * 32


@pytest.mark.parametrize("first, last", [
    (0x34F, 0x34F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2800, 0x2800), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xE0100, 0xE01EF),
])  # fmt: skip
def test_characters_that_show_as_nothing_are_told(first, last):
    """Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties.txt, and Braille blank."""
    for code in range(first, last + 1):
        assert shown(f"a{chr(code)}b") == f"a[U+{code:04X}]b"


def test_no_client_id_and_an_empty_one_differ():
    assert client_label(None) == "(no client id)"
    assert client_label("") == "(empty)"
