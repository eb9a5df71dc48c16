"""index.html: the answer as one self-contained page. Markup is in page.html."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Template

from client_telemetry.reports.fleet.page import short_metric
from client_telemetry.reports.markup import page_parts, template, text_file
from client_telemetry.reports.subscription.content import COMMANDS, size

CLIENTS_SHOWN = 500
IDS_SHOWN = 12
FILES = ("clients.csv", "instances.csv", "report.md", "report.json")
"""Beside the page."""
_DIFFERS = 0.1


def check_page(found: Mapping[str, Any]) -> str:
    groups: dict[tuple[str, str, str], dict[str, list[object]]] = {}
    for each in found["standard_metrics"]:
        key = (each["client_type"], each["library"], each["version"])
        groups.setdefault(key, defaultdict(list))[each["state"]].append(each)
    seen, expected = (found["totals"][name]["pushes"] for name in ("observed", "before"))
    return page_template().render(
        found=found,
        groups=groups,
        interval_changed=abs(seen - expected) > _DIFFERS * max(seen, expected),
        **page_parts(text_file("subscription.css", __package__), has_filters=False),
    )


def let_out(client: Mapping[str, Any]) -> list[tuple[tuple[str, ...], list[str]]]:
    """Selectors, and the subscriptions that they let the client out of."""
    found: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, selectors in client["let_out_by"].items():
        found[tuple(selectors)].append(name)
    return list(found.items())


@cache
def page_template() -> Template:
    filters: dict[str, object] = {"size": size, "short_metric": short_metric, "let_out": let_out}
    values: dict[str, object] = {
        "CLIENTS_SHOWN": CLIENTS_SHOWN,
        "IDS_SHOWN": IDS_SHOWN,
        "COMMANDS": COMMANDS,
        "FILES": FILES,
    }
    return template("page.html", __package__, filters, values)
