"""subscription_check: what a change of KIP-714 subscriptions would do, before it is applied.

Reads one consistent set of snapshots, and writes no table. One of --goal, --changes and --action says what to check.
--configured takes a JSON list, the output of `kafka-client-metrics.sh --describe`, or lines of a request log with
GetTelemetrySubscriptions answers.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from client_telemetry import knowledge
from client_telemetry.activity import subscription_brokers, subscription_evidence
from client_telemetry.knowledge import releases
from client_telemetry.pipeline.inputs import StageInputs, days_of_evidence
from client_telemetry.pipeline.options import add_options
from client_telemetry.pipeline.place import published_place
from client_telemetry.pipeline.stage import BadArguments, Outcome, Stage, parser, run
from client_telemetry.reports.subscription.content import Question, content
from client_telemetry.reports.subscription.publish import PAGE, publish
from client_telemetry.subscriptions.check import Situation, check
from client_telemetry.subscriptions.goal import UnusableGoal, goal_of, suggest
from client_telemetry.subscriptions.java_runtime import JavaRuntime, NoJava, UnsureMatch
from client_telemetry.subscriptions.proposal import (
    UnusableProposal,
    add_changes,
    changes_of,
    json_of,
    operations_of,
)
from client_telemetry.tables.brokers import BROKERS

KAFKAS_MAX_BYTES = 1_048_576
REFUSALS = (UnusableProposal, UnusableGoal, subscription_brokers.NotKnown, NoJava, UnsureMatch)


def subscription_check(stage: Stage) -> Outcome:
    try:
        answer = _answer(stage)
    except REFUSALS as error:
        raise BadArguments(str(error)) from error
    with published_place(stage.arguments.publish, "subscription_check") as place:
        page = place.shown(publish(answer, place.root) / PAGE)
    counts = {"instances": sum(answer["instances"].values()), "refused": len(answer["refused"])}
    details = {"report": page, **{name: answer[name] for name in ("sentence", "answer", "totals")}}
    message = f"subscription_check: {answer['answer']}: {answer['sentence']}\n{page}"
    return Outcome(message, counts, details)


def _answer(stage: Stage) -> Mapping[str, Any]:
    """The contents of the report (reports/subscription/content.py)."""
    args = stage.arguments
    goal = goal_of(json_of("--goal", args.goal)) if args.goal else None
    operations = [] if goal else operations_of(changes_of(args))
    days = days_of_evidence(stage.lake, args)
    inputs = StageInputs.of(stage, days, subscription_evidence.READ)
    brokers = inputs.rows(BROKERS)
    configured, remarks = subscription_brokers.configured_of(args.configured, brokers)
    release, other_releases = subscription_brokers.release_of(args.release, brokers)
    observed = subscription_evidence.instances_seen(inputs)
    situation = Situation(
        releases.parse(release),
        subscription_brokers.offers_subscriptions(brokers),
        args.telemetry_max_bytes,
        len(inputs.days),
        subscription_evidence.lake_sizes(inputs),
    )
    with JavaRuntime() as java:
        if goal:
            suggestion = suggest(goal, observed, situation.release, java)
            operations = operations_of(suggestion.change)
            remarks += [*suggestion.remarks, *suggestion.inexact()]
        result = check(configured, operations, observed, situation, java)
    question = Question(
        args.report_id,
        stage.cluster,
        stage.cluster_name,
        min(inputs.days),
        max(inputs.days),
        dt.datetime.now(dt.UTC),
        release,
        other_releases,
        args.bootstrap_server,
        knowledge.version(),
        version("client-telemetry"),
    )
    return content(question, result, remarks)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser("subscription_check", __doc__)
    add_options(arguments, "--report-id", "--publish", "--day", "--window")
    arguments.add_argument("--goal", help="what you want to know, as JSON: the smallest subscription for it")
    add_changes(arguments)
    arguments.add_argument("--configured", help="current configuration; default: what the brokers reported")
    arguments.add_argument("--release", help="release of the brokers; default: what they reported")
    arguments.add_argument("--telemetry-max-bytes", type=int, default=KAFKAS_MAX_BYTES, help="of the brokers")
    arguments.add_argument("--bootstrap-server", default="BROKER:9092", help="address to use in the commands")
    return run(arguments, subscription_check, argv, has_gate=False)
