"""`client-telemetry tickets` against a real Gitea, which `make e2e-long` builds: what a run creates, updates, closes, reopens and
leaves alone, with the names that clients choose, and what a person reads when it cannot."""

import datetime as dt
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.publish import publish
from client_telemetry.trackers.ticket import LONGEST_BODY

from tests.client_telemetry.reports import conftest as made

from .gitea_server import ADMINISTRATOR, PROGRAM, Gitea, gitea

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.long,
    pytest.mark.skipif(
        not PROGRAM.exists(), reason="Gitea is not built (make e2e-long, with Go and a C compiler)"
    ),
]

SENDER = "tickets"
FIX = "upgrade brod to 4.4.2 or later"
ERP = {"principal": "User:erp", "owner": "erp", "owner_contact": "erp@example.com"}
SHOP = {"principal": "User:shop", "owner": "shop", "owner_contact": "#shop"}
HOSTILE = (
    "@platform",
    "#1",
    "!1",
    "closes #1",
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "a|b`c``d",
    "[x](javascript:alert(1))",
    "\n/close\n",
    "client-telemetry ct-0123456789abcdef, fixed",
    "\u202egpj.exe",
    "نظام-الطلبات",
    "注文" * 60,
    "n" * 255,
    "",
)
CAMPAIGNS = """\
campaigns:
  - name: orders
    clusters: [fleet]
    to: 4.0.0
    date: 2027-02-01
    contact: kafka@example.com
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gitea]:
    with gitea(tmp_path_factory.mktemp("gitea")) as running:
        running.add_user(SENDER)
        yield running


@pytest.fixture(scope="module")
def token(server: Gitea) -> str:
    return server.token(SENDER, "write:issue")


@pytest.fixture
def repository(server: Gitea, request: pytest.FixtureRequest) -> str:
    return new_repository(server, request.node.name)


def new_repository(server: Gitea, name: str) -> str:
    """A private one, in which the sender may write."""
    name = "".join(sign if sign.isalnum() else "-" for sign in name)[:90]
    server.api("POST", "/user/repos", {"name": name, "private": True})
    path = f"{ADMINISTRATOR}/{name}"
    server.api("PUT", f"/repos/{path}/collaborators/{SENDER}", {"permission": "write"})
    return path


def issues(server: Gitea, repository: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for page in range(1, 20):
        more = server.api("GET", f"/repos/{repository}/issues?state=all&type=issues&limit=50&page={page}")
        found += more
        if not more:
            break
    return sorted(found, key=lambda issue: issue["number"])


def command(base: str, token: str, repository: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The documented one."""
    return subprocess.run(
        [sys.executable, "-m", "client_telemetry.cli", "tickets", *map(str, arguments), "--to", f"gitea:{repository}", "--url", base],
        capture_output=True, text=True, check=False, env={**os.environ, "GITEA_TOKEN": token},
    )  # fmt: skip


def last_line(ran: subprocess.CompletedProcess[str]) -> str:
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout.splitlines()[-1]


def published(folder: Path, rows: Sequence[Mapping[str, Any]], **changes: Any) -> Path:
    report = build_report(
        made.question(len(rows), **changes), list(rows), [], [], [], cluster_name="fleet", asked_by="kafka@example.com"
    )  # fmt: skip
    return Path(publish(report, folder))


def seen_on(day: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """What differs in question and verdicts of a report of that day of November 2026."""
    date = made.DAY.replace(day=day)
    created = made.question(1)["created_at"] + (date - made.DAY)
    question = {"report_id": f"of-{date}", "first_dt": date, "last_dt": date, "created_at": created}
    return question, {
        name: made.verdict()[name].replace(day=day) for name in ("first_seen_at", "last_seen_at")
    }


class Campaign:
    """Reports of a campaign, day after day, and the command that brings the repository to what they show."""

    def __init__(self, folder: Path, server: Gitea, token: str, repository: str) -> None:
        (folder / "campaigns.yaml").write_text(CAMPAIGNS)
        self._folder, self._server, self._token, self._repository = folder, server, token, repository

    def on(self, day: int, *rows: Mapping[str, Any]) -> str:
        """What a run says at its end, after a report of that day with these rows. `day` 0: no new report."""
        if day:
            self._last = made.DAY.replace(day=day) + dt.timedelta(days=1)
            question, times = seen_on(day)
            published(self._folder, [{**row, **times} for row in rows], **question)
        return last_line(
            command(
                self._server.base, self._token, self._repository, "--campaign", "orders", "--campaigns", self._folder / "campaigns.yaml",
                "--reports", self._folder, "--day", self._last, "--send",
            )
        )  # fmt: skip


def test_a_campaign_from_the_first_issue_to_the_last(server, token, repository, tmp_path):
    campaign = Campaign(tmp_path, server, token, repository)
    broken = (
        made.verdict("a", "breaks", fix=FIX, **ERP),
        made.verdict("b", "breaks", fix="replace kafka-node", **SHOP),
    )
    assert campaign.on(21, *broken) == "2 tickets: 2 created"
    first, second = issues(server, repository)
    assert first["title"] == "Kafka 4.0.0 (orders): Upgrade brod to 4.4.2 or later by 2027-02-01 (erp)"
    assert second["title"].endswith("(shop)") and first["user"]["login"] == SENDER
    assert not first["labels"] and not first["assignees"], "neither is set where labels may be missing"
    assert campaign.on(0) == "2 tickets: 2 as it should be"
    assert [each["updated_at"] for each in issues(server, repository)] == [
        first["updated_at"],
        second["updated_at"],
    ]

    more = made.verdict("c", "breaks", fix=FIX, **ERP)
    assert campaign.on(22, *broken, more) == "2 tickets: 1 updated, 1 as it should be"
    first, second = issues(server, repository)
    assert "`c`" in first["body"]

    good = made.verdict("a", **ERP), made.verdict("c", **ERP)
    assert campaign.on(23, *good, broken[1]) == "3 tickets: 1 updated, 1 closed, 1 as it should be"
    first, second = issues(server, repository)
    assert (
        first["state"] == "closed"
        and "fixed, by the evidence of" in first["body"]
        and second["state"] == "open"
    )
    assert campaign.on(0) == "2 tickets: 2 as it should be"

    assert campaign.on(24, *broken, good[1]) == "3 tickets: 1 updated, 1 reopened, 1 as it should be"
    assert [each["state"] for each in issues(server, repository)] == ["open", "open"]
    assert len(issues(server, repository)) == 2


def test_what_people_do_in_the_tracker_is_respected(server, token, repository, tmp_path):
    rows = [made.verdict("a", "breaks", fix=FIX, **ERP), made.verdict("b", "breaks", fix=FIX, **SHOP)]
    report = published(tmp_path, rows)
    assert last_line(command(server.base, token, repository, report, "--send")) == "2 tickets: 2 created"
    first, second = issues(server, repository)
    label = server.api("POST", f"/repos/{repository}/labels", {"name": "kafka", "color": "#00aabb"})
    path = f"/repos/{repository}/issues/{first['number']}"
    server.api("POST", f"{path}/labels", {"labels": [label["id"]]})
    server.api("PATCH", path, {"body": f"{first['body']}\nWe do it in sprint 7.\n", "assignees": [SENDER]})
    server.api("PATCH", f"/repos/{repository}/issues/{second['number']}", {"state": "closed"})
    more = published(tmp_path, [*rows, made.verdict("c", "breaks", fix=FIX, **ERP)], report_id="another")
    ran = command(server.base, token, repository, more, "--send")
    assert last_line(ran) == "2 tickets: 1 updated, 1 closed by hand"
    first, second = issues(server, repository)
    assert first["body"].rstrip().endswith("We do it in sprint 7.") and "`c`" in first["body"]
    assert [each["name"] for each in first["labels"]] == ["kafka"] and first["assignee"]["login"] == SENDER
    assert second["state"] == "closed"
    assert (
        last_line(command(server.base, token, repository, more, "--send"))
        == "2 tickets: 1 as it should be, 1 closed by hand"
    )


def test_without_send_nothing_is_written(server, token, repository, tmp_path):
    report = published(tmp_path, [made.verdict("a", "breaks", fix=FIX, **ERP)])
    ran = command(server.base, token, repository, report)
    assert ran.stdout.endswith("1 ticket: 1 to create\nNothing was changed: add --send to do it.\n")
    assert not issues(server, repository)


def test_names_that_clients_chose_do_no_harm(server, token, repository, tmp_path):
    rows = [
        made.verdict(text, "breaks", fix=FIX, **{**ERP, "principal": f"User:{number}"})
        for number, text in enumerate(HOSTILE)
    ]
    owners = list(filter(None, HOSTILE))
    rows += [made.verdict("x", "breaks", fix=FIX, owner=text, principal=f"User:{text}") for text in owners]
    report = published(tmp_path, rows)
    victim = server.api("POST", f"/repos/{repository}/issues", {"title": "of somebody else", "body": "x"})
    assert (
        last_line(command(server.base, token, repository, report, "--send"))
        == f"{len(HOSTILE)} tickets: {len(HOSTILE)} created"
    )
    assert (
        last_line(command(server.base, token, repository, report, "--send"))
        == f"{len(HOSTILE)} tickets: {len(HOSTILE)} as it should be"
    )
    for issue in issues(server, repository)[1:]:
        assert len(issue["body"]) <= LONGEST_BODY
        page = server.api_text(
            "POST", "/markdown", {"Text": issue["body"], "Mode": "gfm", "Context": repository}
        )
        outside = re.sub(r"<code>[^<]*</code>", "", page)
        for trap in (
            "<script",
            "<img",
            "onerror=",
            "javascript:",
            'class="mention"',
            '/platform"',
            "/issues/1",
        ):
            assert trap not in outside, (trap, page)
    victim = server.api("GET", f"/repos/{repository}/issues/{victim['number']}")
    assert victim["state"] == "open" and victim["comments"] == 0
    timeline = server.api("GET", f"/repos/{repository}/issues/{victim['number']}/timeline") or []
    assert not [event["type"] for event in timeline if event["type"] != "close"], "no issue refers to it"
    notifications = server.api("GET", "/notifications?all=true")
    assert not [each for each in notifications if each["subject"]["title"] == "mentioned"]


def test_a_ticket_of_900_applications_fits(server, token, repository, tmp_path):
    rows = [
        made.verdict(f"{'n' * 240}-{n}", "breaks", fix=FIX, owner="erp", principal=f"User:{n}")
        for n in range(900)
    ]
    report = published(tmp_path, rows)
    assert last_line(command(server.base, token, repository, report, "--send")) == "1 ticket: 1 created"
    [issue] = issues(server, repository)
    assert 15_000 < len(issue["body"]) <= LONGEST_BODY and " more" in issue["body"]
    assert (
        last_line(command(server.base, token, repository, report, "--send")) == "1 ticket: 1 as it should be"
    )


def test_issues_of_several_pages_are_found_again(server, token, repository, tmp_path):
    rows = [
        made.verdict("a", "breaks", fix=FIX, owner=f"team {n}", principal=f"User:{n}") for n in range(120)
    ]
    report = published(tmp_path, rows)
    assert last_line(command(server.base, token, repository, report, "--send")) == "120 tickets: 120 created"
    assert (
        last_line(command(server.base, token, repository, report, "--send"))
        == "120 tickets: 120 as it should be"
    )
    # Gitea names itself as its administrator has written it: here, as often in a cluster, not as it was reached.
    by_another_name = server.base.replace("127.0.0.1", "localhost")
    assert (
        last_line(command(by_another_name, token, repository, report, "--send"))
        == "120 tickets: 120 as it should be"
    )
    assert len(issues(server, repository)) == 120


def test_each_reason_why_it_cannot_is_one_line(server, token, repository, tmp_path):
    report = published(tmp_path, [made.verdict("a", "breaks", fix=FIX, **ERP)])
    archived = new_repository(server, "archived")
    server.api("PATCH", f"/repos/{archived}", {"archived": True})
    without_issues = new_repository(server, "without-issues")
    server.api("PATCH", f"/repos/{without_issues}", {"has_issues": False})
    reader = server.token(SENDER, "read:issue")
    no_issues = server.token(SENDER, "read:user")
    cases = (
        (server.base, "wrong", repository, "the token in GITEA_TOKEN is not accepted"),
        (server.base, no_issues, repository, "the token in GITEA_TOKEN may not do this (GET "),
        (server.base, reader, repository, "the token in GITEA_TOKEN may not do this (POST "),
        (server.base, token, f"{ADMINISTRATOR}/none", "not found, or hidden from the token in GITEA_TOKEN: "),
        (server.base, token, without_issues, "not found, or hidden from the token in GITEA_TOKEN: "),
        (server.base, token, archived, "is archived"),
        (f"{server.base}/explore", token, repository, "--url"),
        ("http://127.0.0.1:9", token, repository, "no answer from 127.0.0.1:9: "),
    )
    for base, secret, path, words in cases:
        ran = command(base, secret, path, report, "--send")
        assert ran.returncode == 1 and words in ran.stderr, (words, ran.stderr)
        assert ran.stderr.count("\n") == 1 and secret not in ran.stderr
        assert ran.stderr.startswith("client-telemetry tickets: gitea: ")
    assert not issues(server, repository)


def test_a_run_that_was_cut_off_goes_on(server, token, repository, tmp_path):
    """The server goes away between two runs, and is back."""
    rows = [made.verdict("a", "breaks", fix=FIX, owner=f"team {n}", principal=f"User:{n}") for n in range(3)]
    report = published(tmp_path, rows[:2])
    assert last_line(command(server.base, token, repository, report, "--send")) == "2 tickets: 2 created"
    whole = published(tmp_path, rows, report_id="whole")
    server.stop()
    try:
        ran = command(server.base, token, repository, whole, "--send")
        assert ran.returncode == 1 and "no answer from" in ran.stderr and ran.stderr.count("\n") == 1
    finally:
        server.start()
    assert (
        last_line(command(server.base, token, repository, whole, "--send"))
        == "3 tickets: 1 created, 2 as it should be"
    )
