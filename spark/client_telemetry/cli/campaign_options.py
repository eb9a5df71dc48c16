"""Options and errors of the subcommands about campaigns. Needs no package, as campaign_input.py does, to read YAML."""

import argparse
import os
import sys
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


def refuse(subcommand: str, args: argparse.Namespace, error: Exception) -> int:
    """One line on standard error; exit code 2."""
    if isinstance(error, BadCampaign):
        text = f"{args.campaigns}: {error}"
    elif isinstance(error, OSError):
        text = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        if error.filename == str(args.campaigns):
            text += ": name the campaigns file by --campaigns (docs/campaigns.md)"
    else:
        text = str(error)
    print(f"client-telemetry {subcommand}: {text}", file=sys.stderr)
    return 2
