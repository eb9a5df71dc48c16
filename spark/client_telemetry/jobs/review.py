"""review: what an upgrade of the brokers did to each client, and what was predicted.

Reads one consistent set of snapshots. Replaces the review's rows of upgrade_outcomes and metric_changes, and publishes
its page.
"""

import argparse
import datetime as dt
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import NamedTuple

from client_telemetry import knowledge
from client_telemetry.activity.client_metrics import Series
from client_telemetry.activity.table_evidence import (
    SHORTEST_SLOT_SECONDS,
    SLOTS,
    broker_runs,
    failed_logins,
    pushed_series,
    without_clients,
)
from client_telemetry.compatibility.listener_mechanisms import add_mechanisms
from client_telemetry.console.arguments import day
from client_telemetry.formats.raw.file_system import UnusableLocation
from client_telemetry.formats.raw.garbage_collection import collector_paused
from client_telemetry.identity.owners import load_owner_rules
from client_telemetry.jobs import main_of
from client_telemetry.jobs import review_parts as written_parts
from client_telemetry.jobs.review_parts import WrittenClients
from client_telemetry.knowledge.releases import UnusableRelease, exact, upgrade
from client_telemetry.lake.catalog import NoSuchLake
from client_telemetry.lake.lake import Lake
from client_telemetry.lake.writer import TablePlace
from client_telemetry.pipeline.place import is_local, published_place
from client_telemetry.pipeline.stage import (
    BadArguments,
    Outcome,
    Slice,
    Stage,
    parser,
    run,
    use_own_knowledge,
)
from client_telemetry.pipeline.stage import days as days_of
from client_telemetry.pipeline.text_file import read_text_file
from client_telemetry.reports.names import folder_name
from client_telemetry.reports.review.document import files_of_lines
from client_telemetry.reports.review.publish import PAGE, pages, put
from client_telemetry.reports.review.report import ReviewReport, moment
from client_telemetry.reports.upgrade.build import asked_question
from client_telemetry.reports.upgrade.publish import link_again
from client_telemetry.review import applications, decision, rule_records, workers
from client_telemetry.review.in_parts import assembled, setting
from client_telemetry.review.metric_changes import Compare, Group
from client_telemetry.review.metric_curves import GroupSums
from client_telemetry.review.metric_review import metric_changes, with_curves
from client_telemetry.review.model import Review, WindowWithoutData
from client_telemetry.review.outcome_rows import RowsOf
from client_telemetry.review.phases import Change, NoSuchUpgrade, upgrade_of, upgrades
from client_telemetry.review.rule_records import RuleRecord
from client_telemetry.review.setting import Setting
from client_telemetry.review.tracks import Track
from client_telemetry.tables import metric_changes as metric_changes_suite
from client_telemetry.tables import rule_records as rule_records_suite
from client_telemetry.tables import upgrade_outcomes as upgrade_outcomes_suite
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.metric_changes import METRIC_CHANGES
from client_telemetry.tables.rows import BrokerRow, UpgradeReportRow
from client_telemetry.tables.rule_records import RULE_RECORDS
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_outcomes import UPGRADE_OUTCOMES
from client_telemetry.tables.upgrade_reports import UPGRADE_REPORTS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS
from client_telemetry.workers.pieces import in_tasks

EVIDENCE_ENDS_WITHIN_SECONDS = 120
"""A question finds the first change by what brokers reported about themselves; clocks and minutes differ by this much."""

READ = (BROKERS, CONNECTION_EVENTS, CLIENT_PUSHES, CLIENT_METRICS, CLIENTS)
WRITTEN = (UPGRADE_OUTCOMES, METRIC_CHANGES, RULE_RECORDS)


class Planned(NamedTuple):
    """An upgrade to review. `report_id`: the report that it is compared with; None = none was made before."""

    from_release: str
    to_release: str
    began: float
    report_id: str | None

    @property
    def name(self) -> str:
        return f"{self.from_release}_to_{self.to_release}_{moment(self.began):%Y%m%dT%H%M%SZ}"


def review_upgrades(stage: Stage) -> Outcome:
    """All requested upgrades, in order of time."""
    use_own_knowledge(stage.arguments.knowledge)
    with collector_paused():
        outcomes = [_review_upgrade(stage, plan) for plan in planned(stage.arguments, stage.lake)]
    last = outcomes[-1]
    details = {**last.details, "reviews": [outcome.details for outcome in outcomes]}
    return Outcome("\n".join(outcome.message for outcome in outcomes), last.counts, details)


def planned(args: argparse.Namespace, lake: Lake) -> list[Planned]:
    """The requested pair of releases, the last one that the brokers went through, or those that began on the days of
    `--changed-on`, of which there may be none. Raises BadArguments.
    """
    if args.changed_on == []:
        return []
    runs = broker_runs(_brokers(lake, args.cluster, _days(args, lake)), 0.0)
    changes = upgrades(runs)
    if args.changed_on is None:
        source, target = _upgrade(args.from_release, args.to_release, changes)
        try:
            changes = [Change(source, target, upgrade_of(runs, [], source, target).began)]
        except NoSuchUpgrade as error:
            raise BadArguments(str(error)) from error
    else:
        days = args.changed_on
        changes = [c for c in changes if dt.datetime.fromtimestamp(c.began, dt.UTC).date() in days]
    return [Planned(*change, _report(lake, args.cluster, *change)) for change in changes]


def _review_upgrade(stage: Stage, plan: Planned) -> Outcome:
    args, lake, cluster = stage.arguments, stage.lake, stage.cluster
    report_id = plan.report_id
    days = _days(args, lake)
    branch = stage.branch(WRITTEN)
    published = lake.published(cluster)
    snapshots = {table.name: published[table.name] for table in READ}
    brokers = _brokers(lake, cluster, days)
    review_id = args.review_id or plan.name
    now = dt.datetime.now(dt.UTC)
    with ThreadPoolExecutor(1) as pool:
        pushes = pool.submit(_pushed, stage, days, snapshots)
        reviewed = _review(stage, days, snapshots, brokers, plan, review_id, now)
        review = reviewed.review
        pushed = pushes.result()

    where: dict[str, object] = {"cluster_id": cluster, "review_id": review_id}
    facts = {"clients": float(len(review.clients)), "phases": float(len(review.upgrade.phases) - 1)}
    branch.replace_files(UPGRADE_OUTCOMES, [url for part in reviewed.written for url in part.urls], **where)
    with ThreadPoolExecutor(2) as tasks:
        # Spark audits clients, and writes rows and lines of changes, while this process compares metrics and makes the
        # pages.
        validated = tasks.submit(stage.validate, branch, Slice(upgrade_outcomes_suite.SUITE, where, facts))
        changed = metric_changes(review, reviewed.common, reviewed.comparisons, pushed)
        changes = tasks.submit(
            in_tasks,
            stage.spark,
            partial(
                written_parts.metric_changes, cluster, review_id, TablePlace.of(lake.table(METRIC_CHANGES))
            ),
            written_parts.parts(changed, written_parts.CHANGES_OF_A_PART),
        )
        metrics = with_curves(review, reviewed.common, changed, reviewed.curves, reviewed.tracks_of, pushed)
        reviewed.close()
        releases = (plan.from_release, plan.to_release)
        branch.replace_rows(
            RULE_RECORDS, rule_records.table_rows(review.rules, cluster, review_id, releases, now), **where
        )
        decisions = decision.decisions(review)
        report = ReviewReport(
            review,
            review_id,
            args.cluster_name or cluster,
            now,
            decisions,
            f"report {report_id}"
            if report_id
            else "made now, from the requests before the first broker changed",
            report_link=None
            if report_id is None
            else f"../../../upgrade_impact/{folder_name(args.cluster_name or cluster)}/{folder_name(report_id)}/{PAGE}",
            metrics=metrics,
            all_rules=rule_records.totals([*_rules_of_others(lake, cluster, review_id), *review.rules]),
            knowledge_version=knowledge.version(),
            knowledge_built_at=knowledge.built_at(),
            code_version=version("client-telemetry"),
        )
        texts: dict[str, str | Iterable[str]] = {**pages(report)}
        written_changes = changes.result()
    branch.replace_files(METRIC_CHANGES, [url for part in written_changes for url in part.urls], **where)
    suites = (upgrade_outcomes_suite.SUITE, metric_changes_suite.SUITE, rule_records_suite.SUITE)
    with ThreadPoolExecutor(1) as pool:
        # Spark audits what was written, while this process puts the files together.
        slices = [Slice(suite, where, facts) for suite in suites]
        audited = pool.submit(
            stage.publish, branch, slices, days, {UPGRADE_OUTCOMES.name: validated.result()}
        )
        lines = written_parts.all_lines(review.clients, reviewed.written)
        texts |= files_of_lines(report, lines, [part.lines for part in written_changes])
        audited.result()
    with published_place(args.publish, "upgrade_review") as place:
        page = place.shown(put(report, texts, place.root) / PAGE)
    overall = decision.GO if not review.upgrade.is_mixed else decision.overall(decisions)
    counts = applications.outcome_counts(review.clients)
    details = {
        "review": page,
        "sentence": report.sentence,
        "review_id": review_id,
        "decision": overall,
        "exit_code": decision.EXIT_CODES[overall],
        "outcomes": counts,
    }
    return Outcome(f"review: {report.sentence}\n{page}", counts, details)


class _Reviewed(NamedTuple):
    """`tracks_of`: the tracks of a few clients."""

    review: Review
    written: list[WrittenClients]
    common: Setting
    comparisons: list[Compare]
    curves: GroupSums
    tracks_of: Callable[[Sequence[Group]], Sequence[Track]]
    close: Callable[[], None]


def _review(
    stage: Stage,
    days: Sequence[dt.date],
    snapshots: Mapping[str, int],
    brokers: Sequence[BrokerRow],
    plan: Planned,
    review_id: str,
    now: dt.datetime,
) -> _Reviewed:
    """Clients are judged, and the results written, by Spark's workers."""
    owners = stage.arguments.owners
    rules = read_text_file(owners, "owner rules", load_owner_rules) if owners else ()
    lake, cluster = stage.lake, stage.cluster
    runs = broker_runs(brokers, 0.0)
    # From the days that are read: brokers may have run for months before.
    first_day = dt.datetime.combine(min(days), dt.time(), dt.UTC).timestamp()
    span = max(run.until for run in runs) - max(first_day, min(run.started for run in runs))
    slot = max(SHORTEST_SLOT_SECONDS, round(span / SLOTS / 10) * 10)
    where = {"cluster_id": cluster, "dt": list(days)}
    events = lake.read(CONNECTION_EVENTS, snapshots[CONNECTION_EVENTS.name]).where(stage.condition(where))
    rows = workers.ClientRows(
        stage.spark,
        lake.files(CONNECTION_EVENTS, snapshots[CONNECTION_EVENTS.name], cluster_id=cluster, dt=list(days)),
        _report_files(lake, cluster, plan.report_id),
        lake.files(CLIENTS, snapshots[CLIENTS.name], cluster_id=cluster, dt=list(days)),
        slot,
    )
    with ThreadPoolExecutor(1) as pool:
        logins = pool.submit(lambda: failed_logins(events, slot).collect())
        of_all_clients = rows.known()
        failed = [row.asDict() for row in logins.result()]
    gathered = without_clients(
        cluster,
        of_all_clients.refusals.to_pylist(),
        failed,
        brokers,
        slot,
        first=None if of_all_clients.first_slot is None else of_all_clients.first_slot * float(slot),
        last=(of_all_clients.last_us or 0) / 1e6,
        snapshots={incarnation: at / 1e6 for incarnation, at in of_all_clients.snapshots.items()},
    )
    try:
        common = setting(gathered, plan.from_release, plan.to_release, owner_rules=rules, began=plan.began)
        rows_of = RowsOf(cluster, common.upgrade, review_id, plan.report_id, now)
        write = partial(written_parts.outcomes, rows_of, TablePlace.of(lake.table(UPGRADE_OUTCOMES)))
        judged = rows.judged(common, write)
        assembled_review, comparisons, curves = assembled(
            [part for judged_bucket in judged for part in judged_bucket.parts], gathered, common
        )
    except (NoSuchUpgrade, WindowWithoutData) as error:
        raise BadArguments(str(error)) from error
    assembled_review, of_suspects = _with_suspects(assembled_review, judged, write)
    written_clients = [*(judged_bucket.written for judged_bucket in judged), of_suspects]
    return _Reviewed(
        assembled_review,
        written_clients,
        common,
        comparisons,
        curves,
        lambda clients: rows.tracks_of(common, clients),
        rows.close,
    )


def _with_suspects(
    assembled_review: Review,
    judged: Sequence[workers.Judged[WrittenClients]],
    write: workers.Write[WrittenClients],
) -> tuple[Review, WrittenClients]:
    """Clients that were judged here get their applications, and are written."""
    names = {key: name for judged_bucket in judged for key, name in judged_bucket.names.items()}
    written_keys = {key for judged_bucket in judged for key in judged_bucket.written.lines}
    here = list(
        applications.named(
            [client for client in assembled_review.clients if written_parts.key(client) not in written_keys],
            names,
        )
    )
    named = {written_parts.key(client): client for client in here}
    clients = tuple(named.get(written_parts.key(client), client) for client in assembled_review.clients)
    return replace(assembled_review, clients=clients), write(here)


def _rules_of_others(lake: Lake, cluster: str, review_id: str) -> list[RuleRecord]:
    rows = lake.rows(RULE_RECORDS)
    return [
        rule_records.from_row(row)
        for row in rows
        if (row["cluster_id"], row["review_id"]) != (cluster, review_id)
    ]


def _report_files(lake: Lake, cluster: str, report_id: str | None) -> workers.ReportFiles:
    if report_id is None:
        return workers.ReportFiles()
    lake.create([UPGRADE_VERDICTS, UPGRADE_FINDINGS])
    return workers.ReportFiles(
        report_id,
        *(
            lake.files(table, cluster_id=cluster, report_id=report_id)
            for table in (UPGRADE_VERDICTS, UPGRADE_FINDINGS)
        ),
    )


def _brokers(lake: Lake, cluster: str, days: Sequence[dt.date]) -> list[BrokerRow]:
    snapshot = lake.published(cluster)[BROKERS.name]
    return [row for d in days for row in lake.rows(BROKERS, snapshot, cluster_id=cluster, dt=d)]


def _pushed(stage: Stage, days: Sequence[dt.date], snapshots: Mapping[str, int]) -> list[Series]:
    """What client instances measured themselves."""
    condition = stage.condition({"cluster_id": stage.cluster, "dt": list(days)})
    pushes, metrics = (
        stage.lake.read(table, snapshots[table.name]).where(condition)
        for table in (CLIENT_PUSHES, CLIENT_METRICS)
    )
    return pushed_series(pushes, metrics)


def _report(lake: Lake, cluster: str, source: str, target: str, began: float) -> str | None:
    """The newest report on the pair that was made before the first broker changed, or from evidence up to then."""

    def is_a_prediction(row: UpgradeReportRow) -> bool:
        until = row["evidence_until"]
        first_change = dt.datetime.fromtimestamp(began, dt.UTC)
        return (
            (until is not None and until.timestamp() <= began + EVIDENCE_ENDS_WITHIN_SECONDS)
            or row["created_at"] <= first_change
            or row["last_dt"] < first_change.date()
        )

    reports = [
        row
        for row in lake.rows(UPGRADE_REPORTS, cluster_id=cluster)
        if (row["from_release"], row["to_release"]) == (source, target) and is_a_prediction(row)
    ]
    newest = max(reports, key=lambda row: row["created_at"], default=None)
    return None if newest is None else str(newest["report_id"])


def _upgrade(from_release: str | None, to_release: str | None, happened: Sequence[Change]) -> tuple[str, str]:
    """The requested pair of releases, or that of the last upgrade that the brokers went through."""
    try:
        if from_release and to_release:
            return upgrade(exact(from_release), exact(to_release))
    except UnusableRelease as error:
        raise BadArguments(str(error)) from error
    fitting = [
        change
        for change in happened
        if from_release in (None, "", change.from_release) and to_release in (None, "", change.to_release)
    ]
    if not fitting:
        raise BadArguments(
            "no broker changed its release in these days: say which upgrade with --from and --to"
        )
    upgraded = [change for change in fitting if not change.is_way_back]
    if not upgraded:
        raise BadArguments(
            f"brokers only went back in these days, from {fitting[-1].from_release} to {fitting[-1].to_release}: "
            "to review that, name both with --from and --to"
        )
    return upgraded[-1][:2]


def _days(args: argparse.Namespace, lake: Lake) -> list[dt.date]:
    """The days to look at: the processed ones among the `window` days that end with `day`."""
    processed = sorted(lake.published_days(args.cluster, "profile"))
    last = args.day or max(args.changed_on or [], default=None) or (processed[-1] if processed else None)
    days = [d for d in processed if last is not None and last - dt.timedelta(days=args.window) < d <= last]
    if not days:
        until = f" in the {args.window} days up to {last}" if last else ""
        raise BadArguments(
            f"no day of cluster {args.cluster!r} has been processed{until}: run client_telemetry_daily for it first"
        )
    return days


def show_in_report(args: argparse.Namespace) -> int:
    """Make the reports that reviews were compared with link to them; one that cannot be changed in place is published
    again. Returns the exit code: 0, or that of a publication that failed.
    """
    codes = [0]
    lake = Lake(None, args.lake)
    for plan in planned(args, lake):
        if plan.report_id is None or _is_linked(args, lake, plan.report_id):
            continue
        if (code := _publish_report(args, plan.report_id)) != 0:
            print(
                f"review: report {plan.report_id} does not link to this review yet: it could not be published again",
                file=sys.stderr,
            )
            codes.append(code)
    return codes[-1]


def _is_linked(args: argparse.Namespace, lake: Lake, report_id: str) -> bool:
    if not is_local(args.publish):
        return False
    (question,) = lake.rows(UPGRADE_REPORTS, cluster_id=args.cluster, report_id=report_id)
    with published_place(args.publish, "upgrade_impact") as place:
        return link_again(asked_question(question, args.cluster_name), place.root)


def ask_first(args: argparse.Namespace) -> None:
    """If no report predicted an upgrade, ask the question now: its evidence ends where the first broker changed. An
    upgrade that cannot be asked about is reviewed without: each client is then judged by its own earlier requests.
    """
    try:
        plans = planned(args, Lake(None, args.lake))
    except (BadArguments, NoSuchLake, UnusableLocation, KeyError):
        return  # the review itself says why
    for plan in plans:
        if plan.report_id is not None:
            continue
        releases = {"from": plan.from_release, "to": plan.to_release}
        day_of_it = f"{moment(plan.began):%Y-%m-%d}"
        names = (*_OF_A_REPORT, "knowledge", "knowledge_package", "scram_users", "mechanisms")
        if main_of("impact")(_options(args, names, report_id=plan.name, day=day_of_it, **releases)) == 0:
            _publish_report(args, plan.name)  # an error here recurs in show_in_report


def _publish_report(args: argparse.Namespace, report_id: str) -> int:
    names = (*_OF_A_REPORT, "publish", "cluster_name", "hosts")
    return main_of("publish")(_options(args, names, report_id=report_id))


_OF_A_REPORT = ("cluster", "lake", "run_id")


def _options(args: argparse.Namespace, names: Sequence[str], **more: str) -> list[str]:
    """Arguments for another stage: those of `names` that were given to this one, and `more`."""
    options = {**{name: getattr(args, name) for name in names}, **more}
    return [
        text
        for name, value in options.items()
        if value
        for text in (f"--{name.replace('_', '-')}", str(value))
    ]


def idle(args: argparse.Namespace) -> str | None:
    """The sentence with which to end before Spark starts."""
    if args.changed_on is None or planned(args, Lake(None, args.lake)):
        return None
    return "review: no broker changed its release"


def main(argv: list[str] | None = None) -> int:
    arguments = parser("review", __doc__)
    arguments.add_argument(
        "--from", dest="from_release", help="release before; default: the last change of the brokers"
    )
    arguments.add_argument("--to", dest="to_release", help="release after; default: as --from")
    arguments.add_argument(
        "--changed-on",
        type=days_of,
        help="review every upgrade that began on these days, and be done without one",
    )
    arguments.add_argument(
        "--day", type=day, help="last day that is looked at, UTC; default: the last processed one"
    )
    arguments.add_argument("--window", type=int, default=2, help="days that are looked at")
    arguments.add_argument("--review-id", help="names the review; default: releases and when the roll began")
    arguments.add_argument("--owners", help="file of owner rules")
    arguments.add_argument("--knowledge", help="folder of own knowledge")
    arguments.add_argument(
        "--scram-users", help="users with SCRAM credentials, for a question that is asked first"
    )
    add_mechanisms(arguments)
    arguments.add_argument(
        "--publish", required=True, help="folder or file:// URL that gets upgrade_review/..."
    )
    arguments.add_argument("--cluster-name", help="what people call the cluster")
    arguments.add_argument("--hosts", help="file of addresses and host names, for upgrade reports")
    try:
        ask_first(arguments.parse_args(argv))
    except BadArguments:
        pass  # printed below
    code = run(arguments, review_upgrades, argv, idle, workers_import="client_telemetry.jobs.review")
    return code or show_in_report(arguments.parse_args(argv))
