"""Options and errors of the subcommands about campaigns. Needs no package, as campaign_input.py does, to read YAML."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from client_telemetry.campaign.plan import BadCampaign
from client_telemetry.campaign.report_files import Folder, LocalFolder
from client_telemetry.console.arguments import Arguments, day
from client_telemetry.formats.locations import is_local, local_path
from client_telemetry.formats.report_file import NotAReport

CAMPAIGNS_VARIABLE: Final = "CLIENT_TELEMETRY_CAMPAIGNS"


def add_campaigns_file(parser: Arguments) -> None:
    parser.add_argument(
        "--campaigns",
        type=Path,
        metavar="FILE",
        default=Path(os.environ.get(CAMPAIGNS_VARIABLE) or "campaigns.yaml"),
        help=f"file of planned upgrades (docs/campaigns.md); default: {CAMPAIGNS_VARIABLE}, otherwise campaigns.yaml",
    )


def add_campaign(parser: Arguments) -> None:
    parser.add_argument("--campaign", metavar="NAME", help="a planned upgrade, instead of a report")


def add_reports(parser: Arguments) -> None:
    parser.add_argument(
        "--reports",
        metavar="FOLDER",
        default="var/published",
        help="folder of published upgrade reports, or its URL in an object store; default: %(default)s",
    )
    parser.add_argument("--day", type=day, help="UTC day up to which states are computed; default: today")


def published_folder(location: str) -> Folder:
    """Of `--reports`. Raises NotAReport."""
    if is_local(location):
        return LocalFolder(local_path(location))
    try:
        from client_telemetry.pipeline.published_folder import StoredFolder
    except ModuleNotFoundError:
        raise NotAReport(f"{location} needs pyarrow: install it, or copy the reports to a folder") from None
    return StoredFolder(location)


@contextmanager
def named_in_errors(campaigns: Path) -> Iterator[None]:
    """What is wrong with the campaigns file is said with its name. Raises BadCampaign."""
    try:
        yield
    except BadCampaign as error:
        raise BadCampaign(f"{campaigns}: {error}") from None
    except OSError as error:
        if error.filename != str(campaigns):
            raise
        advice = "name the campaigns file by --campaigns (docs/campaigns.md)"
        raise BadCampaign(f"{campaigns}: {error.strerror}: {advice}") from None
