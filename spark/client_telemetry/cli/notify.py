"""Tells owners and operators what is new: by mail, and in a chat. Nothing is sent twice.

    client-telemetry notify --notices notices.yaml [--campaigns campaigns.yaml] [--reports var/published] [--send]
    client-telemetry notify --notices notices.yaml --failed "client_telemetry_daily of 2026-11-21" --reason "east: decode failed" --send

Without --send, it says what it would send. Owners hear of their part of each planned upgrade whose day has not passed, when it changed or a deadline comes
near; operators hear of regressions, of days that are not published in time, and of failures (docs/notices.md). Exit code 0; 1 if
something could not be sent, which the next run tries again; 2 for unusable files or arguments.
"""

import argparse
import datetime as dt
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from client_telemetry.campaign.report_files import Folder
from client_telemetry.cli.campaign_options import (
    add_campaigns_file,
    add_reports,
    named_in_errors,
    published_folder,
)
from client_telemetry.console.arguments import Arguments
from client_telemetry.console.counted import counted
from client_telemetry.console.refusal import refuses
from client_telemetry.formats.locations import is_local, local_path
from client_telemetry.notices import campaigns as of_campaigns
from client_telemetry.notices.senders import Notice
from client_telemetry.notices.sent import LocalFile, PublishedFile, Sent, SentFile, send_new
from client_telemetry.notices.settings import BadNotices, Settings, read_settings

NOT_SENT = 1
SENT: Final = "notices_sent.json"


@refuses("notify")
def main(argv: Sequence[str] | None = None) -> int:
    parser = _parser()
    args = parser.parse_args(argv)
    if args.reason and not args.failed:
        parser.error("--reason is for --failed RUN")
    settings = read_settings(args.notices)
    with named_in_errors(args.campaigns):
        notices = list(_failure(args, settings) if args.failed else _news(args, settings))
    sent = Sent(_sent_file(args))
    return _send(notices, sent, settings) if args.send else _say(notices, sent)


def _parser() -> Arguments:
    parser = Arguments("notify", __doc__)
    parser.add_argument(
        "--notices",
        type=Path,
        metavar="FILE",
        default=Path("notices.yaml"),
        help="who is told; default: %(default)s",
    )
    add_campaigns_file(parser)
    add_reports(parser)
    parser.add_argument(
        "--sent",
        type=Path,
        metavar="FILE",
        help="what has been sent; default: notices_sent.json in the folder of --reports",
    )
    parser.add_argument(
        "--failed", metavar="RUN", help="tell operators that this run failed, and nothing else"
    )
    parser.add_argument("--reason", default="", help="why it failed")
    parser.add_argument("--send", action="store_true", help="do it; without, only say what would be sent")
    return parser


def _sent_file(args: argparse.Namespace) -> SentFile:
    if args.sent or is_local(args.reports):
        return LocalFile(args.sent or local_path(args.reports) / SENT)
    return PublishedFile(published_folder(args.reports), SENT)


def _failure(args: argparse.Namespace, settings: Settings) -> Iterator[tuple[str, Notice]]:
    return of_campaigns.failed(args.failed, args.reason or "Its log says why.", settings)


def _news(args: argparse.Namespace, settings: Settings) -> Iterator[tuple[str, Notice]]:
    """Of every planned upgrade whose day has not passed, and of clusters whose days are late."""
    from client_telemetry.cli.campaign_input import campaigns, read_input
    from client_telemetry.reports.campaign.view import view

    today = args.day or dt.datetime.now(dt.UTC).date()
    planned = campaigns(args.campaigns) if args.campaigns.exists() else ()
    for campaign in planned:
        if campaign.date < today:
            continue
        _, standing, decision, until = read_input(args, campaign.name)
        shown = view(campaign, standing.changes, standing.reports, decision, until)
        yield from of_campaigns.notices(shown, settings)
        for owner in of_campaigns.without_address(shown) if settings.owners else ():
            print(f"{campaign.name}: {owner} has no e-mail address: nobody is told", file=sys.stderr)
    folder = published_folder(args.reports)
    yield from of_campaigns.late_days(list(_published(folder)), dt.datetime.now(dt.UTC), settings)


def _published(folder: Folder) -> Iterator[tuple[str, dt.date]]:
    """Each cluster with the newest day that has a fleet page."""
    for cluster in folder.folders("fleet"):
        name = f"fleet/{cluster}/latest.json"
        try:
            latest = json.loads(folder.read(name))
            yield str(latest["cluster_name"]), dt.date.fromisoformat(latest["day"])
        except FileNotFoundError:
            continue
        except (ValueError, LookupError, TypeError):
            raise BadNotices(f"{folder}/{name} does not name a day: publish the fleet page again") from None


def _say(notices: Iterable[tuple[str, Notice]], sent: Sent) -> int:
    new = [notice for about, notice in notices if sent.last(about) != notice.key]
    for notice in new:
        print(f"to {notice.to or 'the chat'}: {notice.subject}")
    print(f"{counted(len(new), 'notice')} to send{': add --send to do it' if new else ''}")
    return 0


def _send(notices: Iterable[tuple[str, Notice]], sent: Sent, settings: Settings) -> int:
    done = failed = 0
    for notice, problem in send_new(notices, sent, settings):
        if problem:
            failed += 1
            print(f"client-telemetry notify: not sent: {problem}", file=sys.stderr)
        else:
            done += 1
            print(f"to {notice.to or 'the chat'}: {notice.subject}")
    print(f"{counted(done, 'notice')} sent" + (f", {failed:,} not" if failed else ""))
    return NOT_SENT if failed else 0
