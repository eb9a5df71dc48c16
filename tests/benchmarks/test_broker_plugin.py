import pytest

from benchmarks import broker_plugin
from benchmarks.broker_plugin import BEGIN, END, with_tables


def test_tables_go_between_the_marks():
    written = with_tables(f"before\n{BEGIN}\n\nold\n\n{END}\nafter", "new")
    assert written == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter"
    assert with_tables(written, "new") == written


def test_a_page_without_marks_is_refused():
    with pytest.raises(ValueError, match="has no"):
        with_tables("a page", "new")


def test_the_page_has_the_marks():
    with_tables(broker_plugin.PAGE.read_text(encoding="utf-8"), "new")
