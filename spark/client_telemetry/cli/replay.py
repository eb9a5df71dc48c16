"""Which requests of a fleet other brokers would refuse, and whose they are, as CSV.

client-telemetry replay --lake LAKE --target target.json|HOST:PORT[,…] [--command-config client.properties] [--cluster ID]
    [--all] [--report REPORT]

LAKE is a lake, such as the one that `client-telemetry report` leaves in its output folder. Each API and version that a client sent
and today's brokers answered is asked of the target, in a form that changes nothing (docs/probe.md), or looked up in its file.
With --report, the outcome stands beside each verdict of that upgrade report, which was made from the lake, on its page and in
replay.json. Exit code 0: the target answers all of them. 3: it refuses some. 4: it refuses none, and some could not be asked. 2: no data, no target,
or an argument that cannot be used.
"""

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path

from client_telemetry import Unusable
from client_telemetry.cli import report_folder
from client_telemetry.compatibility.go_no_go import CANNOT_TELL, GO, NO_GO
from client_telemetry.console.arguments import Arguments
from client_telemetry.console.counted import counted
from client_telemetry.console.progress import Progress
from client_telemetry.console.refusal import refuses
from client_telemetry.formats import report_file, target_file, trial_file
from client_telemetry.formats.report_file import Report
from client_telemetry.formats.trial_file import Replay
from client_telemetry.knowledge import apis, measured_targets
from client_telemetry.lake.catalog import unavailable
from client_telemetry.lake.lake import Lake, existing_lake
from client_telemetry.probe import measurement, replay, replayed_report
from client_telemetry.probe.listener import read_properties
from client_telemetry.probe.probing import Limits
from client_telemetry.probe.replay import Replayed, Sent
from client_telemetry.reports.client_strings import shown
from client_telemetry.reports.spreadsheet import cell
from client_telemetry.reports.upgrade.publish import add_trials
from client_telemetry.tables.clients import CLIENTS

HEADER = (
    "cluster_id",
    "api_key",
    "api_name",
    "version",
    "outcome",
    "side",
    "expected",
    "principal",
    "application",
    "owner",
    "listeners",
    "requests",
)
_REASONS = (
    ((replay.BELOW, replay.NONE), "older than all that the target accepts"),
    ((replay.ABOVE,), "newer, so that a client that asks for versions takes a lower one"),
)
_COLUMNS = ("cluster_id", "principal", "client_id", "application", "owner", "listeners", "api_uses")


@refuses("replay", failure=unavailable)
def main(argv: Sequence[str] | None = None) -> int:
    parser = Arguments("replay", __doc__)
    parser.add_argument("--lake", required=True, help="folder or URL of the lake")
    parser.add_argument("--cluster", help="cluster id; default: all")
    parser.add_argument(
        "--target",
        required=True,
        metavar="TARGET",
        help="file of `client-telemetry probe`, or HOST:PORT[,…] of brokers to ask",
    )
    parser.add_argument(
        "--command-config", type=Path, metavar="FILE", help="client.properties for brokers that are asked"
    )
    parser.add_argument("--all", action="store_true", help="requests that are answered or advertised, too")
    parser.add_argument(
        "--report",
        type=Path,
        metavar="REPORT",
        help="folder of an upgrade report that was made from the lake",
    )
    args = parser.parse_args(argv)
    lake = existing_lake(args.lake)
    folder, report = report_folder.read(args.report) if args.report else (None, None)
    with Progress(f"reading the table clients in {args.lake}") as progress:
        sent = _sent(lake, args.cluster, report)
        if not sent:
            whose = "of the report's cluster and days " if report else ""
            raise Unusable(f"no requests of clients {whose}in {args.lake}: process a day first")
        target = _target(args, sent, progress)
    replayed = list(replay.replayed(sent, target))
    if folder and report:
        brokers = replayed_report.Brokers(target["bootstrap"], target["answers_like"], target["measured_at"])
        _beside(folder, replayed_report.document(report, replayed, brokers))
    return _print(replayed, target["answers_like"], args.all)


def _beside(folder: Path, content: Replay) -> None:
    """Writes the replay of a report beside it and says what contradicts it, first."""
    file = trial_file.write(folder, trial_file.REPLAY, content)
    print(*_beside_lines(content), sep="\n", file=sys.stderr)
    added = add_trials(folder, content["report_id"])
    print(f"written: {file}{', and on the page of the report' if added else ''}", file=sys.stderr)


def _beside_lines(content: Replay) -> list[str]:
    lines = [
        f"CONTRADICTS its verdict ({each['verdict_outcome']}): {shown(each['name'])} on {content['target']}: {each['said']}"
        for each in content["applications"]
        if each["contradicts"]
    ]
    safe = content["safe"]
    known = safe[replayed_report.ANSWERED] + safe[replayed_report.REFUSED]
    count = counted(sum(safe.values()), "safe application")
    return [
        *lines,
        f"{known} of {count} replayed on {content['target']}",
        f"{counted(len(lines), 'contradiction')} with the report",
    ]


def _sent(lake: Lake, cluster_id: str | None, report: Report | None) -> list[Sent]:
    if not lake.exists(CLIENTS):
        return []
    partitions: dict[str, object] = {"cluster_id": cluster_id} if cluster_id else {}
    if report:
        question = report["question"]
        partitions = {"cluster_id": question["cluster_id"], "dt": report_file.days(question)}
    return replay.sent_by(lake.each_row(CLIENTS, None, _COLUMNS, **partitions))


def _target(args: argparse.Namespace, sent: Sequence[Sent], progress: Progress) -> target_file.Content:
    if measured_targets.is_file(args.target):
        return target_file.read(Path(args.target))
    settings = read_properties(args.command_config) if args.command_config else {}
    bootstrap = measurement.bootstrap_listeners(args.target, settings)
    measured = measurement.measure(
        bootstrap, Limits(), progress, {key for key, _ in (each.pair for each in sent)}
    )
    for name, reason in measured.failures.items():
        print(f"broker {name} was not asked: {reason}", file=sys.stderr)
    return measurement.content(measured, bootstrap)


def _print(replayed: Sequence[Replayed], answers_like: Sequence[str], with_answered: bool) -> int:
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(HEADER)
    for each in replayed:
        if with_answered or each.refused or each.is_open or each.differs:
            out.writerow([cell(value) for value in _row(each)])
    refused = [each for each in replayed if each.refused]
    print(*_summary(replayed, refused, answers_like), sep="\n", file=sys.stderr)
    if refused:
        return NO_GO
    return CANNOT_TELL if any(each.is_open for each in replayed) else GO


def _row(each: Replayed) -> tuple[object, ...]:
    expected = {None: "", True: "answered", False: "refused"}[each.expected]
    sent = each.sent
    key, version = sent.pair
    return (
        sent.cluster_id,
        key,
        apis.name(sent.pair[0]),
        version,
        each.outcome,
        each.side,
        expected,
        sent.principal,
        sent.application,
        sent.owner,
        " ".join(sent.listeners),
        sent.requests,
    )


def _summary(
    replayed: Sequence[Replayed], refused: Sequence[Replayed], answers_like: Sequence[str]
) -> list[str]:
    lines = [f"{counted(len(_pairs(replayed)), 'API and version', 'APIs and versions')} sent"]
    for sides, reason in _REASONS:
        hit = [each for each in refused if each.side in sides]
        applications = {(each.sent.cluster_id, each.sent.principal, each.sent.application) for each in hit}
        if hit:
            lines.append(
                f"{len(_pairs(hit))} refused, {reason}, of {counted(len(applications), 'application')}"
            )
    advertised = _pairs([each for each in replayed if each.outcome == replay.ADVERTISED])
    if advertised:
        names = ", ".join(sorted({apis.name(key) for key, _ in advertised}))
        lines.append(
            f"{len(advertised)} only seen advertised, as to ask them would change something: {names}"
        )
    if not answers_like:
        return [*lines, "no release of Apache Kafka advertises the same: nothing is expected of the target"]
    differing = _pairs([each for each in replayed if each.differs])
    releases = " or ".join(answers_like)
    return [*lines, f"{counted(len(differing), 'answer')} not as expected of Apache Kafka {releases}"]


def _pairs(replayed: Sequence[Replayed]) -> set[replay.Pair]:
    return {each.sent.pair for each in replayed}
