"""Decompresses the worst payload that each codec allows and prints by how many MiB that made the process larger.

Run by test_codecs.py in an interpreter of its own: the high-water mark of memory never falls.

How much one stored byte can stand for is bounded by the format: 32,768 bytes in zstd (RLE blocks of 128 KiB in 4
bytes), 1032 in deflate, 255 in lz4, 21 in snappy. More can only be claimed, in a header that says how much follows.
"""

import resource
import struct
import zlib

import lz4.frame
import snappy
from client_telemetry.formats.otlp.codecs import GZIP, LZ4, SNAPPY, ZSTD, decompress
from client_telemetry.formats.raw.errors import PayloadTooLarge

MIB = 2**20


def gzip_bomb() -> bytes:
    """1 GiB of zeros: the same 16 MiB again and again, which a full flush makes independent of what precedes them."""
    deflate = zlib.compressobj(wbits=-15)
    chunk = deflate.compress(bytes(16 * MIB)) + deflate.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08" + bytes(7) + 64 * chunk


def zstd_bomb(claimed: int | None = None) -> bytes:
    """3 GiB of zeros in 100 kB; or a frame that says it holds `claimed` bytes."""
    if claimed is not None:
        return b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", claimed) + b"\x01\x00\x00"
    rle_block = (128 * 1024 << 3 | 1 << 1).to_bytes(3, "little") + b"\x00"
    return b"\x28\xb5\x2f\xfd\x00\x58" + 25_000 * rle_block


def lz4_bomb(claimed: int | None = None) -> bytes:
    """1 GiB of zeros; or a frame that says it holds `claimed` bytes."""
    if claimed is not None:
        descriptor = b"\x68\x70" + struct.pack("<Q", claimed)
        return b"\x04\x22\x4d\x18" + descriptor + b"\x00" + bytes(4)
    frame = lz4.frame.compress(bytes(4 * MIB), block_size=lz4.frame.BLOCKSIZE_MAX4MB, store_size=False)
    return frame[:7] + 256 * frame[7:-4]


BOMBS = {
    "gzip": (GZIP, gzip_bomb()),
    "zstd": (ZSTD, zstd_bomb()),
    "zstd that claims 100,000 times its size and more": (ZSTD, zstd_bomb(claimed=2**50)),
    "lz4": (LZ4, lz4_bomb()),
    "snappy that claims 4 GiB": (SNAPPY, b"\xff\xff\xff\xff\x0f" + snappy.compress(bytes(MIB))[3:]),
    "xerial snappy": (
        SNAPPY,
        b"\x82SNAPPY\x00" + b"\x00\x00\x00\x01" * 2
        + 80 * (lambda block: struct.pack(">I", len(block)) + block)(snappy.compress(bytes(MIB))),
    ),
}  # fmt: skip

if __name__ == "__main__":
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name, (codec, data) in BOMBS.items():
        try:
            outcome = f"gave {len(decompress(data, codec))} bytes"
        except (PayloadTooLarge, ValueError) as error:
            outcome = type(error).__name__
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(f"{name}\t{outcome}\t{grown // 1024}")
