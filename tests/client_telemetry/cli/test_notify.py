"""client-telemetry notify, with a real mail server and a chat on this machine."""

import asyncio
import datetime as dt
import email.policy
import threading
from email import message_from_bytes

import pytest
from aiosmtpd.smtp import SMTP
from client_telemetry.cli.notify import main
from client_telemetry.notices.campaigns import late_days
from client_telemetry.notices.settings import BadNotices, Settings, read_settings

from tests.chat import listening
from tests.client_telemetry.cli.test_tickets import BROKEN, CAMPAIGNS, FIX, published
from tests.client_telemetry.reports import conftest as made


class Mailbox:
    """A mail server: what it took, and what it answers instead."""

    def __init__(self) -> None:
        self.mails, self.answer = [], "250 OK"

    async def handle_DATA(self, server, session, envelope):  # noqa: N802
        if self.answer.startswith("250"):
            mail = message_from_bytes(envelope.content, policy=email.policy.default)
            self.mails.append((envelope.rcpt_tos, mail))
        return self.answer


@pytest.fixture
def mailbox():
    handler, loop = Mailbox(), asyncio.new_event_loop()
    server = loop.run_until_complete(loop.create_server(lambda: SMTP(handler, loop=loop), "127.0.0.1", 0))
    handler.port = server.sockets[0].getsockname()[1]
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield handler
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    server.close()
    loop.close()


@pytest.fixture
def chat():
    with listening() as chat:
        yield chat


@pytest.fixture
def place(tmp_path, mailbox):
    (tmp_path / "campaigns.yaml").write_text(CAMPAIGNS)
    (tmp_path / "notices.yaml").write_text(
        f"mail: {{server: '127.0.0.1:{mailbox.port}', from: kafka@example.com, security: none}}\n"
        "operators: [ops@example.com]\nowners: yes\n"
    )
    return tmp_path


def notify(place, day: str = "2026-11-23", *more: str) -> int:
    files = ["--notices", str(place / "notices.yaml"), "--campaigns", str(place / "campaigns.yaml")]
    return main([*files, "--reports", str(place), "--day", day, *more])


def of_day(place, number: int, *rows, **changes) -> None:
    day = made.DAY.replace(day=number)
    created = made.question(1)["created_at"].replace(day=number + 1)
    published(
        place,
        *rows,
        **{"report_id": f"r{number}", "first_dt": day, "last_dt": day, "created_at": created, **changes},
    )


def seen_on(number: int) -> dict:
    return {name: made.verdict()[name].replace(day=number) for name in ("first_seen_at", "last_seen_at")}


def test_an_owner_gets_the_work_once_and_again_when_it_changed(place, mailbox, capsys):
    of_day(
        place,
        21,
        made.verdict("a", "breaks", fix=FIX, **BROKEN),
        made.verdict("b", "breaks", fix=FIX, owner="quiet", owner_contact="#quiet"),
    )
    assert notify(place) == 0 and not mailbox.mails
    said = capsys.readouterr()
    assert "1 notice to send: add --send" in said.out
    assert "orders: quiet has no e-mail address: nobody is told" in said.err
    assert notify(place, "2026-11-23", "--send") == 0
    [(to, mail)] = mailbox.mails
    assert (
        to == ["erp@example.com"]
        and mail["To"] == "erp@example.com"
        and mail["Auto-Submitted"] == "auto-generated"
    )
    assert mail["Subject"] == "By 2027-02-01: 1 application of erp breaks on Kafka 4.0.0 (cluster fleet)"
    text, html = mail.get_body(("plain",)).get_content(), mail.get_body(("html",)).get_content()
    assert "`a` (fleet) → Upgrade brod to 4.4.2 or later → by 2027-02-01" in text
    assert "<code>a</code> (fleet)" in html and "Reply to" in html
    assert notify(place, "2026-11-24", "--send") == 0 and len(mailbox.mails) == 1
    of_day(
        place,
        22,
        made.verdict("a", "breaks", fix=FIX, **BROKEN, **seen_on(22)),
        made.verdict("c", "breaks", fix=FIX, **BROKEN, **seen_on(22)),
    )
    assert notify(place, "2026-11-24", "--send") == 0 and len(mailbox.mails) == 2
    assert mailbox.mails[-1][1]["Subject"].startswith("By 2027-02-01: 2 applications of erp break")


@pytest.mark.parametrize(
    ("day", "subject"), [("2027-01-18", "14 days left: By "), ("2027-01-31", "1 day left: By ")]
)
def test_a_deadline_that_comes_near_is_news_once(place, mailbox, day, subject):
    of_day(place, 21, made.verdict("a", "breaks", fix=FIX, **BROKEN))
    notify(place, "2026-11-23", "--send")
    for _ in range(2):
        assert notify(place, day, "--send") == 0
    assert [mail["Subject"].startswith(subject) for _, mail in mailbox.mails] == [False, True]


def test_a_regression_is_told_to_operators_and_the_chat_at_once(place, mailbox, chat, monkeypatch):
    address, texts = chat
    monkeypatch.setenv("CLIENT_TELEMETRY_CHAT_WEBHOOK", address)
    hostile = "<!channel> `x"
    of_day(place, 21, made.verdict(hostile, "breaks", fix=FIX, **BROKEN))
    of_day(place, 22, made.verdict(hostile, **BROKEN, **seen_on(22)))
    of_day(place, 23, made.verdict(hostile, "breaks", fix=FIX, **BROKEN, **seen_on(23)))
    for _ in range(2):
        assert notify(place, "2026-11-24", "--send") == 0
    assert [to for to, _ in mailbox.mails] == [["erp@example.com"], ["ops@example.com"]]
    assert mailbox.mails[1][1]["Subject"] == "1 application regressed: orders"
    assert mailbox.mails[0][1]["Subject"].startswith("1 regressed: By 2027-02-01: ")
    [text] = texts
    assert "&lt;!channel&gt;" in text and "<" not in text


def test_a_mail_server_that_refuses_is_tried_again_by_the_next_run(place, mailbox, capsys):
    of_day(place, 21, made.verdict("a", "breaks", fix=FIX, **BROKEN))
    mailbox.answer = "451 try later"
    assert notify(place, "2026-11-23", "--send") == 1
    assert "not sent: erp@example.com: " in capsys.readouterr().err
    mailbox.answer = "250 OK"
    assert notify(place, "2026-11-23", "--send") == 0 and len(mailbox.mails) == 1


def test_a_failed_run_is_told_once(place, mailbox):
    for run in ("daily of 2026-11-21", "daily of 2026-11-21", "daily of 2026-11-22"):
        assert notify(place, "2026-11-23", "--failed", run, "--reason", "east: decode failed", "--send") == 0
    assert [mail["Subject"] for _, mail in mailbox.mails] == [
        "daily of 2026-11-21 failed",
        "daily of 2026-11-22 failed",
    ]
    assert "east: decode failed" in mailbox.mails[0][1].get_body(("plain",)).get_content()


def test_a_day_that_is_not_published_in_time():
    settings = Settings(None, "https://chat.example.com", ("ops@example.com",), published_by=dt.time(6))
    at = dt.datetime(2026, 11, 23, 6, 0, tzinfo=dt.UTC)
    clusters = [("east", dt.date(2026, 11, 21)), ("west", dt.date(2026, 11, 22))]
    told = list(late_days(clusters, at, settings))
    assert [(about, notice.key) for about, notice in told] == [
        ("late:east:ops@example.com", "2026-11-22"),
        ("late:east:chat", "2026-11-22"),
    ]
    assert told[0][1].subject == "east: 2026-11-22 is not published"
    assert not list(late_days(clusters, at - dt.timedelta(minutes=1), settings))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1: the file is empty"),
        ("operators: [ops]", "line 1: operators: 'ops' is not an e-mail address"),
        ("operators: [ops@example.com]", "nobody can be told: write `mail`"),
        ("mail: {server: x, from: y}", "line 1: mail: from 'y' is not an e-mail address"),
        ("mail: {server: 'x:y', from: a@b.de}", "'y' is not a port"),
        ("mail: {server: x, from: a@b.de, user: u}", "set CLIENT_TELEMETRY_SMTP_PASSWORD"),
        ("mail: {server: x, from: a@b.de, password: p}", "unknown key 'password'"),
        ("mail: {server: x, from: a@b.de, security: ssl}", "'ssl' is not one of starttls, tls, none"),
        ("mail: {server: x, from: a@b.de}\nowners: maybe", "line 2: owners: 'maybe' is not yes or no"),
        ("mail: {server: x, from: a@b.de}\npublished_by: 25", "line 2: published_by: '25' is not a time"),
        ("mail: {server: x, from: a@b.de}\ndeadline_days: [a]", "write numbers of days"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path, text, words):
    file = tmp_path / "notices.yaml"
    file.write_text(text)
    with pytest.raises(BadNotices) as raised:
        read_settings(file, {})
    assert words in str(raised.value) and str(file) in str(raised.value)


def test_a_password_goes_to_no_server_without_encryption(tmp_path):
    (tmp_path / "n.yaml").write_text("mail: {server: x, from: a@b.de, user: u, security: none}")
    with pytest.raises(BadNotices, match="not sent without encryption"):
        read_settings(tmp_path / "n.yaml", {"CLIENT_TELEMETRY_SMTP_PASSWORD": "p"})


def test_a_file_of_sent_notices_that_is_something_else(place, capsys):
    (place / "notices_sent.json").write_text("[]")
    assert notify(place, "2026-11-23", "--send") == 2
    assert "is not a file of sent notices" in capsys.readouterr().err


def test_the_example_in_the_docs_can_be_used(tmp_path):
    import re
    from pathlib import Path

    page = (Path(__file__).parents[3] / "docs/notices.md").read_text()
    (tmp_path / "notices.yaml").write_text(re.search(r"```yaml\n(.*?)```", page, re.S)[1])
    found = read_settings(tmp_path / "notices.yaml", {"CLIENT_TELEMETRY_SMTP_PASSWORD": "p"})
    assert found.owners and found.published_by == dt.time(6) and found.mail.port == 587
