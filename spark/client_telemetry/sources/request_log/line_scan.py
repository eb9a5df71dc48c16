"""Lines of a request log, many at a time, as far as they need not be parsed.

Most entries differ from one before in nothing but their time, their duration and their bodies. Compiled code reads them whole
(json_scan.py, text_scan.py) and gives two numbers for what every entry has outside of its bodies, so that Python looks at a
line only if the numbers are new. What an entry says is not here (request_entry.py).

The layout is Kafka's: `[2026-11-22 12:06:01,979] DEBUG Completed request:… (kafka.request.logger)`. All other lines, and
entries that are not exactly as Kafka writes them, are for the slow path.
"""

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from client_telemetry.formats.raw.reader import PADDING
from client_telemetry.formats.raw.wire import byte_at, compiled
from client_telemetry.sources.request_log import json_scan, text_scan
from client_telemetry.sources.request_log.byte_scan import Words, behind_word, line_feed_from, local_millis
from client_telemetry.sources.request_log.json_scan import json_entry
from client_telemetry.sources.request_log.text_scan import text_entry

SLOW = 0
"""In `essence`: the line has to be read by itself."""

_SHORTEST = 60
_PLACES = 8
"""Begin and end of what Head has."""
_SEED = np.uint64(int.from_bytes(os.urandom(8), "little"))
"""Without it a client could choose a client id whose requests are taken for those of another one."""

_IN_JSON, _IN_TEXT = 0, 1
_BEGINS = Words(
    b'Completed request:{"isForwarded":false,"requestHeader":{"requestApiKey":',
    b"Completed request:RequestHeader(apiKey=",
)
_TABLES = (
    _BEGINS.address,
    json_scan.WORDS.address,
    text_scan.WORDS.address,
    text_scan.API_NAMES.address,
    text_scan.API_KEYS.ctypes.data,
)


class Scanned(NamedTuple):
    """Of n lines: line i lies from bounds[i] to bounds[i + 1], its line feed included. `essence`: uint64, equal for lines
    that tell the same of their connection; `connection`: uint64, equal for lines of one connection and listener. `local_ms`:
    milliseconds since 1970 as the line has them, in the log's own zone. `total_ns`: from receiving the request to sending
    the answer. `key`: of the API."""

    bounds: np.ndarray
    essence: np.ndarray
    connection: np.ndarray
    local_ms: np.ndarray
    total_ns: np.ndarray
    key: np.ndarray

    def line(self, lines: bytearray, row: int) -> bytes:
        """One of the lines that were scanned, without its end."""
        return bytes(lines[self.bounds[row] : self.bounds[row + 1]]).rstrip(b"\r\n")


class Head(NamedTuple):
    """What a line says of its connection, apart from its shape."""

    correlation_id: int
    connection_id: str
    listener: str
    security_protocol: str


Shape = tuple[int, list[int]]
"""A hash that is equal for lines that tell the same but for their connection, correlation id and times; and where these stand."""


def shapes_of(
    lines: bytearray, scanned: Scanned, rows: Sequence[int], with_bodies: bool = True
) -> dict[int, Shape]:
    """By row, of rows with an essence; `lines`: those that were scanned. Without bodies, only the places are what they should be."""
    values = np.zeros(len(rows), np.uint64)
    places = np.zeros((len(rows), _PLACES), np.int64)
    begins = scanned.bounds[np.array(rows, np.int64)]
    octets = np.frombuffer(lines, np.uint8)
    _shapes(octets.ctypes.data, _SEED, with_bodies, begins, values, places, *_TABLES)
    del octets  # the lines grow again
    return dict(zip(rows, zip(values.tolist(), places.tolist(), strict=True), strict=True))


def head_of(lines: bytearray, shape: Shape) -> Head:
    """`shape`: of one of the lines."""
    number, behind_number, peer, behind_peer, listener, behind_listener, protocol, behind_protocol = shape[1]
    return Head(
        int(lines[number:behind_number]),
        lines[peer:behind_peer].decode("utf-8", "replace"),
        lines[listener:behind_listener].decode("utf-8", "replace"),
        lines[protocol:behind_protocol].decode("utf-8", "replace"),
    )


def scan(lines: bytearray, with_bodies: bool = True) -> Scanned:
    """`lines`: whole ones; the last one gets a line feed if it has none, and PADDING follows. `with_bodies`: whether groups and
    transactional ids in requests and error codes in answers make a difference.
    """
    if lines and not lines.endswith(b"\n"):
        lines += b"\n"
    lines += bytes(PADDING)
    octets = np.frombuffer(lines, np.uint8)
    n = _line_feeds(octets)
    bounds = np.zeros(n + 1, np.int64)
    essence, connection = np.zeros(n, np.uint64), np.zeros(n, np.uint64)
    local_ms, total_ns, key = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int32)
    _scan(
        octets.ctypes.data, _SEED, with_bodies, bounds, essence, connection, local_ms, total_ns, key,
        *_TABLES,
    )  # fmt: skip
    return Scanned(bounds, essence, connection, local_ms, total_ns, key)


@compiled("int64(uint8[::1])")
def _line_feeds(octets):
    n = 0
    for octet in octets:
        n += octet == 10
    return n


@compiled(
    "void(int64, uint64, boolean, int64[::1], uint64[::1], uint64[::1], int64[::1], int64[::1], int32[::1], "
    "int64, int64, int64, int64, int64)"
)
def _scan(
    start, seed, with_bodies, bounds, essence, connection, local_ms, total_ns, key,
    begins, json_words, text_words, api_names, api_keys,
):  # fmt: skip
    begin = start
    for row in range(len(bounds) - 1):
        end = line_feed_from(begin)
        bounds[row + 1] = end + 1 - start
        line, begin = begin, end + 1
        if (
            end - line < _SHORTEST
            or byte_at(line) != 91
            or byte_at(line + 24) != 93
            or byte_at(line + 25) != 32
        ):
            continue
        at = line + 26
        while at < line + 34 and byte_at(at) != 32:
            at += 1
        behind = behind_word(at + 1, begins, _IN_JSON)
        if behind:
            found, which, total, api, _, _ = json_entry(behind, json_words, with_bodies, False, seed)
        else:
            behind = behind_word(at + 1, begins, _IN_TEXT)
            if behind == 0:
                continue
            found, which, total, api, _, _ = text_entry(
                behind, text_words, api_names, api_keys, with_bodies, False, seed
            )
        if found == 0:
            continue
        millis = local_millis(line + 1)
        if millis < 0:
            continue
        essence[row], connection[row] = found, which
        local_ms[row], total_ns[row], key[row] = millis, total, api


@compiled(
    "void(int64, uint64, boolean, int64[::1], uint64[::1], int64[:, ::1], int64, int64, int64, int64, int64)"
)
def _shapes(
    start, seed, with_bodies, begins, values, places, tables, json_words, text_words, api_names, api_keys
):
    for row in range(len(begins)):
        line = start + begins[row]
        at = line + 26
        while byte_at(at) != 32:
            at += 1
        behind = behind_word(at + 1, tables, _IN_JSON)
        if behind:
            _, _, _, _, shape, ids = json_entry(behind, json_words, with_bodies, with_bodies, seed)
        else:
            behind = behind_word(at + 1, tables, _IN_TEXT)
            _, _, _, _, shape, ids = text_entry(
                behind, text_words, api_names, api_keys, with_bodies, with_bodies, seed
            )
        values[row] = shape
        for place in range(_PLACES):
            places[row, place] = ids[place] - start
