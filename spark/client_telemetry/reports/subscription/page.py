"""index.html: the answer as one self-contained page. Markup is in page.html."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from operator import itemgetter
from typing import Any

from jinja2 import Template

from client_telemetry.console.grouped import grouped
from client_telemetry.reports.fleet.page import short_metric
from client_telemetry.reports.markup import page_parts, template, text_file
from client_telemetry.reports.subscription.content import COMMANDS, size

CLIENTS_SHOWN = 500
IDS_SHOWN = 12
FILES = ("clients.csv", "instances.csv", "report.md", "report.json")
"""Beside the page."""
_DIFFERS = 0.1


def check_page(found: Mapping[str, Any]) -> str:
    by_library = grouped(found["standard_metrics"], itemgetter("client_type", "library", "version"))
    groups = {
        key: defaultdict(list, grouped(of_one, itemgetter("state"))) for key, of_one in by_library.items()
    }
    seen, expected = (found["totals"][name]["pushes"] for name in ("observed", "before"))
    return page_template().render(
        found=found,
        groups=groups,
        interval_changed=abs(seen - expected) > _DIFFERS * max(seen, expected),
        **page_parts(text_file("subscription.css", __package__), has_filters=False),
    )


def let_out(client: Mapping[str, Any]) -> list[tuple[tuple[str, ...], list[str]]]:
    """Selectors, and the subscriptions that they let the client out of."""
    let_out_by = client["let_out_by"]
    return list(grouped(let_out_by, lambda name: tuple(let_out_by[name])).items())


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
