"""A declared source: which files a cluster's dump is made of, and the conversion of those that are new.

What a request log or a Collector's file says is not here (request_log.py, otlp_conversion.py), nor which of its bytes
are new (arrivals.py).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from client_telemetry.compatibility.releases import UnusableRelease
from client_telemetry.sources import otlp_conversion, otlp_files, request_log
from client_telemetry.sources.arrivals import SETTLED, Arrivals, Form
from client_telemetry.sources.broker_survey import TwoClusters, survey
from client_telemetry.sources.log_files import LogFile, NoLogs, find_logs
from client_telemetry.sources.log_line import LineReader
from client_telemetry.sources.message_ends import LineEnds
from client_telemetry.sources.open_life import read_open_lives, write_open_lives
from client_telemetry.sources.otlp_files import FORMATS

REQUEST_LOG = "request_log"
_BEGAN = "began.json"
"""Of OpenTelemetry files: with which day the metrics of each broker began."""

_KEYS = {"format", "files", "release", "zone"}


class UnusableSource(ValueError):
    """What was declared is no source; the message says what to write."""


class WrongCluster(ValueError):
    """The log is of another cluster than was told."""


REFUSALS = (NoLogs, TwoClusters, UnusableRelease, UnusableSource, WrongCluster, request_log.ReleaseNotTold)
"""What conversion raises where another attempt would end the same way."""


@dataclass(frozen=True)
class Source:
    """`format`: request_log, or one of otlp_files.py. `files`: files, folders and patterns, of request logs each
    optionally after `<node id>=`. Of request logs: `release` is what the brokers run where the log does not prove it,
    `zone` that of times without one."""

    format: str
    files: tuple[str, ...]
    release: str | None = None
    zone: tzinfo = UTC


def declared(text: str) -> Source:
    """A Source from a JSON object with the same keys, `files` being a list. Raises UnusableSource."""
    try:
        given = json.loads(text)
    except ValueError as error:
        raise UnusableSource(f"the source is no JSON: {error}") from None
    if not isinstance(given, dict) or not {"format", "files"} <= given.keys() <= _KEYS:
        raise UnusableSource(f"a source has format and files, and may have release and zone, not {text}")
    if given["format"] not in (REQUEST_LOG, *FORMATS):
        raise UnusableSource(
            f"there is no format {given['format']!r}; there are {', '.join([REQUEST_LOG, *FORMATS])}"
        )
    if given["format"] != REQUEST_LOG and given.keys() & {"release", "zone"}:
        raise UnusableSource(f"release and zone are of {REQUEST_LOG}, not of {given['format']}")
    try:
        zone = ZoneInfo(given.get("zone", "UTC"))
    except (ZoneInfoNotFoundError, ValueError):
        raise UnusableSource(f"{given['zone']!r} is no time zone: write it as Europe/Berlin or UTC") from None
    return Source(given["format"], tuple(given["files"]), given.get("release"), zone)


@dataclass
class Conversion:
    """What came of the new files; `warnings` are sentences."""

    message: str
    counts: dict[str, int]
    warnings: list[str] = field(default_factory=list)


def convert_new(
    source: Source, cluster_id: str, root: str | Path, settled: timedelta = SETTLED
) -> Conversion:
    """Convert what is new in the source's files into the dump below `root`, a folder or URL; all of it or nothing. What was written
    to within `settled` is taken up to its last whole message. Raises one of REFUSALS, or StillWritten."""
    arrivals = Arrivals(root)
    try:
        return _convert_new(source, cluster_id, arrivals, settled)
    finally:
        arrivals.root.discard()


def _convert_new(source: Source, cluster_id: str, arrivals: Arrivals, settled: timedelta) -> Conversion:
    warnings = []
    try:
        files = find_logs(source.files)
    except NoLogs as error:
        if arrivals.is_first:
            raise
        files, warnings = [], [f"{error}: the source gave nothing new"]
    parts, unfinished = arrivals.new_parts(files, _form(source), settled)
    if unfinished:
        warnings.append(
            f"{len(unfinished)} files are still written to and end within a message, which waits for the next run, "
            f"such as {unfinished[0]}"
        )
    if parts:
        convert = _request_log if source.format == REQUEST_LOG else _otlp
        done = convert(source, parts, cluster_id, arrivals)
    else:
        done = Conversion("no file has anything new", {})
    arrivals.keep()
    done.counts["converted_files"] = len(parts)
    done.warnings[:0] = warnings
    return done


def _form(source: Source) -> Form:
    if source.format != REQUEST_LOG:
        return otlp_files.form(source.format)

    def is_whole(tail: bytes) -> bool:
        return request_log.is_entry(LineReader(source.zone), tail)

    return Form(LineEnds, is_whole)


def _request_log(source: Source, parts: Sequence[LogFile], cluster_id: str, arrivals: Arrivals) -> Conversion:
    before = read_open_lives(arrivals.root)
    known = {endpoint: broker for life in before for endpoint, broker in life.known().items()}
    seen = survey(parts, source.zone, known=known)
    if seen.cluster_id not in (None, cluster_id):
        raise WrongCluster(f"the log is of cluster {seen.cluster_id}, not {cluster_id}: name that cluster")
    release = request_log.release_of_all(seen, source.release) if seen.brokers else ""
    staged = arrivals.root.staged()
    done = request_log.convert(seen, release, cluster_id, staged, source.zone, before=before)
    write_open_lives(staged, before, done.open_lives)
    counts = {
        "converted_requests": done.entries,
        "converted_pushes": done.pushes,
        "converted_unreadable": done.unreadable.total(),
    }
    warnings = _cut(done.cut)
    if done.without_entries:
        warnings.append(
            f"{len(done.without_entries)} files have no entry of kafka.request.logger at DEBUG, such as "
            f"{done.without_entries[0]}: how they begin is in undecodable_records. Is the logger on?"
        )
    numbered = [broker.broker_id for broker in seen.brokers if broker.id_known_by == "numbered"]
    if numbered:
        warnings.append(_numbers_of_ours(numbered))
    message = (
        f"{done.entries} requests of {len(seen.brokers)} brokers{f' on {release}' if release else ''}: "
        f"{done.connections} connections, {done.pushes} pushes, {done.unreadable.total()} unreadable lines or files"
    )
    return Conversion(message, counts, warnings)


def _otlp(source: Source, parts: Sequence[LogFile], cluster_id: str, arrivals: Arrivals) -> Conversion:
    staged, told = arrivals.root.staged(), json.loads(arrivals.root.read(_BEGAN) or b"{}")
    began = {int(broker_id): nanos for broker_id, nanos in told.items()}
    done = otlp_conversion.convert(parts, source.format, cluster_id, staged, began)
    (staged / _BEGAN).write_text(json.dumps(began), encoding="utf-8")
    message = (
        f"{done.messages} messages of {done.files} files: {done.pushes} pushes, {done.unreadable.total()} unreadable "
        f"messages, {done.other_signals} of logs or traces, {done.other_clusters} resources of other clusters"
    )
    counts = {
        "converted_messages": done.messages,
        "converted_pushes": done.pushes,
        "converted_unreadable": done.unreadable.total(),
    }
    return Conversion(message, counts, _cut(done.cut))


def _cut(reasons: Sequence[str]) -> list[str]:
    return [f"{len(reasons)} files end before their end, such as {reasons[0]}"] if reasons else []


def _numbers_of_ours(numbers: Sequence[int]) -> str:
    return (
        f"the log does not tell the node id of {len(numbers)} brokers, numbered {', '.join(map(str, numbers))} here: "
        "say it before the file, as 1=/logs/a"
    )
