"""Request logs to a dump: lines a second of one core, beside a loop that only parses JSON, and beside reading each line by itself.

The lines are those of the sample, again and again with later times, as a broker of 1,000 requests a second would have written
them: connections go on and send the same kinds of requests. Requests that open a connection (ApiVersions) come once.
"""

import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain, cycle
from pathlib import Path
from unittest import mock

import numpy as np
import orjson
import zstandard
from client_telemetry.sources.conversion import convert_new, declared
from client_telemetry.sources.request_log import conversion, log_look
from client_telemetry.sources.request_log.line_scan import SLOW, scan
from client_telemetry.sources.request_log.wrapping import MARK

from benchmarks.bench import Section
from benchmarks.measure import Cost, take_turns

SAMPLE = Path(__file__).parents[1] / "include/sample/request_logs"
LOGS = (
    ("text, 2.4.1", "kafka-2.4.1-text.request.log.zst", "2.4.1", None),
    ("text, 2.7.2", "kafka-2.7.2-text.request.log.zst", "2.7.2", None),
    ("JSON, 4.0.1", "kafka-4.0.1-json.request.log.zst", "4.0.1", None),
    ("text, 2.7.2, short connections", "kafka-2.7.2-text.request.log.zst", "2.7.2", 5),
    ("JSON, 4.0.1, short connections", "kafka-4.0.1-json.request.log.zst", "4.0.1", 5),
)
"""Name, file, release, and after how many lines another connection begins."""
LOG_BYTES = 48 * 2**20
PARSED_BYTES = 4 * 2**20
"""Of the log of which each line is parsed: that is slow, and costs the same for each."""

EVERY = timedelta(milliseconds=1)

_OPENING = re.compile(rb'apiKey=API_VERSIONS|"requestApiKey":18,')
_CONNECTION = re.compile(rb'( from connection |"connection":")([^;"]+?:)(\d+)((?:-\d+)?)-(\d+)(?=[;"])')
_CLUSTER = re.compile(rb'(?:cluster_id=|"clusterId":")([A-Za-z0-9_-]{22})')
TEXT = """The logs of the sample, repeated to 50 MB with one line per millisecond: connections that continue, as nearly all of a \
broker's do. *Short connections*: a new connection begins after every five lines, as with clients that connect for each request; \
of lines that say the same of different connections, one is parsed. *Converted* is all of `client-telemetry convert` in one process: finding out what is new, \
both passes, the dump. *Parser only* is the same with the compiled reader turned off. *orjson* only parses the JSON of each line and \
keeps nothing. CPU seconds, median of three rounds in turn. Before the compiled reader existed, the speed was 15,300 lines a second (18 MB/s)."""


def run() -> Iterator[Section]:
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            _row(Path(folder), name, SAMPLE / file, release, short) for name, file, release, short in LOGS
        ]
    yield Section("Request logs, one core", TEXT, rows)


def _row(
    folder: Path, name: str, sample: Path, release: str, lines_each: int | None
) -> dict[str, str | float | int | None]:
    whole, short = folder / f"{release}.log", folder / f"{release}-short.log"
    cluster = _CLUSTER.search(b"".join(_lines(sample)))
    assert cluster is not None
    lines = _write(sample, whole, LOG_BYTES, lines_each)
    short_lines = _write(sample, short, PARSED_BYTES, lines_each)
    cases = {
        "converted": lambda: _convert(whole, cluster[1].decode(), release),
        "parser": lambda: _convert_one_by_one(short, cluster[1].decode(), release),
    }
    if "JSON" in name:
        cases["orjson"] = lambda: _parse(whole)
    costs: Mapping[str, Cost] = take_turns(cases)
    converted, parser = lines / costs["converted"].cpu, short_lines / costs["parser"].cpu
    megabytes = whole.stat().st_size / 1e6
    return {
        "log": name,
        "lines": lines,
        "MB": round(megabytes),
        "converted, lines/s": round(converted),
        "converted, MB/s": round(megabytes / costs["converted"].cpu),
        "parser only, lines/s": round(parser),
        "orjson, lines/s": round(lines / costs["orjson"].cpu) if "orjson" in costs else None,
        "times 15,300": round(converted / 15_300, 1),
    }


def _lines(sample: Path) -> list[bytes]:
    text = zstandard.ZstdDecompressor(max_window_size=2**31).decompressobj().decompress(sample.read_bytes())
    return [line for line in text.splitlines(keepends=True) if re.match(rb"\[\d{4}-\d\d-\d\d ", line)]


def _write(sample: Path, log: Path, size: int, lines_each: int | None) -> int:
    """Gives the number of lines. `lines_each`: of a connection; None = as the sample has them."""
    lines = _lines(sample)
    again = [line for line in lines if not _OPENING.search(line)]
    of_connection: Counter[bytes] = Counter()
    numbers: dict[tuple[bytes, int], int] = {}
    began = datetime(2026, 11, 21, 12, tzinfo=UTC)
    written = count = 0
    with log.open("wb") as file:
        for line in chain(lines, cycle(again)):
            if written >= size:
                return count
            time = began + count * EVERY
            stamp = f"[{time:%Y-%m-%d %H:%M:%S},{time.microsecond // 1000:03d}"
            if lines_each:
                line = _CONNECTION.sub(partial(_short, lines_each, of_connection, numbers), line)
            written += file.write(stamp.encode() + line[24:])
            count += 1
    raise AssertionError("cycle ends for an empty log only")


def _short(
    lines_each: int,
    of_connection: Counter[bytes],
    numbers: dict[tuple[bytes, int], int],
    found: re.Match[bytes],
) -> bytes:
    """The id of a connection that has `lines_each` lines, of the same client and processor of the broker: what the sample's log
    has of one connection is of many."""
    number = numbers.setdefault((found[0], of_connection[found[0]] // lines_each), len(numbers))
    of_connection[found[0]] += 1
    return b"%s%s%d%s-%d" % (found[1], found[2], 20_000 + number % 40_000, found[4], number)


def _convert(log: Path, cluster: str, release: str) -> None:
    source = declared(json.dumps({"format": "request_log", "files": [str(log)], "release": release}))
    with tempfile.TemporaryDirectory(dir=log.parent) as root:
        convert_new(source, cluster, root, settled=timedelta(0))


def _convert_one_by_one(log: Path, cluster: str, release: str) -> None:
    def one_by_one(lines: bytearray, with_bodies: bool = True):
        scanned = scan(lines, with_bodies)
        return scanned._replace(essence=np.full(len(scanned.key), SLOW, np.uint64))

    with (
        mock.patch.object(log_look, "scan", one_by_one),
        mock.patch.object(conversion, "scan", one_by_one),
    ):
        _convert(log, cluster, release)


def _parse(log: Path) -> None:
    with log.open("rb") as file:
        for line in file:
            begin = line.find(MARK) + len(MARK)
            orjson.loads(line[begin : line.rfind(b"}") + 1])
