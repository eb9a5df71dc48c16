"""The compiled reading of lines against the parser: the same lines, told apart alike."""

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest
import zstandard
from client_telemetry.sources.request_log.answers import answer
from client_telemetry.sources.request_log.line_scan import SLOW, head_of, scan, shapes_of
from client_telemetry.sources.request_log.log_line import LineReader
from client_telemetry.sources.request_log.request_entry import parse_entry, received_nanos
from client_telemetry.sources.request_log.wrapping import MARK

from ..conftest import FETCH, METADATA, PRODUCE, json_line

SAMPLE = Path(__file__).parents[4] / "include/sample/request_logs"
ROLL = Path(__file__).parents[3] / "data/roll"


def rows(*lines: bytes, with_bodies: bool = True):
    return scan(bytearray(b"\n".join(lines) + b"\n"), with_bodies)


def test_every_entry_of_a_real_log_is_read_as_the_parser_reads_it():
    """Times and durations are the parser's; lines are alike if and only if the parser says that they are."""
    log = (ROLL / "node1/request.log.zst").read_bytes()
    text = zstandard.ZstdDecompressor(max_window_size=2**27).decompress(log, 2**28)
    scanned, reader = scan(bytearray(text)), LineReader()
    nanos = reader.utc_nanos(scanned.local_ms)
    by_essence: dict[int, tuple] = {}
    essences: dict[tuple, int] = {}
    count = 0
    for row, line in enumerate(text.splitlines()[:6000]):
        count += 1
        read = reader.read(line)
        entry = parse_entry(read.message)
        if entry.is_forwarded:
            assert scanned.essence[row] == SLOW
            continue
        essence = int(scanned.essence[row])
        assert essence != SLOW and nanos[row] == read.nanos and scanned.key[row] == entry.api_key
        assert nanos[row] - scanned.total_ns[row] == received_nanos(entry, read.nanos)
        says = (*entry[:9], str(entry.request.get("groupId")), str(entry.request.get("transactionalId")))
        says += (str(answer(entry.response)),)
        assert by_essence.setdefault(essence, says) == says
        essences.setdefault(says, essence)
    assert count == 6000 and len(by_essence) < 1000


@pytest.mark.parametrize(
    "other",
    [
        {"client_id": "other"},
        {"client_id": None},
        {"client_id": 'quo"te'},
        {"connection": "10.0.0.9:9092-10.0.1.1:40001-0-2"},
        {"listener": "OTHER"},
        {"software": ("kgo", "1")},
        {"principal": "User:other"},
        {"request": {"groupId": "g"}},
        {"request": {"transactionalId": "t"}},
        {"api": (1, "FETCH", 17)},
    ],
    ids=str,
)
def test_what_differs_is_distinguished(other):
    plain = json_line(0, FETCH)
    given = {**other}
    different = json_line(0, given.pop("api", FETCH), given.pop("request", ""), **given)
    one, two = rows(plain, different).essence.tolist()
    assert SLOW not in (one, two) and one != two


@pytest.mark.parametrize(
    "codes",
    [
        ([], [6]),
        ([6], [29]),
        ([6], [0, 6]),
        ([64], [0]),
        ([-1], [0]),
        ([128], [1]),
        ([6], [70]),
        ([6], [6, 70]),
    ],
    ids=str,
)
def test_error_codes_are_distinguished_but_not_their_number_and_order(codes):
    def lines(codes: list[int]) -> list[bytes]:
        parts = [
            {"partitions": [{"index": 1, "errorCode": code} for code in some]}
            for some in (codes, codes[::-1])
        ]
        return [json_line(0, FETCH, "", {"errorCode": 0, "responses": each}) for each in (parts, parts[1:])]

    one, same, other, also = rows(*lines(codes[0]), *lines(codes[1])).essence.tolist()
    assert SLOW not in (one, other) and one == same and other == also and one != other


def test_the_error_of_the_answer_is_not_one_of_its_partitions():
    own, nested = (
        json_line(0, FETCH, "", answer)
        for answer in (
            {"errorCode": 6, "responses": [{"errorCode": 0}]},
            {"responses": [{"errorCode": 6}, {"errorCode": 0}]},
        )
    )
    assert len(set(rows(own, nested).essence.tolist())) == 2


def test_what_does_not_matter_makes_no_difference():
    lines = [
        json_line(0, FETCH, {"maxWaitMs": 1}, {"errorCode": 0}),
        json_line(9, FETCH, {"maxWaitMs": 500, "topics": [{"name": 'x"connection":"y'}]}, totalTimeMs=7.25),
    ]
    scanned = rows(*lines)
    assert scanned.essence[0] == scanned.essence[1] != SLOW
    assert scanned.total_ns.tolist() == [2_000_000, 7_250_000]
    assert (np.diff(scanned.local_ms) == [9000]).all()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[",
        b"x" * 500,
        json_line(0, PRODUCE)[:-300],
        json_line(0, PRODUCE).replace(b'"isForwarded":false', b'"isForwarded":true'),
        json_line(0, PRODUCE).replace(b"[2026-11-21 12", b"[2026-13-21 12"),
        json_line(0, METADATA).replace(b"[2026", b"broker-1 | [2026"),
        b'{"log":"' + json_line(0, FETCH).replace(b'"', b'\\"') + b'"}',
    ],
)
def test_other_lines_are_for_the_slow_path(line):
    assert rows(line, json_line(0, FETCH)).essence[0] == SLOW
    assert MARK in json_line(0, FETCH)


def test_times_in_a_zone_with_summer_time():
    reader = LineReader(ZoneInfo("Europe/Berlin"))
    for text in ("2026-03-29 01:59:59", "2026-03-29 03:00:00", "2026-10-25 01:30:00", "2026-10-25 04:00:00"):
        local = int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000
        line = f"[{text},000] DEBUG Completed request:x".encode()
        assert reader.utc_nanos(np.array([local]))[0] == reader.read(line).nanos


@pytest.mark.parametrize("log", ["kafka-2.4.1-text", "kafka-2.7.2-text", "kafka-4.0.1-json"])
def test_what_a_line_says_of_its_connection_is_what_the_parser_reads(log):
    """Of real logs in both formats; a shape stands for one entry only, whatever the connection."""
    stored = (SAMPLE / f"{log}.request.log.zst").read_bytes()
    text = zstandard.ZstdDecompressor(max_window_size=2**31).decompressobj().decompress(stored)
    read = bytearray(b"".join(text.splitlines(keepends=True)[:3000]))
    scanned = scan(read)
    shapes = shapes_of(read, scanned, np.flatnonzero(scanned.essence != SLOW).tolist())
    entries: dict[int, tuple] = {}
    for row, shape in shapes.items():
        line = scanned.line(read, row)
        entry = parse_entry(line[line.index(MARK) :].decode())
        said = entry.correlation_id, entry.connection_id, entry.listener, entry.security_protocol
        assert head_of(read, shape) == said
        who = entry.api_key, entry.api_version, entry.client_id, entry.listener, entry.principal
        assert entries.setdefault(shape[0], who) == who
    assert len(shapes) > 900 and len(entries) < len(shapes) / 2
