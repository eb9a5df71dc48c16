"""Go or no-go of an upgrade, according to its report or its campaign, as an exit code for a pipeline.

    client-telemetry gate var/published/upgrade_impact/fleet/latest/report.json [--fail-on breaks,degrades]
    client-telemetry gate --campaign orders-4.0 [--campaigns campaigns.yaml] [--reports var/published] [--format json]

Exit code 0: go. 3: no-go, an application has a client with one of the verdicts of --fail-on. 4: cannot tell, one has a
client with insufficient evidence and none has a verdict of --fail-on. 2: the file is not a report. Artefacts that no broker saw are
decided by themselves where the report has them (docs/join.md); the worse of both is the code. With --campaign, the thresholds
are those of the campaign, and waivers, coverage and the age of evidence and knowledge count (docs/gate.md).
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from client_telemetry.campaign.gate import WORDS, decision_document
from client_telemetry.cli.campaign_options import (
    add_campaign,
    add_campaigns_file,
    add_reports,
    named_in_errors,
)
from client_telemetry.compatibility.go_no_go import add_fail_on, decide_by_report
from client_telemetry.console.arguments import Arguments
from client_telemetry.console.refusal import refuses
from client_telemetry.formats import report_file, written_file
from client_telemetry.formats.report_file import Report, add_report
from client_telemetry.knowledge.vocabulary import Verdict


@refuses("gate")
def main(argv: Sequence[str] | None = None) -> int:
    parser = Arguments("gate", __doc__)
    add_report(parser, optional=True)
    add_campaign(parser)
    add_fail_on(parser, default=None)
    add_campaigns_file(parser)
    add_reports(parser)
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="json: the decision with all reasons"
    )
    args = parser.parse_args(argv)
    if (args.report is None) == (args.campaign is None):
        parser.error("name either a report or a campaign: --campaign NAME")
    if args.campaign is None:
        return _by_report(args)
    if args.fail_on:
        parser.error("--fail-on is for a report; for a campaign, write `fail_on` below its `gate`")
    return _by_campaign(args)


def _by_campaign(args: argparse.Namespace) -> int:
    from client_telemetry.cli.campaign_input import read_input  # needs a YAML parser, which a report does not

    with named_in_errors(args.campaigns):
        campaign, _, decision, day = read_input(args, args.campaign)
    if args.format == "json":
        print(json.dumps(decision_document(campaign, decision, day), indent=1))
    else:
        print(decision.sentence)
    return decision.code


def _decided(named: Path, report: Report, fail_on: Sequence[str]) -> tuple[int, str]:
    """With what artefacts say beside the report: those from before there were artefacts name no question. Raises NotWritten."""
    written = written_file.beside(named, report["question"]["report_id"]) if "question" in report else None
    return decide_by_report(report, fail_on, written)


def _by_report(args: argparse.Namespace) -> int:
    fail_on = args.fail_on or (Verdict.BREAKS,)
    (code, decision), sentence = report_file.read(
        args.report, lambda report: (_decided(args.report, report, fail_on), report["sentence"])
    )
    if args.format == "json":
        print(
            json.dumps(
                {"code": code, "decision": WORDS[code], "sentence": f"{decision}. {sentence}"},
                indent=1,
            )
        )
    else:
        print(sentence)
        print(decision)
    return code
