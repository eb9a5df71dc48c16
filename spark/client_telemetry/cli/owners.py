"""Tries owner rules on the clients of a processed day, without changing anything.

    client-telemetry owners --lake URL --owners FILE [--cluster ID] [--day YYYY-MM-DD] [--every-client]

Default: all clusters, and the last day of each.
"""

import argparse
import datetime as dt
import sys
from collections.abc import Sequence

from client_telemetry import Unusable
from client_telemetry.console.arguments import Arguments, day
from client_telemetry.console.counted import counted
from client_telemetry.console.progress import Progress
from client_telemetry.console.refusal import refuses
from client_telemetry.identity.owner_hints import rule_hints
from client_telemetry.identity.owner_trial import applications, matches, trial_report
from client_telemetry.identity.owners import load_owner_rules
from client_telemetry.lake.catalog import unavailable
from client_telemetry.lake.lake import Lake, existing_lake
from client_telemetry.pipeline.text_file import read_text_file
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.rows import ClientRow


@refuses("owners", failure=unavailable)
def main(argv: Sequence[str] | None = None) -> int:
    arguments = Arguments("owners", __doc__)
    arguments.add_argument("--lake", required=True, help="folder or URL of the lake")
    arguments.add_argument("--owners", required=True, help="file of owner rules")
    arguments.add_argument("--cluster", help="cluster id; default: all")
    arguments.add_argument("--day", type=day, help="UTC day; default: the last one")
    arguments.add_argument("--every-client", action="store_true", help="list every client with its rule")
    args = arguments.parse_args(argv)
    with Progress(f"reading the table clients in {args.lake}") as progress:
        return _try_rules(args, progress)


def _try_rules(args: argparse.Namespace, progress: Progress) -> int:
    rules = read_text_file(args.owners, "owner rules", load_owner_rules)
    for hint in rule_hints(rules):
        print(f"client-telemetry owners: warning: {hint}", file=sys.stderr)
    days = _days(existing_lake(args.lake), args.cluster, args.day)
    if not days:
        scope = f" of cluster {args.cluster}" if args.cluster else ""
        scope += f" on {args.day}" if args.day else ""
        raise Unusable(f"no clients{scope} in {args.lake}: run client_telemetry_daily for that day first")
    for (cluster_id, of_day), clients in sorted(days.items()):
        of_all = f"{counted(applications(clients), 'application')} with {counted(len(clients), 'client')}"
        progress(f"matching {counted(len(clients), 'client')} with {counted(len(rules), 'rule')}")
        print(f"cluster {cluster_id}, {of_day}: {of_all}, {counted(len(rules), 'rule')} in {args.owners}\n")
        for line in trial_report(rules, matches(rules, clients), args.every_client):
            print(line)
        print()
    return 0


def _days(
    lake: Lake, cluster_id: str | None, requested_day: dt.date | None
) -> dict[tuple[str, dt.date], list[ClientRow]]:
    """The clients of each cluster on the requested day, or on its last one."""
    if not lake.exists(CLIENTS):
        return {}
    parts = {
        (part["partition"]["cluster_id"], part["partition"]["dt"])
        for part in lake.table(CLIENTS).inspect.partitions().to_pylist()
        if part["record_count"]
    }
    last = {cluster: max(dt for c, dt in parts if c == cluster) for cluster, _ in parts}
    return {
        (cluster, of_day): lake.rows(CLIENTS, cluster_id=cluster, dt=of_day)
        for cluster, of_day in parts
        if cluster_id in (None, cluster) and of_day == (requested_day or last[cluster])
    }
