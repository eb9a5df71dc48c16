"""Go or no-go of an upgrade, according to its report, as an exit code for a pipeline.

    client-telemetry gate var/published/upgrade_impact/fleet/latest/report.json [--fail-on breaks,degrades]

Exit code 0: go. 3: no-go, an application has a client with one of the verdicts of --fail-on. 4: cannot tell, one has a
client with insufficient evidence and none has a verdict of --fail-on. 2: the file is not a report.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from client_telemetry.compatibility.go_no_go import add_fail_on, decide_by_report
from client_telemetry.console.arguments import Arguments

BAD_ARGUMENTS: Final = 2


def main(argv: Sequence[str] | None = None) -> int:
    parser = Arguments("gate", __doc__)
    parser.add_argument(
        "report", type=Path, metavar="REPORT", help="report.json of an upgrade report, or its folder"
    )
    add_fail_on(parser, default=("breaks",))
    args = parser.parse_args(argv)
    try:
        file = args.report / "report.json" if args.report.is_dir() else args.report
        report = json.loads(file.read_text(encoding="utf-8-sig"))
        code, decision = decide_by_report(report, args.fail_on)
        sentence = report["sentence"]
    except OSError as error:
        return _refuse(f"{file}: {error.strerror}")
    except (ValueError, LookupError, TypeError):
        return _refuse(
            f"{args.report} is not the report.json of an upgrade report: name that file, or the folder of the report"
        )
    print(sentence)
    print(decision)
    return code


def _refuse(message: str) -> int:
    print(f"client-telemetry gate: {message}", file=sys.stderr)
    return BAD_ARGUMENTS
