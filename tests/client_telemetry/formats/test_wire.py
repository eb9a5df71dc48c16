"""The compiled readers of the wire format."""

from collections.abc import Callable

import numpy as np
import pytest
from client_telemetry.formats.raw import wire


def encoded(value: int) -> bytes:
    """A varint, as protobuf's specification writes it."""
    text = bytearray()
    while value > 127:
        text.append(value & 127 | 128)
        value >>= 7
    return bytes([*text, value])


class Memory:
    """Bytes at addresses, with room behind them."""

    def __init__(self, text: bytes) -> None:
        self._bytes = np.frombuffer(text + b"\xff" * 16, dtype=np.uint8)
        self.at, self.size = self._bytes.ctypes.data, len(text)
        self.end = self.at + self.size

    def read(self, reader: Callable[[int, int], tuple[int, int]]) -> tuple[int, int]:
        """The value, and how many bytes it took."""
        value, following = reader(self.at, self.end)
        return int(value), int(following) - self.at


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 2**32, 2**62, 2**63 - 1, 2**63, 2**63 + 5, 2**64 - 1])
def test_varint(value):
    text = encoded(value)
    read, size = Memory(text).read(wire.varint)
    assert (read % 2**64, size) == (value, len(text))


@pytest.mark.parametrize(
    "text",
    [b"", b"\x80", b"\xff" * 9, b"\xff" * 9 + b"\x02", b"\xff" * 9 + b"\x81", b"\xff" * 11],
    ids=bytes.hex,
)
def test_what_is_no_varint_of_64_bits(text):
    memory = Memory(text)
    assert wire.varint(memory.at, memory.end) == (0, 0)


@pytest.mark.parametrize("size", [0, 1, 127, 128, 129, 300, 2**14 - 1, 2**14, 2**21 - 1, 2**21, 2**21 + 5])
def test_a_length_is_that_of_what_follows_and_not_more_than_there_is(size):
    head = encoded(size)
    assert Memory(head + bytes(size)).read(wire.length) == (size, len(head))
    assert Memory(head + bytes(size + 1)).read(wire.length) == (size, len(head))
    if size:
        memory = Memory(head + bytes(size - 1))
        assert wire.length(memory.at, memory.end) == (0, 0), "cut"


@pytest.mark.parametrize("text", [b"", b"\x81", b"\x81\x80\x80", b"\x80\x80\x80\x80\x00"], ids=bytes.hex)
def test_what_is_no_length(text):
    """Of five bytes it would be 256 MiB and more."""
    memory = Memory(text)
    assert wire.length(memory.at, memory.end) == (0, 0)


def after_unknown(text: bytes, cut: int = 0) -> int | None:
    """How many bytes of a field are passed over; None: given up."""
    memory = Memory(text)
    following = int(wire.skip_unknown(text[0], memory.at + 1, memory.end - cut))
    return following - memory.at if following else None


UNKNOWN = {
    "a varint": (0, encoded(300)),
    "8 bytes": (1, bytes(8)),
    "text": (2, b"\x03abc"),
    "no text": (2, b"\x00"),
    "4 bytes": (5, bytes(4)),
}


@pytest.mark.parametrize("field", [16, 17, 2047, 2048, 2**29 - 1])
@pytest.mark.parametrize("kind", UNKNOWN)
def test_a_field_of_a_later_version_is_passed_over(field, kind):
    number, value = UNKNOWN[kind]
    whole = encoded(field << 3 | number) + value
    assert after_unknown(whole) == len(whole)
    assert after_unknown(whole + b"more") == len(whole)
    assert after_unknown(whole, cut=1) is None


@pytest.mark.parametrize("kind", [3, 4, 6, 7], ids=["group", "end of a group", "6", "7"])
def test_a_field_of_a_kind_that_nobody_writes_is_given_up(kind):
    assert after_unknown(encoded(16 << 3 | kind) + bytes(12)) is None


@pytest.mark.parametrize(
    "tag",
    [b"\x08", b"\x7a", b"\x88\x00", b"\xf8\x80\x00", b"\x80\x81\x80\x80\x80\x00", encoded(2**32), b"\x80"],
    ids=bytes.hex,
)
def test_a_tag_of_a_known_field_an_overlong_one_and_no_tag_are_given_up(tag):
    assert after_unknown(tag + b"\x01" * 12, cut=12 if tag == b"\x80" else 0) is None


TEXT = b"client-software-name.and-version"


@pytest.mark.parametrize("size", range(20))
def test_ranges_are_the_same_if_each_byte_is(size):
    one, other = Memory(TEXT), Memory(TEXT[:size] + b"behind it")
    assert wire.same(one.at, other.at, size)
    for place in range(size):
        changed = bytearray(TEXT[:size])
        changed[place] ^= 0x20
        assert not wire.same(one.at, Memory(bytes(changed)).at, size)


@pytest.mark.parametrize("size", range(20))
def test_a_range_is_ascii_if_each_byte_is(size):
    assert wire.is_ascii(Memory(TEXT[:size]).at, size)
    for place in range(size):
        changed = bytearray(TEXT[:size])
        changed[place] |= 0x80
        assert not wire.is_ascii(Memory(bytes(changed)).at, size)


class Texts:
    """A table of distinct texts, which keeps them alive."""

    def __init__(self, kinds: int = 2, expected: int = 16) -> None:
        self.table = wire.DistinctRanges(kinds, expected)
        self._kept: list[Memory] = []

    def number(self, kind: int, text: bytes, ascii_only: bool = False) -> int:
        self._kept.append(memory := Memory(text))
        return int(wire.distinct(self.table.address, kind, memory.at, memory.size, ascii_only))

    def numbers(self, kind: int, texts: list[bytes]) -> list[int]:
        """As the readers do it: when the table is full, room is made."""
        found = []
        for text in texts:
            if (number := self.number(kind, text)) == wire.TABLE_FULL:
                assert self.table.is_full
                self.table.grow()
                number = self.number(kind, text)
            found.append(number)
        return found


def test_distinct_texts_are_numbered_in_order_within_their_kind():
    texts = Texts()
    assert [texts.number(0, each) for each in (b"a", b"", b"b", b"a", b"", b"ab")] == [0, 1, 2, 0, 1, 3]
    assert [texts.number(1, each) for each in (b"b", b"a", b"b")] == [0, 1, 0]
    assert [texts.table.count(kind) for kind in (0, 1)] == [4, 2]
    assert texts.table.strings(0).to_pylist() == ["a", "", "b", "ab"]
    assert texts.table.binaries(1).to_pylist() == [b"b", b"a"]
    assert texts.table.ranges(0)[:, 1].tolist() == [1, 0, 1, 2]
    assert len(texts.table.ranges(1)) == 2


def test_texts_that_begin_alike_are_told_apart_whatever_their_length():
    long = [TEXT[:size] for size in range(len(TEXT) + 1)]
    texts = Texts()
    assert texts.numbers(0, long) == texts.numbers(0, long) == list(range(len(long)))
    assert texts.table.binaries(0).to_pylist() == long


def test_texts_keep_their_numbers_when_the_table_grows():
    many = [f"topic-{number}".encode() for number in range(5_000)]
    texts = Texts()
    room = 0
    while texts.number(0, many[room]) != wire.TABLE_FULL:
        room += 1
    assert texts.table.is_full and room == texts.table.count(0) >= 16
    texts.table.grow()
    assert not texts.table.is_full
    assert texts.numbers(0, many[: 4 * room]) == list(range(4 * room)), "four times as many"
    assert texts.table.is_full
    assert texts.numbers(1, many) == texts.numbers(0, many) == list(range(len(many)))
    assert texts.numbers(0, many[::-1]) == list(range(len(many)))[::-1]
    assert texts.table.binaries(0).to_pylist() == texts.table.binaries(1).to_pylist() == many


def test_where_only_ascii_is_read_another_text_gets_no_number():
    texts = Texts()
    assert texts.number(0, "ü".encode(), ascii_only=True) == wire.NOT_ASCII
    assert texts.number(0, "long enough: ü".encode(), ascii_only=True) == wire.NOT_ASCII
    assert texts.number(0, "ü".encode()) == 0
    assert texts.number(0, b"u", ascii_only=True) == 1
    assert texts.table.count(0) == 2
