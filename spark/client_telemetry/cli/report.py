"""The upgrade report from request logs alone, on one machine, for clusters without a plugin in the brokers.

    client-telemetry report --to V [--from V] --out FOLDER [ID=]LOG ...

LOG: files, folders or patterns of request logs (kafka.request.logger at DEBUG), all of one cluster; ID: the node id of the broker, if
the log does not contain it. A broker's server.log (or kafkaServer.out) next to its request log provides its release, its
starts, refused requests and failed logins. V after --from: `3.9.1`, or by node id `1=3.9.1,2=4.0.1`. The logs are
converted to a dump, which goes through the same stages as any other. Below FOLDER: raw/ (the dump), lake/ (the tables),
published/ (the report). Exit code 2: the arguments or the logs cannot be used; one line says what to write instead.
"""

import argparse
import json
import re
import shlex
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from client_telemetry import Unusable
from client_telemetry.cli.follow import follow, said_of
from client_telemetry.cli.interrupt import ended_by_interrupt
from client_telemetry.cli.log_times import add_time_options, spelled
from client_telemetry.cli.planned_upgrade import add_planned_upgrade
from client_telemetry.cli.quiet_libraries import output_of_libraries_to
from client_telemetry.compatibility.go_no_go import add_fail_on, decide_by_report
from client_telemetry.compatibility.listener_mechanisms import (
    add_mechanisms,
    check_listeners,
    listener_mechanisms,
)
from client_telemetry.compatibility.own_knowledge import use_folder
from client_telemetry.compatibility.target_argument import named
from client_telemetry.console.arguments import Arguments
from client_telemetry.console.counted import counted, first_of
from client_telemetry.console.refusal import refused, refuses
from client_telemetry.formats import report_file, written_file
from client_telemetry.identity.hosts import host_names
from client_telemetry.identity.owner_hints import rule_hints
from client_telemetry.identity.owners import load_owner_rules
from client_telemetry.identity.scram_users import scram_principals
from client_telemetry.inventory import joined, workload_files
from client_telemetry.inventory.seen import from_report
from client_telemetry.inventory.written import collect
from client_telemetry.jobs import main_of
from client_telemetry.knowledge import measured_target, measured_targets
from client_telemetry.knowledge.releases import exact, upgrade
from client_telemetry.knowledge_package import jars
from client_telemetry.pipeline.local_spark import local_spark
from client_telemetry.pipeline.stage import BadArguments
from client_telemetry.pipeline.text_file import read_text_file
from client_telemetry.reports.inventory.document import as_json
from client_telemetry.reports.upgrade.written_note import add_written
from client_telemetry.sources.log_files import NoLogs, find_logs, stored_bytes
from client_telemetry.sources.request_log.broker_releases import (
    BrokerReleases,
    UnclearRelease,
    contradictions,
    release_to_leave,
)
from client_telemetry.sources.request_log.broker_survey import survey
from client_telemetry.sources.request_log.conversion import convert, surveyed_days
from client_telemetry.sources.request_log.surveyed import Survey, SurveyedFile
from client_telemetry.sources.request_log.unread import (
    MOST_FILES,
    no_requests,
    reading_warnings,
)
from client_telemetry.sources.request_log.written_incarnations import Converted
from client_telemetry.tables.stages import DAILY, UPGRADE_QUESTION

REPORT_ID = "from_request_logs"
UNFINISHED = "UNFINISHED"
"""Marks the output folder until the report is complete."""
_REMOVED_WITHIN_S = 2.0
LIBRARIES_LOG = Path("results", "stages.log")
SPARK_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # A window of minutes has few rows: compiling queries would cost more than running them.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "2",
}
_HOW = {
    "given": "as given",
    "metadata": "by its address in Metadata answers",
    "leadership": "by the partitions that it leads",
    "server_log": "by the server log next to it",
    "name": "by the name of its file, folder or log stream",
    "numbered": "numbered here, as the log does not contain the node id; give it as ID=FILE",
}


class NothingInTheLogs(Unusable):
    """No request of a client was found."""


class OutputIsThere(Unusable):
    """The output folder is not empty: the report would be mixed up with an earlier one."""


class StageFailed(Exception):
    """With the stage's exit code and message."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@refuses("report", spelled)
def main(argv: Sequence[str] | None = None) -> int:
    args = _arguments(argv)
    try:
        _check_files_named(args)
        _make_room(args.out, follows=args.follow is not None)
        if args.follow is not None:
            return follow(_repeated(args), args.logs, args.out, args.follow, _say)
        interrupted = "client-telemetry report: interrupted"
        with ended_by_interrupt(interrupted, lambda: _remove_unfinished(args.out)):
            return _report(args)
    except StageFailed as failed:
        refused("client-telemetry report", f"{failed}; see {args.out / LIBRARIES_LOG}")
        return failed.code


def _make_room(out: Path, *, follows: bool) -> None:
    """Raises OutputIsThere. The remains of an unfinished report are removed."""
    _remove_unfinished(out)
    if out.exists() and not out.is_dir():
        raise OutputIsThere(f"{out} is a file: name a folder with --out (make: OUT=)")
    there = {entry.name for entry in out.iterdir()} if out.exists() else set()
    if there - ({"published"} if follows else set()):
        raise OutputIsThere(f"{out} is not empty: name another folder with --out (make: OUT=)")


def _remove_unfinished(out: Path) -> None:
    """Only if a report has begun to fill the folder: an interrupt may come before it was checked. Again if there is more
    meanwhile: at an interrupt, what writes may not have ended yet.
    """
    if (out / UNFINISHED).exists():
        deadline = time.monotonic() + _REMOVED_WITHIN_S
        while out.exists() and time.monotonic() < deadline:
            shutil.rmtree(out, ignore_errors=True)


def _repeated(args: argparse.Namespace) -> list[str]:
    """The options of the report that --follow repeats."""
    names = (
        *("to_release", "from_release", "owners", "knowledge", "scram_users", "mechanisms", "hosts", "name"),
        *("planned_for", "asked_by", "year"),
    )
    zone = [] if args.zone is UTC else [f"--zone={args.zone}"]
    several = {"jar": args.jar, "artefacts": args.artefacts, "workloads": args.workloads}
    of_files = [f"--{name}={file}" for name, files in several.items() for file in files]
    return _options(args, *names) + zone + of_files


def _report(args: argparse.Namespace) -> int:
    target = exact(named(args.to_release))
    if args.from_release is not None and not measured_targets.is_file(args.from_release):
        BrokerReleases.parse(args.from_release)  # logs are read for minutes
    logs = find_logs(args.logs)
    _say(
        f"{counted(len(logs), 'file')}, {stored_bytes(logs) / 1e6:.1f} MB: finding the brokers that wrote them"
    )
    log_survey = survey(logs, args.zone, _Progress("lines read"), year=args.year)
    _check(log_survey)
    if args.mechanisms:
        listeners = {each.listener for broker in log_survey.brokers for each in broker.endpoints}
        check_listeners(listener_mechanisms(args.mechanisms), listeners)
    cluster_id = log_survey.cluster_id or "unknown"
    releases, release = _release_to_leave(log_survey, args.from_release)
    upgrade(release, target)
    for contradiction in contradictions(log_survey, releases):
        _warn(contradiction)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / UNFINISHED).touch()
    _tell_brokers(log_survey, cluster_id, releases)
    started = time.monotonic()
    total = sum(file.lines for file in log_survey.files)
    converted = convert(
        log_survey, releases, cluster_id, args.out / "raw", args.zone, _Progress("lines converted", total)
    )
    _tell_converted(converted, time.monotonic() - started)
    page = _run_stages(
        args,
        surveyed_days(log_survey),
        cluster_id,
        release,
        log_survey.is_deprecated_only,
    )
    (args.out / UNFINISHED).unlink()
    report = json.loads((page.parent / "report.json").read_text(encoding="utf-8"))
    _say(said_of(report))
    if args.artefacts:
        _say(_add_artefacts(page.parent, args))
    code = 0
    if args.fail_on:
        written = written_file.beside(page.parent, report["question"]["report_id"])
        code, decision = decide_by_report(report, args.fail_on, written)
        _say(decision)
    _say(f"Report: {page}")
    return code


def _release_to_leave(log_survey: Survey, specified: str | None) -> tuple[BrokerReleases, str]:
    """As `release_to_leave`; of a file of `client-telemetry probe`, its target, whose brokers count as the newest release that it answers
    like, or as what the logs prove where there is none. Raises UnusableTarget, too.
    """
    if specified is None or not measured_targets.is_file(specified):
        try:
            return release_to_leave(log_survey, specified)
        except UnclearRelease as error:
            raise Unusable(f"{error}; specify it with --from (make: FROM=)") from None
    source = named(specified)
    target = measured_target(source)
    like = target.answers_like[-1] if target and target.answers_like else None
    return release_to_leave(log_survey, like)[0], source


def _check_files_named(args: argparse.Namespace) -> None:
    """The stages read these only after minutes, and --follow in another process; a mistake is reported right away. Raises BadArguments."""
    for sentence in jars.use(args.jar):
        _say(sentence)
    use_folder(args.knowledge)
    if args.owners:
        for hint in rule_hints(read_text_file(args.owners, "owner rules", load_owner_rules)):
            _warn(hint)
    if args.scram_users:
        read_text_file(args.scram_users, "SCRAM users", scram_principals)
    if args.hosts:
        read_text_file(args.hosts, "host names", host_names)
    if args.workloads and not args.artefacts:
        raise BadArguments("--workloads says where artefacts run: name these with --artefacts")
    for path in args.artefacts:
        path.stat()
    workload_files.read(args.workloads)


def _add_artefacts(folder: Path, args: argparse.Namespace) -> str:
    """Has the page of a report in this folder say what artefacts say (docs/join.md); the sentence."""
    seen = report_file.read(folder, from_report)
    rules = read_text_file(args.owners, "owner rules", load_owner_rules) if args.owners else ()
    written = collect(args.artefacts, seen.source, seen.target, rules)
    beside = joined.join(written, seen, workload_files.read(args.workloads))
    add_written(folder, as_json(beside, written.unread))
    return joined.sentence(beside)


def _check(log_survey: Survey) -> None:
    if no_logs := sorted(file.log.file.name for file in log_survey.files if file.is_no_log):
        _say(f"skipped, as they are not request logs: {first_of(no_logs, MOST_FILES)}")
    sentences: dict[str, list[str]] = defaultdict(list)
    for what, sentence in (
        said for file in log_survey.files if not file.is_no_log for said in _of_file(file)
    ):
        sentences[what].append(sentence)
    for what, of_files in sentences.items():
        for sentence in of_files[:MOST_FILES]:
            _say(sentence)
        if (left := len(of_files) - MOST_FILES) > 0:
            _say(f"… and {counted(left, 'more file')}: {what}")
    if reason := no_requests(log_survey):
        raise NothingInTheLogs(reason)
    for warning in reading_warnings(log_survey):
        _say(f"warning: {warning}")


def _of_file(file: SurveyedFile) -> Iterator[tuple[str, str]]:
    """What a file is that is not simply a request log: in a word for many of them, and in a sentence."""
    name = file.log.file
    if file.same_as:
        yield "the same lines as another", f"{name} has the same lines as {file.same_as} and is counted once"
    elif file.is_server_log and not file.entries:
        yield "server logs", f"{name}: {_server_log(file)}"
    elif not file.entries:
        what = "no entry of kafka.request.logger at DEBUG"
        yield what, f"{name}: {counted(file.lines, 'line')}, {what}; the first lines are quarantined"
    if file.cut:
        lines = counted(file.lines, "line")
        yield "cut off or damaged", f"{name}: {file.cut}; what comes before that ({lines}) is used"


def _server_log(file: SurveyedFile) -> str:
    counts = file.counted
    if not counts:
        return f"{counted(file.lines, 'line')} of other Kafka loggers, none about a start, a refused request or a failed login"
    return (
        f"a server log: {counted(counts['started'], 'start')}, {counted(counts['refused'], 'refused request')}, "
        f"{counted(counts['login_failed'], 'failed login')}"
    )


def _tell_brokers(log_survey: Survey, cluster_id: str, releases: BrokerReleases) -> None:
    _say(f"cluster {cluster_id}:")
    for broker in log_survey.brokers:
        requests = counted(broker.entries, "request") if broker.endpoints else "no request log; server log"
        how = _HOW[broker.id_known_by] if broker.endpoints else "by its server log"
        _say(
            f"  broker {broker.broker_id} ({how}): {requests} from {_clock(broker.first)} to {_clock(broker.last)} UTC"
        )
        for incarnation in broker.incarnations:
            answers = "no ApiVersions response was seen"
            if incarnation.candidates is not None:
                answers = f"its ApiVersions responses match {', '.join(incarnation.candidates) or 'no known release'}"
            release = releases.of(broker.broker_id, incarnation)
            _say(
                f"    since {_clock(incarnation.since)} on {release or 'an unknown release'}"
                f"{' by its server log' if incarnation.release else ''}; {answers}"
            )
    if log_survey.without_log:
        ids = ", ".join(map(str, log_survey.without_log))
        _say(f"  no log of broker {ids}: clients connected only there are not in the report")


def _tell_converted(converted: Converted, seconds: float) -> None:
    _say(
        f"{counted(converted.entries, 'request')}; {counted(converted.connections, 'connection')} of clients, {converted.between_brokers:,} between brokers; "
        f"{converted.pushes:,} metric pushes; {seconds:.0f} s, {converted.lines / max(seconds, 0.001):,.0f} lines/s"
    )
    if converted.refused or converted.failed_logins:
        _say(
            f"{counted(converted.refused, 'refused request')} and {counted(converted.failed_logins, 'failed login')} in the server logs"
        )
    for reason, count in converted.unreadable.most_common():
        _say(f"  {counted(count, 'line')} could not be parsed as a request: {reason}")


def _run_stages(
    args: argparse.Namespace,
    days: Sequence[str],
    cluster_id: str,
    release: str,
    deprecated_only: bool,
) -> Path:
    lake, results = f"--lake={args.out / 'lake'}", args.out / "results"

    def run(stage: str, *arguments: str) -> dict[str, object]:
        result = results / f"{stage}.json"
        options = [
            f"--cluster={cluster_id}",
            f"--run-id={REPORT_ID}",
            lake,
            f"--result={result}",
            *name,
            *arguments,
        ]
        _say(f"  {stage} …")
        with output_of_libraries_to(args.out / LIBRARIES_LOG):
            code = main_of(stage)(options)
        report = json.loads(result.read_text()) if result.exists() else {}
        if code:
            raise StageFailed(report.get("message", f"{stage} ended with exit code {code}"), code)
        return report

    _say("the stages of the daily run, then the report; the first on a machine also compile code")
    raw, report = f"--raw={args.out / 'raw'}", f"--report-id={REPORT_ID}"
    own, name = _options(args, "knowledge"), [f"--cluster-name={args.name}"] if args.name else []
    reported: dict[str, dict[str, Any]] = {}

    def affected(days: str) -> str:
        return f"--days={','.join(reported['collect'][days])}"

    arguments: dict[str, Callable[[], list[str]]] = {
        "collect": lambda: [raw, f"--day={days[-1]}", f"--late-days={len(days) - 1}"],
        "decode": lambda: [raw, affected("decode_days")],
        "sessionize": lambda: [affected("derive_days")],
        "profile": lambda: [affected("derive_days"), *own, *_options(args, "owners")],
        "impact": lambda: [
            report,
            f"--from={release}",
            f"--to={args.to_release}",
            f"--window={len(days)}",
            *own,
            *_options(args, "scram_users", "mechanisms"),
        ],
        "publish": lambda: [
            report,
            f"--publish={args.out / 'published'}",
            *(["--deprecated-only"] if deprecated_only else []),
            *_options(args, "hosts", "owners", "planned_for", "asked_by"),
        ],
    }
    with local_spark(SPARK_SETTINGS):
        for stage in (*DAILY, *UPGRADE_QUESTION):
            if stage.name in arguments:
                reported[stage.name] = run(stage.name, *arguments[stage.name]())
    return Path(reported["publish"]["report"].removeprefix("file://"))


def _options(args: argparse.Namespace, *names: str) -> list[str]:
    """Those that were given, as the stages take them."""
    values = ((name.removesuffix("_release").replace("_", "-"), getattr(args, name)) for name in names)
    return [f"--{name}={value}" for name, value in values if value]


class _Progress:
    """Reports progress every few seconds."""

    def __init__(self, what: str, total: int | None = None) -> None:
        self._what, self._total = what, total
        self._printed_at = time.monotonic()

    def __call__(self, lines: int) -> None:
        if time.monotonic() - self._printed_at > 2:
            self._printed_at = time.monotonic()
            _say(f"  {lines:,} {f'of {self._total:,} ' if self._total else ''}{self._what}")


def _say(text: str) -> None:
    print(spelled(text), flush=True)


def _warn(text: str) -> None:
    print(f"client-telemetry report: warning: {text}", file=sys.stderr, flush=True)


def _clock(nanos: int) -> str:
    return f"{datetime.fromtimestamp(nanos // 10**9, UTC):%Y-%m-%d %H:%M:%S}"


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0
    if not 0 < minutes < float("inf"):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of minutes above 0: write --follow=10, or put --follow after the logs"
        )
    return minutes


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Arguments("report", __doc__)
    parser.add_argument("logs", nargs="+", metavar="[ID=]LOG", help="files, folders or patterns")
    parser.add_argument(
        "--to",
        dest="to_release",
        required=True,
        metavar="V",
        help="exact release to upgrade to, or a file of `client-telemetry probe`",
    )
    parser.add_argument(
        "--from",
        dest="from_release",
        help="exact release of the brokers, or one for each node id, 1=3.9.1,2=4.0.1, or a file of `client-telemetry probe`; default: the "
        "release that the logs prove",
    )
    parser.add_argument("--out", type=Path, required=True, help="output folder")
    add_time_options(parser)
    parser.add_argument("--owners", help="file of owner rules")
    parser.add_argument("--knowledge", help="folder of your own products, libraries, issues and aliases")
    jars.add_option(parser)
    parser.add_argument(
        "--scram-users", help="file with the output of kafka-configs.sh --describe --entity-type users"
    )
    add_mechanisms(parser)
    parser.add_argument("--hosts", help="file of addresses and host names, in the format of /etc/hosts")
    parser.add_argument("--name", help="display name of the cluster")
    add_planned_upgrade(parser)
    parser.add_argument(
        "--follow",
        type=_minutes,
        nargs="?",
        const=10.0,
        metavar="MINUTES",
        help="regenerate the report whenever the logs have grown, checking every MINUTES (default: 10), until interrupted",
    )
    parser.add_argument(
        "--artefacts",
        action="append",
        default=[],
        type=Path,
        metavar="PATH",
        help="repositories, SBOMs and images whose clients the page shows beside those of the logs, as join reads them; may be given "
        "several times",
    )
    workload_files.add_workloads(parser)
    add_fail_on(parser, default=None)
    args = parser.parse_args(argv)
    args.logs = [word for text in args.logs for word in _words(text)]
    if args.follow is not None and args.fail_on:
        parser.error("--follow runs until it is interrupted and cannot be combined with --fail-on")
    return args


def _words(text: str) -> list[str]:
    """One name, with blanks if there is such a file; otherwise several, as a shell would read them (LOGS= of make)."""
    if not re.search(r"\s", text):
        return [text]
    try:
        find_logs([text])
    except NoLogs:
        try:
            return shlex.split(text)
        except ValueError:
            pass
    return [text]
