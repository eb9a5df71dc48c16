"""How much memory zstd payloads take when they are decompressed, told by their blocks without decompressing them."""

import numpy as np
from numba import njit

from client_telemetry.formats.otlp.codecs import ZSTD, ZSTD_BLOCK_BYTES, Limits
from client_telemetry.formats.raw.wire import byte_at, compiled, uint32_at

_MAGIC = 0xFD2FB528
_WIDEST_WINDOW = 17 << 3
"""The window descriptor of 128 MiB: libzstd's streams, which `decompress` uses, refuse what needs more."""


@njit
def _blocks(at, end):
    """Blocks of a frame that lies from `at` to `end`, 0 if these bytes are anything else. RFC 8878, 3.1.1: a header
    that says how long it is, blocks with a header of 3 bytes (last one?, type, size), maybe a checksum of 4."""
    if end - at < 9 or uint32_at(at) != _MAGIC:
        return 0
    descriptor = byte_at(at + 4)
    single_segment = descriptor >> 5 & 1
    if single_segment == 0 and byte_at(at + 5) > _WIDEST_WINDOW:
        return 0
    dictionary, content = descriptor & 3, descriptor >> 6
    at += 6 - single_segment + (4 if dictionary == 3 else dictionary)
    at += 1 << content if content else single_segment
    blocks = 0
    while True:
        if at + 3 > end:
            return 0
        header = uint32_at(at) & 0xFFFFFF
        at += 3 + (1 if header >> 1 & 3 == 1 else header >> 3)
        blocks += 1
        if header & 1:
            break
    return blocks if at + (descriptor & 4) == end else 0


@compiled("void(int64[::1], int64[::1], int64[::1], int64[::1])")
def _count_blocks(starts, sizes, codecs, blocks):
    for i in range(len(starts)):
        blocks[i] = _blocks(starts[i], starts[i] + sizes[i]) if codecs[i] == ZSTD else 0


def room_for(starts: np.ndarray, sizes: np.ndarray, codecs: np.ndarray, limits: Limits) -> np.ndarray:
    """int64[n]: bytes that the payload decompresses to at most, or the limit if that is less; 0 for what is not one
    zstd frame. `starts` are addresses."""
    blocks = np.zeros(len(starts), np.int64)
    _count_blocks(starts, sizes, codecs, blocks)
    allowed = np.minimum(limits.max_bytes, np.maximum(limits.max_ratio * sizes, limits.ratio_floor_bytes))
    return np.minimum(allowed, blocks * ZSTD_BLOCK_BYTES)
