"""Whether an upgrade may start, by its report, as an exit code for a pipeline.

    client-telemetry gate var/published/upgrade_impact/fleet/latest/report.json [--fail-on breaks,degrades]

Exit code 0: go. 3: no-go, a client has one of the verdicts of --fail-on. 4: cannot tell, a client has insufficient evidence
and none has a verdict of --fail-on. 2: the file is not a report.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from client_telemetry.compatibility.verdict import INSUFFICIENT_EVIDENCE, PRECEDENCE

GO: Final = 0
BAD_ARGUMENTS: Final = 2
NO_GO: Final = 3
CANNOT_TELL: Final = 4


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="client-telemetry gate", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("report", type=Path, metavar="REPORT", help="report.json of an upgrade report")
    parser.add_argument(
        "--fail-on",
        type=_verdicts,
        default=("breaks",),
        metavar="VERDICT[,VERDICT]",
        help=f"verdicts that stop the upgrade, out of {', '.join(PRECEDENCE)}; default: breaks",
    )
    args = parser.parse_args(argv)
    try:
        report = json.loads(args.report.read_text(encoding="utf-8"))
        verdicts = Counter(client["verdict"] for client in report["clients"])
        sentence = report["sentence"]
    except OSError as error:
        return _refuse(f"{args.report}: {error.strerror}")
    except (ValueError, KeyError, TypeError):
        return _refuse(f"{args.report} is not the report.json of an upgrade report")
    print(sentence)
    stopping = sum(verdicts[verdict] for verdict in args.fail_on)
    if stopping:
        print(f"no-go: {stopping} clients with {' or '.join(args.fail_on)}")
        return NO_GO
    if verdicts[INSUFFICIENT_EVIDENCE]:
        print(f"cannot tell: {verdicts[INSUFFICIENT_EVIDENCE]} clients lack evidence")
        return CANNOT_TELL
    print("go")
    return GO


def _verdicts(text: str) -> tuple[str, ...]:
    verdicts = tuple(part.strip() for part in text.split(",") if part.strip())
    unknown = [verdict for verdict in verdicts if verdict not in PRECEDENCE]
    if unknown or not verdicts:
        raise argparse.ArgumentTypeError(f"{text!r} has to name verdicts of {', '.join(PRECEDENCE)}")
    return verdicts


def _refuse(message: str) -> int:
    print(f"client-telemetry gate: {message}", file=sys.stderr)
    return BAD_ARGUMENTS
