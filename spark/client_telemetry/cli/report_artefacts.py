"""What is written beside what the logs show: the options --artefacts and --workloads of `client-telemetry report` (docs/join.md)."""

import argparse
from pathlib import Path

from client_telemetry.formats import report_file
from client_telemetry.identity.owners import load_owner_rules
from client_telemetry.inventory import workload_files
from client_telemetry.inventory.joined import join, sentence
from client_telemetry.inventory.seen import from_report
from client_telemetry.inventory.workloads import UnusableWorkloads, Workloads
from client_telemetry.inventory.written import collect
from client_telemetry.pipeline.stage import BadArguments
from client_telemetry.pipeline.text_file import read_text_file
from client_telemetry.reports.inventory.document import as_json
from client_telemetry.reports.upgrade.written_note import add_written


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--artefacts",
        action="append",
        default=[],
        type=Path,
        metavar="PATH",
        help="repositories, SBOMs and images whose clients the page shows beside those of the logs, as join reads them; may be given "
        "several times",
    )
    workload_files.add_workloads(parser)


def check(args: argparse.Namespace) -> None:
    """Before minutes of work. Raises BadArguments."""
    if args.workloads and not args.artefacts:
        raise BadArguments("--workloads says where artefacts run: name these with --artefacts")
    for path in args.artefacts:
        if not path.exists():
            raise BadArguments(f"{path}: there is no such file or folder")
    if args.artefacts:
        _workloads(args.workloads)


def add_to_report(folder: Path, args: argparse.Namespace) -> str:
    """Has the page of a report in this folder say what artefacts say; the sentence. Raises BadArguments."""
    seen = report_file.read(folder, from_report)
    rules = read_text_file(args.owners, "owner rules", load_owner_rules) if args.owners else ()
    try:
        written = collect(args.artefacts, seen.source, seen.target, rules)
    except OSError as error:
        raise BadArguments(f"{error.filename}: {error.strerror}") from None
    joined = join(written, seen, _workloads(args.workloads))
    add_written(folder, as_json(joined, written.unread))
    return sentence(joined)


def _workloads(files: list[Path]) -> Workloads:
    try:
        return workload_files.read(files)
    except UnusableWorkloads as error:
        raise BadArguments(str(error)) from None
    except OSError as error:
        raise BadArguments(f"{error.filename}: {error.strerror}") from None
