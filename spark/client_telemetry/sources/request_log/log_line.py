"""A line of a broker's log: when it was written, what precedes the message, and the message.

log4j's layout is the operator's choice: the shipped one is `[%d] %p %m (%c)%n`, others put thread, host or pod before
the message, end differently, print times in another form (log_time.py). What carries the lines wraps them (wrapping.py).
request_entry.py and server_log.py read the message.
"""

import re
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

import numpy as np

from client_telemetry.sources.log_files import LogFile
from client_telemetry.sources.request_log.log_time import MONTHS, NO_TIME, Clock
from client_telemetry.sources.request_log.wrapping import (
    LEVEL,
    MARK,
    TRACE_MARK,
    WRAPS,
    Unwrapped,
    Wrappings,
    mark_in,
)

_KAFKA_APIS = re.compile(r"\[KafkaApi-(\d{1,9})\] $")

_IN_PREFIX = re.compile(rf"^\W*(?:{LEVEL}\b\W*)?")
_CONTINUATION = re.compile(
    r"^(?:\s+at\s|\s*Caused by: |\s*Suppressed: |\s*\.\.\. \d+ |[a-z][\w$]*(?:\.[\w$]+)+(?:Exception|Error|Throwable)\b)"
)
"""Lines of an exception; they have no time and no level of their own."""

_COLOUR = re.compile(r"\x1b\[[\d;]*m")


def begins_entry(line: bytes) -> bool:
    """Whether a line has the beginning of an entry in it, of the request logger or of KafkaApis."""
    return MARK in line or TRACE_MARK in line


class Line(NamedTuple):
    """`nanos`: when the line was written, Unix time; None = `problem` says why it cannot be read. `label`: the origin of
    the line, if lines of several brokers are mixed and labelled. `message`: from MARK or TRACE_MARK to the end of the
    line; of other loggers the whole text, without what wraps it. `logger`: if a field names it. `has_no_year`: the year
    was inferred. `node_id`: that KafkaApis puts before its messages.
    """

    nanos: int | None
    label: str
    message: str
    logger: str = ""
    problem: str = ""
    has_no_year: bool = False
    node_id: int | None = None


class LineReader:
    """Splits lines. `zone`: time zone of times without one, as log4j's `%d` prints them. `year`, `written_before`: for
    times without a year (log_time.py).
    """

    def __init__(
        self, zone: tzinfo = UTC, year: int | None = None, written_before: datetime | None = None
    ) -> None:
        self._zone = zone
        self._clock = Clock(zone, year, written_before)
        self._wrappings = Wrappings(self._clock)
        self._stamps: dict[bytes, int] = {}

    @classmethod
    def of_file(cls, log: LogFile, zone: tzinfo = UTC, year: int | None = None) -> "LineReader":
        return cls(zone, year, log.file.modified_at())

    def read(self, line: bytes) -> Line | None:
        """None for a line that neither the request logger nor KafkaApis at TRACE wrote."""
        at = line.find(MARK)
        if at < 0:
            at = line.find(TRACE_MARK)
            if at < 0:
                return None
        if (
            line[:1] == b"[" and line[24:26] == b"] " and at < 40 and line[at : at + 1] == b"C"
        ):  # as Kafka ships it
            nanos = self.nanos_of(line)
            if nanos is not None:
                return Line(nanos, "", line[at:].decode("utf-8", "replace"))
        text = line.decode("utf-8", "replace")
        wrapped = self._wrappings.unwrapped(text) if WRAPS.search(text, 0, mark_in(text)) else Unwrapped(text)
        mark = mark_in(wrapped.text) if wrapped.text[:1] != "{" else -1
        if mark < 0:
            wrapped, mark = Unwrapped(text), mark_in(text)
        prefix = wrapped.text[:mark]
        time = self._clock.read(prefix)
        if time.nanos is None and (wrapped.outer.nanos is not None or time is NO_TIME):
            time = wrapped.outer
        api = _KAFKA_APIS.search(prefix)
        label = wrapped.label or self._wrappings.label(prefix)
        node_id = int(api[1]) if api else None
        message = wrapped.text[mark:].rstrip("\r\n")
        return Line(time.nanos, label, message, "", time.problem, time.has_no_year, node_id)

    def read_other(self, line: bytes) -> Line:
        """A line of any logger. Lines of an exception have no time of their own, whatever wraps them."""
        wrapped = self._wrappings.unwrapped(_COLOUR.sub("", line.decode("utf-8", "replace")))
        if _CONTINUATION.match(wrapped.text):
            return Line(None, wrapped.label, wrapped.text, wrapped.logger)
        begin = _IN_PREFIX.match(wrapped.text)
        assert begin is not None
        time = (
            self._clock.read(wrapped.text[:64]) if _begins_with_time(wrapped.text, begin.end()) else NO_TIME
        )
        if time.nanos is None:
            time = wrapped.outer if wrapped.outer.nanos is not None or time is NO_TIME else time
        return Line(time.nanos, wrapped.label, wrapped.text, wrapped.logger, time.problem, time.has_no_year)

    def nanos_of(self, line: bytes) -> int | None:
        """When a line was written whose layout or wrapping puts the time first; None if it does not begin with one."""
        stamp = line[1:24]
        if line[:1] == b"[" and line[24:25] == b"]" and stamp[19:20] == b",":
            second = self._stamps.get(stamp[:19])
            if second is None:
                nanos = self._clock.read(stamp.decode("utf-8", "replace")).nanos
                if nanos is None:
                    return None
                if len(self._stamps) > 4096:
                    self._stamps.clear()
                second = self._stamps[stamp[:19]] = nanos // 10**9
            millis = stamp[20:]
            return second * 10**9 + int(millis) * 10**6 if millis.isdigit() else None
        return self.read_other(line).nanos

    def utc_nanos(self, local_ms: np.ndarray) -> np.ndarray:
        """UTC of times in the log's zone, int64[n] in milliseconds."""
        if self._zone is UTC:
            return local_ms * 1_000_000
        # No zone changes its offset within a quarter of an hour.
        quarters, places = np.unique(local_ms // 900_000, return_inverse=True)
        begins = [datetime.fromtimestamp(int(q) * 900, UTC).replace(tzinfo=self._zone) for q in quarters]
        offsets = [
            int(b.timestamp()) * 1000 - int(q) * 900_000 for b, q in zip(begins, quarters, strict=True)
        ]
        return (local_ms + np.array(offsets, np.int64)[places]) * 1_000_000


def _begins_with_time(text: str, at: int) -> bool:
    return text[at : at + 1].isdigit() or text[at : at + 3].lower() in MONTHS
