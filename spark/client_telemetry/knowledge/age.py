"""How old the knowledge base is, in words: on every report, in `client-telemetry --version` and `knowledge show`."""

import datetime as dt

from client_telemetry import knowledge

OLD_DAYS = 60
"""Kafka published 12 releases in the 18 months to September 2026, one every seven weeks."""


def sentence(version: str, built_at: dt.datetime | None, at: dt.datetime, gaps: str | None = None) -> str:
    """`Knowledge base 3f2a9c01b7de of 2026-11-20, 8 days old`, and what it does not know. `built_at`: None if a report did
    not record it; `at`: when the report was made.
    """
    age = ""
    if built_at:
        days = max(0, (at.date() - built_at.date()).days)
        old = f"{days} day{'s' * (days != 1)}" if days else "less than a day"
        age = f" of {built_at:%Y-%m-%d}, {old} old"
    return f"Knowledge base {version}{age}{f'; {gaps}' if gaps else ''}"


def warning(built_at: dt.datetime | None, at: dt.datetime) -> str:
    """One sentence if it is older than OLD_DAYS, else empty."""
    days = (at.date() - built_at.date()).days if built_at else 0
    if days <= OLD_DAYS:
        return ""
    return (
        f"The knowledge base is {days} days old: releases and issues that were published since then are not known. "
        "Update it: client-telemetry knowledge update"
    )


def paragraph(version: str, built_at: dt.datetime | None, at: dt.datetime) -> str:
    """The sentence and the warning, each with its full stop."""
    return " ".join(f"{each}." for each in (sentence(version, built_at, at), warning(built_at, at)) if each)


def in_use() -> str:
    """The sentence about the knowledge base of this process."""
    return sentence(knowledge.version(), knowledge.built_at(), dt.datetime.now(dt.UTC))
