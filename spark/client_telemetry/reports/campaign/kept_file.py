"""Where a campaign's states are kept for its next run: below the published folder, beside what people read."""

from client_telemetry.campaign.kept import Kept, kept_text, read_kept
from client_telemetry.campaign.report_files import Folder
from client_telemetry.reports.names import folder_name


def kept_name(campaign: str) -> str:
    """From the published folder."""
    return f"campaign_states/{folder_name(campaign)}.jsonl"


def read_kept_of(campaign: str, folder: Folder) -> Kept | None:
    """None if there is nothing that can be used."""
    try:
        return read_kept(folder.read(kept_name(campaign)).decode())
    except (OSError, ValueError):
        return None


def keep(folder: Folder, campaign: str, kept: Kept | None) -> None:
    """None: what is there stays."""
    if kept is not None:
        folder.write(kept_name(campaign), kept_text(kept).encode())
