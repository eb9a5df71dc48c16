"""Wherever blocks begin and end, the ends of messages are the same."""

import random

import pytest
from client_telemetry.sources.message_ends import OnlyEnd
from client_telemetry.sources.otlp.files import FORMATS, MAX_MESSAGE_BYTES

SIZES = (0, 1, 5, 127, 128, 300, 0, 70_000)


def framed(size: int) -> bytes:
    return size.to_bytes(4, "big") + bytes(size)


def varint_framed(size: int) -> bytes:
    head = b""
    while size > 0x7F:
        head, size = head + bytes([size & 0x7F | 0x80]), size >> 7
    return head + bytes([size])


MESSAGES = {
    "collector_json": [b"x" * size + b"\n" for size in SIZES],
    "collector_proto": [framed(size) for size in SIZES],
    "metric_stream": [varint_framed(size) + bytes(size) for size in SIZES],
}


@pytest.mark.parametrize("format_", MESSAGES)
@pytest.mark.parametrize("seed", range(20))
def test_the_last_end_is_where_a_message_ends(format_, seed):
    rng = random.Random(seed)
    data = b"".join(MESSAGES[format_])
    data = data[: rng.randrange(len(data) + 1)]
    true_end = sum(len(each) for each in MESSAGES[format_])
    for size in [len(each) for each in reversed(MESSAGES[format_])]:
        true_end -= size if true_end > len(data) else 0
    ends, at, found = FORMATS[format_].ends(), 0, 0
    while at < len(data):
        block = data[at : at + rng.choice((1, 2, 3, 100, 50_000))]
        if end := ends.last_end(block):
            found = at + end
        at += len(block)
    assert (found, ends.is_lost) == (true_end, False)


@pytest.mark.parametrize(
    ("format_", "length"),
    [("collector_proto", (MAX_MESSAGE_BYTES + 1).to_bytes(4, "big")), ("metric_stream", b"\xff" * 10)],
)
def test_behind_what_is_no_length_nothing_ends(format_, length):
    ends = FORMATS[format_].ends()
    first = MESSAGES[format_][2]
    assert ends.last_end(first + length + first) == len(first)
    assert ends.is_lost
    assert ends.last_end(first) == 0


def test_a_file_that_is_one_message_ends_where_it_ends():
    assert FORMATS["otlp_proto"].ends is OnlyEnd
    assert OnlyEnd().last_end(b"x\n") == 0
