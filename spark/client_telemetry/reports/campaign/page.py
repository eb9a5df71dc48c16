"""index.html of a campaign: self-contained, loads nothing, works without JavaScript. Markup is in campaign.html."""

from collections.abc import Collection
from functools import cache
from typing import Final

from jinja2 import Template

from client_telemetry.campaign.gate import WORDS
from client_telemetry.campaign.pace import LEAST_DAYS
from client_telemetry.campaign.vocabulary import STATES
from client_telemetry.reports.campaign.document import clusters_left
from client_telemetry.reports.campaign.drawing import burn_down
from client_telemetry.reports.campaign.messages import path_of
from client_telemetry.reports.campaign.view import RECENT_DAYS, ApplicationRow, CampaignView, OwnerRow
from client_telemetry.reports.markup import page_parts, template, text_file
from client_telemetry.reports.names import anchor

ROWS_SHOWN: Final = 500
FILES: Final = ("campaign.json", "campaign.md", "states.csv", "gate.json", "metrics.prom")
"""Beside the page."""


def campaign_page(view: CampaignView, messages: Collection[str]) -> str:
    """`messages`: paths of the messages to owners."""
    return _template().render(
        view=view, messages=messages, **page_parts(text_file("campaign.css", __package__), has_filters=False)
    )


def _anchor(application: ApplicationRow) -> str:
    return anchor("application", application.principal, application.owner, application.name)


def _message(owner: OwnerRow) -> str:
    return path_of(owner.owner or "")


@cache
def _template() -> Template:
    filters: dict[str, object] = {
        "clusters_left": clusters_left,
        "anchor_of": _anchor,
        "message_of": _message,
    }
    values: dict[str, object] = {
        "ROWS_SHOWN": ROWS_SHOWN,
        "RECENT_DAYS": RECENT_DAYS,
        "LEAST_DAYS": LEAST_DAYS,
        "FILES": FILES,
        "STATES": STATES,
        "WORDS": WORDS,
        "burn_down": burn_down,
    }
    return template("campaign.html", __package__, filters, values)
