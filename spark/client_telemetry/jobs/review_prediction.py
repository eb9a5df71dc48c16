"""The report that a review is compared with: asked for before the review where nobody did, and linked to it afterwards."""

import argparse
import sys
from collections.abc import Sequence

from client_telemetry.formats.locations import is_local
from client_telemetry.formats.raw.file_system import UnusableLocation
from client_telemetry.jobs import main_of
from client_telemetry.lake.catalog import NoSuchLake
from client_telemetry.lake.lake import Lake
from client_telemetry.pipeline.place import published_place
from client_telemetry.pipeline.stage import BadArguments
from client_telemetry.reports.upgrade.build import asked_question
from client_telemetry.reports.upgrade.publish import link_again
from client_telemetry.review.planned import planned
from client_telemetry.tables.upgrade_reports import UPGRADE_REPORTS

_OF_A_REPORT = ("cluster", "cluster_name", "lake", "run_id")


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
        names = (*_OF_A_REPORT, "knowledge", "knowledge_package", "scram_users", "mechanisms", "targets")
        if (
            main_of("impact")(
                _options(args, names, report_id=plan.name, day=f"{plan.began_at:%Y-%m-%d}", **releases)
            )
            == 0
        ):
            _publish_report(args, plan.name)  # an error here recurs in show_in_report


def _publish_report(args: argparse.Namespace, report_id: str) -> int:
    names = (*_OF_A_REPORT, "publish", "hosts")
    return main_of("publish")(_options(args, names, report_id=report_id))


def _options(args: argparse.Namespace, names: Sequence[str], **more: str) -> list[str]:
    """Arguments for another stage: those of `names` that were given to this one, and `more`."""
    options = {**{name: getattr(args, name) for name in names}, **more}
    return [
        text
        for name, value in options.items()
        if value
        for text in (f"--{name.replace('_', '-')}", str(value))
    ]
