"""Request logs to a contract v1 dump: pushes and connections, as a plugin in the brokers would have dumped them.

The same logs give the same dump, byte for byte: incarnations are made from what the logs say, so that converting again
replaces. A life of a broker begins with the log or where its ApiVersions answers change; a restart on the same release
does not show. Later lines of the log go on with the life with which the lines before ended (open_life.py).
"""

import base64
import binascii
import hashlib
import uuid
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

from client_telemetry.compatibility import releases
from client_telemetry.quarantine import MAX_EVIDENCE_BYTES
from client_telemetry.raw.raw_dump_v1_pb2 import ClientPush
from client_telemetry.raw.writer import DumpWriter
from client_telemetry.sources.broker_survey import (
    BrokerLife,
    Endpoint,
    Survey,
    SurveyedBroker,
    SurveyedFile,
    addresses,
)
from client_telemetry.sources.connection_watch import ConnectionWatch
from client_telemetry.sources.log_files import UNKNOWN_BROKER, CutOff, LogFile, lines, opened
from client_telemetry.sources.log_line import MARK, LineReader
from client_telemetry.sources.open_life import OpenLife
from client_telemetry.sources.request_entry import (
    PUSH_TELEMETRY,
    BadEntry,
    RequestEntry,
    parse_entry,
    received_nanos,
)

SILENCE_NANOS = 300 * 10**9
"""Without a line for longer than that, a broker was not watched: its log was off, is not among the files, or it was down.
A connected client asks for Metadata every five minutes if for nothing else (metadata.max.age.ms)."""

_NAMESPACE = uuid.UUID("6d2f3c2e-8a55-5d0c-9a43-6c1f4f0f5b11")


class ReleaseNotTold(ValueError):
    """The release that the brokers run is not in the logs, or more than one explains them; the message lists them."""


@dataclass
class Converted:
    """What came of the lines. `connections` are those of clients. `unreadable`: entries that could not be read, by
    reason. `cut`: files that ended early, with the reason. `without_entries`: files of which no line is an entry."""

    lines: int = 0
    entries: int = 0
    other_lines: int = 0
    forwarded: int = 0
    pushes: int = 0
    connections: int = 0
    between_brokers: int = 0
    unreadable: Counter = field(default_factory=Counter)
    cut: list[str] = field(default_factory=list)
    without_entries: list[str] = field(default_factory=list)
    open_lives: list[OpenLife] = field(default_factory=list)


def release_of_all(survey: Survey, told: str | None) -> str:
    """The release to upgrade from: what was told, else what the ApiVersions answers of all brokers prove.

    Raises ReleaseNotTold, also where what was told contradicts every broker, and UnusableRelease for what is no
    release.
    """
    answers = [life.candidates for broker in survey.brokers for life in broker.lives if life.candidates]
    if told:
        release = releases.exact(told)
        if answers and not any(release in candidates for candidates in answers):
            raise ReleaseNotTold(f"no broker in the logs answers as {release} does: {_answers(survey)}")
        return release
    latest = [broker.lives[-1].candidates for broker in survey.brokers]
    explained = [set(candidates) for candidates in latest if candidates]
    possible = tuple(set.intersection(*explained)) if explained and None not in latest else ()
    if is_proven(possible):
        return possible[0]
    raise ReleaseNotTold(f"the logs do not tell the exact release that the brokers run ({_answers(survey)})")


def is_proven(candidates: Sequence[str]) -> bool:
    """Whether releases that explain ApiVersions answers prove one: there is no other, and a later patch of its line is
    known to answer otherwise. Of the last known patch a later one may answer alike.

    >>> is_proven(["4.0.0"]), is_proven(["4.4.0"])
    (True, False)
    """
    if len(candidates) != 1:
        return False
    release = candidates[0]
    of_line = [each for each in releases.known() if releases.line(each) == releases.line(release)]
    return release != of_line[-1]


def _answers(survey: Survey) -> str:
    """`brokers 1, 2: 4.3.0 or 4.3.1; broker 3: no ApiVersions answer in the log`."""
    texts: dict[str, list[int]] = {}
    for broker in survey.brokers:
        found = broker.lives[-1].candidates
        text = "no ApiVersions answer in the log" if found is None else " or ".join(found)
        texts.setdefault(text or "answers that fit no release of Apache Kafka", []).append(broker.broker_id)
    return "; ".join(
        f"broker{'s' * (len(ids) > 1)} {', '.join(map(str, ids))}: {text}" for text, ids in texts.items()
    )


def is_entry(reader: LineReader, line: bytes) -> bool:
    """Whether a line is whole and of the request logger."""
    read = reader.read(line)
    try:
        return read is not None and read.nanos is not None and parse_entry(read.message) is not None
    except BadEntry:
        return False


def convert(
    survey: Survey,
    release: str,
    cluster_id: str,
    root: Path,
    zone: tzinfo = UTC,
    report: Callable[[int], None] = lambda n: None,
    before: Sequence[OpenLife] = (),
) -> Converted:
    """Write the dump below `root`. `release`: what the brokers run that may run it by their answers; another broker's
    release stays open unless its answers prove one (`is_proven`). `before`: lives that may go on; `Converted.open_lives`
    are those that may go on from here."""
    return _Conversion(survey, release, cluster_id, root, zone, report, before).run()


class _Conversion:
    def __init__(
        self,
        survey: Survey,
        release: str,
        cluster_id: str,
        root: Path,
        zone: tzinfo,
        report: Callable[[int], None],
        before: Sequence[OpenLife],
    ) -> None:
        self._survey = survey
        self._cluster_id, self._root = cluster_id, root
        self._reader = LineReader(zone)
        self._report = report
        self.done = Converted()
        self._lives: dict[Endpoint, list[_Life]] = {}
        for broker in survey.brokers:
            open_ = next((each for each in before if each.is_of(broker)), None)
            lives = [
                _Life(broker, i, release, cluster_id, root, self.done, open_ if i == 0 else None)
                for i in range(len(broker.lives))
            ]
            for endpoint in broker.endpoints:
                self._lives[endpoint] = lives
        self._of_no_broker: dict[int, DumpWriter] = {}

    def run(self) -> Converted:
        if self._survey.without_log:
            self._tell_of_brokers_without_log()
        files = [f for f in self._survey.files if f.same_as is None]
        for file in sorted((f for f in files if f.entries), key=lambda f: (f.first, f.log.file)):
            self._file(file.log)
        for file in files:
            if not file.entries and (file.lines or file.cut):
                self._without_entries(file)
        for lives in {id(lives): lives for lives in self._lives.values()}.values():
            for life in lives:
                life.close()
            if lives[-1].is_latest:
                self.done.open_lives.append(lives[-1].open_life())
        for dump in self._of_no_broker.values():
            dump.close()
        return self.done

    def _file(self, log: LogFile) -> None:
        done = self.done
        cut = CutOff()
        life: _Life | None = None
        for offset, line in lines(log, cut):
            done.lines += 1
            if done.lines % 20_000 == 0:
                self._report(done.lines)
            read = self._reader.read(line)
            if read is None:
                done.other_lines += 1
                continue
            try:
                if read.nanos is None:
                    raise BadEntry("no time that can be read before the message")
                entry = parse_entry(read.message)
                lives = self._lives_of((log.family, read.label), entry)
            except BadEntry as error:
                done.unreadable[str(error).partition(":")[0]] += 1
                life = life or self._any_life(log)
                life.add_unreadable(line, f"{log.file.name}, byte {offset}: {error}", read.nanos)
                continue
            done.entries += 1
            if (
                entry.is_forwarded
            ):  # a controller's entry for what a broker passed on: its client is the broker
                done.forwarded += 1
                continue
            life = lives[bisect_right([each.since for each in lives], read.nanos, lo=1) - 1]
            life.add(entry, read.nanos)
        if cut.reason and log.end is None:
            done.cut.append(cut.reason)
            self._pass_on(log, cut.stored, f"{log.file.name}: {cut.reason}", "the compressed file is cut off")

    def _without_entries(self, file: SurveyedFile) -> None:
        """A file that none of the lines tells the broker of: one piece of it, from the first line on that may have been
        meant as an entry, stands for all."""
        log, at = file.log, file.log.start
        if file.marked:
            at = next(offset for offset, line in lines(log, CutOff()) if MARK in line)
        with opened(replace(log, start=at), CutOff()) as text:
            piece = text.read(MAX_EVIDENCE_BYTES)
        where = (
            f"{log.file.name}, byte {at}: none of its {file.lines} lines is an entry of kafka.request.logger at DEBUG, "
            f"{file.marked} begin like one"
        )
        self.done.without_entries.append(str(log.file))
        if piece:
            self._pass_on(log, piece, where, "a file without an entry")
        if file.cut and log.end is None:
            cut = CutOff()
            for _ in lines(log, cut):
                pass
            self._pass_on(log, cut.stored, f"{log.file.name}: {file.cut}", "the compressed file is cut off")

    def _pass_on(self, log: LogFile, piece: bytes, where: str, reason: str) -> None:
        """A piece of a file that tells of no broker, to the one whose log it seems to be."""
        self.done.unreadable[reason] += 1
        life = self._any_life(log)
        if life is not None:
            life.add_unreadable(piece, where, None)
            return
        broker_id = UNKNOWN_BROKER if log.broker_id is None else log.broker_id
        at = int(log.file.modified_at().timestamp()) * 10**9
        if self._survey.brokers:
            first, last = (
                min(b.first for b in self._survey.brokers),
                max(b.last for b in self._survey.brokers),
            )
            at = min(max(at, first), last)
        if broker_id not in self._of_no_broker:
            digest = hashlib.sha256(where.encode() + piece).hexdigest()
            name = f"request-log/{self._cluster_id}/{broker_id}/{digest}"
            self._of_no_broker[broker_id] = _unwatched(
                self._root, self._cluster_id, broker_id, name, _time(at)
            )
        self._of_no_broker[broker_id].append_unreadable("connections", piece, where, at)

    def _tell_of_brokers_without_log(self) -> None:
        """A manifest that says that nothing was watched: otherwise nobody would know that the broker is there."""
        first = _time(min(broker.first for broker in self._survey.brokers))
        for broker_id in self._survey.without_log:
            name = f"request-log/{self._cluster_id}/{broker_id}/none"
            dump = _unwatched(self._root, self._cluster_id, broker_id, name, first)
            dump.describe_hour(first)
            dump.close()

    def _any_life(self, log: LogFile) -> "_Life | None":
        """Of the broker whose log it is, or of the only one whose log lies beside it, for what does not tell."""
        by_broker = {id(lives): lives for at, lives in self._lives.items() if at.stream[0] == log.family}
        if not by_broker and log.broker_id is None:
            folder = log.file.folder
            by_broker = {
                id(lives): lives
                for at, lives in self._lives.items()
                if at.stream[0].rpartition("/")[0] == folder
            }
            if len(by_broker) > 1:
                return None
        return next((lives[0] for lives in by_broker.values()), None)

    def _lives_of(self, stream: tuple[str, str], entry: RequestEntry) -> list["_Life"]:
        ends = addresses(entry.connection_id)
        if ends is None:
            raise BadEntry(f"not an id of a connection: {entry.connection_id[:80]!r}")
        lives = self._lives.get(Endpoint(stream, ends.local_host, ends.local_port, entry.listener))
        if lives is None:
            raise BadEntry("an address that the log did not have before: it grew while it was read")
        return lives


def _unwatched(root: Path, cluster_id: str, broker_id: int, name: str, started_at: datetime) -> DumpWriter:
    """Of a broker that nothing was seen of."""
    return DumpWriter(
        root,
        cluster_id,
        broker_id,
        uuid.uuid5(_NAMESPACE, name).bytes,
        broker_started_at=started_at,
        broker_software_version="",
        manifest_fields={"registry": {"mode": "sampled", "windows": []}},
    )


class _Life:
    """A broker's life and its part of the dump, which begins with the first entry, or goes on where `open_` ended."""

    def __init__(
        self,
        broker: SurveyedBroker,
        index: int,
        release: str,
        cluster_id: str,
        root: Path,
        done: Converted,
        open_: OpenLife | None,
    ) -> None:
        life: BrokerLife = broker.lives[index]
        self.since = life.since
        until = broker.lives[index + 1].since if index + 1 < len(broker.lives) else broker.last
        self._done, self._broker = done, broker
        self._first, self._last, self._last_logged = life.since, until, life.since
        started, name = life.since, f"request-log/{cluster_id}/{broker.broker_id}/{life.since}"
        self.is_latest = open_ is None or broker.last >= open_.last
        goes_on = open_ is not None and open_.goes_on_with(life)
        if goes_on:
            life = open_.told_by(life)
            started, name = open_.since, open_.name
        elif open_ is not None and open_.since <= life.since and open_.answers_as(life):
            # Lines that come late: of that life, which no restart is known to have ended. Its sequences are taken.
            started, name = open_.since, f"{name}/{open_.last}"
        self._life, self._name, self._started = life, name, started
        self._windows = open_.windows if goes_on else []
        fields: dict[str, object] = {"registry": {"mode": "sampled", "windows": []}}
        if life.api_versions:
            fields["api_versions"] = life.api_versions
        if life.features:
            fields["finalized_features"] = life.features
        self._dump = DumpWriter(
            root,
            cluster_id,
            broker.broker_id,
            uuid.uuid5(_NAMESPACE, name).bytes,
            broker_started_at=_time(started),
            broker_software_version=_release(life, release),
            manifest_fields=fields,
            continues=open_.continued() if goes_on else None,
        )
        self._watch = ConnectionWatch(self._dump.append_connection_event)
        if goes_on:
            self._watch.go_on_with(open_.watch)

    def add(self, entry: RequestEntry, logged: int) -> None:
        self._last_logged = logged
        if not self._windows or logged - self._windows[-1][1] > SILENCE_NANOS:
            self._windows.append([logged, logged])
        self._windows[-1][1] = max(logged, self._windows[-1][1])
        self._watch.add(entry, logged)
        if entry.api_key == PUSH_TELEMETRY and entry.request:
            self._dump.append_push(_push(entry, logged, self._watch))
            self._done.pushes += 1

    def add_unreadable(self, line: bytes, where: str, logged: int | None) -> None:
        """A line that begins like an entry. Its time is taken only if it can be: a client can make one up."""
        is_possible = logged is not None and self._first <= logged <= self._last
        self._dump.append_unreadable("connections", line, where, logged if is_possible else self._last_logged)

    def close(self) -> None:
        self._watch.end()
        self._done.connections += self._watch.connections - self._watch.between_brokers
        self._done.between_brokers += self._watch.between_brokers
        hours: dict[datetime, list[list[str]]] = {}
        for window in self._windows:
            for hour, times in _hours(*map(_time, window)):
                hours.setdefault(hour, []).append(times)
        for hour, windows in hours.items():
            self._dump.describe_hour(hour, {"registry": {"mode": "sampled", "windows": windows}})
        self._dump.close()

    def open_life(self) -> OpenLife:
        """What later lines go on with; after `close`."""
        return OpenLife.of(
            self._broker,
            self._life,
            name=self._name,
            since=self._started,
            windows=self._windows,
            dump=self._dump.continued(),
            watch=self._watch.state(),
        )


def _release(life: BrokerLife, release: str) -> str:
    """What the manifest declares; what is only likely is left to those who read its ApiVersions answer."""
    if life.candidates is None or release in life.candidates:
        return release
    return life.candidates[0] if is_proven(life.candidates) else ""


def _push(entry: RequestEntry, logged: int, watch: ConnectionWatch) -> ClientPush:
    """A PushTelemetry entry (KIP-714): its payload is base64, still compressed, and it has the broker's answer."""
    request = entry.request
    push = ClientPush(
        received_at_nanos=received_nanos(entry, logged),
        client=watch.client(entry.connection_id),
        client_instance_id=_bytes(request.get("clientInstanceId"), urlsafe=True),
        terminating=bool(request.get("terminating")),
        content_type="OTLP",
        compression_type=int(request.get("compressionType") or 0),
        payload=_bytes(request.get("metrics"), urlsafe=False),
        error_code=int(entry.response.get("errorCode") or 0),
    )
    if request.get("subscriptionId") is not None:
        push.subscription_id = int(request["subscriptionId"])
    return push


def _bytes(text: object, urlsafe: bool) -> bytes:
    """Uuid.toString is URL-safe base64 without padding, BinaryNode is standard base64."""
    if not isinstance(text, str):
        return b""
    if urlsafe:
        text = text.replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        return b""


def _hours(first: datetime, last: datetime) -> list[tuple[datetime, list[str]]]:
    """Hours from `first` to `last`, each with the times of day between which it was watched."""
    found = []
    hour = first.replace(minute=0, second=0, microsecond=0)
    while hour <= last:
        end = hour + timedelta(hours=1)
        window = (max(first, hour), min(last, end - timedelta(seconds=1)))
        found.append((hour, [f"{moment:%H:%M:%S}" for moment in window]))
        hour = end
    return found


def _time(nanos: int) -> datetime:
    return datetime.fromtimestamp(nanos // 10**9, UTC) + timedelta(microseconds=nanos % 10**9 // 1000)


def surveyed_days(survey: Survey) -> Sequence[str]:
    """UTC days that the logs touch, oldest first."""
    days = set()
    for broker in survey.brokers:
        day = _time(broker.first).date()
        while day <= _time(broker.last).date():
            days.add(day.isoformat())
            day += timedelta(days=1)
    return sorted(days)
