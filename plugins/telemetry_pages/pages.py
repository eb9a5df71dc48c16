"""Templates to HTML. Every value is escaped; looks are those of the published pages, from the one stylesheet."""

import base64
import hashlib
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from include.clusters import CHECKOUT
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from telemetry_pages.light import shown
from telemetry_pages.quality_advice import advice

TEMPLATES = Path(__file__).parent / "templates"
STYLESHEET = CHECKOUT / "spark" / "client_telemetry" / "reports" / "page.css"
SCRIPTS = ("place.js", "ask.js", "runs.js")
HOURS = range(24)
MOST_BROKERS = 8
"""That are listed by their ids."""
KINDS = {"complete": "whole", "no_manifest": "none"}
"""How an hour's completeness is drawn; any other is seen partly."""


def page(template: str, **values: Any) -> str:
    return (
        _environment()
        .get_template(template)
        .render(css=_css(), scripts={name: _script(name) for name in SCRIPTS}, **values)
    )


def policy() -> str:
    """Nothing but this style, these scripts, Airflow's own interface, and frames with published pages."""
    scripts = " ".join(f"'{_digest(_script(name))}'" for name in SCRIPTS)
    return (
        f"default-src 'none'; style-src '{_digest(_css())}'; script-src {scripts}; connect-src 'self'; "
        "frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
    )


@cache
def _css() -> Markup:
    own = (TEMPLATES / "pages.css").read_text(encoding="utf-8")
    return Markup(STYLESHEET.read_text(encoding="utf-8") + own)


@cache
def _script(name: str) -> Markup:
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def broker_hours(day: dict[str, Any]) -> list[tuple[int, list[tuple[int, str, str]]]]:
    """Of a day's summary: each broker with its 24 hours as (hour, how it is drawn, what is known)."""
    hours: dict[int, dict[int, list[str]]] = {}
    for run in day["coverage"]["runs"]:
        first, end = (int(run[name][11:13]) for name in ("start", "end"))
        end = end if run["end"][:10] == day["day"] else 24
        for hour in range(first, end):
            hours.setdefault(run["broker_id"], {})[hour] = run["completeness"]
    nothing = ["no_manifest"]
    return [
        (broker, [_cell(hour, known.get(hour, nothing)) for hour in HOURS])
        for broker, known in sorted(hours.items())
    ]


def _cell(hour: int, completeness: list[str]) -> tuple[int, str, str]:
    kind = KINDS.get(completeness[0], "partly") if len(completeness) == 1 else "partly"
    return hour, kind, ", ".join(completeness).replace("_", " ")


def points(values: list[int]) -> str:
    """Of a polyline, 60 by 16: oldest value left, the largest at the top.

    >>> points([0, 5, 10])
    '1.0,15.0 30.0,8.0 59.0,1.0'
    >>> points([14, 14])  # in the middle: at the bottom it would look like an empty field
    '1.0,8.0 59.0,8.0'
    """
    low, high = min(values), max(values)
    if low == high:
        low, high = low - 1, high + 1
    width, height = 58 / max(len(values) - 1, 1), 14 / max(high - low, 1)
    return " ".join(
        f"{1 + number * width:.1f},{15 - (value - low) * height:.1f}" for number, value in enumerate(values)
    )


def age(day: str) -> int:
    """Days from a UTC day, `YYYY-MM-DD`, until today."""
    return (datetime.now(UTC).date() - date.fromisoformat(day)).days


def age_in_words(day: str) -> str:
    try:
        days = age(day)
    except ValueError:
        return ""
    return {0: "today", 1: "yesterday"}.get(days, f"{days} days ago")


def days_until(day: str) -> str:
    """Of a UTC day, `YYYY-MM-DD`; empty for what is none."""
    try:
        days = -age(day)
    except ValueError:
        return ""
    if days < 0:
        return age_in_words(day)
    return {0: "today", 1: "tomorrow"}.get(days, f"in {days:,} days")


def weekday(day: str) -> str:
    """Of a UTC day, `YYYY-MM-DD`; empty for what is none.

    >>> weekday("2026-11-17")
    'Tue'
    """
    try:
        return f"{date.fromisoformat(day):%a}"
    except ValueError:
        return ""


def breaking(counts: dict[str, int]) -> int:
    return sum(number for outcome, number in counts.items() if outcome.startswith("breaks"))


def applications(counts: dict[str, int], which: str = "") -> int:
    """Of a day's summary; days that were published before it counted applications have the clients.

    >>> applications({"clients": 53, "applications": 2}), applications({"clients_without_owner": 3}, "without_owner")
    (2, 3)
    """
    ending = f"_{which}" if which else ""
    return counts.get(f"applications{ending}", counts.get(f"clients{ending}", 0))


def brokers(day: dict[str, Any]) -> str:
    """What each broker runs at the end of a day, from its summary; of days of an older version the oldest release.

    >>> brokers({"releases": [{"release": "3.9.1", "broker_ids": [1, 2]}, {"release": "4.0.0", "broker_ids": [3]}]})
    'Brokers 1, 2 run 3.9.1, broker 3 runs 4.0.0'
    >>> brokers({"oldest_release": "3.9.1"}), brokers({})
    ('Brokers run 3.9.1 or later', 'Release of the brokers not known')
    """
    parts = [_run(each["broker_ids"], each["release"]) for each in day.get("releases", ())]
    if not parts:
        oldest = day.get("oldest_release")
        return f"Brokers run {oldest} or later" if oldest else "Release of the brokers not known"
    words = ", ".join(parts)
    return words[0].upper() + words[1:]


def _run(ids: list[int], release: str) -> str:
    if len(ids) == 1:
        return f"broker {ids[0]} runs {release}"
    listed = f"brokers {', '.join(map(str, ids))}" if len(ids) <= MOST_BROKERS else f"{len(ids):,} brokers"
    return f"{listed} run {release}"


def client_query(client: dict[str, Any]) -> str:
    """What names a client in the address of its page (client_day.py)."""
    named = {} if client["client_id"] is None else {"id": client["client_id"]}
    return urlencode({**named, "principal": client["principal"] or ""})


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": lambda value: f"{value:,}",
        "segment": lambda text: quote(text, safe=""),
        "minute": lambda text: text[:16].replace("T", " "),
        "broker_hours": broker_hours,
        "client_query": client_query,
        "points": points,
        "age": age,
        "age_in_words": age_in_words,
        "days_until": days_until,
        "visible": shown,
        "breaking": breaking,
        "weekday": weekday,
        "applications": applications,
        "advice": advice,
    }
    return environment
