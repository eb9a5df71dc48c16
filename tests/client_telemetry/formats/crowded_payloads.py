"""Payloads under the limit of 64 MiB that would make very many objects.

As a program, run by decode/test_worker.py in an interpreter of its own, because the high-water mark of memory never falls:
decodes pushes with them, and with as many points as are allowed, with compiled code and without. Prints for each what
became of it and how many MiB of its own the process had at most so far.
"""

import base64
import io
import multiprocessing
import random
import struct
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import zstandard
from client_telemetry.decode.plan import DECODED_TABLES
from client_telemetry.decode.worker import Worker
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientPush
from client_telemetry.lake.writer import TablePlace

KEY = "v1/dataset=client_pushes/cluster=c/dt=2026-03-01/hour=12/broker=7/pushes.bin"


def nested(*fields: int, inner: bytes) -> bytes:
    """`inner` as the field fields[-1] of a message that is the field fields[-2] of ..."""
    for field in reversed(fields):
        size, length = len(inner), b""
        while size >= 128:
            length += bytes([size & 127 | 128])
            size >>= 7
        inner = bytes([field << 3 | 2]) + length + bytes([size]) + inner
    return inner


def gauges(points: int, point: bytes = b"") -> bytes:
    """A payload of so many equal points."""
    return nested(1, 2, 2, 5, inner=points * nested(1, inner=point))


_VALUE = b"\x21" + bytes(8)
_LABEL = nested(7, inner=nested(1, inner=b"topic") + nested(2, 1, inner=b"orders"))

CROWDED: dict[str, Callable[[], bytes]] = {
    "30 million empty points": lambda: gauges(30_000_000),
    "2 million points with a value": lambda: gauges(2_000_000, _VALUE),
    "20 million empty resources": lambda: 20_000_000 * b"\x0a\x00",
    "20 million empty labels of a point": lambda: gauges(1, 20_000_000 * b"\x3a\x00"),
    "50 million buckets": lambda: nested(1, 2, 2, 10, 1, 8, 2, inner=bytes(50_000_000)),
}
ALLOWED: dict[str, Callable[[], bytes]] = {
    "200,000 points": lambda: gauges(200_000, _VALUE + _LABEL),
    "199,999 points and a histogram": lambda: (
        gauges(199_999, _VALUE + _LABEL) + nested(1, 2, 2, 9, 1, inner=b"")
    ),
    "1.9 million empty resources": lambda: 1_900_000 * b"\x0a\x00",
}


def compressed(payload: bytes) -> bytes:
    """By zstd, after a long name: else the ratio would tell that something is wrong."""
    noise = base64.b64encode(random.Random(1).randbytes(len(payload) // 190))
    compressor = zstandard.ZstdCompressor(level=3, write_content_size=False).compressobj()
    return compressor.compress(nested(1, 2, 2, 1, inner=noise) + payload) + compressor.flush()


def peak_mb() -> int:
    """The largest resident size of this process without the code of libraries, which all processes of a machine share and of
    which a kernel maps more or less as it likes. getrusage would tell the size of its parent, if that was larger."""
    status = Path("/proc/self/status").read_text()
    most, of_files = (int(status.partition(f"{name}:")[2].split()[0]) for name in ("VmHWM", "RssFile"))
    return (most - of_files) // 1024


def stored_push(name: str) -> bytes:
    """A record of one push with the payload of that name, as an object holds it."""
    push = ClientPush(cluster_id="c", broker_id=7, incarnation=bytes(16), compression_type=4)
    push.client_instance_id, push.payload = bytes(range(16)), compressed({**CROWDED, **ALLOWED}[name]())
    record = push.SerializeToString()
    return struct.pack(">I", len(record)) + record


def main() -> None:
    print("before", peak_mb(), sep="\t")
    # Made by another process: to make a payload takes as much memory as to decode it.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as maker:
        for name in (*CROWDED, *ALLOWED):
            stored = maker.submit(stored_push, name).result()
            for compiled in (True, False):
                with tempfile.TemporaryDirectory() as folder:
                    locations = {table.name: TablePlace(Path(folder).as_uri()) for table in DECODED_TABLES}
                    worker = Worker(lambda _, stored=stored: io.BytesIO(stored), locations, compiled=compiled)
                    (done,) = worker.decode([[KEY]]).objects
                print(name, compiled, done.points, done.undecodable, peak_mb(), sep="\t", flush=True)


if __name__ == "__main__":
    main()
