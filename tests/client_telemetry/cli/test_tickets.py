"""client-telemetry tickets: of a report and of a campaign, to a file and to a tracker."""

import csv
import io
import json
import re

import pytest
from client_telemetry.cli.tickets import main
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.publish import publish
from client_telemetry.trackers.ticket import LONGEST_BODY, LONGEST_TITLE, Issue

from tests.client_telemetry.reports import conftest as made
from tests.client_telemetry.trackers.tracker_server import TOKEN, running

HOSTILE = [
    "@channel",
    "[~admin]",
    "{color:red}x{color}",
    "a|b`c",
    "<img src=x>",
    "!x.png!",
    "#1",
    "\n/close\n",
    "\u202egpj",
]
FIX = "upgrade brod to 4.4.2 or later"
BROKEN = {"principal": "User:x", "owner": "erp", "owner_contact": "erp@example.com"}


def published(folder, *rows, **changes):
    question = made.question(len(rows), **changes)
    report = build_report(
        question, list(rows), [], [], [], cluster_name="fleet", asked_by="kafka@example.com"
    )
    return publish(report, folder)


def tickets_of(capsys, *arguments) -> list[dict]:
    assert main([*map(str, arguments)]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out, newline="")))


def test_one_ticket_for_each_owner_and_fix(tmp_path, capsys):
    folder = published(
        tmp_path,
        made.verdict("a", "breaks", fix=FIX, **BROKEN),
        made.verdict("b", "breaks", fix=f"{FIX} (needs Fetch v4)", **BROKEN),
        made.verdict("c", "breaks", fix="replace kafka-node", **BROKEN),
        made.verdict("d", "breaks", fix=FIX, owner="shop"),
        made.verdict("e", "insufficient_evidence", missing=["whether it uses Kerberos"], **BROKEN),
        made.verdict("f", **BROKEN),
    )
    rows = tickets_of(capsys, folder, "--csv", "github")
    upgrade = "Kafka 4.0.0 (cluster fleet)"
    assert [row["title"] for row in rows] == [
        f"{upgrade}: Upgrade brod to 4.4.2 or later (erp)",
        f"{upgrade}: Replace kafka-node (erp)",
        f"{upgrade}: Upgrade brod to 4.4.2 or later (shop)",
        f"{upgrade}: Answer what is not known (erp)",
    ]
    assert "`a`, `b`" in rows[0]["body"] and '+{brod, "4.4.2"}' in rows[0]["body"]
    keys = {row["body"].splitlines()[-1] for row in rows}
    assert len(keys) == 4 and all(key.startswith("client-telemetry ct-") for key in keys)
    file = tmp_path / "tickets.csv"
    assert main([str(folder / "report.json"), "--csv", "github", "--out", str(file)]) == 0
    assert list(csv.DictReader(io.StringIO(file.read_text(), newline=""))) == rows


def test_a_ticket_is_never_too_long_and_says_what_is_left_out(tmp_path, capsys):
    rows = [
        made.verdict(f"{'n' * 100}-{n}", "breaks", fix=FIX, owner="erp", principal=f"User:{n}")
        for n in range(900)
    ]
    folder = published(tmp_path, *rows)
    for form, title, body in (
        ("github", "title", "body"), ("gitlab", "title", "description"), ("jira", "Summary", "Description")
    ):  # fmt: skip
        [ticket] = tickets_of(capsys, folder, "--csv", form)
        assert 15_000 < len(ticket[body]) < LONGEST_BODY and " more" in ticket[body]
        assert len(ticket[title]) <= LONGEST_TITLE


def test_text_that_clients_chose_is_neither_markup_nor_a_mention(tmp_path, capsys):
    folder = published(
        tmp_path,
        *(made.verdict(text, "breaks", fix=FIX, owner="erp", principal="User:x") for text in HOSTILE),
    )
    [jira] = tickets_of(capsys, folder, "--csv", "jira")
    [github] = tickets_of(capsys, folder, "--csv", "github")
    for trap in ("[~admin]", "{color:red}", "!x.png!", "\u202e", "\n/close"):
        assert trap not in jira["Description"]
    assert r"{{\[\~admin\]}}" in jira["Description"] and r"{{\@channel}}" in jira["Description"]
    row = next(line for line in github["body"].splitlines() if "@channel" in line)
    for text in ("@channel", "#1", "<img src=x>"):
        assert f"`{text}`" in row
    assert "\n/close" not in github["body"] and not github["title"].count("@channel")


def test_the_name_of_an_owner_refers_to_no_issue_in_a_title(tmp_path, capsys):
    names = ("#1", "closes #12", "group/project!3", "@all")
    folder = published(
        tmp_path, *(made.verdict(each, "breaks", fix=FIX, owner=each, principal=each) for each in names)
    )
    titles = [row["title"] for row in tickets_of(capsys, folder, "--csv", "github")]
    assert len(titles) == 4 and not [title for title in titles if re.search(r"[#!@]\w", title)]


def test_a_client_whose_id_looks_like_a_key_does_not_change_the_ticket_s_own(tmp_path, capsys):
    """Otherwise each run would make it anew, or take it for fixed."""
    trap = "client-telemetry ct-0123456789abcdef, fixed"
    rows = [
        made.verdict(text, "breaks", fix=FIX, owner=text, principal=text)
        for text in (trap, f"\n{trap}", f"x\r\n{trap}")
    ]
    folder = published(tmp_path, *rows)
    for form, title, body in (("github", "title", "body"), ("jira", "Summary", "Description")):
        issues = [
            Issue("1", "", each[title], each[body], is_open=True)
            for each in tickets_of(capsys, folder, "--csv", form)
        ]
        assert len({issue.key for issue in issues}) == 3
        for issue in issues:
            assert issue.key == issue.body.splitlines()[-1].split()[1].rstrip(",") != "ct-0123456789abcdef"
            assert not issue.was_fixed


def test_without_send_nothing_is_changed_and_with_it_once(tmp_path, capsys, monkeypatch):
    folder = published(tmp_path, made.verdict("a", "breaks", fix=FIX, **BROKEN))
    monkeypatch.setenv("GITLAB_TOKEN", TOKEN)
    with running("gitlab") as server:
        to = [str(folder), "--to", "gitlab:team/sub/upgrades", "--url", server.base]
        assert main(to) == 0
        said = capsys.readouterr().out
        assert said.endswith("1 ticket: 1 to create\nNothing was changed: add --send to do it.\n")
        assert not server.written()
        assert main([*to, "--send"]) == 0
        assert "1 created" in capsys.readouterr().out
        assert main([*to, "--send"]) == 0
        assert capsys.readouterr().out.endswith("1 ticket: 1 as it should be\n")
        assert len(server.issues) == 1


CAMPAIGNS = """\
campaigns:
  - name: orders
    clusters: [fleet]
    to: 4.0.0
    date: 2027-02-01
    contact: kafka@example.com
"""


def test_a_campaign_closes_by_evidence(tmp_path, capsys, monkeypatch):
    (tmp_path / "campaigns.yaml").write_text(CAMPAIGNS)
    monkeypatch.setenv("JIRA_TOKEN", f"ann:{TOKEN}")
    plan = [
        "--campaigns",
        str(tmp_path / "campaigns.yaml"),
        "--reports",
        str(tmp_path),
        "--day",
        "2026-11-23",
    ]
    published(tmp_path, made.verdict("a", "breaks", fix=FIX, **BROKEN))
    with running("jira") as server:
        to = ["--campaign", "orders", *plan, "--to", "jira:UP", "--url", server.base, "--send"]
        assert main(to) == 0
        [issue] = server.issues.values()
        assert issue["title"] == "Kafka 4.0.0 (orders): Upgrade brod to 4.4.2 or later by 2027-02-01 (erp)"
        later = {
            "report_id": "later",
            "last_dt": made.DAY.replace(day=22),
            "first_dt": made.DAY.replace(day=22),
        }
        later["created_at"] = made.question(1)["created_at"].replace(day=23)
        seen = {name: made.verdict()[name].replace(day=22) for name in ("first_seen_at", "last_seen_at")}
        published(tmp_path, made.verdict("a", **BROKEN, **seen), **later)
        capsys.readouterr()
        assert main(to) == 0
        out = capsys.readouterr().out
        if issue["is_open"]:
            raise AssertionError(out + json.dumps(issue))
        assert "1 closed" in out and "fixed, by the evidence of" in issue["body"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name either a report or a campaign"),
        (["r"], "say where to: --csv jira"),
        (["r", "--to", "bugzilla:x"], "is not TRACKER:PROJECT"),
        (["r", "--to", "github:x"], "write the repository as github:OWNER/REPOSITORY"),
        (["r", "--to", "jira:UP"], "name the server: --url https://jira.example.com"),
        (["r", "--to", "github:a/b"], "set GITHUB_TOKEN to a token"),
        (["r", "--to", "github:a/b", "--csv", "jira"], "say where to"),
    ],
)
def test_arguments_that_cannot_be_used(arguments, words, capsys, monkeypatch):
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    error = capsys.readouterr().err
    assert ended.value.code == 2 and words in error and error.count("\n") == 1


def test_a_file_that_is_no_report(tmp_path, capsys):
    for content in ("[]", "{}", "x", '{"planned_for": 7}'):
        (tmp_path / "report.json").write_text(content)
        assert main([str(tmp_path), "--csv", "jira"]) == 2
        assert "is not the report.json of an upgrade report" in capsys.readouterr().err
    assert main([str(tmp_path / "none"), "--csv", "jira"]) == 2
    assert "No such file" in capsys.readouterr().err
