"""artefact_inventory: what SBOMs, images and repositories say about clients, as rows of one day.

Reads a folder or bucket as tools leave it there (Dependency-Track, syft, exporters of registries, checkouts): one file a
digest or a repository, in any folders. A run has the day's whole inventory and replaces what an earlier run of the day wrote. Beside the newest published report of the cluster it
says what is written and seen (docs/join.md).
"""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace

from client_telemetry.console.arguments import day
from client_telemetry.console.counted import counted
from client_telemetry.identity.owners import load_owner_rules
from client_telemetry.inventory import stored
from client_telemetry.inventory.artefact import Written
from client_telemetry.inventory.readable import is_read
from client_telemetry.inventory.rows import rows
from client_telemetry.inventory.workloads import Workloads
from client_telemetry.inventory.written import collect, relative
from client_telemetry.jobs.artefacts_joined import newest_report, publish_joined
from client_telemetry.jobs.artefacts_of_lake import workloads_at
from client_telemetry.knowledge import releases
from client_telemetry.pipeline.fetched_folder import LeftOut, fetched
from client_telemetry.pipeline.options import add_options
from client_telemetry.pipeline.stage import Outcome, Slice, Stage, parser, run
from client_telemetry.pipeline.text_file import read_text_file
from client_telemetry.tables.artefacts import ARTEFACTS

_LARGEST_BYTES = 2 * 2**30
_MOST_WARNINGS = 10


def artefact_inventory(stage: Stage) -> Outcome:
    args = stage.arguments
    rules = read_text_file(args.owners, "owner rules", load_owner_rules) if args.owners else ()
    branch = stage.branch((ARTEFACTS,))
    workloads = workloads_at(args.workloads) if args.workloads else None
    seen = newest_report(args.publish, stage.cluster_name) if args.publish else None
    with fetched(args.artefacts, "artefacts", is_read, _LARGEST_BYTES) as (root, left_out):
        # Without a report there is no question for the verdicts; rows have none.
        source, target = (seen.source, seen.target) if seen else releases.known()[-2:]
        written = relative(collect([root], source, target, rules), f"{root}/")
    found = list(rows(written.artefacts, stage.cluster, args.day, workloads))
    _warn(stage, written, left_out)
    where = {"cluster_id": stage.cluster, "dt": [args.day]}
    branch.replace_rows(ARTEFACTS, found, **where)
    facts = {"artefacts": len(written.artefacts), "unread": len(written.unread) + len(left_out)}
    stage.publish(branch, [Slice(ARTEFACTS, where, facts)], [args.day])
    outcome = _outcome(stage, written, facts["unread"])
    if not seen:
        return outcome
    # From the rows, as later questions judge them.
    kept = replace(stored.written(found, source, target), unread=written.unread)
    what, page = publish_joined(args.publish, stage.cluster_name, kept, seen, workloads or Workloads())
    return Outcome(f"{outcome.message}. {what}\n{page}", outcome.counts, {"joined": page, "sentence": what})


def _warn(stage: Stage, written: Written, left_out: Sequence[LeftOut]) -> None:
    unread = [f"{each.file}: {each.reason}" for each in written.unread]
    unread += [f"{each.name}: {each.reason}" for each in left_out]
    stage.warnings += [f"not read: {each}" for each in unread[:_MOST_WARNINGS]]
    if len(unread) > _MOST_WARNINGS:
        stage.warnings.append(f"not read: {len(unread) - _MOST_WARNINGS} more files")


def _outcome(stage: Stage, written: Written, unread: int) -> Outcome:
    counts = written.counts | {"files_not_read": unread}
    found = counted(counts["artefacts_with_clients"], "artefact")
    of_all = f"{counts['artefacts']:,} with Kafka clients in {counted(written.files_read, 'file')}"
    message = f"artefact_inventory: cluster {stage.cluster}, {stage.arguments.day}: {found} of {of_all}"
    return Outcome(message, counts)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser("artefact_inventory", __doc__)
    arguments.add_argument("--artefacts", help="folder or URL of SBOMs, images and checkouts")
    arguments.add_argument("--day", required=True, type=day, help="the day, UTC")
    arguments.add_argument(
        "--publish", help="folder or URL of published reports, and of what comes of them here"
    )
    add_options(arguments, "--owners", "--workloads")
    return run(arguments, artefact_inventory, argv, _nothing_to_do)


def _nothing_to_do(args: Namespace) -> str | None:
    return None if args.artefacts else "artefact_inventory: the cluster names no `artefacts`"
