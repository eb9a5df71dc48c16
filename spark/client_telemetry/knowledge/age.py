"""How old the knowledge base is, in words: on every report, in `client-telemetry --version` and `knowledge show`."""

import datetime as dt

from client_telemetry import knowledge

OLD_DAYS = 60
"""Kafka published 12 releases in the 18 months to September 2026, one every seven weeks."""


def sentence(version: str, built_on: dt.date, today: dt.date) -> str:
    """`Knowledge base 3f2a9c01b7de of 2026-11-20, 8 days old`."""
    return f"Knowledge base {version} of {built_on}, {_age(built_on, today)}"


def warning(built_on: dt.date, today: dt.date) -> str:
    """One sentence if it is older than OLD_DAYS, else empty."""
    days = (today - built_on).days
    if days <= OLD_DAYS:
        return ""
    return (
        f"The knowledge base is {days} days old: releases and issues that were published since then are not known. "
        "Update it: client-telemetry knowledge update"
    )


def in_use(today: dt.date | None = None) -> str:
    """The sentence about the knowledge base of this process."""
    return sentence(knowledge.version(), knowledge.built_at().date(), today or dt.datetime.now(dt.UTC).date())


def _age(built_on: dt.date, today: dt.date) -> str:
    days = max(0, (today - built_on).days)
    return "from today" if not days else f"{days} day{'s' * (days != 1)} old"
