"""A planned upgrade until its day: show it, and say what is known about its applications.

    client-telemetry campaign show NAME [--reports var/published] [--out FOLDER]
    client-telemetry campaign acknowledge NAME --application orders --by ann@example.com [--text "we know"]
    client-telemetry campaign promise NAME --owner billing --by ann@example.com --until 2026-12-05
    client-telemetry campaign waive NAME --application legacy --by ann@example.com --until 2026-12-31 --text "is retired then"

`show` prints the campaign as Markdown; with --out, it writes page, JSON, Markdown, CSV and metrics below that folder. The others add
a statement to the campaigns file. Exit code 0, or 2 for a file or statement that cannot be used.
"""

import argparse
import datetime as dt
from collections.abc import Sequence
from pathlib import Path

from client_telemetry.campaign.plan import ACKNOWLEDGE, KINDS, WAIVE, BadCampaign, Statement, Target
from client_telemetry.campaign.plan_edit import add_statement
from client_telemetry.campaign.plan_file import TARGETS, beside
from client_telemetry.campaign.report_files import LocalFolder
from client_telemetry.cli.campaign_input import campaigns_text, read_input
from client_telemetry.cli.campaign_options import add_campaigns_file, add_reports, named_in_errors
from client_telemetry.console.arguments import Arguments, day
from client_telemetry.console.output_file import whole_file
from client_telemetry.console.progress import Progress
from client_telemetry.console.refusal import refuses

SHOW = "show"


@refuses("campaign")
def main(argv: Sequence[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    with named_in_errors(args.campaigns):
        return _show(args) if args.action == SHOW else _say(args)


def _parser() -> Arguments:
    parser = Arguments("campaign", __doc__)
    parser.add_argument("action", choices=(SHOW, *KINDS))
    parser.add_argument("name", metavar="NAME", help="name of the campaign")
    add_campaigns_file(parser)
    add_reports(parser)
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="show: write its files below this folder")
    for target in TARGETS:
        parser.add_argument(
            f"--{target.replace('_', '-')}", metavar=target.upper(), help="what a statement is about"
        )
    parser.add_argument("--by", metavar="WHO", help="who makes the statement")
    parser.add_argument(
        "--until", type=day, help=f"last UTC day of a promise or waiver, as 2026-12-05; none to {ACKNOWLEDGE}"
    )
    parser.add_argument("--text", default="", help=f"note; to {WAIVE}, the reason")
    return parser


def _show(args: argparse.Namespace) -> int:
    from client_telemetry.reports.campaign.document import campaign_markdown  # pages need Jinja
    from client_telemetry.reports.campaign.kept_file import keep
    from client_telemetry.reports.campaign.publish import before, publish
    from client_telemetry.reports.campaign.view import view

    with Progress(f"reading reports in {args.reports}"):
        campaign, standing, decision, until = read_input(args, args.name)
        published = before(campaign.name, args.out) if args.out else None
        shown = view(campaign, standing.changes, standing.reports, decision, until, published)
    if args.out is None:
        print(campaign_markdown(shown), end="")
    else:
        print(shown.sentence)
        print(publish(shown, args.out) / "index.html")
        keep(LocalFolder(args.out), campaign.name, standing.kept)
    return 0


def _say(args: argparse.Namespace) -> int:
    if not args.by:
        raise BadCampaign("name who says so: --by ann@example.com")
    target = Target(**{key: getattr(args, key) for key in TARGETS})
    statement = Statement(
        args.action, target, args.by, args.day or dt.datetime.now(dt.UTC).date(), args.until, args.text
    )
    changed = add_statement(campaigns_text(args.campaigns), args.name, statement, beside(str(args.campaigns)))
    with whole_file(args.campaigns) as file:
        file.write(changed)
    print(f"added to {args.campaigns}: {statement.kind} of {statement.on} by {statement.by}")
    return 0
