"""The review of an upgrade, from brokers' logs or from a cluster's tables: what was predicted, what happened.

    client-telemetry review --from 3.9.1 --to 4.0.1 --publish FOLDER LOG ...
    client-telemetry review --from 3.9.1 --to 4.0.0 --cluster NAME

LOG: files, folders and patterns; one folder for each broker, or for each run of it, with its kafka-request.log
(kafka.request.logger at DEBUG) and its server.log. Repeated during the rolling upgrade, it says for each upgraded broker
whether to continue. NAME: a cluster of the clusters file, which is reviewed through Airflow; without --from and --to, its
newest upgrade. Exit code 0: go, or the upgrade is complete; 3: stop; 4: cannot tell; 2: the arguments or the logs cannot
be used.
"""

import argparse
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from typing import Final

from client_telemetry.cli import checkout
from client_telemetry.cli.interrupt import ended_at_once
from client_telemetry.cli.log_times import add_time_options, spelled
from client_telemetry.compatibility.listener_mechanisms import add_mechanisms
from client_telemetry.console.arguments import Arguments, day, exact_release
from client_telemetry.console.refusal import refuses
from client_telemetry.knowledge_package import jars

_WITH_LOGS: Final = {"logs": "LOG", "publish": "--publish", "zone": "--zone", "year": "--year"} | {
    name: f"--{name.replace('_', '-')}" for name in ("owners", "knowledge", "jar", "scram_users", "name")
}
_NEEDED_WITH_LOGS: Final = {
    "logs": "LOG",
    "from_release": "--from",
    "to_release": "--to",
    "publish": "--publish",
}


@refuses("review", spelled)
def main(argv: Sequence[str] | None = None) -> int:
    args = _arguments(argv)
    if args.cluster:
        conf = {"cluster": args.cluster, "from": args.from_release, "to": args.to_release}
        conf |= {"day": args.day, "mechanisms": args.mechanisms}
        return checkout.run_module("review", "review", conf, warm=False)
    with ended_at_once("client-telemetry review: interrupted"):
        # Takes seconds, which the other one does not need.
        from client_telemetry.cli.log_review import review
    return review(args)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Arguments("review", __doc__)
    parser.add_argument("logs", nargs="*", metavar="LOG", help="files, folders or patterns")
    parser.add_argument(
        "--from",
        dest="from_release",
        help="exact release upgraded from, or a file of `client-telemetry probe`",
    )
    parser.add_argument(
        "--to",
        dest="to_release",
        help="exact release upgraded to, or a file of `client-telemetry probe`",
    )
    parser.add_argument("--cluster", help="name in the clusters file")
    parser.add_argument(
        "--day", type=day, help="with --cluster: last UTC day; default: the last processed one"
    )
    parser.add_argument("--publish", type=Path, help="folder that reports are published in")
    add_time_options(parser)
    parser.add_argument("--owners", help="file of owner rules")
    parser.add_argument("--knowledge", help="folder of your own products, libraries, issues and aliases")
    jars.add_option(parser)
    parser.add_argument(
        "--scram-users", help="file with the output of kafka-configs --describe --entity-type users"
    )
    add_mechanisms(parser)
    parser.add_argument("--name", help="what people call the cluster")
    args = parser.parse_args(argv)
    _check_combination(parser, args)
    return args


def _check_combination(parser: Arguments, args: argparse.Namespace) -> None:
    """Ends the process where logs and --cluster are mixed, or what one of them needs is missing."""
    missing = [said for name, said in _NEEDED_WITH_LOGS.items() if not getattr(args, name)]
    given = [said for name, said in _WITH_LOGS.items() if getattr(args, name) not in (None, [], UTC)]
    if args.cluster and given:
        parser.error(f"{given[0]} is for logs and cannot be combined with --cluster")
    if args.cluster:
        _check_releases(parser, args)
    if not args.cluster and args.day:
        parser.error("--day needs --cluster")
    if not args.cluster and missing:
        required = ", ".join(missing)
        parser.error(f"the following arguments are required: {required} (or --cluster, for its tables)")


def _check_releases(parser: Arguments, args: argparse.Namespace) -> None:
    """Of a cluster; where logs are reviewed, a file can stand for a release."""
    for option, release in (("--from", args.from_release), ("--to", args.to_release)):
        try:
            if release:
                exact_release(release)
        except argparse.ArgumentTypeError as error:
            parser.error(f"argument {option}: {error}")
