"""Compiled reading of lines against reading each line by itself: of real lines, damaged at random, both give the same dump."""

import random
import re
from pathlib import Path

import numpy as np
import pytest
import zstandard
from client_telemetry.sources.log_files import find_logs
from client_telemetry.sources.request_log import broker_survey, conversion, log_look
from client_telemetry.sources.request_log.broker_releases import BrokerReleases
from client_telemetry.sources.request_log.line_scan import SLOW, scan
from client_telemetry.sources.request_log.request_entry import parse_entry

DATA = Path(__file__).parents[3] / "data"
WORDS = (
    b",response:", b" from connection ", b", correlationId=7) -- {", b",listener:OTHER", b";totalTime:1.0,", b'"groupId":"g",',
    b"group_id=g,", b',"listener":"OTHER"', b'"}', b"{", b"}", b"[]", b"null", b"\\u0041", b"\\ud800", b"\xff", b"\xc3\xa9",
    b"\t", b"\r", b" ", b"-", b".", b"0", b"e9", b'"', b"\\", b",", b":", b"=", b";", b")",
)  # fmt: skip


@pytest.fixture(scope="module")
def real_lines() -> dict[str, list[bytes]]:
    """Of each format, with connections that come again."""
    sample = Path(__file__).parents[4] / "include/sample/request_logs"
    files = {
        "text 2.4": sample / "kafka-2.4.1-text.request.log.zst",
        "text 2.7": sample / "kafka-2.7.2-text.request.log.zst",
        "JSON 3.9": DATA / "roll/node1/request.log.zst",
        "JSON 4.0": sample / "kafka-4.0.1-json.request.log.zst",
    }
    found = {}
    for name, file in files.items():
        text = zstandard.ZstdDecompressor(max_window_size=2**27).decompress(file.read_bytes(), 2**28)
        lines = [line for line in text.split(b"\n") if 0 < len(line) < 6000]
        # A cluster id that was damaged is that of another cluster.
        found[name] = [line for line in lines if b"cluster_id" not in line and b"clusterId" not in line][
            200:400
        ]
    return found


def damaged(line: bytes, other: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(
        12, len(line)
    )  # behind the date: a dump has manifests for all hours between its lines
    to = min(len(line), at + chance.choice((1, 1, 2, 5, 40, 400)))
    match chance.randrange(8):
        case 0:
            return line[:at] + line[to:]
        case 1:
            return line[:at] + bytes([chance.randrange(256)]) + line[at + 1 :]
        case 2:
            return line[:at] + chance.choice(WORDS) + line[at:]
        case 3:
            return line[:at] + chance.choice(WORDS) + line[to:]
        case 4:
            return line[:at]
        case 5:
            return line[:at] + other
        case 6:
            return line[:at] + line[at:to] + line[at:]
        case _:
            return line[:at] + other[min(at, len(other)) :]


def converted(log: Path, into: Path) -> tuple:
    seen = broker_survey.survey(find_logs([str(log)]))
    done = conversion.convert(seen, BrokerReleases(), "c", into)
    dump = {str(p.relative_to(into)): p.read_bytes() for p in sorted(into.rglob("*")) if p.is_file()}
    brokers = [
        (
            b.broker_id,
            b.id_known_by,
            b.endpoints,
            b.first,
            b.last,
            b.entries,
            b.incarnations,
            b.logs[0].segments,
        )
        for b in seen.brokers
    ]
    return brokers, done, dump


_OF_CONNECTION = re.compile(rb'((?:from connection |"connection":")[^;"]+?:)\d+((?:-\d+)?-\d+[;"])')
_ERROR = re.compile(rb'(error_?[cC]ode"?[=:])0\b')
_CODES = (6, 0, 27, -1, 64, 129, 6)
_NUMBER = re.compile(rb'(correlationId"?[=:] ?)-?\d+')


def one_by_one(lines: bytearray, with_bodies: bool = True):
    scanned = scan(lines, with_bodies)
    return scanned._replace(essence=np.full(len(scanned.key), SLOW, np.uint64))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", ["text 2.4", "text 2.7", "JSON 3.9", "JSON 4.0"])
def test_damaged_lines_give_the_same_dump(name, seed, real_lines, tmp_path, monkeypatch):
    chance = random.Random(f"{name} {seed}")
    lines = real_lines[name]
    log = []
    for line in lines:
        log.append(line)
        if chance.random() < 0.7:
            log += [damaged(line, chance.choice(lines), chance)] * chance.choice((1, 1, 2))
    file = tmp_path / "request.log"
    file.write_bytes(b"\n".join(log) + b"\n")
    fast = converted(file, tmp_path / "fast")
    for module in (log_look, conversion):
        monkeypatch.setattr(module, "scan", one_by_one)
    slow = converted(file, tmp_path / "slow")
    assert fast == slow
    taken = scan(bytearray(file.read_bytes())).essence != SLOW
    assert 0.4 < taken.mean() < 0.97 and fast[1].unreadable.total() > 5


@pytest.mark.parametrize("name", ["text 2.4", "text 2.7", "JSON 3.9", "JSON 4.0"])
def test_short_connections_of_whatever_requests_give_the_same_dump(name, real_lines, tmp_path, monkeypatch):
    """Lines of the same shape on other connections are not parsed; topics, groups, correlation ids and error codes still count."""
    changes = [(b"orders", b"other-%d"), (b"group", b"grp-%d")]
    log = []
    for again in range(4):
        for number, line in enumerate(real_lines[name]):
            line = _OF_CONNECTION.sub(
                rb"\g<1>%d\g<2>" % (20_000 + (number // 3 + again * 7919) % 40_000), line
            )
            for word, other in changes if number % 5 == again else ():
                line = line.replace(word, other % (number % 4))
            code = _CODES[number % len(_CODES)]
            line = _ERROR.sub(rb"\g<1>%d" % code, line, count=1 + number % 3) if again % 2 else line
            log.append(_NUMBER.sub(rb"\g<1>%d" % (again * 100 + number % 9), line))
    file = tmp_path / "request.log"
    file.write_bytes(b"\n".join(log) + b"\n")
    parsed = []
    monkeypatch.setattr(conversion, "parse_entry", lambda message: parsed.append(1) or parse_entry(message))
    fast = converted(file, tmp_path / "fast")
    assert len(parsed) < 0.7 * len(log)
    for module in (log_look, conversion):
        monkeypatch.setattr(module, "scan", one_by_one)
    assert converted(file, tmp_path / "slow") == fast
