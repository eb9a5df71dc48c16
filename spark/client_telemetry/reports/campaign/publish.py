"""Puts a campaign's files where people find them: <root>/upgrade_campaign/<name>/."""

from pathlib import Path
from typing import Final

from client_telemetry.campaign.gate import decision_document
from client_telemetry.reports.campaign.document import (
    campaign_json,
    campaign_markdown,
    open_metrics,
    states_csv,
)
from client_telemetry.reports.campaign.page import campaign_page
from client_telemetry.reports.campaign.view import CampaignView
from client_telemetry.reports.folder import replace_folder
from client_telemetry.reports.json_text import json_text
from client_telemetry.reports.names import folder_name

FOLDER: Final = "upgrade_campaign"
PAGE: Final = "index.html"


def publish(view: CampaignView, root: Path) -> Path:
    """Writes the folder below `root` and returns it: all of its files or none; the one from before is replaced."""
    folder = root / FOLDER / folder_name(view.campaign.name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    replace_folder(folder, files(view).items())
    return folder


def files(view: CampaignView) -> dict[str, str]:
    """Name within the folder to content."""
    return {
        PAGE: campaign_page(view),
        "campaign.json": campaign_json(view),
        "campaign.md": campaign_markdown(view),
        "states.csv": states_csv(view),
        "gate.json": json_text(decision_document(view.campaign, view.decision, view.day)) + "\n",
        "metrics.prom": open_metrics(view),
    }
