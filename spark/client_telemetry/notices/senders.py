"""Sends a notice: a mail by SMTP, a text to a chat by HTTP."""

import json
import smtplib
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid
from http.client import HTTPException
from typing import Final

from client_telemetry.notices.settings import STARTTLS, TLS, MailServer, Settings
from client_telemetry.reports.client_strings import without_invisible
from client_telemetry.trackers.http import without_redirects

_TIMEOUT_S: Final = 30
_LONGEST_CHAT: Final = 3_500
"""Characters: Slack cuts a text at 40,000, Teams at 28 KB, Mattermost at 16,383; nobody reads more."""

_POLICY: Final = SMTP.clone(max_line_length=500)
"""Python folds a subject longer than 78 characters before its first word, which some programs show as an empty line; RFC 5322 allows 998."""


class NotSent(Exception):
    """Who was to be told, and why that failed; one line."""


@dataclass(frozen=True)
class Notice:
    """`key`: what it says, so that it is sent once. `to`: an e-mail address; empty = the chat."""

    key: str
    to: str
    subject: str
    text: str
    html: str = ""


def send(notice: Notice, settings: Settings) -> None:
    """Raises NotSent."""
    try:
        if notice.to:
            _mail(notice, settings.mail)
        else:
            _chat(notice, settings.webhook)
    except urllib.error.HTTPError as error:
        raise NotSent(f"the chat answered {error.code}") from None
    except (OSError, HTTPException, smtplib.SMTPException) as error:
        reason = getattr(error, "reason", None) or error
        words = " ".join(without_invisible(str(reason)).split())
        raise NotSent(f"{notice.to or 'the chat'}: {words or type(error).__name__}") from None


def _mail(notice: Notice, server: MailServer | None) -> None:
    if server is None:
        raise NotSent(f"{notice.to}: the notices file has no `mail`")
    message = EmailMessage(policy=_POLICY)
    message["From"], message["To"] = server.sender, notice.to
    message["Subject"] = " ".join(without_invisible(notice.subject).split())
    message["Date"], message["Message-ID"] = (
        formatdate(usegmt=True),
        make_msgid(domain=server.sender.partition("@")[2]),
    )
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no out-of-office answers
    message.set_content(notice.text)
    if notice.html:
        message.add_alternative(notice.html, subtype="html")
    context = ssl.create_default_context()
    with (
        smtplib.SMTP_SSL(server.host, server.port, timeout=_TIMEOUT_S, context=context)
        if server.security == TLS
        else smtplib.SMTP(server.host, server.port, timeout=_TIMEOUT_S)
    ) as connection:
        if server.security == STARTTLS:
            connection.starttls(context=context)
        if server.user:
            connection.login(server.user, server.password)
        connection.send_message(message)


def _chat(notice: Notice, webhook: str) -> None:
    if not webhook:
        raise NotSent("the chat has no address")
    text = f"{notice.subject}\n{notice.text}"[:_LONGEST_CHAT]
    # Slack's three control characters (docs.slack.dev, Formatting message text): with them escaped, no text is a mention or a link.
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    data = json.dumps({"text": escaped}).encode()
    # The address of a webhook is its secret: it is called where it is, or not at all.
    request = urllib.request.Request(
        webhook, data, {"Content-Type": "application/json", "User-Agent": "client-telemetry"}, method="POST"
    )
    with without_redirects().open(request, timeout=_TIMEOUT_S) as answer:
        answer.read(1000)
