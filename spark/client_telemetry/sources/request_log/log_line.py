"""A line of a broker's log: when it was written, what precedes the message, and the message.

log4j's layout is the operator's choice: the shipped one is `[%d] %p %m (%c)%n`, others put thread, host or pod before
the message, end differently, print times in another form, or wrap everything in a JSON object (log4j2's JSON layouts,
Docker's json-file, Fluent Bit). request_entry.py and server_log.py read the message.
"""

import json
import re
from datetime import UTC, datetime, tzinfo
from typing import Any, NamedTuple

import numpy as np

MARK = b"Completed request:"
"""The beginning of the request logger's messages (kafka.network.RequestChannel, all releases since 0.8)."""

_TIME = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)[ T](?P<time>\d\d:\d\d:\d\d)(?:[.,](?P<fraction>\d{1,9}))?"
    r"\s?(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d)?"
)
_EPOCH_MS = re.compile(r"(?<!\d)(\d{13})(?!\d)")
_LABEL = re.compile(r"^(?P<label>[^\[\]{}|]{1,120}?)\s*\|\s*")
"""`broker-1  | [2026-…`: how Docker Compose and some shippers label a line with its origin."""

_TIME_KEYS = ("@timestamp", "timestamp", "time", "ts", "date", "asctime", "timeMillis", "instant")
_LABEL_KEYS = ("hostname", "host", "pod", "pod_name", "container_name", "source_host")


class Line(NamedTuple):
    """`nanos`: when the line was written, Unix time; None = the line has no time. `label`: the origin of the line, if
    lines of several brokers are mixed and labelled. `message`: from MARK to the end of the line.
    """

    nanos: int | None
    label: str
    message: str


class LineReader:
    """Splits lines. `zone`: time zone of times without one, as log4j's `%d` prints them."""

    def __init__(self, zone: tzinfo = UTC) -> None:
        self._zone = zone
        self._seconds: dict[tuple[str, str | None], int] = {}
        self._stamps: dict[bytes, int] = {}

    def read(self, line: bytes) -> Line | None:
        """None for a line that is not the request logger's."""
        at = line.find(MARK)
        if at < 0:
            return None
        if line[:1] == b"{":
            wrapped = self._unwrap(line)
            if wrapped is not None:
                return wrapped
        prefix = line[:at].decode("utf-8", "replace")
        label = _LABEL.match(prefix)
        return Line(
            self._nanos(prefix), label["label"].strip() if label else "", line[at:].decode("utf-8", "replace")
        )

    def nanos_of(self, line: bytes) -> int | None:
        """When a line was written whose layout puts the time first, as Kafka's does; None if it does not begin with
        one.
        """
        stamp = line[1:24]
        if line[:1] == b"[" and line[24:25] == b"]" and stamp[19:20] == b",":
            second = self._stamps.get(stamp[:19])
            if second is None:
                nanos = self._nanos(stamp.decode("utf-8", "replace"))
                if nanos is None:
                    return None
                if len(self._stamps) > 4096:
                    self._stamps.clear()
                second = self._stamps[stamp[:19]] = nanos // 10**9
            millis = stamp[20:]
            return second * 10**9 + int(millis) * 10**6 if millis.isdigit() else None
        prefix = line[:48].decode("utf-8", "replace")
        return self._nanos(prefix) if _TIME.match(prefix.lstrip("[")) else None

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

    def _unwrap(self, line: bytes) -> Line | None:
        """A line that is a JSON object with the log's own line, or the message, as one of its values."""
        try:
            fields = json.loads(line)
        except ValueError:
            return None
        flat = dict(_flat(fields))
        text = next((v for v in flat.values() if isinstance(v, str) and "Completed request:" in v), None)
        if text is None:
            return None
        at = text.index("Completed request:")
        nanos = self._nanos(text[:at])
        if nanos is None:
            nanos = self._time_of(flat)
        label = next((str(flat[k]) for k in flat if k.rpartition(".")[2] in _LABEL_KEYS), "")
        return Line(nanos, label, text[at:].rstrip("\r\n"))

    def _time_of(self, flat: dict[str, Any]) -> int | None:
        if isinstance(flat.get("instant.epochSecond"), int):
            return flat["instant.epochSecond"] * 10**9 + int(flat.get("instant.nanoOfSecond") or 0)
        for key in _TIME_KEYS:
            value = flat.get(key)
            if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
                return int(value * 10**6) if value > 10**11 else int(value * 10**9)
            if isinstance(value, str) and (nanos := self._nanos(value)) is not None:
                return nanos
        return None

    def _nanos(self, prefix: str) -> int | None:
        match = _TIME.search(prefix)
        if match is None:
            epoch = _EPOCH_MS.search(prefix)
            return int(epoch[1]) * 10**6 if epoch else None
        key = (match["date"] + match["time"], match["zone"])
        seconds = self._seconds.get(key)
        if seconds is None:
            try:
                seconds = self._epoch(match)
            except ValueError:
                return None
            if len(self._seconds) > 4096:
                self._seconds.clear()
            self._seconds[key] = seconds
        return seconds * 10**9 + int((match["fraction"] or "0").ljust(9, "0"))

    def _epoch(self, match: re.Match[str]) -> int:
        text = f"{match['date']}T{match['time']}"
        zone = match["zone"]
        if zone in ("Z", "UTC", "GMT"):
            moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
        elif zone:
            moment = datetime.fromisoformat(f"{text}{zone[:3]}:{zone[-2:]}")
        else:
            moment = datetime.fromisoformat(text).replace(tzinfo=self._zone)
        return int(moment.timestamp())


def _flat(value: object, path: str = "") -> list[tuple[str, object]]:
    """Leaves of a JSON object by their dotted path."""
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in _flat(item, f"{path}.{key}" if path else key)]
    return [(path, value)]
