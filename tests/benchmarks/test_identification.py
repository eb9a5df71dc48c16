"""The page is what the command writes, and its goals are reached on real clients."""

from pathlib import Path

from benchmarks import identification


def test_goals_are_reached_and_the_page_is_current():
    text, missed = identification.report()
    assert missed == []
    page = Path(__file__).parents[2] / "docs/identification.md"
    assert page.read_text(encoding="utf-8") == text, (
        "run python -m benchmarks.identification --write docs/identification.md"
    )
