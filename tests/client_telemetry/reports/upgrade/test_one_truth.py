"""The same clients, lists and numbers in HTML, JSON, CSV and Markdown, and every sentence against the rows. (Print is the
HTML page: tests/end_to_end/test_published_pages.py opens it as paper.)"""

import csv
import html
import io
import json
import re

import pytest
from client_telemetry.reports.outcomes import OUTCOMES
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.changes import needs_more
from client_telemetry.reports.upgrade.sections import needs_work
from client_telemetry.tables.quality_findings import failed_check

from tests.client_telemetry.reports.conftest import texts

NOT_DECLARED = {"client_software_name": "unknown", "client_software_version": "unknown"}


@pytest.fixture(scope="module")
def every_kind(rows):
    """A report with all lists, several clients in one application, and an owner without work."""
    given = [
        rows.verdict("a", "breaks", owner="one", fix="upgrade sarama to 1.41.0 or later"),
        rows.verdict("b", "breaks", owner="one", principal="User:b", when="latent", fix="upgrade brod to 4.4.2 or later"),
        rows.verdict("c", "breaks", owner="one", application="a", fix="upgrade brod to 4.4.2 or later"),
        rows.verdict("d", "breaks", owner=None, owner_contact=None, fix="library not identified: upgrade it", **NOT_DECLARED),
        rows.verdict("l", "breaks", owner="one", principal="User:l"),
        rows.verdict("e", "insufficient_evidence", owner="two", missing=["which version it is"]),
        rows.verdict("f", "degrades", owner="two", fix="upgrade brod to 4.4.2 or later"),
        rows.verdict("g", "unsupported", owner="two"),
        rows.verdict("h", owner="two", missing=["whether it uses Kerberos"]),
        rows.verdict("i", owner="two", already_failing=True, works_again=True),
        rows.verdict("j", owner="three"),
        rows.verdict("m", owner="two", well_observed=True, principal="User:m"),
        rows.verdict("k", owner="three", principal="User:k", last_seen_at=rows.START, first_seen_at=rows.START),
    ]  # fmt: skip
    warnings = [rows.quality_result()]
    found = [rows.finding(row, n) for row in given if row["verdict"] == "breaks" for n in range(2)]
    targets = [{"to_release": release, **dict.fromkeys(OUTCOMES, 0)} for release in ("4.0.0", "4.0.1")]
    hours = [rows.broker_hour(1, 4), rows.broker_hour(1, 5), rows.broker_hour(2, 5, "sequence_gap")]
    asked = rows.question(len(given), targets=targets)
    return build_report(asked, given, found, hours, [rows.broker(1)], warnings, cluster_name="fleet")


@pytest.fixture(scope="module")
def published(every_kind) -> dict[str, str]:
    return texts(every_kind)


def text(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", " ", markup))


def html_section(page: str, key: str) -> str:
    return page.split(f'<section id="{key}"')[1].split("</section>")[0]


def test_every_list_is_in_every_format(every_kind, published):
    document = json.loads(published["report.json"])
    keys = [section.key for section in every_kind.sections]
    assert set(keys) >= {
        "must-act", "unidentified", "already_failing", "works_again", "insufficient_evidence", "degrades", "unsupported",
        "open_questions", "safe", "rare",
    }  # fmt: skip
    assert [section["key"] for section in document["sections"]] == keys
    drawn = re.findall(r'<section id="([\w-]+)"', published["index.html"])
    assert [key for key in drawn if key in keys] == keys
    contents = published["index.html"].split('<nav aria-label="Contents">')[1].split("</nav>")[0]
    assert [key for key in re.findall(r'href="#([\w-]+)"', contents) if key in keys] == keys
    headings = re.findall(r"^## ([^:\n]*)", published["report.md"], re.M)
    assert [heading for heading in headings if heading in {s.heading for s in every_kind.sections}] == [
        section.heading for section in every_kind.sections
    ]


def test_every_list_has_the_same_applications(every_kind, published):
    document = json.loads(published["report.json"])
    bodies = dict(re.findall(r"^## ([^:\n]*)[^\n]*\n(.*?)(?=^## |\Z)", published["report.md"], re.M | re.S))
    for section, listed in zip(every_kind.sections, document["sections"], strict=True):
        names = [application.name for application in section.applications]
        assert [document["applications"][place]["name"] for place in listed["applications"]] == names
        drawn = text(html_section(published["index.html"], section.key))
        for name in names:
            assert re.search(rf"(?<![\w-]){name}(?![\w-])", drawn), (section.key, name)
            if section.key != "safe":
                assert f"`{name}`" in bodies[section.heading], (section.key, name)
        if section.key == "unidentified":
            continue
        count = re.search(r'class="count">([\d,]+)', html_section(published["index.html"], section.key))
        assert int(count[1]) == len(names)


def test_the_spreadsheet_has_every_client_with_the_numbers_of_the_document(every_kind, published):
    document = json.loads(published["report.json"])
    sheet = list(csv.DictReader(io.StringIO(published["clients.csv"].removeprefix("\ufeff"), newline="")))
    assert [row["client_id"] for row in sheet] == [client["client_id"] for client in document["clients"]]
    for row, client in zip(sheet, document["clients"], strict=True):
        for column in ("verdict", "outcome", "change", "owner", "application", "anchor"):
            assert row[column] == (client[column] or "")
        assert int(row["priority"]) == client["priority"] and (row["when"] or None) == client["when"]
        assert int(row["requests"]) == client["requests"]
    assert sheet == sorted(sheet, key=lambda row: list(OUTCOMES).index(row["outcome"]))


def test_the_changes_are_the_same_everywhere(every_kind, published):
    document = json.loads(published["report.json"])
    drawn = re.findall(r'<tr id="change-\d+">(.*?)</tr>', published["index.html"], re.S)
    of_html = [
        (
            re.search(r"<td>([^<\n]*)", row)[1],
            re.search(r'class="n">(?:0<br><small>of )?(\d+)', row)[1],
            "".join(re.findall(r"(\d+) only in part", row)),
            re.search(r"<b>(\d+)", row)[1],
        )
        for row in drawn
    ]
    table = published["report.md"].split("## Changes")[1].split("## ")[0]
    of_markdown = re.findall(
        r"^\| (.*?)(?:<br>.*?)? \| .*? \| (?:0 of )?(\d+)(?: \((\d+) only in part\))? \| (\d+) \|$",
        table,
        re.M,
    )
    expected = [
        (
            change["text"],
            len(change["applications"]),
            str(len(needs_more(of_model)) or "") if change["is_fix"] else "",
            change["applications_left"],
        )
        for change, of_model in zip(document["changes"], every_kind.changes, strict=True)
    ]
    assert [(words.lower(), int(n), part, int(left)) for words, n, part, left in of_markdown] == expected
    assert [
        (text(words).split("candidates and")[0].strip().lower(), int(n), part, int(left))
        for words, n, part, left in of_html
    ] == expected
    broken = [application for application in every_kind.applications if application.verdict == "breaks"]
    assert len(broken) == len({place for c in document["changes"] for place in c["applications"]})
    left = [place for c in document["changes"] if not c["is_fix"] for place in c["applications"]]
    assert expected[-1][3] == len(set(left)) == 2, "who has no fix still breaks after all changes"
    assert [row[3] for row in expected] == sorted((row[3] for row in expected), reverse=True)
    for shown, change in zip(drawn, document["changes"], strict=True):
        assert ('class="n">0<br><small>of ' in shown) == (not change["is_fix"])


def test_packs_are_for_owners_with_work_and_have_their_clients(every_kind, published):
    packs = {name.split("/")[1] for name in published if name.startswith("owners/")}
    working = {a.owner for a in every_kind.applications if needs_work(a)}
    assert (
        packs
        == {stake.folder for stake in every_kind.owners if stake.owner in working}
        == {"one", "two", "_no-owner"}
    )
    for folder in packs:
        owner = None if folder == "_no-owner" else folder
        sheet = list(
            csv.DictReader(
                io.StringIO(published[f"owners/{folder}/clients.csv"].removeprefix("\ufeff"), newline="")
            )
        )
        assert {row["client_id"] for row in sheet} == {
            c.client_id for c in every_kind.clients if c.owner == owner
        }
        for application in every_kind.applications:
            mentioned = f"`{application.name}`" in published[f"owners/{folder}/report.md"]
            assert mentioned == (application.owner == owner and needs_work(application))


def test_the_sentences_are_counted_from_the_rows(every_kind, published):
    """What is said in words, against the rows that it is about."""
    outcomes = [application.outcome for application in every_kind.applications]
    broken = outcomes.count("breaks_at_once"), outcomes.count("breaks_latent")
    assert (
        f"breaks {broken[0]} of {len(outcomes)} applications at once and {broken[1]} more"
        in every_kind.sentence
    )
    for stake in every_kind.owners:
        mine = [a for a in every_kind.applications if a.owner == stake.owner]
        assert stake.applications == len(mine)
        cured = [a for a in mine if stake.first_fix in a.changes]
        assert stake.first_fix_applications == len(cured)
    page = text(published["index.html"])
    assert every_kind.sentence in re.sub(r"\s+", " ", page).replace(" .", ".").replace(" ,", ",")
    assert "1 data-quality warning " in page
    failing = sum(client.already_failing for client in every_kind.clients)
    assert every_kind.already_failing == failing == 1


def test_safe_and_safe_so_far_are_told_apart_everywhere(every_kind, published):
    document = json.loads(published["report.json"])
    safe = [application for application in every_kind.applications if application.outcome == "safe"]
    so_far = sum(application.safe_so_far for application in safe)
    watched = len(safe) - so_far
    assert so_far == document["safe_so_far"] == sum(each["safe_so_far"] for each in document["owners"]) == 4
    assert watched == 1 and f"{watched} is safe, {so_far} more are safe so far" in every_kind.sentence
    page = published["index.html"]
    legend = dict(re.findall(r'class="o o-safe" title="[^"]*">([^<]*)</span> <b>(\d+)</b>', page))
    assert legend == {"safe": str(watched), "safe so far": str(so_far)}
    (bar,) = re.findall(r'<div class="summary">\n<svg[^>]*aria-label="([^"]*)"', page)
    assert f"safe {watched}, safe so far {so_far}" in bar
    assert html_section(page, "safe").count('<span class="o o-safe">safe so far</span>') == so_far
    assert f"{len(safe)} applications, {so_far} of them safe so far" in published["report.md"]
    (asked,) = (target for target in document["targets"] if target["is_asked"])
    assert (asked["counts"]["safe"], asked["safe_so_far"]) == (len(safe), so_far)
    owners = published["report.md"].split("## Owners")[1].split("## ")[0]
    for stake in every_kind.owners:
        cells = [str(stake.counts["safe"] - stake.safe_so_far), str(stake.safe_so_far)]
        (line,) = (
            line for line in owners.splitlines() if line.startswith(f"| {stake.owner or 'no owner'} |")
        )
        assert line.split(" | ")[-3:-1] == cells


def test_packs_count_what_the_report_counts(every_kind, published):
    for stake in every_kind.owners:
        if not stake.has_pack:
            continue
        message = published[f"owners/{stake.folder}/report.md"]
        (sentence,) = re.findall(r"((?:Of your|Your) .*)\.$", message, re.M)
        said = {"safe": 0, "safe so far": 0, "stop": 0, "cannot be judged": 0, "loses": 0, "unsupported": 0}
        for number, words in re.findall(r"(\d+) ([a-z][^,.]*)", sentence.partition(", ")[2]):
            kind = next(kind for kind in reversed(said) if kind in words)
            said[kind] += int(number)
        counts = stake.counts
        if sentence.startswith("Your"):
            assert sum(1 for count in counts.values() if count) == 1
            continue
        assert said == {
            "safe": counts["safe"] - stake.safe_so_far,
            "safe so far": stake.safe_so_far,
            "stop": counts["breaks_at_once"] + counts["breaks_latent"],
            "cannot be judged": counts["insufficient_evidence"],
            "loses": counts["degrades"],
            "unsupported": counts["unsupported"],
        }, sentence
        must = counts["breaks_at_once"] + counts["breaks_latent"]
        asked = re.findall(r"(\d+) applications? (?:of \S+|without an owner) breaks? on ", message)
        assert asked == ([str(must)] if must else [])
        sections = re.findall(r"^## Change \d+: (\d+)", message, re.M)
        assert sections == [
            str(sum(a.owner == stake.owner for a in change.applications))
            for change in every_kind.changes
            if change.is_fix and stake.owner in change.owners
        ]


def test_works_again_software_coverage_and_findings_are_the_same_everywhere(every_kind, published):
    document = json.loads(published["report.json"])
    page, ticket = published["index.html"], published["report.md"]
    again = sum(any(client.works_again for client in a.clients) for a in every_kind.applications)
    (asked,) = (target for target in document["targets"] if target["is_asked"])
    assert again == document["works_again"] == asked["works_again"] == 1
    compared = ticket.split("## Releases compared")[1].split("## ")[0]
    (line,) = (line for line in compared.splitlines() if "(asked)" in line)
    assert line.endswith(f" | {again} |")
    row = page.split('<tr class="asked">')[1].split("</tr>")[0]
    assert re.findall(r'<td class="n[^>]*>(\d+)', row)[-1] == str(again)

    assert sum(software["clients"] for software in document["software"]) == len(document["clients"])
    drawn = re.findall(r'<tr class="library">.*?<td class="n">(\d+)</td>', html_section(page, "software"))
    assert [int(number) for number in drawn] == [software["clients"] for software in document["software"]]

    seen = document["coverage"]
    hours = f"{seen['complete_broker_hours']} of {seen['broker_hours']} broker hours seen completely"
    assert hours in page and seen["complete_broker_hours"] == 2

    sheet = list(csv.DictReader(io.StringIO(published["findings.csv"].removeprefix("\ufeff"), newline="")))
    of_clients = [finding for client in document["clients"] for finding in client["findings"]]
    assert len(sheet) == len(of_clients) == sum(rule["findings"] for rule in document["rules"]) == 10
    (drawn,) = re.findall(
        r'<code>request-version-not-served</code></td><td class="n">(\d+)', html_section(page, "method")
    )
    assert int(drawn) == len(sheet)


def test_nothing_but_the_lists_of_safe_clients_is_left_to_a_file(published):
    assert "more in clients.csv" not in published["index.html"]


def test_warnings_and_evidence_are_the_same_everywhere(every_kind, published):
    document = json.loads(published["report.json"])
    page = " ".join(text(published["index.html"]).split())
    ticket = " ".join(html.unescape(published["report.md"].replace("\\", "")).split())
    assert document["evidence"] == list(every_kind.evidence) != []
    for sentence in document["evidence"]:
        assert " ".join(sentence.split()) in page and sentence in ticket, sentence
    (warning,) = every_kind.quality_warnings
    (of_document,) = document["quality_warnings"]
    assert (of_document["description"], of_document["unexpected_count"]) == (warning.description, 5)
    said = "5 of 42 rows break the rule: at least 90 % of the clients have an owner"
    assert failed_check(warning) == said
    assert said in page and said in ticket


def test_compared_releases_have_the_same_numbers_everywhere(compared):
    made = texts(compared)
    document = json.loads(made["report.json"])
    rows_of_page = dict(
        re.findall(
            r'<tr[^>]*><th scope="row">([\d.]+).*?</th>(.*?)</tr>',
            html_section(made["index.html"], "targets"),
            re.S,
        )
    )
    lines = made["report.md"].split("## Releases compared")[1].split("## ")[0].splitlines()
    assert (
        list(rows_of_page) == [target["to_release"] for target in document["targets"]] == ["4.0.0", "4.0.1"]
    )
    for target in document["targets"]:
        release = target["to_release"]
        numbers = [int(number) for number in re.findall(r"<td[^>]*>(\d+)", rows_of_page[release])]
        (line,) = (line for line in lines if line.startswith(f"| {release}"))
        in_ticket = [int(cell) for cell in line.split("|")[2:] if cell.strip().isdecimal()]
        assert numbers[0] == in_ticket[0] == target["counts"]["breaks_at_once"]
        assert sum(numbers) == sum(in_ticket) == sum(target["counts"].values()) == 3, release
