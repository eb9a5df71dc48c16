"""A client's day in curves: from the files that jobs publish for some hundred clients each."""

import ast
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.plugins.conftest import DAY, HOSTILE


def address(client_id: str | None, principal: str = "User:a", **more: str) -> str:
    query = {"principal": principal, **more} | ({} if client_id is None else {"id": client_id})
    return f"/client/east/{DAY}?{urlencode(query)}"


@pytest.mark.parametrize("client_id", ["orders", HOSTILE, None])
def test_a_client_has_its_curves_with_broker_changes_marked(web, client_id):
    text = web().get(address(client_id)).text
    assert text.count("<svg") == 4
    for words in (
        "open in each 40 s",
        "Produce v9",
        "Requests that brokers refused",
        "request latency",
        "kgo v1.22.2",
    ):
        assert words in text
    assert text.count("broker 3 started on 4.0.1") == 4
    assert "Dashed lines: brokers started (05:46 broker 3 on 4.0.1)." in text
    assert "<script>alert" not in text


def test_a_client_that_was_not_there_is_said_to_be_so(web):
    for path in (address("nobody"), address("orders", "User:b"), "/client/east/2026-11-20?id=orders"):
        answer = web().get(path, headers={"accept": "text/html"})
        assert answer.status_code == 404, path
    assert 'href="/fleet/east/2026-11-20"' in answer.text
    assert 'href="/search?q=orders&amp;days=92"' in answer.text


def test_the_page_is_there_as_a_file(web):
    answer = web().get(address("orders", file="1"))
    assert answer.headers["content-disposition"] == f'attachment; filename="client-{DAY}.html"'
    assert "<svg" in answer.text and "http://" not in answer.text.replace("http://www.w3.org", "")


def test_a_hit_of_the_search_leads_to_the_curves(web):
    assert f"/client/east/{DAY}?id=orders&amp;principal=User" in web().get("/search?q=orders").text


def test_what_draws_is_light():
    """The plugin takes it by its path: nothing but the standard library and markupsafe, which Airflow has."""
    from telemetry_pages.client_day import DRAWING

    tree = ast.parse(Path(DRAWING).read_text(encoding="utf-8"))
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    names |= {each.name for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names}
    roots = {name.split(".")[0] for name in names if name}
    assert roots <= {*sys.stdlib_module_names, "markupsafe"}


@pytest.mark.parametrize("partial", [[], [0], [2]])
def test_counts_of_a_slot_that_was_seen_in_part_are_not_drawn_unless_there_are_no_others(partial):
    from telemetry_pages.client_day import _drawn

    index = {
        "since": 0.0,
        "seconds": 40,
        "slots": 3,
        "partial": partial,
        "marks": [],
        "apis": {"0": "Produce"},
    }

    def drawings(*counts: float) -> str:
        points = [[slot, count, 0.0] for slot, count in enumerate(counts) if count]
        client = {"connections": [point[:2] for point in points], "requests": {"0:9": points}, "metrics": {}}
        return str(_drawn(client, index))

    differs = drawings(4, 4, 0) != drawings(4, 4, 3)
    assert differs == (2 not in partial)
    if partial:
        assert drawings(*(3 if slot in partial else 0 for slot in range(3))).count("<svg") == 2
