"""The message to an owner: it contains the work, in three forms, and fits a chat."""

import re
from datetime import date
from html.parser import HTMLParser
from urllib.parse import parse_qs

import pytest
from client_telemetry.reports.owners import forms
from client_telemetry.reports.owners.message import LONGEST
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.owner_message import (
    LONGEST_LETTER,
    letter_address,
    owner_message,
)

HOSTILE = [
    "@channel",
    "<!here>",
    "[click](http://x)",
    "a|b`c",
    "<img src=x onerror=alert(1)>",
    "/close",
    "#1",
    "x\n\n# you are fired\n",
    "=1+1",
    "\u202egpj.exe",
    "`" * 5,
]


def report_of(rows, given, **changes):
    return build_report(rows.question(len(given)), given, [], [], [], cluster_name="fleet", **changes)


def test_the_work_is_in_the_message_and_not_attached(rows):
    fix = "upgrade brod to 4.4.2 or later (needs Fetch v4)"
    given = [
        rows.verdict("erp-a", "breaks", owner="erp", fix=fix, already_failing=True),
        rows.verdict("erp-b", "breaks", owner="erp", fix=fix),
        rows.verdict("erp-c", "breaks", owner="erp", fix=None),
        rows.verdict("erp-d", "insufficient_evidence", owner="erp", missing=["whether it uses Kerberos"]),
        rows.verdict("erp-e", owner="erp"),
        rows.verdict("other", "breaks", owner="another", fix=fix),
    ]
    report = report_of(rows, given, planned_for=date(2026, 12, 1), asked_by="kafka@example.com")
    [stake] = [each for each in report.owners if each.owner == "erp"]
    text = forms.files(owner_message(report, stake))["message.txt"]
    assert text == (
        "By 2026-12-01: 3 applications of erp break on Kafka 4.0.0 (cluster fleet), 1 to check, 1 already down\n"
        "\n"
        "The brokers of Kafka cluster fleet will be upgraded from 3.9.1 to 4.0.0 on 2026-12-01. "
        "3 of your 5 applications stop working unless they are changed.\n"
        "\n"
        "- `erp-a`, `erp-b` → 1 already down. Upgrade brod to 4.4.2 or later → by 2026-12-01\n"
        "- `erp-c` → No fix is known yet: ask kafka@example.com → by 2026-12-01\n"
        "- `erp-d` → It uses Kerberos: yes or no? → by 2026-12-01\n"
        "\n"
        "To copy:\n"
        "# rebar.config\n"
        '+{brod, "4.4.2"}\n'
        "\n"
        "To prove it, run in the repository: client-telemetry scan . --from 3.9.1 --to 4.0.0\n"
        "It ends with 0 when no client that the repository names breaks. Once the change is deployed, the next report that sees "
        "the new client, and the old one no longer, lists the application as safe.\n"
        "\n"
        "Reply to kafka@example.com with one line: the day by which each change is deployed, or that an application is retired "
        "and when; the answer to each question.\n"
    )


def test_a_letter_has_the_subject_and_as_much_of_the_work_as_an_address_may(rows):
    fixes = [f"upgrade brod to 4.4.{n} or later" for n in range(40)]
    given = [
        rows.verdict(f"a-{n}", "breaks", owner="erp & co", owner_contact="erp@example.com", fix=fix)
        for n, fix in enumerate(fixes)
    ]
    report = report_of(rows, given)
    address, _, fields = (letter := letter_address(report, report.owners[0])).partition("?")
    assert len(letter) <= LONGEST_LETTER
    assert address == "mailto:erp@example.com" and "+" not in fields, "mail programs show a plus as it is"
    letter = parse_qs(fields)
    assert letter["subject"] == ["40 applications of erp & co break on Kafka 4.0.0 (cluster fleet)"]
    assert "Upgrade brod to 4.4.0 or later" in letter["body"][0] and "attached" not in letter["body"][0]
    assert "more applications; the team that runs the brokers has the list." in letter["body"][0]
    short = letter_address(report, report.owners[0], subject_only=True)
    assert set(parse_qs(short.partition("?")[2])) == {"subject"}


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = set(), ""

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text += data


def test_what_clients_chose_is_neither_markup_nor_a_mention(rows):
    given = [
        rows.verdict(text, "breaks", principal=f"User:{n}", owner="erp", fix="upgrade brod to 4.4.2 or later")
        for n, text in enumerate(HOSTILE)
    ]
    report = report_of(rows, given)
    whole = owner_message(report, report.owners[0])
    page = _Tags()
    page.feed(forms.html_mail(whole))
    allowed = {"html", "head", "meta", "title", "body", "p", "b", "table", "tr", "th", "td", "code", "pre"}
    assert page.tags <= allowed
    for text in (forms.markdown(whole), forms.plain_text(whole)):
        outside = re.sub(r"(`+)[^\n]+?(?<!`)\1(?!`)", "", text)
        for trap in ("@channel", "<!here>", "](http", "<img", "/close", "#1", "fired", "\u202e"):
            assert trap not in outside, (trap, outside)
        assert "\n# you" not in text and "\u202e" not in text


@pytest.mark.parametrize("number", [1, 3, 30, 3000])
def test_a_message_is_short_whatever_the_owner_has(rows, number):
    open_ = "library not identified: if it is brod: upgrade brod; if it is kafkajs: upgrade kafkajs to 1.8.0 or later; otherwise: x"
    undeclared = {"client_software_name": "unknown", "client_software_version": "unknown"}
    given = [
        rows.verdict(f"{'x' * 60}-{n}", "breaks", owner="erp", principal=f"User:{n}", **(undeclared if n % 2 else {}),
                     fix=open_ if n % 2 else f"upgrade brod to 4.{n}.2 or later")
        for n in range(number)
    ]  # fmt: skip
    report = report_of(rows, given)
    files = forms.files(owner_message(report, report.owners[0]))
    assert len(files["message.md"]) <= LONGEST and len(files["message.txt"]) <= LONGEST
    listed = len(re.findall(r"`x+…?[x\d-]*`", files["message.txt"]))
    hidden = sum(
        int(n.replace(",", "")) for n in re.findall(r"(?:and|…) (?:and )?([\d,]+) more", files["message.txt"])
    )
    assert listed + hidden == number, files["message.txt"]


def test_a_rollback_says_so(rows):
    given = [rows.verdict("a", "breaks", owner="erp", fix="upgrade brod to 4.4.2 or later")]
    question = rows.question(1, from_release="4.0.0", to_release="3.9.1")
    report = build_report(question, given, [], [], [], cluster_name="fleet")
    assert "will be rolled back from 4.0.0 to 3.9.1" in owner_message(report, report.owners[0]).beginning
