"""The page as a parser sees it. How it looks was looked at in a browser; tests/end_to_end opens it in one."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from client_telemetry.reports.outcomes import OUTCOMES
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.page import EXPLAINED, LISTED, report_page

FILES = ("clients.csv", "findings.csv", "report.json", "report.md")
VOID = {"meta", "input", "br", "img", "link", "hr"}
OPTIONAL_END = {"th"}
"""The header cells of the page are not closed: HTML allows it."""
CLOSE = "?"
"""Where the address of a closed panel leads: to an empty filter, and to no place."""
HOSTILE = [
    '=HYPERLINK("http://x")<b>',
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'); DROP TABLE clients; --",
    "</code></td></table><iframe src=//evil>",
    "{{ 7 * 7 }}{% raw %}",
    "</script><script>",
    "</style><style>*{display:none}",
    "a\nb\u202egro.live\u200b",
    "\x00\x1b[31m",
    "&lt;b&gt;",
    "javascript:alert(1)",
    "\ud800",
    " spaces ",
    "",
    None,
    "x" * 5000,
]


class Page(HTMLParser):
    """Checks nesting while it parses, and keeps elements and the text of each section."""

    def __init__(self, html: str):
        super().__init__()
        self.open: list[tuple[str, dict]] = []
        self.elements: list[tuple[str, dict]] = []
        self.text: dict[str | None, str] = {}
        self.feed(html)
        self.close()
        assert self.open == [], f"left open: {self.open}"

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), f"attribute twice in <{tag}>"
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            if tag in OPTIONAL_END and self.open and self.open[-1][0] == tag:
                self.open.pop()
            self.open.append((tag, dict(attributes)))

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        while self.open and self.open[-1][0] in OPTIONAL_END and self.open[-1][0] != tag:
            self.open.pop()
        assert self.open and self.open[-1][0] == tag, f"</{tag}> at {self.getpos()}, open: {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        section = next((a.get("id") for tag, a in reversed(self.open) if tag == "section"), None)
        self.text[section] = self.text.get(section, "") + data

    def having(self, name: str) -> list[str]:
        return [attributes[name] for _, attributes in self.elements if name in attributes]


@pytest.fixture(scope="module")
def fleet_html(fleet_report) -> str:
    return report_page(fleet_report)


@pytest.fixture(scope="module")
def hostile_html(rows) -> str:
    row = {"owner": "<i>team</i>", "owner_contact": '"><b>', "explanation": "<u>why\u202e", "fix": "<s>fix"}
    row |= {"mixed_explanation": "<w>", "rollback_verdict": "degrades", "rollback_explanation": "<y>"}
    row |= {"other_targets": [{"to_release": "<z>", "verdict": "unsupported", "when": None, "reason": "<k>"}]}
    row |= {"mixed_verdict": "unsupported"}
    verdicts = ["breaks", "insufficient_evidence", "degrades", "unsupported", "safe"]
    given = [
        rows.verdict(text, verdict, principal=text and text[:100], missing=[text or ""], **row)
        | {"client_software_name": f"n{number}{text}", "client_software_version": text, "identified_as": text}
        for number, text in enumerate(HOSTILE)
        for verdict in [verdicts[number % len(verdicts)]]
    ]
    found = [
        rows.finding(
            r,
            trigger=r["client_id"],
            condition="<x>",
            versions="<v>",
            source="<a>",
            rule_id='"<r>',
            source_objects=["<o>"],
            source_sequences=[7],
        )
        for r in given
    ]
    targets = [{"to_release": "<j>"} | dict.fromkeys(OUTCOMES, 0)]
    asked = rows.question(
        len(given), targets=targets, evidence_until_reason="<b>\u202e", snapshots={"<t>": 1}
    )
    warnings = [rows.quality_result(description="<p>", observed_value="<q>")]
    return report_page(
        build_report(asked, given, found, [], [rows.broker(1, "<3>")], warnings, cluster_name="<c>\u202e")
    )


def test_every_client_and_application_has_its_address_once(fleet_html, fleet_report):
    ids = Page(fleet_html).having("id")
    assert len(ids) == len(set(ids))
    anchors = [each.anchor for each in (*fleet_report.clients, *fleet_report.applications)]
    assert [anchor for anchor in anchors if anchor not in ids] == []


@pytest.mark.parametrize("name", ["fleet_html", "hostile_html"])
def test_well_formed_and_loads_nothing(name, request):
    html = request.getfixturevalue(name)
    page = Page(html)
    tags = {tag for tag, _ in page.elements}
    assert not tags & {
        "img",
        "iframe",
        "link",
        "object",
        "embed",
        "form",
        "base",
        "b2",
        "u",
        "s",
        "q",
        "x",
        "v",
        "r",
        "w",
        "y",
        "z",
        "k",
        "j",
    }
    assert not [
        a for a in ("src", "srcset", "style", "action", "xlink:href", "onerror", "onclick") if page.having(a)
    ]
    links = page.having("href")
    assert all(link.startswith(("#", "https://", "mailto:", "owners/", *FILES)) for link in links)
    css = re.search(r"<style>(.*?)</style>", html, re.S)[1]
    assert "@import" not in css and not re.findall(r"url\((?!#)", css)
    ids = page.having("id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links if link.startswith("#")} <= {*ids, CLOSE}, "a link leads nowhere"
    labels = [label for value in page.having("aria-labelledby") for label in value.split()]
    assert set(labels) <= set(ids)


@pytest.mark.parametrize("name", ["fleet_html", "hostile_html"])
def test_policy_admits_the_one_style_and_the_one_script(name, request):
    html = request.getfixturevalue(name)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    policy = policy.replace("&#39;", "'")
    assert policy.startswith("default-src 'none';") and "unsafe" not in policy
    for tag in ("style", "script"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.S)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_hostile_text_is_shown_and_nothing_of_it_is_invisible(hostile_html):
    body = hostile_html[hostile_html.index("<body>") :]
    assert all(character.isprintable() or character == "\n" for character in body)
    page = Page(hostile_html)
    text = "".join(page.text.values())
    for shown in (
        "<script>alert(1)</script>",
        "{{ 7 * 7 }}{% raw %}",
        "a␊b[U+202E]gro.live[U+200B]",
        "␀␛[31m",
        "[U+D800]",
    ):
        assert shown in text
    assert "(no client id)" in text and "(empty)" in text and "␠spaces␠" in text


def test_a_long_client_id_is_cut_and_whole_in_the_tooltip(hostile_html):
    assert "x" * 5000 in Page(hostile_html).having("title")
    assert re.search(r"<code><bdi title=\"x{5000}\">x{31}…x{32}</bdi>", hostile_html)


def test_sections_in_the_order_that_readers_need(fleet_html):
    sections = [a["id"] for tag, a in Page(fleet_html).elements if tag == "section"]
    assert sections == [
        "first", "evidence", "must-act", "unidentified", "insufficient_evidence", "degrades", "unsupported", "safe", "owners", "software",
        "rare", "upgrade", "method", "annex",
    ]  # fmt: skip


def test_numbers_are_those_of_the_model(fleet_report, fleet_html):
    page = Page(fleet_html)
    headline = re.search(r"<h1>(.*?)</h1>", fleet_html, re.S)[1]
    assert re.sub(r"<[^>]+>", "", headline) == fleet_report.sentence
    rows_of = {
        section: len(
            re.findall(
                r"<tbody [^>]*data-o", fleet_html.split(f'<section id="{section}"')[1].split("</section>")[0]
            )
        )
        for section in ("must-act", *list(OUTCOMES)[2:])
    }
    counts = fleet_report.counts
    assert rows_of.pop("must-act") == counts["breaks_at_once"] + counts["breaks_latent"]
    assert rows_of == {outcome: counts[outcome] for outcome in rows_of}
    legend = dict(re.findall(r'class="o o-(\w+)" title="[^"]*">[^<]*</span> <b>([\d,]+)</b>', fleet_html))
    assert {outcome: int(count) for outcome, count in legend.items()} == counts
    for client in fleet_report.clients:
        if client.outcome != "safe":
            assert client.explanation in "".join(page.text.values())


@pytest.fixture(scope="module")
def compared_html(compared) -> str:
    return report_page(compared)


def test_nearby_releases_are_on_the_first_screen(compared_html):
    header = compared_html.split("<header>")[1].split("</header>")[0]
    assert (
        "4.0.1 and later break none" not in header
        and "4.0.1 breaks none: 1 application fails only on" in header
    )
    table = header.split('<table class="plain targets stack">')[1].split("</table>")[0]
    numbers = [re.findall(r'<td class="n[^>]*>(\d+)', row) for row in table.split("<tr")[2:]]
    assert numbers == [["1", "0", "0", "2"], ["0", "0", "0", "3"]], (
        "outcomes that no release has have no column"
    )
    assert "1 difference" in Page(compared_html).text["targets"]
    differences = Page(compared_html).text["upgrade"]
    assert "4.0.1: 1 application safe so far instead of breaks at once (JoinGroup v1): a|b" in differences


def test_who_fares_otherwise_half_way_and_on_the_way_back(compared_html):
    text = Page(compared_html).text["upgrade"].split("During the rolling upgrade", 1)[1]
    assert "While brokers differ, it stops." in text and "Its group was converted." in text
    assert "half-way" in text and "no-return" in text and "a|b" not in text


def test_notes_skips_and_false_alarms(rows):
    question = rows.question(0, to_release="4.0.1")
    text = Page(report_page(build_report(question, [], [], [], []))).text["upgrade"]
    assert "ZooKeeper mode is gone" in text and "4.0.0: JoinGroup v0 and v1 are missing" in text
    assert "DeprecatedRequestsPerSec and the request log of 3.9.1" in text and "JoinGroup v0–v1." in text


def test_a_release_to_skip_is_reported_at_once(rows):
    html = report_page(build_report(rows.question(0), [], [], [], []))
    assert "4.0.0 should be skipped" in html.split("</header>")[0]


def test_going_back_is_not_called_an_upgrade(rows):
    row = rows.verdict("a", rollback_verdict=None, rollback_explanation=None)
    asked = rows.question(1, from_release="4.0.1", to_release="3.9.1")
    html = report_page(build_report(asked, [row], [], [], []))
    text = Page(html).text
    assert "The rollback itself" in text["upgrade"] and 'id="way-back"' not in html
    assert "before the rollback" in text["first"] and "<title>Rollback of" in html
    assert "cannot register while these are finalized" in text["upgrade"]


def test_what_the_explanation_says_is_not_said_twice(rows):
    missing = "which version of ListOffsets it uses"
    row = rows.verdict(
        "a", "insufficient_evidence", explanation=f"Not known: {missing}.", missing=[missing, "another thing"]
    )
    text = Page(report_page(build_report(rows.question(1), [row], [], [], []))).text["insufficient_evidence"]
    assert text.count(missing) == 1 and "another thing" in text


def test_without_clients(rows):
    html = report_page(build_report(rows.question(0), [], [], [], []))
    Page(html)
    assert "no client was seen" in html and "No client was seen: what has to change is not known." in html
    assert "No application needs to change" not in html


@pytest.mark.parametrize(
    ("lacking", "words"),
    [(1, "Clarify the 1 application that"), (3, "Clarify the 3 applications that")],
)
def test_what_to_do_first_where_nothing_is_known_to_break(rows, lacking, words):
    given = [rows.verdict(f"x{n}", "insufficient_evidence", principal=f"User:{n}") for n in range(lacking)]
    given += [rows.verdict("fine")]
    html = report_page(build_report(rows.question(len(given)), given, [], [], []))
    first = html.split('id="first"')[1].split("</section>")[0]
    assert "No application is known to break." in first and words in first


def test_the_numbers_of_the_evidence_and_of_further_changes_are_those_of_the_rows(rows):
    libraries = ("a", "b", "c", "d", "e", "f", "g", "h", "i")
    given = [
        rows.verdict(each, "breaks", principal=f"User:{each}", fix=f"upgrade {each} to 2.0 or later")
        for each in libraries
    ]
    asked = rows.question(
        len(given), clients_by_pushes_only=1, connections_elsewhere=2, connections_unidentified=1
    )
    report = build_report(asked, given, [], [], [])
    assert len(report.changes) == len(libraries)
    html = report_page(report)
    first = html.split('id="first"')[1].split("</section>")[0]
    left = len(libraries) - first.count("<tr>") + 1  # its head
    assert re.search(rf">{left} more changes</a> in the full list", first)
    for sentence in (
        "1 client known only by metric pushes: no connection was observed",
        "2 connections not used: made to brokers already on another release",
        "1 connection from unidentified clients: rejected before authentication, or without principal, client id and "
        "software. No verdict covers it.",
    ):
        assert sentence in html, sentence


@pytest.mark.parametrize(
    ("breaking", "lacking", "degrading", "kilobytes"), [(120, 100, 50, 863), (500, 300, 200, 1223)]
)
def test_five_thousand_clients_fit_into_a_page(rows, breaking, lacking, degrading, kilobytes):
    """Of 40 teams, with three findings for each client that is not safe."""
    kinds = ["breaks"] * breaking + ["insufficient_evidence"] * lacking + ["degrades"] * degrading
    kinds += ["safe"] * (5000 - len(kinds))
    given = [
        rows.verdict(
            f"orders-service-{number:05d}-consumer",
            kind,
            principal=f"User:team-{number % 40}",
            owner=f"team-{number % 40}",
            client_software_version=f"3.{number % 9}.0",
            fix=None if kind == "safe" else "Upgrade kafka-clients to 2.1 or newer",
            missing=["Which versions of ListOffsets it uses."] if kind == "insufficient_evidence" else [],
        )
        for number, kind in enumerate(kinds)
    ]
    found = [rows.finding(row, n) for row in given if row["verdict"] != "safe" for n in range(3)]
    html = report_page(build_report(rows.question(5000), given, found, [], []))
    Page(html)
    assert len(html.encode()) < 1000 * kilobytes
    assert all(row["client_id"] in html for row in given)


def test_the_clients_that_come_first_are_those_whose_findings_are_there(rows):
    """Owners come by what is at stake for them, not by name."""
    given = [
        rows.verdict(f"a-{number}", "breaks", owner=f"a-{number}", principal=f"User:{number}")
        for number in range(100)
    ]
    given += [
        rows.verdict(f"z-{number}", "breaks", owner="z", principal=f"User:z-{number}") for number in range(90)
    ]
    found = [rows.finding(row) for row in given]
    html = report_page(build_report(rows.question(len(given)), given, found, [], []))
    first, second = html.index('id="owner-z"'), html.index('id="owner-a-0"')
    assert first < second
    assert (
        html.count('<tbody class="brief"', first, second) == html.count('<tbody class="brief"') == EXPLAINED
    )
    assert html.count('<article class="app"') == html.count('<ul class="findings">') == EXPLAINED


def test_the_ids_of_grouped_clients_can_be_distinguished(rows):
    """The script counts matches by them: an id may have a comma, and no line feed that is not shown as a sign."""
    ids = [f"a,\n{number}" for number in range(LISTED + 1)]
    html = report_page(
        build_report(rows.question(len(ids)), [rows.verdict(each) for each in ids], [], [], [])
    )
    (listed,) = re.findall(r'<p class="ids">(.*?)</p>', html, re.DOTALL)
    assert listed.count(",\n") == len(ids) - 1


def test_beyond_as_many_as_are_explained_safe_applications_are_not(rows):
    for safe, explained in ((EXPLAINED - 2, EXPLAINED), (EXPLAINED - 1, 2)):
        given = [rows.verdict("a", "breaks"), rows.verdict("b", "degrades")]
        given += [rows.verdict(f"s-{number}", principal=f"User:{number}") for number in range(safe)]
        found = [rows.finding(row) for row in given]
        html = report_page(build_report(rows.question(len(given)), given, found, [], []))
        assert html.count('<ul class="findings">') == explained


def test_applications_that_lack_different_evidence_are_apart(rows):
    given = [
        rows.verdict(f"a-{number}", "insufficient_evidence", missing=[f"Question {number % 2}."])
        for number in range(LISTED + 1)
    ]
    html = report_page(build_report(rows.question(len(given)), given, [], [], []))
    found = [listed.split(",\n") for listed in re.findall(r'<p class="ids">(.*?)</p>', html, re.DOTALL)]
    assert [len({each[-1] in "02468" for each in ids}) for ids in found] == [1, 1]


def test_every_table_has_a_caption(fleet_html, hostile_html, compared_html):
    for html in (fleet_html, hostile_html, compared_html):
        assert html.count("<table") > 4
        assert re.findall(r"<table[^>]*>\s*(?!<caption)<[^>]*>", html) == []


@pytest.mark.parametrize("clients", [0, 1])
def test_empty_sections_are_not_drawn(rows, clients):
    given = [rows.verdict()][:clients]
    html = report_page(build_report(rows.question(clients), given, [], [], []))
    page = Page(html)
    sections = [a["id"] for tag, a in page.elements if tag == "section"]
    assert "must-act" not in sections and ("software" in sections) == bool(clients)
    links = {link[1:] for link in page.having("href") if link.startswith("#")}
    assert links <= {*page.having("id"), CLOSE} and "main" in links


def test_words_keep_their_capitals_and_applications_are_counted_as_such(rows):
    html = report_page(build_report(rows.question(1), [rows.verdict("a", "unsupported")], [], [], []))
    assert "Works, but Kafka no longer supports this client version." in html
    assert '<output id="matches" data-unit="application"' in html


def test_an_outlook_says_of_which_time_it_is(compared_html):
    window, back = compared_html.split('id="mixed-window"')[1].split('id="way-back"')
    for part, words in ((window, "During the rolling upgrade"), (back, "After the rollback")):
        assert f'<th scope="col">After the upgrade<th scope="col">{words}<th' in part
        assert f'data-label="{words}"' in part


def test_every_owner_has_a_row_with_contact_and_messages(rows):
    given = [
        rows.verdict("a", "breaks", owner="breaking", owner_contact="breaking@example.com"),
        rows.verdict(
            "b", "insufficient_evidence", owner="asked", owner_contact="asked@example.com", missing=["x"]
        ),
        rows.verdict("c", owner="asked", owner_contact="asked@example.com"),
        rows.verdict("d", "degrades", owner="degraded", owner_contact="#degraded"),
        rows.verdict("e", owner="fine", owner_contact="fine@example.com", well_observed=True),
        rows.verdict("f", owner=None, owner_contact=None),
    ]
    report = build_report(rows.question(len(given)), given, [], [], [], cluster_name="fleet")
    html = report_page(report)
    table = html.split('<section id="owners"')[1].split("</table>")[0]
    drawn = {
        re.sub("<[^>]+>", "", name): (
            re.findall(r'href="([^"]*)"', rest),
            re.findall(r'class="n[^>]*>(\d+)', rest),
        )
        for name, rest in re.findall(r"<tr><td>(.*?)</td>(.*?)</tr>", table)
    }
    assert list(drawn) == ["breaking", "asked", "degraded", "fine", "no owner"]
    packs = {name: [f"owners/{name}/{file}" for file in ("report.md", "clients.csv")] for name in drawn}
    upgrade = "Kafka%204.0.0%20%28cluster%20fleet%29"
    assert drawn["breaking"] == (
        [
            f"mailto:breaking@example.com?subject=1%20application%20of%20breaking%20breaks%20on%20{upgrade}",
            *packs["breaking"],
        ],
        ["1", "1", "0"],
    )
    assert drawn["asked"] == (
        [
            f"mailto:asked@example.com?subject=1%20application%20of%20asked%20to%20check%20for%20{upgrade}",
            *packs["asked"],
        ],
        ["2", "0", "1"],
    )
    assert drawn["degraded"] == (packs["degraded"], ["1", "0", "1"])
    assert drawn["fine"] == (["mailto:fine@example.com"], ["1", "0", "0"])
    assert drawn["no owner"] == ([], ["1", "0", "0"])
    assert 'href="#owners"' in html.split('<section id="first"')[1].split("</section>")[0]


def test_clients_name_their_page_of_the_last_day_in_airflow(fleet_report, fleet_html):
    """Each client that is shown on its own: cards, rows of one client, and the clients of an application."""
    page = Page(fleet_html)
    named = {
        (*json.loads(attributes["data-client"]), attributes["data-day"])
        for _, attributes in page.elements
        if "data-client" in attributes
    }
    clients = fleet_report.clients

    def pages(of: list) -> set[tuple]:
        return {(each.client_id, each.principal, each.last_seen_at.date().isoformat()) for each in of}

    breaking = pages([each for each in clients if each.verdict == "breaks" or each.is_unidentified])
    assert breaking
    assert breaking <= named <= pages(clients)
