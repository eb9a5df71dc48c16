"""Fixes grouped, on the engine's own words for them."""

import re

import pytest
from client_telemetry.compatibility import ClientEvidence, judge, parse_api_uses
from client_telemetry.knowledge import products
from client_telemetry.reports.markdown import prose
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.changes import (
    IDENTIFY,
    NO_CHANGE,
    by_candidate,
    edits_of,
    inferred,
    of_fix,
)
from client_telemetry.reports.upgrade.owner_message import letter_address
from client_telemetry.reports.upgrade.owner_ticket import owner_ticket
from client_telemetry.reports.upgrade.page import report_page
from client_telemetry.reports.upgrade.ticket import report_ticket

SARAMA = "Fetch:4 ListOffsets:1 Metadata:5 OffsetCommit:1 OffsetFetch:1 JoinGroup:1 SyncGroup:0 Heartbeat:0"


def fix(uses: str, client_id: str | None = None, name: str = "", version: str = "", to: str = "4.0.0") -> str:
    evidence = ClientEvidence(name, version, client_id, parse_api_uses(uses), security_protocol="PLAINTEXT")
    return judge(evidence, "3.9.1", to).fix


@pytest.mark.parametrize(
    ("case", "given", "text", "certainty", "instead"),
    [
        ("declared", fix("Fetch:11 JoinGroup:5", name="confluent-kafka-python", version="1.7.0-rdkafka-1.7.0"),
         "upgrade confluent-kafka-python to 1.8.2 or later", "exact", ()),
        ("as good as certain", fix(SARAMA, "sarama"), "upgrade sarama to 1.41.0 or later", "exact", ()),
        ("4.0.1 accepts it", fix(SARAMA.replace("OffsetCommit:1", "OffsetCommit:2"), "sarama"),
         "upgrade sarama to 1.41.0 or later", "exact", ("upgrade the brokers to 4.0.1 or later instead",)),
        ("several candidates", fix("Produce:2", "orders"), IDENTIFY, "open", ()),
        ("no advice for this library and API", fix("Produce:2", name="ruby-kafka", version="1.5.0") or "",
         None, None, ()),
        ("nothing known", None, NO_CHANGE, "none", ()),
        ("pinned perhaps", "if the application pins a protocol version, raise it, otherwise upgrade sarama (needs Fetch v4)",
         "if the application pins a protocol version, raise it, otherwise upgrade sarama", "conditional", ()),
    ],
)  # fmt: skip
def test_a_fix_taken_apart(case, given, text, certainty, instead):
    found = of_fix(given)
    if text is not None:
        assert (found.text, found.certainty, found.instead) == (text, certainty, instead), case
    assert "find out" not in found.text


def test_what_follows_from_each_candidate():
    advice = by_candidate(fix("Produce:2", "orders"))
    assert advice["kafka-node"].startswith("replace kafka-node") and len(advice) == 2
    assert all(library and text and "otherwise" not in text for library, text in advice.items())


@pytest.fixture
def report(rows):
    undeclared = {"client_software_name": "unknown", "client_software_version": "unknown"}
    like_sarama = {**undeclared, "identified_as": "probably sarama (any version since 1.17.0)"}
    sarama, open_ = fix(SARAMA, "sarama"), fix("Produce:2", "orders")
    given = [
        rows.verdict("a", "breaks", owner="one", principal="User:1", fix=sarama, **like_sarama),
        rows.verdict("b", "breaks", owner="two", principal="User:2", fix=sarama, **like_sarama),
        rows.verdict("c", "breaks", owner="two", principal="User:2", fix="upgrade brod to 4.4.2 or later"),
        *(
            rows.verdict(f"x{n}", "breaks", owner="three", principal=f"User:{n}", fix=open_, **undeclared)
            for n in range(9)
        ),
        rows.verdict("safe"),
    ]
    return build_report(rows.question(len(given)), given, [], [], [])


def test_owners_of_a_change_come_by_clients_then_by_name_and_nobody_last(rows):
    owners = ("web", None, "ads", "crm", "crm")
    given = [
        rows.verdict(str(n), "breaks", owner=owner, principal=f"User:{n}", fix=fix(SARAMA, "sarama"))
        for n, owner in enumerate(owners)
    ]
    for order in (given, given[::-1]):
        (change,) = build_report(rows.question(len(given)), order, [], [], []).changes
        assert change.owners == ("crm", "ads", "web", None)


def test_one_row_per_change_and_never_a_vague_one_before_an_exact_one(report):
    assert [(c.text, c.clients, c.owners, c.inferred, c.applications_left) for c in report.changes] == [
        ("upgrade sarama to 1.41.0 or later", 2, ("one", "two"), 2, 10),
        ("upgrade brod to 4.4.2 or later", 1, ("two",), 0, 9),
        (IDENTIFY, 9, ("three",), 0, 9),
    ]
    assert [change.is_fix for change in report.changes] == [True, True, False]
    assert report.changes[0].edits[0].line == "github.com/IBM/sarama v1.41.0"
    broken = sum(client.verdict == "breaks" for client in report.clients)
    assert sum(change.clients for change in report.changes) == broken


def test_an_owner_reads_why_the_change_names_another_version_than_the_requests_fit(report):
    fit = "The library of {} is not declared; it was inferred from {} requests, which fit sarama (any version since 1.17.0)."
    why = "its configuration pins an older protocol version (sarama Version): raise that instead"
    change = report.changes[0]
    assert inferred(change, change.applications).startswith(
        fit.format("2 clients", "their")
    ) and why in inferred(change, change.applications)
    (stake,) = (each for each in report.owners if each.owner == "one")
    for text in (owner_ticket(report, stake), report_ticket(report)):
        assert why in text
    assert prose(fit.format("1 client", "its")) in owner_ticket(report, stake)
    assert why in report_page(report)
    assert [inferred(each, each.applications) for each in report.changes[1:]] == ["", ""]


def test_an_application_that_needs_two_changes_is_cured_by_the_last_of_them(rows):
    given = [
        rows.verdict(client_id, "breaks", application="one program", fix=text)
        for client_id, text in (("a", "upgrade brod to 4.4.2 or later"), ("b", "replace pykafka"))
    ]
    report = build_report(rows.question(2), given, [], [], [])
    assert [(len(c.applications), c.applications_left) for c in report.changes] == [(1, 1), (1, 0)]
    assert report.applications[0].changes == ("replace pykafka", "upgrade brod to 4.4.2 or later")


def test_unidentified_clients_have_a_panel_each(report):
    html = report_page(report)
    unidentified = [client for client in report.clients if client.is_unidentified]
    assert len(unidentified) == 9
    for client in unidentified:
        assert f'id="{client.anchor}"' in html.split('<section id="annex"')[1] and client.owner_question
    assert "find out which" not in html
    first = html.split('id="first"')[1].split("</section>")[0]
    assert (
        "Ask the owner which client library it is" in first and "Upgrade sarama to 1.41.0 or later" in first
    )


@pytest.fixture
def without_fix(rows):
    """Four owners: two fixes, one unidentified library, one without any known change, one with a fix and without."""
    undeclared = {"client_software_name": "unknown", "client_software_version": "unknown"}
    given = [
        rows.verdict("a", "breaks", owner="fixed", fix="upgrade sarama to 1.41.0 or later"),
        rows.verdict("b", "breaks", owner="asked", fix="library not identified: upgrade the library", **undeclared),
        rows.verdict("c", "breaks", owner="helpless", owner_contact="helpless@example.com"),
        rows.verdict("d", "breaks", owner="both", fix="upgrade brod to 4.4.2 or later"),
        rows.verdict("e", "breaks", owner="both"),
    ]  # fmt: skip
    return build_report(
        rows.question(len(given)), given, [], [], [], cluster_name="fleet", asked_by="kafka@example.com"
    )


def test_what_is_no_fix_cures_nothing(without_fix):
    assert [(change.text, change.is_fix, change.applications_left) for change in without_fix.changes] == [
        ("upgrade brod to 4.4.2 or later", True, 4),
        ("upgrade sarama to 1.41.0 or later", True, 3),
        (IDENTIFY, False, 3),
        (NO_CHANGE, False, 3),
    ]
    assert {stake.owner: (stake.first_fix, stake.first_fix_applications) for stake in without_fix.owners} == {
        "fixed": ("upgrade sarama to 1.41.0 or later", 1),
        "both": ("upgrade brod to 4.4.2 or later", 1),
        "asked": (None, 0),
        "helpless": (None, 0),
    }


def test_a_row_without_a_fix_says_that_it_fixes_none(without_fix):
    table = report_ticket(without_fix).split("## Changes")[1].split("## ")[0]
    assert "| No change is known | both, helpless | 0 of 2 | 3 |" in table
    assert "| Ask the owner which client library it is | asked | 0 of 1 | 3 |" in table
    assert re.search(r"\| Upgrade brod to 4.4.2 or later<br>.* \| both \| 1 \| 4 \|", table)
    assert report_page(without_fix).count('<td class="n">0<br><small>of 2</small>') == 2, (
        "first screen and full list"
    )


@pytest.mark.parametrize(("open_", "none"), [(0, 0), (0, 3), (3, 0), (3, 3)])
def test_the_bars_of_the_first_screen_never_rise(rows, open_, none):
    undeclared = {"client_software_name": "unknown", "client_software_version": "unknown"}
    fixes = [f"upgrade it to {n}" for n in range(7)] + ["library not identified: ask"] * open_ + [None] * none
    given = [
        rows.verdict(f"a{n}", "breaks", fix=text, **(undeclared if text and text.startswith("lib") else {}))
        for n, text in enumerate(fixes)
    ]
    report = build_report(rows.question(len(given)), given, [], [], [])
    first = report_page(report).split('<section id="first"')[1].split("</section>")[0]
    left = [int(number) for number in re.findall(r'<td class="left">.*?<b>(\d+)', first)]
    numbers = [int(number) for number in re.findall(r'href="#change-(\d+)"', first)]
    assert len(left) == 6 and left == sorted(left, reverse=True) and numbers == sorted(numbers)
    assert ("candidates and what to ask" in first) == bool(open_)


def test_a_message_to_an_owner_asks_only_for_changes_that_are_known(without_fix):
    messages = {stake.owner: owner_ticket(without_fix, stake) for stake in without_fix.owners}
    assert "Subject:** 1 application of fixed breaks on Kafka 4.0.0" in messages["fixed"]
    assert "Please make the changes below before the upgrade." in messages["fixed"]
    assert "## Change 1: 1 application\n" in messages["fixed"]
    helpless = messages["helpless"]
    assert "Subject:** 1 application of helpless breaks on " in helpless
    assert "Please make" not in helpless and "Change 1" not in helpless and "How to check" not in helpless
    assert "No fix is known yet for 1 application; contact kafka@example.com before the upgrade." in helpless
    assert "## No fix known: 1 application\n" in helpless
    asked = messages["asked"]
    assert "Subject:** 1 application of asked breaks on " in asked
    assert "Please make" not in asked and "## Library not identified: 1 application\n" in asked
    assert (
        'Please tell us before the upgrade which client library the application under "Library not identified" uses.'
        in asked
    )
    both = messages["both"]
    assert "Subject:** 2 applications of both break on " in both
    assert (
        "Please make the changes below before the upgrade. "
        "No fix is known yet for 1 application; contact kafka@example.com before the upgrade." in both
    )
    (stake,) = (each for each in without_fix.owners if each.owner == "helpless")
    assert "No%20fix%20is%20known" in letter_address(without_fix, stake)


def test_advice_that_no_release_follows_is_not_certain():
    """Of the products' own advice: what begins so is no change that cures for sure."""
    found = {each.text: of_fix(each.text).certainty for of in products.advices().values() for each in of}
    unsure = {text: certainty for text, certainty in found.items() if certainty != "exact"}
    assert sorted(unsure.values()) == ["conditional", "conditional", "none"]
    assert [text for text, certainty in unsure.items() if certainty == "none"] == [
        "ask AWS about Lambda's event source mapping: there is nothing to upgrade on your side"
    ]
    doubtful = ("nothing to upgrade", "is known to work", "log in with another mechanism")
    assert {text for text in found if any(words in text for words in doubtful)} == set(unsure)


def test_what_another_company_has_to_change_is_no_fix(rows):
    advice = products.advice("AWS Lambda (event source mapping)", [11])
    given = [rows.verdict("a", "breaks", fix=advice)]
    report = build_report(rows.question(1), given, [], [], [])
    assert [(change.text, change.is_fix, change.applications_left) for change in report.changes] == [
        (advice, False, 1)
    ]
    ticket = owner_ticket(report, report.owners[0])
    assert (
        "## No fix known: 1 application\n\nAsk AWS about Lambda's event source mapping: there is nothing to upgrade on your "
        "side; contact the team that runs the brokers.\n"
    ) in ticket


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "upgrade kafka-clients to 2.1.0 or later",
            [
                ("pom.xml", "<artifactId>kafka-clients</artifactId> <version>2.1.0</version>", False),
                ("build.gradle", 'implementation("org.apache.kafka:kafka-clients:2.1.0")', True),
            ],
        ),
        (
            "upgrade sarama to 1.41.0 or later, or set Consumer.Offsets.Retention > 0 (then it commits",
            [
                ("go.mod", "github.com/IBM/sarama v1.41.0", False),
                ("Go code", "config.Consumer.Offsets.Retention = 7 * 24 * time.Hour", True),
            ],
        ),
        (
            "upgrade sarama to 1.41.0 or later and raise config.Version to 2.1.0 or later",
            [
                ("go.mod", "github.com/IBM/sarama v1.41.0", False),
                ("Go code", "config.Version = sarama.V2_1_0_0", False),
            ],
        ),
        (
            "take api_version out of its configuration or raise it to (0, 11, 0) or later, and upgrade kafka-python to "
            "1.4.3 or later if it is older",
            [("Python code", "- api_version=…", False), ("requirements.txt", "kafka-python>=1.4.3", False)],
        ),
        ("upgrade brod to 4.4.2 or newer", [("rebar.config", '{brod, "4.4.2"}', False)]),
        ("or set group.protocol=classic", [("consumer configuration", "group.protocol=classic", False)]),
    ],
)
def test_edits_of_which_one_is_enough(text, lines):
    assert [(edit.file, edit.line, edit.alternative) for edit in edits_of(text)] == lines


def test_or_stands_between_alternatives(rows):
    fix = "upgrade kafka-clients to 2.1.0 or later"
    report = build_report(rows.question(1), [rows.verdict("a", "breaks", fix=fix)], [], [], [])
    assert '<span class="edit">or <small>build.gradle</small>' in report_page(report)
    assert '<span class="edit"><small>pom.xml</small>' in report_page(report)
    message = owner_ticket(report, report.owners[0])
    assert "\n- pom.xml: `" in message and "\n- or build.gradle: `" in message
    assert "<br>or build.gradle: `" in report_ticket(report)
