"""Options that several stages have: each is declared here once. What one stage alone takes stands in its job."""

import argparse
from collections.abc import Callable, Mapping
from typing import TypedDict

from client_telemetry.console.arguments import day
from client_telemetry.pipeline.stage import days


class _Option(TypedDict, total=False):
    required: bool
    type: Callable[[str], object]
    default: object
    dest: str
    help: str


_OPTIONS: Mapping[str, _Option] = {
    "--days": {"required": True, "type": days, "help": "days to process, UTC"},
    "--raw": {"required": True, "help": "raw location: folder or URL that contains `v1/`"},
    "--day": {"type": day, "help": "last day of evidence, UTC; default: the last processed one"},
    "--window": {"type": int, "default": 7, "help": "days of evidence"},
    "--report-id": {
        "required": True,
        "help": "id of the report; an existing report with this id is replaced",
    },
    "--publish": {"required": True, "help": "folder or file:// URL below which the pages are written"},
    "--hosts": {"help": "file of addresses and host names, in the form of /etc/hosts"},
    "--owners": {"help": "file or URL of the owner rules; default: no owners"},
    "--workloads": {"help": "file or URL of what runs where (docs/join.md)"},
    "--targets": {
        "help": "folder or URL with files of `client-telemetry probe`: each can be named as a release can, without .json"
    },
    "--without-spark-up-to": {
        "type": int,
        "default": 1_000_000,
        "help": "rows that the stage reads in its own process, without Spark, unless they take more than 512 MiB; default: %(default)s",
    },
    "--scram-users": {
        "help": "file or URL with the output of kafka-configs --describe --entity-type users, the users with SCRAM "
        "credentials; default: what the brokers report"
    },
}


def add_options(arguments: argparse.ArgumentParser, *names: str) -> None:
    for name in names:
        arguments.add_argument(name, **_OPTIONS[name])


def no_days(stage: str) -> Callable[[argparse.Namespace], str | None]:
    """For `run`: the sentence with which a stage ends that was given an empty list of days."""
    return lambda args: None if args.days else f"{stage}: no day to process, nothing to do"
