"""A client's day in curves: from the files that jobs publish for some hundred clients each."""

import ast
import html
import json
import re
import shutil
import sys
from urllib.parse import urlencode

import pytest
from telemetry_pages.light import LIGHT

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


@pytest.mark.parametrize("path", LIGHT)
def test_what_is_taken_of_the_jobs_is_light(path):
    """The plugin takes it by its path: nothing but the standard library and markupsafe, which Airflow has."""
    from telemetry_pages.light import PACKAGE

    tree = ast.parse((PACKAGE / path).read_text(encoding="utf-8"))
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


ROW = {
    "client_id": "orders",
    "principal": "User:a",
    "outcome": "breaks_at_once",
    "verdict": "breaks",
    "confidence": "observed",
    "explanation": f"sends Produce v2 {HOSTILE}",
    "fix": "upgrade kgo to 1.9.0",
    "owner": "shop",
    "owner_contact": "shop@example.com",
    "application": "orders",
    "anchor": "client-12",
}


@pytest.fixture
def own_report(published, tmp_path, monkeypatch):
    """A copy of what is published, whose newest report has `rows`, and the clusters file that names it."""

    def made(rows: object) -> None:
        root = tmp_path / "copy"
        shutil.copytree(published, root, symlinks=True)
        document = rows if isinstance(rows, str) else json.dumps({"clients": rows})
        (root / "upgrade_impact/east/manual__1/report.json").write_text(document)
        file = tmp_path / "own.yaml"
        file.write_text(
            f"lake: l\npublish: {root}\nresults: r\nclusters:\n  - {{name: east, cluster_id: aaa, raw: x}}\n"
        )
        monkeypatch.setenv("CLIENT_TELEMETRY_CLUSTERS", str(file))

    return made


def facts(answer) -> str:
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", answer.text.partition("<dl")[2]).split()))


def test_the_page_says_whose_the_client_is_and_what_the_upgrade_does_to_it(web, own_report):
    own_report([ROW, ROW | {"principal": "User:b", "explanation": "of another client"}])
    answer = web().get(address("orders"))
    text = facts(answer)
    for words in (
        "Upgrade to 4.0.0 breaks at once , observed: sends Produce v2",
        "Change upgrade kgo to 1.9.0",
        "Owner shop · shop@example.com",
        "Addresses 10.0.0.1",
        "Groups none seen",
        f"Seen on {DAY} Sat (only the last 14 days with a page are searched)",
    ):
        assert words in text
    assert "of another client" not in text and HOSTILE not in answer.text
    assert 'href="/reports/east/manual__1#client-12"' in answer.text


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "Not known: this client is not in the newest report."),
        ("{", "report.json of the report is damaged."),
        (
            [ROW | {"verdict": "insufficient_evidence", "fix": None, "missing": ["requests"]}],
            "Not known: requests.",
        ),
    ],
)
def test_what_the_report_does_not_say_is_not_known(web, own_report, rows, words):
    own_report(rows)
    text = facts(web().get(address("orders")))
    assert words in text and "none is known to be needed" not in text


def test_a_report_that_is_too_large_is_not_read(web, own_report, monkeypatch):
    own_report([ROW])
    monkeypatch.setattr("telemetry_pages.client_facts.LARGEST_READ", 10)
    text = facts(web().get(address("orders")))
    assert "too large" in text and "Addresses not known" in text


def test_who_may_not_read_reports_sees_no_verdict(web, own_report):
    own_report([ROW])
    text = facts(web(may=lambda dag_id: dag_id == "client_telemetry_daily").get(address("orders")))
    assert "Upgrade" not in text and "breaks" not in text and "10.0.0.1" in text
