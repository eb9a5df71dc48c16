"""The report over time: regenerated while the brokers keep logging, with how much longer to watch."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from client_telemetry.cli.interrupt import INTERRUPTED
from client_telemetry.compatibility.well_observed import INTERVALS, SHORTEST_S
from client_telemetry.console.counted import counted
from client_telemetry.formats.report_file import Application, Report
from client_telemetry.reports.client_strings import shown
from client_telemetry.sources.log_files import find_logs


def follow(
    options: Sequence[str], logs: Sequence[str], out: Path, minutes: float, say: Callable[[str], None]
) -> int:
    """Regenerates the report whenever the logs have grown, until it is interrupted; returns the exit code of the first
    report if that fails. Each report is made from all of the logs, in a separate process, and replaces
    `out`/published as a whole.
    """
    before: Sequence[tuple[str, int]] | None = None
    work = out / "work"
    try:
        while True:
            sizes = [(str(log.file), log.bytes) for log in find_logs(logs)]
            if sizes != before:
                shutil.rmtree(work, ignore_errors=True)
                command = [sys.executable, "-m", "client_telemetry.cli", "report", *options, f"--out={work}"]
                code = _run([*command, *logs])
                if code == 0:
                    say(_made(work, out))
                elif before is None or code == INTERRUPTED:
                    return code
                before = sizes
            time.sleep(minutes * 60)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _run(command: Sequence[str]) -> int:
    """An interrupt reaches the process too, which reports it after cleaning up."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        return process.wait()
    except KeyboardInterrupt:
        if process.wait() != INTERRUPTED:
            raise
        return INTERRUPTED


def _made(work: Path, out: Path) -> str:
    shutil.rmtree(out / "published", ignore_errors=True)
    (work / "published").rename(out / "published")
    (file,) = (out / "published").glob("upgrade_impact/*/*/report.json")
    report = json.loads(file.read_text(encoding="utf-8"))
    now = datetime.now(UTC)
    return f"{now:%H:%M} UTC: {said_of(report)}\nReport: {file.parent / 'index.html'}"


def said_of(report: Report) -> str:
    """The report's sentence, and how much longer to watch."""
    return f"{report['sentence']}\n{still_to_watch(report)}".rstrip()


def still_to_watch(report: Report) -> str:
    """The least time that the application with the longest silence still has to be watched until *safe so far* can
    become *safe*, empty if there is no application: one of its clients has to be well observed, by the rule of compatibility/well_observed.py. A
    report only has a client's first and last request, so silences in between may make it longer.
    """
    if not report["applications"]:
        return ""
    watched = [
        minute for span in report["coverage"]["watched"] or () for minute in (span["start"], span["end"])
    ]
    so_far = [application for application in report["applications"] if application["safe_so_far"]]
    if not so_far or not watched:
        return "Every safe application was watched long enough for its rhythm."
    start, end = min(map(_moment, watched)), max(map(_moment, watched))

    def silence_of(application: Application) -> timedelta:
        clients = [report["clients"][place] for place in application["clients"]]
        spans = [(_moment(client["first_seen_at"]), _moment(client["last_seen_at"])) for client in clients]
        return min(max(first - start, end - last) for first, last in spans)

    rarest = max(so_far, key=silence_of)
    needed = max(INTERVALS * silence_of(rarest), timedelta(seconds=SHORTEST_S)) - (end - start)
    are = f"{counted(len(so_far), 'application')} {'is' if len(so_far) == 1 else 'are'} safe so far"
    if needed <= timedelta():
        return f"{are}: keep watching until their pauses have occurred {INTERVALS} times."
    return (
        f"{are}. The one seen most rarely, {shown(rarest['name'])}, has to be watched for at least another "
        f"{_in_words(needed)}: {INTERVALS} times its longest silence."
    )


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _in_words(time_: timedelta) -> str:
    minutes = -(-int(time_.total_seconds()) // 60)
    return counted(minutes, "minute") if minutes < 120 else f"{minutes // 60} hours"
