"""The compiled readers of the wire format."""

import numpy as np
import pytest
from client_telemetry.raw import wire


def encoded(value: int) -> bytes:
    """A varint, as protobuf's specification writes it."""
    text = bytearray()
    while value > 127:
        text.append(value & 127 | 128)
        value >>= 7
    return bytes([*text, value])


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 2**32, 2**62, 2**63 - 1, 2**63, 2**63 + 5, 2**64 - 1])
def test_varint(value):
    memory = np.frombuffer(encoded(value) + bytes(16), dtype=np.uint8)
    at = memory.ctypes.data
    read, following = wire.varint(at, at + len(encoded(value)))
    assert (read % 2**64, following - at) == (value, len(encoded(value)))


@pytest.mark.parametrize(
    "text",
    [b"", b"\x80", b"\xff" * 9, b"\xff" * 9 + b"\x02", b"\xff" * 9 + b"\x81", b"\xff" * 11],
    ids=bytes.hex,
)
def test_what_is_no_varint_of_64_bits(text):
    memory = np.frombuffer(text + bytes(16), dtype=np.uint8)
    at = memory.ctypes.data
    assert wire.varint(at, at + len(text)) == (0, 0)
