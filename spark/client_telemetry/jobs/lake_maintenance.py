"""lake_maintenance: retention, compaction and expiry of all tables; before that, on request, the erasure of a client.

    python spark/run_stage.py lake_maintenance --lake URL [--retention-days JSON]
    python spark/run_stage.py lake_maintenance --lake URL --erase --cluster C [--client-id ID] [--principal P]
        [--publish URL --cluster-name NAME]

Stages may run meanwhile. What upgrade reports refer to is kept for 13 months.
"""

import argparse
import datetime as dt
import json
from collections.abc import Sequence

from client_telemetry.formats.locations import absolute_url
from client_telemetry.lake.erasure import erase
from client_telemetry.lake.maintenance import UnknownRetention, maintain, retention
from client_telemetry.pipeline.stage import BadArguments, Outcome, Stage, parser, run

COUNTS = (
    *("rows_removed", "files_before", "files_after"),
    *("manifests_after", "snapshots_after", "orphans_removed"),
)


def lake_maintenance(stage: Stage) -> Outcome:
    return _erase(stage) if stage.arguments.erase else _maintain(stage)


def _maintain(stage: Stage) -> Outcome:
    try:
        keep_days = retention(stage.arguments.retention_days)
    except UnknownRetention as error:
        raise BadArguments(str(error)) from None
    upkeeps = maintain(stage.lake, dt.datetime.now(dt.UTC), keep_days)
    counts = {name: sum(getattr(upkeep, name) for upkeep in upkeeps) for name in COUNTS}
    counts["branches_removed"] = sum(len(upkeep.branches_removed) for upkeep in upkeeps)
    message = (
        f"lake_maintenance: {len(upkeeps)} tables: {counts['files_before']} data files became {counts['files_after']}, "
        f"{counts['rows_removed']} rows past their retention, {counts['orphans_removed']} orphan files and "
        f"{counts['branches_removed']} dead branches were removed"
    )
    return Outcome(message, counts, {"tables": [upkeep.as_dict for upkeep in upkeeps]})


def _erase(stage: Stage) -> Outcome:
    args = stage.arguments
    who = {
        name: value for name, value in (("client_id", args.client_id), ("principal", args.principal)) if value
    }
    if not args.cluster or not who:
        raise BadArguments("--erase needs --cluster, and --client-id or --principal or both")
    if args.publish and not args.cluster_name:
        raise BadArguments("--publish needs --cluster-name, the name of the cluster's folders there")
    publish = absolute_url(args.publish) if args.publish else None
    erased = erase(stage.lake, args.cluster, who, publish, args.cluster_name or "")
    if erased.raw_objects:
        stage.warnings.append(
            f"{len(erased.raw_objects)} raw objects still hold the client (raw_objects of this report); delete them, or a day "
            f"that is decoded again brings it back: {erased.raw_objects[0]}"
        )
    rows = sum(erased.rows.values())
    message = (
        f"lake_maintenance: erased {' and '.join(f'{n} {v!r}' for n, v in who.items())} of cluster {args.cluster}: {rows} rows "
        f"of {sum(bool(n) for n in erased.rows.values())} tables, {len(erased.report_tags)} report snapshots, "
        f"{len(erased.published_folders)} published folders (publish them again)"
    )
    return Outcome(message, {"rows": rows}, {"erased": erased.as_dict})


def _nothing_to_do(args: argparse.Namespace) -> str | None:
    names_client = args.client_id or args.principal or args.cluster
    return "lake_maintenance: nobody to erase" if args.erase and not names_client else None


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser("lake_maintenance", __doc__, of_a_cluster=False)
    arguments.add_argument(
        "--retention-days", type=json.loads, default={}, help="JSON: days per table, null = forever"
    )
    arguments.add_argument("--erase", action="store_true", help="erase a client instead")
    arguments.add_argument("--cluster", help="Kafka's cluster id of the client to erase")
    arguments.add_argument("--client-id")
    arguments.add_argument("--principal")
    arguments.add_argument("--publish", help="location of pages and reports, to erase the client there too")
    arguments.add_argument(
        "--cluster-name", help="the cluster's name in the clusters file, as in published folders"
    )
    return run(arguments, lake_maintenance, argv, _nothing_to_do, has_gate=False)
