"""What the pages are made of: their stylesheet, script and table parts, the policy that admits nothing else, and
client-supplied text as markup. What a page says is in its template: page.html, fleet/fleet.html."""

import base64
import hashlib
import re
from functools import cache
from importlib import resources

from jinja2 import DictLoader, Environment, StrictUndefined, Template
from markupsafe import Markup, escape

from client_telemetry.console.counted import counted
from client_telemetry.knowledge import kip511
from client_telemetry.reports import charts, wording
from client_telemetry.reports.client_strings import client_label, pieces, shortened, shown, without_invisible
from client_telemetry.reports.cluster_states import release
from client_telemetry.reports.coverage import COMPLETENESS
from client_telemetry.tables import quality_findings as findings

RUNS_SHOWN = 200
"""Longest list of single facts."""


_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(\.[\w-]+)+")


@cache
def text_file(name: str, package: str = __package__) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def page_parts(more_css: str = "", *, has_filters: bool = True) -> dict[str, Markup | str]:
    """Stylesheet (with what a page adds to it), script and the content security policy that admits these two and loads
    nothing."""
    css, script = text_file("page.css") + more_css, text_file("frame.js")
    if has_filters:
        script += text_file("page.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(css)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return {"css": Markup(css), "script": Markup(script), "policy": policy}


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def marked(text: str | None, limit: int | None = None) -> Markup:
    """Client-supplied text: isolated from the direction of its surroundings, stand-ins for invisible characters
    set apart, the whole of it in the tooltip where it is cut."""
    if not text:
        return escape(client_label(text))
    short = text if limit is None else shortened(text, limit)
    inner = Markup("").join(
        Markup("<i>{}</i>").format(piece) if stands_in else escape(piece)
        for piece, stands_in in pieces(short)
    )
    if short == text:
        return inner if text.isascii() else Markup("<bdi>{}</bdi>").format(inner)
    return Markup('<bdi title="{}">{}</bdi>').format(shown(text), inner)


def is_address(contact: str) -> bool:
    """Whether a contact is an e-mail address, to which a mailto: link can lead."""
    return _ADDRESS.fullmatch(contact) is not None


def template(
    name: str, package: str, filters: dict[str, object], values: dict[str, object], *parts: str
) -> Template:
    """The template of a page, with the parts that pages share (parts.html), with `parts`, filters and values of its own.
    Everything is escaped that is no markup."""
    environment = Environment(
        loader=DictLoader(
            {"parts.html": text_file("parts.html")}
            | {each: text_file(each, package) for each in (name, *parts)}
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.filters |= {
        "number": wording.number,
        "minute": wording.minute,
        "marked": marked,
        "counted": counted,
        "found": findings.found,
        "failed_check": findings.failed_check,
        "brokers": wording.brokers,
        "declared": kip511.declared,
        "registered": kip511.registered,
        "release": release,
        "id": id,
        "is_address": is_address,
        **filters,
    }
    environment.globals |= {
        "COMPLETENESS": COMPLETENESS,
        "NO_SOFTWARE": kip511.NO_SOFTWARE,
        "RUNS_SHOWN": RUNS_SHOWN,
        "coverage_strip": charts.coverage_strip,
        "patterns": charts.patterns,
        **values,
    }
    return environment.get_template(name)


def _visible(value: object) -> object:
    """Every value on its way into the page: whatever is no markup has its invisible characters shown."""
    return without_invisible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
