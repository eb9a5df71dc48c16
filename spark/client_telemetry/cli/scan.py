"""The Kafka clients that lock files, SBOMs and images name, each with its verdict for an upgrade.

    client-telemetry scan PATH… --to 4.3.1 [--from 3.9.1] [--exclude GLOB] [--owners FILE]
        [--knowledge FOLDER] [--format text|json|sarif|markdown] [--fail-on breaks] [--fail-on-vulnerable]

Reads files and folders; needs no broker, no data and no network. Exit code 0: go. 3: no-go, a client has one of the
verdicts of --fail-on. 4: cannot tell, a client has insufficient evidence, a file could not be read, or no client was
found. 2: arguments that cannot be used. docs/scan.md says what is read.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from client_telemetry.artefacts.found import Result
from client_telemetry.artefacts.scan import scan
from client_telemetry.compatibility.go_no_go import CANNOT_TELL, GO, NO_GO, add_fail_on, decide
from client_telemetry.compatibility.own_knowledge import use_folder
from client_telemetry.compatibility.target_argument import named
from client_telemetry.console.arguments import Arguments
from client_telemetry.console.counted import counted
from client_telemetry.console.progress import Progress
from client_telemetry.console.refusal import refuses
from client_telemetry.identity.owners import BadOwnerRule, OwnerRule, load_owner_rules
from client_telemetry.knowledge import measured_target, releases
from client_telemetry.knowledge.vocabulary import Verdict
from client_telemetry.reports.artefacts import documents, markdown, text

TEXT, JSON, SARIF, MARKDOWN = "text", "json", "sarif", "markdown"


@refuses("scan")
def main(argv: Sequence[str] | None = None) -> int:
    parser = Arguments("scan", __doc__)
    add_paths(parser)
    parser.add_argument(
        "--to",
        dest="target",
        required=True,
        metavar="V",
        help="exact release to upgrade to, or a file of `client-telemetry probe`",
    )
    parser.add_argument(
        "--from",
        dest="source",
        metavar="V",
        help="exact release that the brokers run; default: the last one before the target's major version",
    )
    parser.add_argument(
        "--owners",
        type=Path,
        metavar="FILE",
        help="owner rules, for client ids and groups that are written beside a client; CODEOWNERS and Backstage's catalog-info.yaml are "
        "read in any case",
    )
    parser.add_argument(
        "--format", default=TEXT, choices=(TEXT, JSON, SARIF, MARKDOWN), help="default: %(default)s"
    )
    add_knowledge(parser)
    add_fail_on(parser, default=(Verdict.BREAKS,))
    parser.add_argument(
        "--fail-on-vulnerable",
        action="store_true",
        help="also exit with 3 for a client of whose library version a vulnerability is known",
    )
    args = parser.parse_args(argv)
    with Progress(f"reading {', '.join(map(str, args.paths))}"):
        return _scan(args)


def add_paths(parser: argparse.ArgumentParser) -> None:
    """What is read, and what of it is left out."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files and folders to read")
    parser.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="GLOB",
        help="paths below PATH to leave out, such as tests or '*/examples/*'; may be given several times",
    )


def add_knowledge(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--knowledge",
        metavar="FOLDER",
        help="folder of your own packages, lists of versions, libraries, issues and aliases",
    )


def _scan(args: argparse.Namespace) -> int:
    use_folder(args.knowledge)
    target = releases.exact(named(args.target))
    source, target = releases.upgrade(named(args.source or _before_major(target)), target)
    rules = read_owner_rules(args.owners) if args.owners else ()
    result = scan(args.paths, source, target, rules, args.exclude)
    code, decision = _decide(result, args.fail_on)
    if args.fail_on_vulnerable and code != NO_GO and (hit := _vulnerable(result)):
        code, decision = NO_GO, f"no-go: {counted(hit, 'Kafka client')} with a known vulnerability"
    _print(args.format, result, source, target, decision)
    print(decision, file=sys.stderr)
    return code


def read_owner_rules(path: Path) -> tuple[OwnerRule, ...]:
    """Raises BadOwnerRule with the file's name, and OSError."""
    try:
        return load_owner_rules(path.read_text(encoding="utf-8-sig"))
    except (UnicodeDecodeError, BadOwnerRule) as error:
        raise BadOwnerRule(f"{path}: {error}") from None


def _before_major(target: str) -> str:
    """The newest release of the major version before that of the target, or the oldest known one. Raises NotAnExactRelease for a
    measured target.
    """
    if measured_target(target):
        raise releases.NotAnExactRelease(
            "a measured target needs --from, the release that the brokers run today"
        )
    major = releases.parse(target)[0]
    older = [release for release in releases.known() if releases.parse(release)[0] < major]
    return older[-1] if older else releases.known()[0]


def _decide(result: Result, fail_on: Sequence[str]) -> tuple[int, str]:
    verdicts = Counter(found.judged.verdict for found in result.found)
    if not verdicts:
        read = counted(result.read, "file")
        images = f"; {counted(len(result.images), 'image')} named and not read" if result.images else ""
        other = "but for tests and development, " if result.development else ""
        return (
            CANNOT_TELL,
            f"cannot tell: {other}no Kafka client is named in {read} that name packages{images}",
        )
    code, decision = decide(verdicts, fail_on, each="Kafka client")
    if code == GO and result.unread:
        return CANNOT_TELL, f"cannot tell: {counted(len(result.unread), 'file')} could not be read"
    return code, decision


def _vulnerable(result: Result) -> int:
    return sum(bool(found.vulnerabilities) for found in result.found)


def _print(format_: str, result: Result, source: str, target: str, decision: str) -> None:
    if format_ in (JSON, SARIF):
        document = (
            documents.as_json(result, source, target, decision)
            if format_ == JSON
            else documents.as_sarif(result, version("client-telemetry"))
        )
        print(json.dumps(document, indent=1))
        return
    lines = text.lines(result, target) if format_ == TEXT else markdown.lines(result, target)
    for line in lines:
        print(line)
