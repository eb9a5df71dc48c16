"""index.html of a campaign: self-contained, loads nothing, works without JavaScript. Markup is in campaign.html."""

import re
from collections.abc import Collection
from functools import cache
from typing import Final

from jinja2 import Template
from markupsafe import Markup, escape

from client_telemetry.campaign.gate import WORDS
from client_telemetry.campaign.pace import LEAST_DAYS
from client_telemetry.campaign.vocabulary import STATES
from client_telemetry.reports.campaign.document import clusters_left
from client_telemetry.reports.campaign.drawing import burn_down
from client_telemetry.reports.campaign.messages import folder_of
from client_telemetry.reports.campaign.view import ApplicationRow, CampaignView, OwnerRow
from client_telemetry.reports.markup import page_parts, template, text_file
from client_telemetry.reports.names import anchor

ROWS_SHOWN: Final = 500
FORMS: Final = {"html": "mail", "txt": "chat", "md": "ticket"}
"""Of the message to an owner: ending of the file, and what it is for."""
FILES: Final = ("campaign.json", "campaign.md", "states.csv", "gate.json", "metrics.prom")
"""Beside the page."""
_DAY: Final = re.compile(r"\b\d{4}-\d\d-\d\d\b")


def campaign_page(view: CampaignView, messages: Collection[str]) -> str:
    """`messages`: paths of the messages to owners."""
    return page_template().render(
        view=view, messages=messages, **page_parts(text_file("campaign.css", __package__), has_filters=False)
    )


def _whole_days(text: str) -> Markup:
    """No line ends within a day."""
    return Markup(_DAY.sub(r"<time>\g<0></time>", str(escape(text))))


def _anchor(application: ApplicationRow) -> str:
    return anchor("application", application.principal, application.owner, application.name)


def _message(owner: OwnerRow, form: str = "md") -> str:
    return f"{folder_of(owner.owner or '')}/message.{form}"


@cache
def page_template() -> Template:
    filters: dict[str, object] = {
        "clusters_left": clusters_left,
        "anchor_of": _anchor,
        "message_of": _message,
        "whole_days": _whole_days,
    }
    values: dict[str, object] = {
        "ROWS_SHOWN": ROWS_SHOWN,
        "FORMS": FORMS,
        "LEAST_DAYS": LEAST_DAYS,
        "FILES": FILES,
        "STATES": STATES,
        "WORDS": WORDS,
        "burn_down": burn_down,
    }
    return template("campaign.html", __package__, filters, values)
