"""One ticket for each owner and fix of an upgrade report or a campaign: as CSV to import, or in an issue tracker.

    client-telemetry tickets REPORT --csv jira --out tickets.csv
    client-telemetry tickets --campaign orders-4.0 --to github:OWNER/REPOSITORY [--send]
    client-telemetry tickets --campaign orders-4.0 --to gitlab:GROUP/PROJECT [--url https://gitlab.example.com]
    client-telemetry tickets --campaign orders-4.0 --to gitea:OWNER/REPOSITORY --url https://gitea.example.com
    client-telemetry tickets --campaign orders-4.0 --to jira:PROJECT --url https://example.atlassian.net

Without --send, it says what it would do and changes nothing. The token is that of GITHUB_TOKEN, GITLAB_TOKEN, GITEA_TOKEN or JIRA_TOKEN. A
campaign's tickets are closed when the evidence shows that nothing is left; one report alone closes none (docs/tickets.md).
Exit code 0; 1 if the tracker refuses; 2 for unusable files or arguments.
"""

import argparse
import datetime as dt
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from client_telemetry.campaign.answers import from_report
from client_telemetry.cli.campaign_options import (
    add_campaign,
    add_campaigns_file,
    add_reports,
    named_in_errors,
)
from client_telemetry.console.arguments import Arguments
from client_telemetry.console.counted import counted
from client_telemetry.console.output_file import whole_file
from client_telemetry.console.refusal import refuses
from client_telemetry.formats import report_file
from client_telemetry.formats.report_file import Report, add_report
from client_telemetry.trackers import import_files, jira
from client_telemetry.trackers.http import Api, TrackerError
from client_telemetry.trackers.jira import Jira
from client_telemetry.trackers.sync import carry_out, plan
from client_telemetry.trackers.ticket import Ticket
from client_telemetry.trackers.tracker import GitHub, GitLab, Tracker

REFUSED: Final = 1
_DONE: Final = {"create": "created", "update": "updated", "close": "closed", "reopen": "reopened"}


class Kind(NamedTuple):
    """`url`: of the public service; empty = it has to be named. `headers`: from the token."""

    variable: str
    url: str
    place: str
    headers: Callable[[str], dict[str, str]]
    tracker: Callable[[Api, str], Tracker]
    pause_s: float = 0


KINDS: Final = {
    "github": Kind(
        "GITHUB_TOKEN",
        "https://api.github.com",
        "OWNER/REPOSITORY",
        lambda token: {
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        },
        GitHub,
        pause_s=1,
    ),
    "gitlab": Kind(
        "GITLAB_TOKEN",
        "https://gitlab.com",
        "GROUP/PROJECT",
        lambda token: {"PRIVATE-TOKEN": token},
        GitLab,
    ),
    "gitea": Kind(
        "GITEA_TOKEN",
        "",
        "OWNER/REPOSITORY",
        lambda token: {"Authorization": f"token {token}"},
        lambda api, place: GitHub(api, place, page="type=issues&limit=50"),
    ),
    "jira": Kind(
        "JIRA_TOKEN",
        "",
        "PROJECT",
        lambda token: {"Authorization": jira.authorization(token)},
        Jira,
    ),
}


@refuses("tickets")
def main(argv: Sequence[str] | None = None) -> int:
    parser = _parser()
    args = parser.parse_args(argv)
    if (args.report is None) == (args.campaign is None):
        parser.error("name either a report or a campaign: --campaign NAME")
    if (args.csv is None) == (args.to is None):
        parser.error("say where to: --csv jira (a file to import), or --to github:OWNER/REPOSITORY")
    try:
        tracker = _tracker(args, parser) if args.to else None
        tickets = _of_campaign(args) if args.campaign else _of_report(args.report)
        if tracker is None:
            return _write(import_files.import_csv(tickets, args.csv), args.out)
        return _synchronize(tracker, tickets, send=args.send)
    except TrackerError as error:
        print(f"client-telemetry tickets: {error}", file=sys.stderr)
        return REFUSED


def _parser() -> Arguments:
    parser = Arguments("tickets", __doc__)
    add_report(parser, optional=True)
    add_campaign(parser)
    add_campaigns_file(parser)
    add_reports(parser)
    parser.add_argument(
        "--csv", choices=import_files.FORMS, help="print a CSV file for the import of this tracker"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="of --csv; default: standard output")
    parser.add_argument(
        "--to", metavar="TRACKER:PROJECT", help=f"{', '.join(KINDS)}, then the project's path or key"
    )
    parser.add_argument("--url", help="address of the server, where it is not github.com or gitlab.com")
    parser.add_argument("--issue-type", default="Task", help="of Jira; default: %(default)s")
    parser.add_argument("--send", action="store_true", help="do it; without, only say what would be done")
    return parser


def _tracker(args: argparse.Namespace, parser: Arguments) -> Tracker:
    name, _, place = args.to.partition(":")
    kind = KINDS.get(name)
    if kind is None or not place:
        parser.error(
            f"--to {args.to!r} is not TRACKER:PROJECT: write it as github:OWNER/REPOSITORY; trackers: {', '.join(KINDS)}"
        )
    if kind.place == "OWNER/REPOSITORY" and place.count("/") != 1:
        parser.error(f"--to {args.to!r}: write the repository as {name}:OWNER/REPOSITORY")
    url = (args.url or kind.url).rstrip("/")
    if not url.startswith(("https://", "http://")):
        parser.error(f"name the server: --url https://{name}.example.com")
    token = os.environ.get(kind.variable, "").strip()
    if not token:
        parser.error(f"set {kind.variable} to a token that may read and write issues")
    if not token.isprintable() or not token.isascii():
        parser.error(f"the token in {kind.variable} has characters that no token has")
    base = f"{url}/api/v1" if name == "gitea" else url
    api = Api(name, base, kind.headers(token), kind.variable, kind.pause_s)
    return Jira(api, place, args.issue_type) if name == "jira" else kind.tracker(api, place)


def _write(text: str, out: Path | None) -> int:
    if out is None:
        print(text, end="")
        return 0
    with whole_file(out) as file:
        file.write(text)
    print(out)
    return 0


def _of_report(path: Path) -> list[Ticket]:
    from client_telemetry.reports.owners.tickets import of_report  # needs the packages of pages

    def tickets_of(report: Report) -> list[Ticket]:
        planned = report.get("planned_for")
        day = dt.date.fromisoformat(planned) if planned else None
        return of_report(
            from_report(report), day, report.get("asked_by"), str(report["question"]["from_release"])
        )

    return report_file.read(path, tickets_of)


def _of_campaign(args: argparse.Namespace) -> list[Ticket]:
    from client_telemetry.cli.campaign_input import read_input  # needs a YAML parser, which a report does not
    from client_telemetry.reports.campaign.tickets import tickets
    from client_telemetry.reports.campaign.view import view

    with named_in_errors(args.campaigns):
        campaign, standing, decision, until = read_input(args, args.campaign)
    return tickets(view(campaign, standing.changes, standing.reports, decision, until))


def _synchronize(tracker: Tracker, tickets: Sequence[Ticket], *, send: bool) -> int:
    steps = plan(tickets, tracker.issues(), tracker)
    done = carry_out(steps, tracker) if send else ((step, step.issue) for step in steps)
    for step, issue in done:
        title = step.ticket.title if step.ticket else issue.title if issue else ""
        where = f" {issue.url or issue.number}" if issue else ""
        print(f"{_DONE.get(step.action, step.action) if send else step.action}{where}: {title}", flush=True)
    counts = Counter(step.action for step in steps)
    words = [
        f"{counts.pop(action)} {_DONE[action] if send else f'to {action}'}"
        for action in _DONE
        if counts[action]
    ]
    words += [f"{number} {action}" for action, number in counts.items() if number]
    print(f"{counted(len(steps), 'ticket')}: {', '.join(words) or 'nothing to do'}")
    if not send and any(step.action in _DONE for step in steps):
        print("Nothing was changed: add --send to do it.")
    return 0
