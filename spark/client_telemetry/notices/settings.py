"""The file that turns notices on (docs/notices.md has its form). It has no secrets: these are in environment variables."""

import datetime as dt
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from client_telemetry import Unusable
from client_telemetry.campaign.plan import BadCampaign
from client_telemetry.campaign.yaml_entry import Entry, bad, document
from client_telemetry.reports.markup import is_address

PASSWORD_VARIABLE: Final = "CLIENT_TELEMETRY_SMTP_PASSWORD"
WEBHOOK_VARIABLE: Final = "CLIENT_TELEMETRY_CHAT_WEBHOOK"
STARTTLS, TLS, PLAIN = "starttls", "tls", "none"
_SECURITIES: Final = (STARTTLS, TLS, PLAIN)
_PORTS: Final = {STARTTLS: 587, TLS: 465, PLAIN: 25}
_KEYS: Final = ("mail", "operators", "owners", "deadline_days", "published_by")
_MAIL_KEYS: Final = ("server", "from", "security", "user")


class BadNotices(Unusable):
    """The file cannot be used; the message names it, the line, and what to write."""


@dataclass(frozen=True)
class MailServer:
    """`user`: empty = without login."""

    host: str
    port: int
    sender: str
    security: str
    user: str
    password: str


@dataclass(frozen=True)
class Settings:
    """`operators`: addresses that hear of failures and regressions. `owners`: whether owners get their digests. `deadline_days`: days
    before the deadline on which an owner is reminded. `published_by`: UTC time at which the day before has to be published; None = not
    looked at. `webhook`: address of a chat that takes `{"text": …}`; empty = none."""

    mail: MailServer | None
    webhook: str
    operators: tuple[str, ...] = ()
    owners: bool = False
    deadline_days: tuple[int, ...] = (14, 7, 1)
    published_by: dt.time | None = None


def read_settings(file: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """Raises BadNotices, and OSError."""
    try:
        return _settings(file.read_text(encoding="utf-8-sig"), environment)
    except UnicodeDecodeError:
        raise BadNotices(f"{file}: the file is not UTF-8") from None
    except (BadCampaign, BadNotices) as error:
        raise BadNotices(f"{file}: {error}") from None


def _settings(text: str, environment: Mapping[str, str]) -> Settings:
    root = document(text)
    if root is None:
        raise BadNotices("line 1: the file is empty: docs/notices.md has an example")
    top = Entry(root, "the file", _KEYS)
    operators = top.texts("operators") if "operators" in top else ()
    for address in operators:
        if not is_address(address):
            raise bad(top.value("operators"), f"operators: {address!r} is not an e-mail address")
    mail = _mail(top, environment) if "mail" in top else None
    webhook = environment.get(WEBHOOK_VARIABLE, "").strip()
    if webhook and not webhook.startswith(("https://", "http://")):
        raise BadNotices(f"{WEBHOOK_VARIABLE} is not an address that begins with https://")
    if mail is None and not webhook:
        raise BadNotices(
            f"nobody can be told: write `mail` with `server` and `from`, or set {WEBHOOK_VARIABLE}"
        )
    return Settings(
        mail=mail,
        webhook=webhook,
        operators=operators,
        owners=_yes(top, "owners"),
        deadline_days=_days(top),
        published_by=_time(top),
    )


def _mail(top: Entry, environment: Mapping[str, str]) -> MailServer:
    entry = Entry(top.value("mail"), "mail", _MAIL_KEYS)
    security = entry.text_or_none("security") or STARTTLS
    if security not in _SECURITIES:
        raise bad(
            entry.value("security"), f"mail: security {security!r} is not one of {', '.join(_SECURITIES)}"
        )
    host, _, port = entry.text("server").partition(":")
    if port and not (port.isdecimal() and 0 < int(port) < 65536):
        raise bad(
            entry.value("server"), f"mail: {port!r} is not a port: write `server: smtp.example.com:587`"
        )
    sender = entry.text("from")
    if not is_address(sender):
        raise bad(entry.value("from"), f"mail: from {sender!r} is not an e-mail address")
    user = entry.text_or_none("user") or ""
    password = environment.get(PASSWORD_VARIABLE, "")
    if user and not password:
        raise BadNotices(f"mail has a `user`: set {PASSWORD_VARIABLE} to the password")
    if user and security == PLAIN:
        raise bad(
            entry.value("security"), "mail: a password is not sent without encryption: use starttls or tls"
        )
    return MailServer(host, int(port or _PORTS[security]), sender, security, user, password)


def _yes(top: Entry, key: str) -> bool:
    text = top.text_or_none(key) or "no"
    if text.lower() not in ("yes", "no", "true", "false"):
        raise bad(top.value(key), f"{key}: {text!r} is not yes or no")
    return text.lower() in ("yes", "true")


def _days(top: Entry) -> tuple[int, ...]:
    if "deadline_days" not in top:
        return Settings.deadline_days
    texts = top.texts("deadline_days")
    if not all(text.isdecimal() and int(text) <= 366 for text in texts):
        raise bad(top.value("deadline_days"), "deadline_days: write numbers of days, as [14, 7, 1]")
    return tuple(sorted(map(int, texts), reverse=True))


def _time(top: Entry) -> dt.time | None:
    text = top.text_or_none("published_by")
    if text is None:
        return None
    try:
        return dt.datetime.strptime(text, "%H:%M").time()  # noqa: DTZ007
    except ValueError:
        raise bad(
            top.value("published_by"), f"published_by: {text!r} is not a time (UTC): write it as '06:00'"
        ) from None
