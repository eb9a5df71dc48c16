"""Which upgrades a run reviews, and which report each is compared with: from rows of brokers and upgrade_reports."""

import argparse
import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

from client_telemetry.activity.table_evidence import broker_runs
from client_telemetry.formats.target_file import UnusableTarget
from client_telemetry.knowledge.measured_targets import may_be
from client_telemetry.knowledge.releases import UnusableRelease, exact, upgrade
from client_telemetry.lake.lake import Lake
from client_telemetry.pipeline import target_folder
from client_telemetry.pipeline.inputs import StageInputs, days_of_evidence
from client_telemetry.pipeline.stage import BadArguments
from client_telemetry.review.phases import Change, NoSuchUpgrade, upgrade_of, upgrades
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.rows import UpgradeReportRow
from client_telemetry.tables.upgrade_reports import UPGRADE_REPORTS

EVIDENCE_ENDS_WITHIN_SECONDS = 120
"""A question finds the first change by what brokers reported about themselves; clocks and minutes differ by this much."""


class Planned(NamedTuple):
    """An upgrade to review. `report_id`: the report that it is compared with; None = none was made before."""

    from_release: str
    to_release: str
    began: float
    report_id: str | None

    @property
    def began_at(self) -> dt.datetime:
        return dt.datetime.fromtimestamp(self.began, dt.UTC)

    @property
    def name(self) -> str:
        return f"{self.from_release}_to_{self.to_release}_{self.began_at:%Y%m%dT%H%M%SZ}"


def planned(args: argparse.Namespace, lake: Lake) -> list[Planned]:
    """The requested pair of releases, the last one that the brokers went through, or those that began on the days of
    `--changed-on`, of which there may be none. Raises BadArguments.
    """
    if args.changed_on == []:
        return []
    inputs = StageInputs.of_cluster(lake, args.cluster, days_of_review(args, lake), (BROKERS,))
    runs = broker_runs(inputs.rows(BROKERS), 0.0)
    changes = upgrades(runs)
    if args.changed_on is None:
        source, target = _upgrade(_named(args.from_release, args), _named(args.to_release, args), changes)
        try:
            changes = [Change(source, target, upgrade_of(runs, [], source, target).began)]
        except NoSuchUpgrade as error:
            raise BadArguments(str(error)) from error
    else:
        days = args.changed_on
        changes = [c for c in changes if dt.datetime.fromtimestamp(c.began, dt.UTC).date() in days]
    return [Planned(*change, _report(lake, args.cluster, *change)) for change in changes]


def days_of_review(args: argparse.Namespace, lake: Lake) -> list[dt.date]:
    """Those up to the last of `--changed-on`, if no day is given."""
    return days_of_evidence(lake, args, max(args.changed_on or [], default=None))


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
        if (not from_release or may_be(from_release, (change.from_release,)))
        and (not to_release or may_be(to_release, (change.to_release,)))
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
    return from_release or upgraded[-1].from_release, to_release or upgraded[-1].to_release


def _named(release: str | None, args: argparse.Namespace) -> str | None:
    try:
        return target_folder.named(release, args.targets) if release else None
    except UnusableTarget as error:
        raise BadArguments(str(error)) from error
