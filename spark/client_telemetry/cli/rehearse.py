"""Runs the client libraries of an upgrade report against a broker of the target release, and sets the outcome beside the verdicts.

    client-telemetry rehearse REPORT [--to 4.3.1] [--budget-minutes 30] [--budget-gb 5] [--jobs 2] [--cache FOLDER] [--lake LAKE]

REPORT: the folder of a published upgrade report, or its report.json. **This command installs packages from registries and executes
them** (docs/rehearse.md). Each library version of the report is installed in a folder of its own and runs the program of its roles
against brokers that are started here from Maven's artefacts. The outcome is written to rehearsal.json beside the report. It makes no
client safe: what contradicts a verdict is listed first.

Exit code 0: all that is safe in the report works. 3: something is refused, or contradicts its verdict. 4: nothing is refused, and
some that is safe was not rehearsed. 2: no report, no broker, or an argument that cannot be used.
"""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from client_telemetry import Unusable
from client_telemetry.cli import report_folder
from client_telemetry.cli.user_cache import cache_folder
from client_telemetry.compatibility.go_no_go import CANNOT_TELL, GO, NO_GO
from client_telemetry.console.arguments import Arguments
from client_telemetry.console.counted import counted, first_of
from client_telemetry.console.progress import Progress
from client_telemetry.console.refusal import refuses
from client_telemetry.formats import trial_file
from client_telemetry.formats.report_file import NotAReport, Report, add_report
from client_telemetry.formats.trial_file import Application, Rehearsal
from client_telemetry.identity.client_key import client_key
from client_telemetry.knowledge.releases import UnusableRelease, exact, parse
from client_telemetry.knowledge.vocabulary import Verdict
from client_telemetry.lake.catalog import unavailable
from client_telemetry.lake.lake import existing_lake
from client_telemetry.rehearsal import rehearsal_file, subjects
from client_telemetry.rehearsal.conclusions import NOT_REHEARSED, REFUSED, WORKS
from client_telemetry.rehearsal.rehearsing import Limits, Rehearsing, sandboxes
from client_telemetry.rehearsal.sandbox_broker import FULL_SINCE, BrokerDidNotStart
from client_telemetry.rehearsal.seen_logins import MECHANISMS, seen_logins
from client_telemetry.rehearsal.subjects import WITHOUT, WayIn
from client_telemetry.rehearsal.workplace import NotInstalled
from client_telemetry.reports.client_strings import shown
from client_telemetry.reports.upgrade.publish import add_trials

_NAMED = 8


@refuses("rehearse", failure=unavailable)
def main(argv: Sequence[str] | None = None) -> int:
    args = _arguments(argv)
    folder, report = report_folder.read(args.report)
    target = _target(args.to, report["question"]["to_release"])
    if args.lake:
        existing_lake(args.lake)
    try:
        content = _rehearse(args, report, target)
    except (BrokerDidNotStart, NotInstalled) as error:
        raise Unusable(f"no broker to run against: {error}") from None
    file = trial_file.write(folder, trial_file.REHEARSAL, content)
    print(*_lines(content), sep="\n")
    added = add_trials(folder, report["question"]["report_id"])
    print(f"written: {file}{', and on the page of the report' if added else ''}")
    return _code(content)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Arguments("rehearse", __doc__)
    add_report(parser)
    parser.add_argument("--to", metavar="RELEASE", help="target release; default: the report's")
    limits = Limits()
    parser.add_argument(
        "--budget-minutes", type=_positive, default=limits.minutes, metavar="N", help="default: %(default)s"
    )
    parser.add_argument(
        "--budget-gb",
        type=_positive,
        default=limits.gigabytes,
        metavar="N",
        help="of the cache; default: %(default)s",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        choices=range(1, 33),
        default=limits.jobs,
        metavar="N",
        help="default: %(default)s",
    )
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="of libraries, brokers and outcomes")
    parser.add_argument(
        "--mechanism",
        choices=MECHANISMS,
        default="",
        help="all log in with it; default: as in --lake, otherwise connections without login",
    )
    parser.add_argument(
        "--tls",
        action="store_true",
        help="all connect with TLS, with a client certificate where they do not log in",
    )
    parser.add_argument(
        "--lake",
        metavar="LAKE",
        help="tables that the report was made from: each client connects as it did there, with TLS and a login",
    )
    return parser.parse_args(argv)


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


def _target(named: str | None, of_report: str) -> str:
    if named is None and of_report.startswith("measured-"):
        raise NotAReport(
            "the report is about brokers that were measured, which cannot be started here: name a release with --to"
        )
    target = exact(named or of_report)
    if parse(target) < FULL_SINCE:
        raise UnusableRelease(
            f"a broker of {target} cannot be started with what clients need: name a release from {'.'.join(map(str, FULL_SINCE))} on with --to"
        )
    return target


def _rehearse(args: argparse.Namespace, report: Report, target: str) -> Rehearsal:
    from_release = report["question"]["from_release"]
    logins = seen_logins(args.lake, report["question"]) if args.lake else {}
    every = WayIn(args.mechanism, args.tls) if args.mechanism or args.tls else None
    wanted = [
        subjects.of_client(
            client, from_release, every or (logins.get(client_key(client), WITHOUT) if logins else WITHOUT)
        )
        for client in report["clients"]
    ]
    limits = Limits(args.budget_minutes, args.budget_gb, args.jobs)
    with Progress("reading the report") as progress:
        rehearsing = Rehearsing(cache_folder(args.cache, "rehearsal"), limits, progress)
        outcomes = rehearsing.rehearse(
            [alternatives for each in wanted for alternatives in each.subjects], target, from_release
        )
    return rehearsal_file.document(report, target, sandboxes(target, from_release), wanted, outcomes)


def _lines(content: Rehearsal) -> list[str]:
    """Contradictions, refusals, what works, and why the rest was not run."""
    target, applications = content["target"], content["applications"]
    contradicting = [each for each in applications if each["contradicts"]]
    by_outcome = {
        outcome: [each for each in applications if each["outcome"] == outcome] for outcome in (REFUSED, WORKS)
    }
    lines = [
        f"CONTRADICTS its verdict ({each['verdict_outcome']}): {_line(each, target)}"
        for each in contradicting
    ]
    for outcome in (REFUSED, WORKS):
        lines += [_line(each, target) for each in by_outcome[outcome] if not each["contradicts"]]
    reasons = defaultdict(list)
    for each in applications:
        if each["outcome"] == NOT_REHEARSED:
            reasons[each["said"]].append(shown(each["name"]))
    lines += [
        f"not rehearsed: {first_of(names, _NAMED)}: {shown(reason)}" for reason, names in reasons.items()
    ]
    return [*lines, _coverage(content), f"{counted(len(contradicting), 'contradiction')} with the report"]


def _line(application: Application, target: str) -> str:
    what = f"{shown(application['name'])} ({', '.join(application['ran'])})"
    if application["outcome"] == WORKS:
        return f"{what} ran on {target}: works"
    return f"{what} ran on {target}: refused at {shown(application['said'])}"


def _coverage(content: Rehearsal) -> str:
    safe, known = content["safe"], content["with_known_library"]
    return (
        f"{safe[WORKS] + safe[REFUSED]} of {counted(sum(safe.values()), 'safe application')} rehearsed on {content['target']}; "
        f"{known[WORKS] + known[REFUSED]} of {sum(known.values())} whose library and version are known or inferred"
    )


def _code(content: Rehearsal) -> int:
    applications = content["applications"]
    if any(each["outcome"] == REFUSED or each["contradicts"] for each in applications):
        return NO_GO
    is_open = any(
        each["outcome"] == NOT_REHEARSED and each["verdict_outcome"] == Verdict.SAFE for each in applications
    )
    return CANNOT_TELL if is_open else GO
