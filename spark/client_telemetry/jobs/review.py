"""review: what an upgrade of the brokers did to each client, and what was predicted.

Reads one consistent set of snapshots. Replaces the review's rows of upgrade_outcomes and metric_changes, and publishes
its page.
"""

import argparse
import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from client_telemetry.activity.table_evidence import OF_POINTS, pushed_series
from client_telemetry.compatibility.listener_mechanisms import add_mechanisms
from client_telemetry.formats.raw.garbage_collection import collector_paused
from client_telemetry.identity.owners import load_owner_rules
from client_telemetry.jobs import review_parts
from client_telemetry.jobs.review_pages import WRITTEN, ReviewName, write
from client_telemetry.jobs.review_parts import WrittenClients
from client_telemetry.jobs.review_prediction import ask_first, show_in_report
from client_telemetry.lake.lake import Lake
from client_telemetry.pipeline.inputs import StageInputs
from client_telemetry.pipeline.options import add_options
from client_telemetry.pipeline.queries import queries
from client_telemetry.pipeline.stage import BadArguments, Outcome, Stage, days, parser, run
from client_telemetry.pipeline.text_file import read_text_file
from client_telemetry.review import applications, decision, workers
from client_telemetry.review.from_tables import READ, reviewed
from client_telemetry.review.model import WindowWithoutData
from client_telemetry.review.outcome_rows import RowsOf
from client_telemetry.review.phases import NoSuchUpgrade
from client_telemetry.review.planned import Planned, days_of_review, planned
from client_telemetry.review.setting import Setting
from client_telemetry.tables.upgrade_outcomes import UPGRADE_OUTCOMES


def review_upgrades(stage: Stage) -> Outcome:
    """In order of time."""
    with collector_paused():
        outcomes = [_review_upgrade(stage, plan) for plan in planned(stage.arguments, stage.lake)]
    last = outcomes[-1]
    details = {**last.details, "reviews": [outcome.details for outcome in outcomes]}
    return Outcome("\n".join(outcome.message for outcome in outcomes), last.counts, details)


def _review_upgrade(stage: Stage, plan: Planned) -> Outcome:
    args = stage.arguments
    branch = stage.branch(WRITTEN)
    inputs = StageInputs.of(stage, days_of_review(args, stage.lake), READ)
    owner_rules = read_text_file(args.owners, "owner rules", load_owner_rules) if args.owners else ()
    name = ReviewName(args.review_id or plan.name, plan, dt.datetime.now(dt.UTC))

    def writer_of(common: Setting) -> workers.Write[WrittenClients]:
        rows_of = RowsOf(stage.cluster, common.upgrade, name.review_id, plan.report_id, name.created_at)
        return partial(review_parts.outcomes, rows_of, stage.lake.place(UPGRADE_OUTCOMES))

    with queries(stage, inputs, OF_POINTS) as of_days, ThreadPoolExecutor(1) as pool:
        pushes = pool.submit(pushed_series, of_days)
        try:
            of_tables = reviewed(stage, inputs, plan, owner_rules, writer_of)
        except (NoSuchUpgrade, WindowWithoutData) as error:
            raise BadArguments(str(error)) from error
        pushed = pushes.result()
    report, page = write(stage, branch, name, inputs.days, of_tables, pushed)
    overall = decision.GO if not report.review.upgrade.is_mixed else decision.overall(report.decisions)
    counts = applications.outcome_counts(report.review.clients)
    details = {
        "review": page,
        **{"sentence": report.sentence, "review_id": name.review_id},
        "decision": overall,
        "exit_code": decision.EXIT_CODES[overall],
        "outcomes": counts,
    }
    return Outcome(f"review: {report.sentence}\n{page}", counts, details)


def idle(args: argparse.Namespace) -> str | None:
    """The sentence with which to end before Spark starts."""
    if args.changed_on is None or planned(args, Lake(None, args.lake)):
        return None
    return "review: no broker changed its release"


def main(argv: list[str] | None = None) -> int:
    arguments = parser("review", __doc__)
    arguments.add_argument("--from", dest="from_release", help="release before; default: the last change")
    arguments.add_argument("--to", dest="to_release", help="release after; default: as --from")
    arguments.add_argument("--changed-on", type=days, help="review every upgrade that began on these days")
    arguments.add_argument("--review-id", help="names the review; default: releases and when the roll began")
    add_options(arguments, "--day", "--window", "--owners", "--scram-users", "--publish")
    add_options(arguments, "--hosts", "--targets", "--without-spark-up-to")
    add_mechanisms(arguments)
    arguments.set_defaults(window=2)
    try:
        ask_first(arguments.parse_args(argv))
    except BadArguments:
        pass  # printed below
    code = run(arguments, review_upgrades, argv, idle, workers_import=__name__)
    return code or show_in_report(arguments.parse_args(argv))
