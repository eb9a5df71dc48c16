"""The published files of a campaign: the reports that it is about, what earlier runs kept of them, and its page."""

import datetime as dt
from dataclasses import dataclass

from pyarrow import fs

from client_telemetry.campaign.continued import Standing, stand
from client_telemetry.campaign.corrections import NotAHistory
from client_telemetry.campaign.gate import Decision
from client_telemetry.campaign.plan import Campaign
from client_telemetry.campaign.report_files import Folder, LocalFolder, report_files
from client_telemetry.formats.raw.file_system import file_system
from client_telemetry.formats.report_file import NAME, NotAReport
from client_telemetry.pipeline.place import is_local, local_path, published_place
from client_telemetry.pipeline.stage import BadArguments, absolute_url
from client_telemetry.reports.campaign.kept_file import keep, read_kept_of
from client_telemetry.reports.campaign.publish import FOLDER, PAGE, before, publish
from client_telemetry.reports.campaign.view import view
from client_telemetry.reports.names import folder_name

_REPORTS = "upgrade_impact"


@dataclass(frozen=True)
class StoredFolder:
    """The reports of some clusters in an object store."""

    location: str
    clusters: tuple[str, ...]

    def __str__(self) -> str:
        return self.location.partition("?")[0].rstrip("/")

    def names(self) -> list[str]:
        files, root = self._files
        found = []
        for cluster in self.clusters:
            below = f"{root}/{_REPORTS}/{folder_name(cluster)}"
            selector = fs.FileSelector(below, allow_not_found=True, recursive=True)
            found += [
                info.path.removeprefix(root).lstrip("/")
                for info in files.get_file_info(selector)
                if info.type == fs.FileType.File and info.base_name == NAME
            ]
        return sorted(name for name in found if "/." not in name)

    def read(self, name: str) -> bytes:
        files, root = self._files
        with files.open_input_stream(f"{root}/{name}", compression=None) as source:
            return bytes(source.read())

    @property
    def _files(self) -> tuple[fs.FileSystem, str]:
        files, root = file_system(absolute_url(self.location))
        return files, root.rstrip("/")


def standing_of(publish: str, campaign: Campaign, until: dt.date) -> Standing:
    """By the published reports of its clusters; none if none is published."""
    folder: Folder
    if is_local(publish):
        root = local_path(publish)
        if not root.is_dir():
            return Standing((), ())
        folder = LocalFolder(root)
    else:
        folder = StoredFolder(publish, campaign.clusters)
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
        keep(place.root, campaign.name, standing.kept)
        return place.shown(page / PAGE), shown.sentence
