"""The published files of a campaign: the reports that it is about, what earlier runs kept of them, and its page."""

import datetime as dt

from client_telemetry.campaign.continued import Standing, stand
from client_telemetry.campaign.corrections import NotAHistory
from client_telemetry.campaign.gate import Decision
from client_telemetry.campaign.plan import Campaign
from client_telemetry.campaign.report_files import Folder, LocalFolder, report_files
from client_telemetry.formats.locations import absolute_url, is_local, local_path
from client_telemetry.formats.report_file import NotAReport
from client_telemetry.pipeline.place import published_place
from client_telemetry.pipeline.published_folder import StoredFolder
from client_telemetry.pipeline.stage import BadArguments
from client_telemetry.reports.campaign.kept_file import keep, read_kept_of
from client_telemetry.reports.campaign.publish import FOLDER, before, publish
from client_telemetry.reports.campaign.view import view
from client_telemetry.reports.folder import PAGE
from client_telemetry.reports.names import folder_name


def standing_of(publish: str, campaign: Campaign, until: dt.date) -> Standing:
    """By the published reports of its clusters; none if none is published."""
    folder: Folder
    if is_local(publish):
        root = local_path(absolute_url(publish))
        if not root.is_dir():
            return Standing((), ())
        folder = LocalFolder(root)
    else:
        folder = StoredFolder(absolute_url(publish))
    try:
        return stand(campaign, report_files(folder, campaign), until, read_kept_of(campaign.name, folder))
    except NotAReport as error:
        raise BadArguments(str(error)) from None


def publish_page(
    location: str, campaign: Campaign, standing: Standing, decision: Decision, until: dt.date
) -> tuple[str, str]:
    """Where the page is, and its first sentence."""
    folder = f"{FOLDER}/{folder_name(campaign.name)}"
    with published_place(location, folder, folder) as place:
        try:
            published = before(campaign.name, place.root)
        except NotAHistory as error:
            raise BadArguments(str(error)) from None
        shown = view(campaign, standing.changes, standing.reports, decision, until, published)
        page = publish(shown, place.root)
        keep(LocalFolder(place.root), campaign.name, standing.kept)
        return place.shown(page / PAGE), shown.sentence
