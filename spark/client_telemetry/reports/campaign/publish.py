"""Puts a campaign's files where people find them: <root>/upgrade_campaign/<name>/."""

import json
from pathlib import Path
from typing import Final

from client_telemetry.campaign.corrections import NotAHistory, Published, published
from client_telemetry.campaign.gate import decision_document
from client_telemetry.reports.campaign.document import (
    campaign_json,
    campaign_markdown,
    open_metrics,
    states_csv,
    summary_json,
)
from client_telemetry.reports.campaign.messages import messages
from client_telemetry.reports.campaign.page import campaign_page
from client_telemetry.reports.campaign.view import CampaignView
from client_telemetry.reports.folder import PAGE, replace_folder
from client_telemetry.reports.json_text import json_text
from client_telemetry.reports.names import folder_name
from client_telemetry.reports.open_metrics import publish_numbers

FOLDER: Final = "upgrade_campaign"
HISTORY: Final = "campaign.json"


def folder_of(campaign: str, root: Path) -> Path:
    return root / FOLDER / folder_name(campaign)


def before(campaign: str, root: Path) -> Published | None:
    """What is published there; None: nothing. Raises NotAHistory, with the file."""
    file = folder_of(campaign, root) / HISTORY
    try:
        return published(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except ValueError:
        raise NotAHistory(
            f"{file}: not the campaign.json of a campaign: remove it, and its corrections are lost"
        ) from None


def publish(view: CampaignView, root: Path) -> Path:
    """Writes the folder below `root` and returns it: all of its files or none; the one from before is replaced."""
    folder = folder_of(view.campaign.name, root)
    folder.parent.mkdir(parents=True, exist_ok=True)
    replace_folder(folder, files(view).items())
    publish_numbers(root, "campaign", view.campaign.name, open_metrics(view))
    return folder


def files(view: CampaignView) -> dict[str, str]:
    """Name within the folder to content."""
    to_owners = messages(view)
    return {
        PAGE: campaign_page(view, to_owners.keys()),
        HISTORY: campaign_json(view),
        "summary.json": summary_json(view),
        "campaign.md": campaign_markdown(view),
        "states.csv": states_csv(view),
        "gate.json": json_text(decision_document(view.campaign, view.decision, view.day)) + "\n",
        "metrics.prom": open_metrics(view),
        **to_owners,
    }
