"""Command-line parsing shared by the subcommands of `client-telemetry`: an error is one line."""

import argparse
import datetime as dt
import re
from typing import NoReturn
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


class Arguments(argparse.ArgumentParser):
    """Parser of a subcommand of `client-telemetry`."""

    def __init__(self, subcommand: str, documentation: str | None) -> None:
        """The first line of `documentation` becomes the description."""
        super().__init__(
            prog=f"client-telemetry {subcommand}", description=(documentation or "").partition("\n")[0]
        )

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def zone(text: str) -> dt.tzinfo:
    """UTC itself for its name: readers of logs take it for a zone that was not specified."""
    try:
        return dt.UTC if text == "UTC" else ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a known time zone: write it as Europe/Berlin or UTC"
        ) from None


def year(text: str) -> int:
    if not (text.isdecimal() and 2000 <= int(text) < 2100):
        raise argparse.ArgumentTypeError(f"{text!r} is not a year: write it as 2026")
    return int(text)


def day(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date: write it as 2026-11-21") from None


def exact_release(text: str) -> str:
    """Or the name of a measured target. Not whether it is known: a stage may read another knowledge base."""
    if not re.fullmatch(r"[0-9]+(\.[0-9]+){2,3}|[A-Za-z][A-Za-z0-9._-]*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not an exact release: write it as 4.0.1")
    return text


def days_of_evidence(text: str) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= 366):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of days from 1 to 366")
    return int(text)
