import datetime as dt

import pytest
from client_telemetry.campaign.plan import BadCampaign, Statement, Target
from client_telemetry.campaign.plan_edit import add_statement
from client_telemetry.campaign.plan_file import read_campaigns

DAY = dt.date(2026, 12, 1)
HEAD = "campaigns:\n- name: a\n  clusters: [east]\n  to: 4.0.1\n  date: 2027-02-01\n  contact: x  # who\n"
OTHER = "\n# the next one\n- {name: b, clusters: [west], to: 4.0.1, date: 2027-02-01, contact: y}\n"
BLOCK = "  statements:\n    - kind: waive\n      rule: r\n      by: x\n      on: 2026-11-01\n      until: 2026-12-31\n      text: |\n        two\n        lines\n"


def acknowledged(name="orders", text="", by="ann"):
    return Statement("acknowledge", Target(application=name), by, DAY, text=text)


@pytest.mark.parametrize("begin", [HEAD, HEAD + BLOCK], ids=["the first", "after others"])
@pytest.mark.parametrize("end", ["", OTHER], ids=["alone", "before another campaign"])
@pytest.mark.parametrize("statement", [acknowledged(), acknowledged("a: b # c", 'he said "no"\n- x: {y}'), acknowledged("ü😀")])  # fmt: skip
def test_a_statement_is_added_and_everything_else_stays(begin, end, statement):
    text = begin + end
    changed = add_statement(text, "a", statement)
    assert read_campaigns(changed)[0].statements[-1] == statement
    assert read_campaigns(changed)[1:] == read_campaigns(text)[1:]
    kept = iter(changed.splitlines())
    assert all(line in kept for line in text.splitlines()), "the old lines, in their order"
    assert add_statement(changed, "a", acknowledged("second")).count("statements:") == 1


def test_a_file_without_a_last_line_feed():
    assert read_campaigns(add_statement(HEAD.rstrip("\n"), "a", acknowledged()))[0].statements


@pytest.mark.parametrize(
    ("text", "name", "statement", "message"),
    [
        (HEAD + OTHER, "b", acknowledged(), "line 9: campaign 'b' has braces"),
        (HEAD + "  statements: []\n", "a", acknowledged(), "add it by hand"),
        (HEAD, "c", acknowledged(), "there is no campaign 'c': the file has a"),
        (HEAD, "a", acknowledged(by="an\x85n"), "takes no further line|not valid YAML"),
        (HEAD, "a", Statement("waive", Target(application="a"), "x", DAY, DAY), "a waiver needs a reason"),
        (HEAD, "a", Statement("promise", Target(application="a"), "x", DAY), "no `until`"),
        ("campaigns: 1", "a", acknowledged(), "'campaigns' is not a list"),
    ],
)
def test_what_cannot_be_added_is_refused(text, name, statement, message):
    with pytest.raises(BadCampaign, match=message):
        add_statement(text, name, statement)
