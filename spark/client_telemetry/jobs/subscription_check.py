"""subscription_check: what a change of KIP-714 subscriptions would do, before it is applied.

    --cluster C --report-id ID --publish URL --lake URL
        (--goal JSON | --changes JSON | --action A [--name N] [--metrics M] [--interval-ms MS] [--match K=REGEX,...])
        [--configured TEXT] [--release V] [--day D] [--window N] [--telemetry-max-bytes B]

Reads one consistent set of snapshots, and writes no table. TEXT: what is configured, as a JSON list or as
`kafka-client-metrics.sh --describe` printed it, or lines of a request log with GetTelemetrySubscriptions answers;
default: what the brokers' manifests report.
"""

import argparse
import datetime as dt
import json
from importlib.metadata import version
from typing import Any

from pyspark.sql import DataFrame

from client_telemetry import knowledge
from client_telemetry.console.arguments import day
from client_telemetry.jobs import subscription_evidence as lake_evidence
from client_telemetry.knowledge import releases
from client_telemetry.pipeline.place import published_place
from client_telemetry.pipeline.stage import BadArguments, Outcome, Stage, days_of_evidence, parser, run
from client_telemetry.reports.subscription.content import Question, content
from client_telemetry.reports.subscription.publish import PAGE, publish
from client_telemetry.subscriptions import answered, described
from client_telemetry.subscriptions.check import Situation, check
from client_telemetry.subscriptions.configured_file import Resource, resource_of
from client_telemetry.subscriptions.goal import Suggestion, UnusableGoal, goal_of, suggest
from client_telemetry.subscriptions.java_runtime import JavaRuntime, NoJava, UnsureMatch
from client_telemetry.subscriptions.proposal import ACTIONS, UnusableProposal, operations_of
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.rows import BrokerRow
from client_telemetry.tables.table import Row, Table

READ = (BROKERS, CLIENT_CONNECTIONS, CLIENT_METRICS, CLIENT_PUSHES, CLIENT_SESSIONS, CLIENTS)
INSTANCES_ONE_BY_ONE = 5_000
"""Up to this many, metrics are read per instance; with more, those of a client stand for each of its instances."""

MAX_BYTES = 1_048_576
"""Kafka's default of telemetry.max.bytes."""


def subscription_check(stage: Stage) -> Outcome:
    args, lake = stage.arguments, stage.lake
    try:
        goal = goal_of(_json("--goal", args.goal)) if args.goal else None
        operations = [] if goal else operations_of(_changes(args))
    except (UnusableProposal, UnusableGoal) as error:
        raise BadArguments(str(error)) from error
    days = days_of_evidence(stage)
    published = lake.published(stage.cluster)
    snapshots = {table.name: published[table.name] for table in READ}
    where = stage.condition({"cluster_id": stage.cluster, "dt": days})

    def frame(table: Table) -> DataFrame:
        return lake.read(table, snapshots[table.name]).where(where)

    def rows(table: Table[Row]) -> list[Row]:
        return [
            row
            for d in days
            for row in lake.rows(table, snapshots[table.name], cluster_id=stage.cluster, dt=d)
        ]

    brokers = rows(BROKERS)
    configured, remarks = _configured(args.configured, brokers)
    release, other_releases = _release(args.release, brokers)
    pushes = frame(CLIENT_PUSHES)
    pushing = _collected(lake_evidence.pushing(pushes, frame(CLIENT_SESSIONS)))
    per_instance = len(pushing) <= INSTANCES_ONE_BY_ONE
    observed = lake_evidence.observed_instances(
        pushing,
        _collected(lake_evidence.metric_shares(frame(CLIENT_METRICS), pushes, per_instance)),
        _collected(lake_evidence.connected(frame(CLIENT_CONNECTIONS))),
        rows(CLIENTS),
    )
    situation = Situation(
        releases.parse(release),
        lake_evidence.offers_subscriptions(brokers),
        args.telemetry_max_bytes,
        len(days),
        lake_evidence.lake_sizes(lake, published, stage.cluster, days),
    )
    try:
        with JavaRuntime() as java:
            if goal:
                suggestion = suggest(goal, observed, situation.release, java)
                operations = operations_of(suggestion.change)
                remarks += [*suggestion.remarks, *_inexact(suggestion)]
            result = check(configured, operations, observed, situation, java)
    except (NoJava, UnsureMatch, UnusableGoal) as error:
        raise BadArguments(str(error)) from error
    question = Question(
        args.report_id,
        stage.cluster,
        args.cluster_name or stage.cluster,
        min(days),
        max(days),
        dt.datetime.now(dt.UTC),
        release,
        other_releases,
        args.bootstrap_server,
        knowledge.version(),
        version("client-telemetry"),
    )
    report_content = content(question, result)
    report_content["remarks"] = [*remarks, *report_content["remarks"]]
    with published_place(args.publish, "subscription_check") as place:
        page = place.shown(publish(report_content, place.root) / PAGE)
    counts = {"instances": len(observed), "refused": len(report_content["refused"])}
    details = {
        "report": page,
        "sentence": report_content["sentence"],
        "answer": report_content["answer"],
        "totals": report_content["totals"],
    }
    return Outcome(
        f"subscription_check: {report_content['answer']}: {report_content['sentence']}\n{page}",
        counts,
        details,
    )


def _collected(frame: DataFrame) -> list[dict[str, Any]]:
    return [row.asDict(recursive=True) for row in frame.collect()]


def _json(option: str, text: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise BadArguments(f"{option} is not valid JSON: {error}") from error


def _inexact(suggestion: Suggestion) -> list[str]:
    """Which clients the proposed selectors cannot separate."""
    sentences = []
    for words, instances in (("does not reach", suggestion.missing), ("also reaches", suggestion.unwanted)):
        if instances:
            ids = sorted({str(instance.instance.client_id) for instance in instances})
            more = ", ..." if len(ids) > 5 else ""
            sentences.append(
                f"No selectors tell the wanted clients apart: the proposal {words} {len(instances)} instances "
                f"({', '.join(ids[:5])}{more})."
            )
    return sentences


def _changes(args: argparse.Namespace) -> object:
    if args.changes:
        if args.action:
            raise BadArguments("give either --changes or --action")
        return _json("--changes", args.changes)
    if not args.action:
        raise BadArguments(
            "there is no change to check: give --action (add, alter, delete), --changes, or --goal"
        )
    fields = {
        "name": args.name,
        "metrics": args.metrics,
        "interval_ms": args.interval_ms,
        "match": args.match,
    }
    return [{"action": args.action, **{key: value for key, value in fields.items() if value is not None}}]


def _configured(text: str | None, brokers: list[BrokerRow]) -> tuple[list[Resource], list[str]]:
    if text:
        try:
            if answered.MARK in text:
                return answered.read(text), []
            if text.lstrip().startswith("["):
                return [resource_of(entry) for entry in json.loads(text)], []
            return described.read(text), []
        except ValueError as error:  # also UnreadableDescription and NoAnswers
            raise BadArguments(f"--configured: {error}") from error
    resources, remarks = lake_evidence.configured_resources(brokers)
    if resources is None:
        raise BadArguments(
            "no broker reported what is configured in these days: paste the output of "
            "kafka-client-metrics.sh --describe as --configured, or [] if there is nothing"
        )
    return resources, remarks


def _release(release: str | None, brokers: list[BrokerRow]) -> tuple[str, tuple[str, ...]]:
    """The oldest release of the last day, on which the fewest clients are answered, and the others."""
    if release:
        try:
            return releases.exact(release), ()
        except releases.UnusableRelease as error:
            raise BadArguments(str(error)) from error
    last = max((row["dt"] for row in brokers), default=None)
    latest = {}
    for row in sorted(
        brokers, key=lambda row: (row["dt"], row["last_evidence_at"] is not None, row["last_evidence_at"])
    ):
        possible = [candidate for candidate in row["releases"] or () if candidate in releases.known()]
        if row["dt"] == last and possible:
            latest[row["broker_id"]] = possible[0]
    if not latest:
        raise BadArguments("the brokers' release is not known in these days: give --release")
    running = sorted(set(latest.values()), key=releases.parse)
    return running[0], tuple(running[1:])


def main(argv: list[str] | None = None) -> int:
    arguments = parser("subscription_check", __doc__.splitlines()[0])
    arguments.add_argument(
        "--report-id", required=True, help="id of the report; an existing report with this id is replaced"
    )
    arguments.add_argument(
        "--publish", required=True, help="folder or file:// URL in which subscription_check/... is written"
    )
    arguments.add_argument("--cluster-name", help="display name of the cluster")
    arguments.add_argument(
        "--goal", help="what you want to know, as JSON: the smallest subscription for it is proposed"
    )
    arguments.add_argument("--changes", help="JSON list of changes, to check several at once")
    arguments.add_argument("--action", choices=ACTIONS, help="type of the change")
    arguments.add_argument("--name", help="name of the subscription; default: a generated one")
    arguments.add_argument("--metrics", help="metric prefixes, separated by commas; * for all")
    arguments.add_argument("--interval-ms", help="push interval")
    arguments.add_argument("--match", help="selectors, key=regex, separated by commas")
    arguments.add_argument("--configured", help="current configuration; default: what the brokers reported")
    arguments.add_argument("--release", help="release of the brokers; default: what they reported")
    arguments.add_argument(
        "--day", type=day, help="last day of evidence, UTC; default: the last processed one"
    )
    arguments.add_argument("--window", type=int, default=7, help="days of evidence")
    arguments.add_argument(
        "--telemetry-max-bytes", type=int, default=MAX_BYTES, help="telemetry.max.bytes of the brokers"
    )
    arguments.add_argument("--bootstrap-server", default="BROKER:9092", help="address to use in the commands")
    return run(arguments, subscription_check, argv)
