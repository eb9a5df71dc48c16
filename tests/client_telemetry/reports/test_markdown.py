import re

import pytest
from client_telemetry.reports.markdown import code, prose


@pytest.mark.parametrize(
    "text", ["a|b", "`", "``a`", "\\|", "<b>", "[x](y)", "a\nb", "@team #1", "\u202e", " ", "`a"]
)
def test_code_span_is_closed_by_its_own_fence_only(text):
    span = code(text)
    fence = re.match("`+", span)[0]
    inside = span[len(fence) : -len(fence)]
    assert span.endswith(fence) and "|" not in span and "\n" not in span
    assert fence not in re.findall("`+", inside)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a|b", "a\\|b"),
        ("<b>x</b>", "\\<b\\>x\\</b\\>"),
        ("[x](http://y)", "\\[x\\](http://y)"),
        ("`*_~#", "\\`\\*\\_\\~\\#"),
        ("&lt;", "&amp;lt;"),
        ("a\nb", "a␊b"),
    ],
)
def test_prose_has_no_markup(text, escaped):
    assert prose(text) == escaped
