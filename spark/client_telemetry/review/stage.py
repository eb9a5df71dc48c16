"""review: what an upgrade of the brokers did to each client, and what was predicted.

Reads one consistent set of snapshots. Replaces the review's rows of upgrade_outcomes and metric_changes, and publishes its page.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from client_telemetry.compatibility.releases import UnusableRelease, exact, upgrade
from client_telemetry.expectations import metric_changes as metric_changes_suite
from client_telemetry.expectations import upgrade_outcomes as upgrade_outcomes_suite
from client_telemetry.identity.owners import load_owner_rules
from client_telemetry.pipeline.stage import (
    BadArguments,
    Outcome,
    Slice,
    Stage,
    day,
    parser,
    run,
)
from client_telemetry.pipeline.text_file import read_text_file
from client_telemetry.publish.place import published_place
from client_telemetry.reports.review.publish import PAGE, publish
from client_telemetry.reports.review.report import ReviewReport, moment
from client_telemetry.review import decision
from client_telemetry.review.activity import Evidence
from client_telemetry.review.client_metrics import Series, series
from client_telemetry.review.metric_changes import table_rows
from client_telemetry.review.metric_review import metric_review
from client_telemetry.review.model import Review, WindowWithoutData, review
from client_telemetry.review.outcome_rows import outcome_rows
from client_telemetry.review.owners import with_owners
from client_telemetry.review.phases import NoSuchUpgrade, upgrade_of, upgrades
from client_telemetry.review.prediction import Prediction, from_report
from client_telemetry.review.table_evidence import (
    SHORTEST_SLOT_SECONDS,
    SLOTS,
    broker_runs,
    evidence,
    failed_logins,
    instance_points,
    metric_points,
    opened,
    uses,
)
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.metric_changes import METRIC_CHANGES
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_outcomes import UPGRADE_OUTCOMES
from client_telemetry.tables.upgrade_reports import UPGRADE_REPORTS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS, VERDICTS

READ = (BROKERS, CONNECTION_EVENTS, CLIENT_PUSHES, CLIENT_METRICS)
WRITTEN = (UPGRADE_OUTCOMES, METRIC_CHANGES)


def review_upgrade(stage: Stage) -> Outcome:
    args, lake, cluster = stage.arguments, stage.lake, stage.cluster
    days = _days(stage)
    published = lake.published()
    snapshots = {table.name: published[table.name] for table in READ}
    brokers = [
        row for d in days for row in lake.rows(BROKERS, snapshots[BROKERS.name], cluster_id=cluster, dt=d)
    ]
    source, target = _upgrade(args.from_release, args.to_release, brokers)
    found, gathered, report_id = _review(stage, days, snapshots, brokers, source, target)
    found = with_owners(
        found, read_text_file(args.owners, "owner rules", load_owner_rules) if args.owners else ()
    )
    pushed = _pushed(stage, days, snapshots)

    began = moment(found.upgrade.began)
    review_id = args.review_id or f"{source}_to_{target}_{began:%Y%m%dT%H%M%SZ}"
    now = dt.datetime.now(dt.UTC)
    branch = stage.branch(WRITTEN)
    where: dict[str, object] = {"cluster_id": cluster, "review_id": review_id}
    branch.replace_rows(UPGRADE_OUTCOMES, outcome_rows(found, review_id, report_id, now), **where)
    metrics = metric_review(found, gathered, pushed)
    branch.replace_rows(METRIC_CHANGES, table_rows(metrics.changes, cluster, review_id), **where)
    facts = {"clients": float(len(found.clients)), "phases": float(len(found.upgrade.phases) - 1)}
    suites = (upgrade_outcomes_suite.SUITE, metric_changes_suite.SUITE)
    stage.publish(branch, [Slice(suite, where, facts) for suite in suites], days)

    decisions = decision.decisions(found, gathered)
    report = ReviewReport(
        found,
        review_id,
        args.cluster_name or cluster,
        now,
        decisions,
        f"report {report_id}" if report_id else "made now, from the requests before the first broker changed",
        metrics=metrics,
    )
    with published_place(args.publish, "upgrade_review") as place:
        page = place.shown(publish(report, place.root) / PAGE)
    overall = decision.GO if not found.upgrade.is_mixed else decision.overall(decisions)
    counts: dict[str, int] = {}
    for client in found.clients:
        word = client.last_outcome.outcome
        counts[word] = counts.get(word, 0) + 1
    details = {
        "review": page,
        "sentence": report.sentence,
        "review_id": review_id,
        "decision": overall,
        "exit_code": decision.EXIT_CODES[overall],
        "outcomes": counts,
    }
    return Outcome(f"review: {report.sentence}\n{page}", counts, details)


def _review(
    stage: Stage,
    days: Sequence[dt.date],
    snapshots: Mapping[str, int],
    brokers: Sequence[Mapping[str, Any]],
    source: str,
    target: str,
) -> tuple[Review, Evidence, str | None]:
    """The review, what it rests on, and the id of the report that it is compared with."""
    lake, cluster = stage.lake, stage.cluster
    runs = broker_runs(brokers, 0.0)
    try:
        upgrade_of(runs, [], source, target)
    except NoSuchUpgrade as error:
        raise BadArguments(str(error)) from error
    span = max(run.until for run in runs) - min(run.started for run in runs)
    slot = max(SHORTEST_SLOT_SECONDS, round(span / SLOTS / 10) * 10)
    condition = stage.condition({"cluster_id": cluster, "dt": list(days)})
    events = lake.read(CONNECTION_EVENTS, snapshots[CONNECTION_EVENTS.name]).where(condition)
    gathered = evidence(
        cluster,
        (row.asDict() for row in uses(events, slot).collect()),
        (row.asDict() for row in failed_logins(events, slot).collect()),
        (row.asDict() for row in opened(events, slot).collect()),
        brokers,
        slot,
    )
    report_id, predictions = _predictions(stage, source, target, upgrade_of(runs, [], source, target).began)
    try:
        return review(gathered, source, target, predictions=predictions), gathered, report_id
    except (NoSuchUpgrade, WindowWithoutData) as error:
        raise BadArguments(str(error)) from error


def _pushed(stage: Stage, days: Sequence[dt.date], snapshots: Mapping[str, int]) -> list[Series]:
    """What client instances measured of themselves."""
    condition = stage.condition({"cluster_id": stage.cluster, "dt": list(days)})
    pushes, metrics = (
        stage.lake.read(table, snapshots[table.name]).where(condition)
        for table in (CLIENT_PUSHES, CLIENT_METRICS)
    )
    rows = metric_points(pushes, metrics).toLocalIterator()
    return series(instance_points(row.asDict() for row in rows))


def _predictions(
    stage: Stage, source: str, target: str, began: float
) -> tuple[str | None, dict[tuple[str | None, str, str], Prediction]]:
    """Of the newest report of the pair that was made from evidence before the first broker changed: by client id, principal
    and software name."""
    lake, cluster = stage.lake, stage.cluster
    if not lake.exists(UPGRADE_REPORTS):
        return None, {}
    reports = [
        row
        for row in lake.rows(UPGRADE_REPORTS, cluster_id=cluster)
        if (row["from_release"], row["to_release"]) == (source, target)
        and row["evidence_until"] is not None
        and row["evidence_until"].timestamp() <= began + 120
    ]
    if not reports:
        return None, {}
    report = max(reports, key=lambda row: row["created_at"])
    where = {"cluster_id": cluster, "report_id": report["report_id"]}
    findings: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in lake.rows(UPGRADE_FINDINGS, **where):
        findings.setdefault((*_client(row), row.get("program")), []).append(row)
    found: dict[tuple[str | None, str, str], Prediction] = {}
    # Of several programs behind one client id the one that fares worst: the review does not tell them apart.
    rows = sorted(lake.rows(UPGRADE_VERDICTS, **where), key=lambda row: -list(VERDICTS).index(row["verdict"]))
    for row in rows:
        found[row["client_id"], row["principal"] or "", row["client_software_name"] or "unknown"] = (
            from_report(row, findings.get((*_client(row), row.get("program")), []))
        )
    return str(report["report_id"]), found


def _client(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(
        row[name] for name in ("client_id", "principal", "client_software_name", "client_software_version")
    )


def _upgrade(
    from_release: str | None, to_release: str | None, brokers: Sequence[Mapping[str, Any]]
) -> tuple[str, str]:
    """The pair of releases that was asked about, or the last one that the brokers went through."""
    try:
        if from_release and to_release:
            return upgrade(exact(from_release), exact(to_release))
        happened = upgrades(broker_runs(brokers, 0.0))
        happened = [
            pair
            for pair in happened
            if from_release in (None, "", pair[0]) and to_release in (None, "", pair[1])
        ]
    except UnusableRelease as error:
        raise BadArguments(str(error)) from error
    if not happened:
        raise BadArguments(
            "no broker changed its release in these days: say which upgrade with --from and --to"
        )
    return happened[-1]


def _days(stage: Stage) -> list[dt.date]:
    """The days that are looked at: the processed ones among the `window` days that end with `day`."""
    args = stage.arguments
    rows = stage.lake.rows(PUBLICATIONS, cluster_id=stage.cluster, stage="profile")
    processed = sorted({d for row in rows for d in row["days"]})
    last = args.day or (processed[-1] if processed else None)
    days = [d for d in processed if last is not None and last - dt.timedelta(days=args.window) < d <= last]
    if not days:
        until = f" in the {args.window} days up to {args.day}" if args.day else ""
        raise BadArguments(
            f"no day of cluster {stage.cluster!r} has been processed{until}: run client_telemetry_daily for it first"
        )
    return days


def main(argv: list[str] | None = None) -> int:
    arguments = parser("review", __doc__)
    arguments.add_argument(
        "--from", dest="from_release", help="release before; default: the last change of the brokers"
    )
    arguments.add_argument("--to", dest="to_release", help="release after; default: as --from")
    arguments.add_argument(
        "--day", type=day, help="last day that is looked at, UTC; default: the last processed one"
    )
    arguments.add_argument("--window", type=int, default=2, help="days that are looked at")
    arguments.add_argument("--review-id", help="names the review; default: releases and when the roll began")
    arguments.add_argument("--owners", help="file of owner rules")
    arguments.add_argument(
        "--publish", required=True, help="folder or file:// URL that gets upgrade_review/..."
    )
    arguments.add_argument("--cluster-name", help="what people call the cluster")
    return run(arguments, review_upgrade, argv)
