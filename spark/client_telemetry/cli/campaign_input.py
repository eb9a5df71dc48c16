"""What the subcommands about campaigns read: the campaigns file, and published upgrade reports."""

import argparse
import datetime as dt
import sys
from pathlib import Path
from typing import NamedTuple

from client_telemetry import knowledge
from client_telemetry.campaign.continued import Standing, stand
from client_telemetry.campaign.gate import Decision, Knowledge, decide
from client_telemetry.campaign.plan import BadCampaign, Campaign
from client_telemetry.campaign.plan_file import beside, named, read_campaigns
from client_telemetry.campaign.report_files import others_in, report_files
from client_telemetry.cli.campaign_options import published_folder
from client_telemetry.knowledge import releases
from client_telemetry.reports.campaign.kept_file import read_kept_of


class Input(NamedTuple):
    """`day`: up to which states are computed, UTC."""

    campaign: Campaign
    standing: Standing
    decision: Decision
    day: dt.date


def read_input(args: argparse.Namespace, name: str) -> Input:
    """Raises BadCampaign or NotAReport, with the file in the message, and OSError."""
    campaign = named(campaigns(args.campaigns), name)
    until = args.day or dt.datetime.now(dt.UTC).date()
    folder = published_folder(args.reports)
    standing = stand(campaign, report_files(folder, campaign), until, read_kept_of(campaign.name, folder))
    if not standing.reports and (others := others_in(folder, campaign)):
        about = f"{', '.join(campaign.clusters)} to {campaign.target}"
        print(f"no report in {args.reports} is about {about}; there are {others}", file=sys.stderr)
    facts = Knowledge(knowledge.version(), releases.newest_day())
    decision = decide(campaign, standing.changes, standing.reports, facts, until)
    return Input(campaign, standing, decision, until)


def campaigns(file: Path) -> tuple[Campaign, ...]:
    return read_campaigns(campaigns_text(file), beside(str(file)))


def campaigns_text(file: Path) -> str:
    """Raises BadCampaign for a file that is not UTF-8, and OSError."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise BadCampaign("the file is not UTF-8") from None
