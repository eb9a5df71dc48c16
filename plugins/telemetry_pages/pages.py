"""Templates to HTML. Every value is escaped; looks are those of the published pages, from the one stylesheet."""

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from include.clusters import CHECKOUT
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"
STYLESHEET = CHECKOUT / "spark" / "client_telemetry" / "reports" / "page.css"
HOURS = range(24)
KINDS = {"complete": "whole", "no_manifest": "none"}
"""How an hour's completeness is drawn; any other is seen partly."""


def page(template: str, **values: Any) -> str:
    return (
        _environment()
        .get_template(template)
        .render(css=_css(), script=_script("ask.js"), frame_script=_script("frame.js"), **values)
    )


def policy() -> str:
    """Nothing but this style, the two scripts, Airflow's own interface, and frames with published pages."""
    scripts = " ".join(f"'{_digest(_script(name))}'" for name in ("ask.js", "frame.js"))
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
    }
    return environment
