"""index.html: the answer as one self-contained page. Markup is in page.html."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Template

from client_telemetry.reports.fleet.page import short_metric
from client_telemetry.reports.markup import page_parts, template
from client_telemetry.reports.subscription.content import size

CLIENTS_SHOWN = 500
IDS_SHOWN = 12
COMMANDS = (
    ("Apply", "apply"),
    ("The same with kafka-configs.sh", "apply_with_configs"),
    ("Look", "look"),
    ("Take back", "take_back"),
    ("ACLs that they need", "acls"),
)


def check_page(found: Mapping[str, Any]) -> str:
    groups: dict[tuple[str, str, str], dict[str, list[Any]]] = {}
    for each in found["standard_metrics"]:
        key = (each["client_type"], each["library"], each["version"])
        groups.setdefault(key, defaultdict(list))[each["state"]].append(each)
    return _template().render(found=found, groups=groups, **page_parts())


@cache
def _template() -> Template:
    values = {"CLIENTS_SHOWN": CLIENTS_SHOWN, "IDS_SHOWN": IDS_SHOWN, "COMMANDS": COMMANDS}
    return template("page.html", __package__, {"size": size, "short_metric": short_metric}, values)
