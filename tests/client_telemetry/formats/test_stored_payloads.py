"""Compiled code and Python must take and give up the same payloads."""

import ctypes
import gzip
import importlib

import google_crc32c
import numpy as np
import pytest
import zstandard
from client_telemetry.formats.otlp import stored_payloads
from client_telemetry.formats.otlp.codecs import decompress
from client_telemetry.formats.otlp.stored_payloads import PORTION_BYTES, StoredPayloads
from client_telemetry.formats.raw.errors import UndecodableRecord
from client_telemetry.formats.raw.reader import PADDING

from tests.client_telemetry.formats.test_codecs import COMPRESSED, PLAIN, zstd_as_kafka_writes_it

LARGE = PLAIN * (PORTION_BYTES // len(PLAIN) + 1)


def zstd_frame(window_descriptor: int) -> bytes:
    """One block of PLAIN that is not compressed, in a frame without content size (RFC 8878)."""
    return (
        b"\x28\xb5\x2f\xfd\x00"
        + bytes([window_descriptor])
        + (len(PLAIN) << 3 | 1).to_bytes(3, "little")
        + PLAIN
    )


TAKEN = {
    **{case: (*given, None) for case, given in COMPRESSED.items()},
    "a checksum": (0, PLAIN, google_crc32c.value(PLAIN)),
    "two zstd frames": (4, zstd_as_kafka_writes_it(PLAIN[:5]) + zstd_as_kafka_writes_it(PLAIN[5:]), None),
    "the widest window": (4, zstd_frame(17 << 3), None),
    "more than a portion": (0, LARGE, None),
    "more than a portion, gzip": (1, gzip.compress(LARGE, 1), None),
    "more than a portion, zstd": (
        4,
        zstd_as_kafka_writes_it(np.random.default_rng(1).bytes(PORTION_BYTES + 1)),
        None,
    ),
    "a codec that is not known": (-1, zstd_as_kafka_writes_it(PLAIN), None),
}
GIVEN_UP = {
    "wrong checksum": (0, PLAIN, google_crc32c.value(PLAIN) ^ 1),
    "wrong checksum, gzip": (1, gzip.compress(PLAIN), 1),
    "wrong checksum, zstd": (4, zstd_as_kafka_writes_it(PLAIN), 1),
    "zstd that ends early": (4, zstd_as_kafka_writes_it(PLAIN)[:-1], None),
    "zstd with a wrong byte": (
        4,
        zstandard.ZstdCompressor(write_checksum=True).compress(PLAIN)[:-1] + b"!",
        None,
    ),
    "zstd and more": (4, zstd_as_kafka_writes_it(PLAIN) + b"!", None),
    "not zstd": (4, PLAIN, None),
    "a wider window": (4, zstd_frame(17 << 3 | 1), None),
    "more than its size allows": (4, zstandard.ZstdCompressor().compress(bytes(2**21)), None),
    "no codec": (7, PLAIN, None),
}


@pytest.fixture(params=["compiled code calls the libraries", "all by Python"])
def way(request, monkeypatch):
    if request.param == "all by Python":
        monkeypatch.setattr(stored_payloads, "_FUNCTIONS", np.zeros(3, np.int64))


def unpacked(given: list[tuple[int, bytes, int | None]]) -> list[bytes | None]:
    """Each payload decompressed, None if it was given up."""
    memory = [data + bytes(PADDING) for _, data, _ in given]
    stored = StoredPayloads(
        np.array(
            [
                (np.frombuffer(held, np.uint8).ctypes.data, len(data), codec, checksum or 0)
                for held, (codec, data, checksum) in zip(memory, given, strict=True)
            ]
        )
    )
    found: list[bytes | None] = [None] * len(given)
    for numbers, ranges in stored.portions():
        for number, (start, end) in zip(numbers.tolist(), ranges.tolist(), strict=True):
            found[number] = ctypes.string_at(start, end - start)
    assert stored.given_up.tolist() == [data is None for data in found]
    return found


def test_libraries_are_called_where_this_project_is_developed():
    assert stored_payloads._FUNCTIONS.all()


def test_every_framing_between_others(way):
    given = [each for case in TAKEN.values() for each in (case, (4, zstd_as_kafka_writes_it(PLAIN), None))]
    assert unpacked(given) == [decompress(data, codec) for codec, data, _ in given]


@pytest.mark.parametrize("case", GIVEN_UP)
def test_what_is_wrong_is_given_up_and_its_neighbours_are_not(way, case):
    codec, data, checksum = GIVEN_UP[case]
    if checksum is None:
        with pytest.raises(UndecodableRecord):
            decompress(data, codec)
    beside = (4, zstd_as_kafka_writes_it(PLAIN), None)
    assert unpacked([beside, (codec, data, checksum), beside]) == [PLAIN, None, PLAIN]


def test_many_portions(way):
    given = [
        (codec, zstd_as_kafka_writes_it(PLAIN * 1000) if codec else PLAIN * 1000, None) for codec in (0, 4)
    ] * 700
    assert unpacked(given) == [PLAIN * 1000] * len(given)


@pytest.mark.parametrize("module", ["google_crc32c._crc32c", "zstandard._cffi"])
def test_packages_offer_no_functions_to_compiled_code(module):
    """numba.extending.get_cython_function_address finds those; others are looked up in the module's library."""
    assert not hasattr(importlib.import_module(module), "__pyx_capi__"), (
        "use numba.extending.get_cython_function_address"
    )
