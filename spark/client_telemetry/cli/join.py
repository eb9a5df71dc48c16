"""What is written in repositories, SBOMs and images, beside the clients that brokers saw.

    client-telemetry join REPORT PATH… [--workloads FILE]… [--owners FILE] [--exclude GLOB]
        [--knowledge FOLDER] [--format text|json|markdown] [--fail-on breaks]

REPORT is the report.json of an upgrade report, or its folder; its releases are those of the question. PATH: as for
`client-telemetry scan`. --workloads says what runs where: pods (`kubectl get pods -A -o json`), a CSV of hosts, a hosts
file. Needs no broker, no data and no network. Exit code 0: go. 3: no-go, an application that was seen, or an artefact that
was not, has one of the verdicts of --fail-on. 4: cannot tell, one of them lacks evidence, or a file could not be read. 2:
arguments that cannot be used. docs/join.md says what is matched by what.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from client_telemetry import Unusable
from client_telemetry.cli.scan import add_knowledge, add_paths, read_owner_rules
from client_telemetry.compatibility.go_no_go import (
    CANNOT_TELL,
    GO,
    add_fail_on,
    decide_by_report,
    decide_unseen,
    worse_of,
)
from client_telemetry.compatibility.own_knowledge import use_folder
from client_telemetry.console.arguments import Arguments
from client_telemetry.console.counted import counted
from client_telemetry.console.progress import Progress
from client_telemetry.console.refusal import refuses
from client_telemetry.formats import report_file, written_file
from client_telemetry.formats.report_file import add_report
from client_telemetry.inventory import workload_files
from client_telemetry.inventory.artefact import Written
from client_telemetry.inventory.joined import Joined, join, unlinked_verdicts
from client_telemetry.inventory.seen import from_report
from client_telemetry.inventory.written import collect
from client_telemetry.knowledge.vocabulary import Verdict
from client_telemetry.reports.inventory import document, markdown, text

TEXT, JSON, MARKDOWN = "text", "json", "markdown"


@refuses("join")
def main(argv: Sequence[str] | None = None) -> int:
    parser = Arguments("join", __doc__)
    add_report(parser)
    add_paths(parser)
    workload_files.add_workloads(parser)
    parser.add_argument("--owners", type=Path, metavar="FILE", help="owner rules, as for scan")
    parser.add_argument("--format", default=TEXT, choices=(TEXT, JSON, MARKDOWN), help="default: %(default)s")
    parser.add_argument(
        "--add", action="store_true", help="also have the page of the report say so; REPORT is its folder"
    )
    add_knowledge(parser)
    add_fail_on(parser, default=(Verdict.BREAKS,))
    args = parser.parse_args(argv)
    add = _page(parser, args.report) if args.add else None
    with Progress(f"reading {', '.join(map(str, args.paths))}"):
        use_folder(args.knowledge)
        seen, seen_decision = report_file.read(
            args.report, lambda report: (from_report(report), decide_by_report(report, args.fail_on))
        )
        rules = read_owner_rules(args.owners) if args.owners else ()
        running = workload_files.read(args.workloads)
        written = collect(args.paths, seen.source, seen.target, rules, args.exclude)
        joined = join(written, seen, running)
    code, decision = _decide(seen_decision, joined, written, args.fail_on)
    if add and not add(args.report, document.as_json(joined, written.unread)):
        raise Unusable(f"the page of {args.report} has no place for it: publish the report again")
    _print(args.format, joined, written, decision)
    print(decision, file=sys.stderr)
    return code


def _page(parser: Arguments, folder: Path) -> Callable[[Path, written_file.Written], bool]:
    """What adds to a page; it needs more packages than what reads artefacts."""
    try:
        from client_telemetry.reports.folder import PAGE
        from client_telemetry.reports.upgrade.written_note import add_written
    except ModuleNotFoundError:
        parser.error("--add needs what draws pages: pip install 'client-telemetry[spark]'")
    if not (folder / PAGE).is_file():
        parser.error(f"{folder} has no {PAGE}: --add needs the folder of a published report")
    return add_written


def _decide(
    of_seen: tuple[int, str], joined: Joined, written: Written, fail_on: Sequence[str]
) -> tuple[int, str]:
    """What was seen and what is only written, each by itself; the worse of both is the exit code."""
    verdicts = unlinked_verdicts(joined)
    code, decision = decide_unseen(verdicts, fail_on)
    if code == GO and written.unread:
        code, decision = CANNOT_TELL, f"cannot tell: {counted(len(written.unread), 'file')} could not be read"
    return worse_of(of_seen, (code, decision))


def _print(format_: str, joined: Joined, written: Written, decision: str) -> None:
    if format_ == JSON:
        sys.stdout.writelines(document.as_text(joined, written.unread, decision))
        print()
        return
    lines = text.lines if format_ == TEXT else markdown.lines
    for line in lines(joined, written.unread):
        print(line)
