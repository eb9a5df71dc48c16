"""Writes the odd objects beside it: PYTHONPATH=spark python tests/data/raw/write_odd_objects.py

They are committed, so that no test depends on what today's compressor makes of them. All are of cluster `odd`,
broker 7, incarnation 000102…0f. `odd_objects.csv` tells what a reader has to make of each.
"""

import gzip
import struct
from pathlib import Path

import google_crc32c
import zstandard
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientPush, ConnectionEvent

INCARNATION = bytes(range(16))
# MetricsData with one ResourceMetrics that is empty.
PAYLOAD = b"\x0a\x00"


def push(sequence: int, payload: bytes = PAYLOAD, **fields) -> ClientPush:
    values = {
        "cluster_id": "odd",
        "broker_id": 7,
        "incarnation": INCARNATION,
        "sequence": sequence,
        "received_at_nanos": 1_795_132_800_000_000_000 + sequence,
        "client_instance_id": bytes(range(16, 32)),
        "content_type": "OTLP",
        "payload": payload,
        "payload_crc32c": google_crc32c.value(payload),
    }
    message = ClientPush(**(values | fields))
    message.client.client_id = f"client-{sequence}"
    return message


def frame(*records: ClientPush | ConnectionEvent | bytes) -> bytes:
    whole = (r if isinstance(r, bytes) else r.SerializeToString() for r in records)
    return b"".join(struct.pack(">I", len(data)) + data for data in whole)


def zst(*pieces: bytes) -> bytes:
    """One frame with a block for each piece, so that damage hits a known one."""
    compressor = zstandard.ZstdCompressor().compressobj()
    blocks = [compressor.compress(p) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) for p in pieces]
    return b"".join(blocks) + compressor.flush()


def patched(message: ClientPush, old: bytes, new: bytes) -> bytes:
    data = message.SerializeToString()
    assert len(old) == len(new) and data.count(old) == 1
    return data.replace(old, new)


good = [frame(push(0)), frame(push(1)), frame(push(2))]
plain = b"".join(good)
two_blocks = zst(*good[:2])
OBJECTS = {
    "complete.zst": zst(*good),
    "complete.bin": plain,
    "complete.gz": gzip.compress(plain, mtime=0),
    "several_frames.zst": zst(good[0]) + b"\x50\x2a\x4d\x18\x04\x00\x00\x00skip" + zst(*good[1:]),
    "several_members.gz": gzip.compress(good[0], mtime=0) + gzip.compress(good[1] + good[2], mtime=0),
    "record_across_frames.zst": zst(plain[:100]) + zst(plain[100:]),
    "content_size.zst": zstandard.ZstdCompressor(write_content_size=True).compress(plain),
    "empty.zst": b"",
    "no_records.zst": zst(b""),
    "not_zstd.zst": b"PK\x03\x04 this was a zip file",
    "not_gzip.gz": zst(*good),
    "unknown_ending.lz4": b"\x04\x22\x4d\x18",
    "truncated.zst": zst(*good)[:-20],
    "truncated_magic.zst": b"\x28\xb5",
    "truncated.gz": gzip.compress(plain, mtime=0)[:-10],
    "truncated.bin": plain[:-5],
    "truncated_length.bin": plain + b"\x00\x00",
    "corrupt_block.zst": two_blocks[:-3] + b"\x07\x00\x00" + zst(good[2])[-60:],
    "garbage_after_frame.zst": zst(*good) + b"garbage",
    "wrong_content_checksum.zst": zstandard.ZstdCompressor(write_checksum=True).compress(plain)[:-1]
    + b"\x00",
    "corrupt.gz": gzip.compress(plain, mtime=0)[:-8] + bytes(8),
    "absurd_length.bin": plain + b"\x80\x00\x00\x00" + b"what follows",
    "length_just_too_large.bin": plain + b"\x01\x00\x00\x01",
    "zero_filled.bin": plain + bytes(4096),
    "unknown_fields.bin": frame(push(0).SerializeToString() + b"\xfa\x3e\x05later", push(1)),
    "not_protobuf.bin": frame(push(0), b"\xff\xff\xff\xff", push(2)),
    "invalid_utf8.bin": frame(push(0), patched(push(1), b"client-1", b"client\xff\xfe"), push(2)),
    "wrong_checksum.bin": frame(push(0), push(1, payload_crc32c=1), push(2)),
    "no_checksum.bin": frame(push(0), push(1, payload_crc32c=0)),
    "unreadable_source.bin": frame(
        push(0), b"\xffunreadable: kafka-request.log, byte 7: not whole JSON\n[2026-11-21"
    ),
    "wrong_cluster.bin": frame(push(0), push(1, cluster_id="other")),
    "wrong_broker.bin": frame(push(0), push(1, broker_id=8)),
    "wrong_incarnation.bin": frame(push(0), push(1, incarnation=bytes(16))),
    "incarnation_as_text.bin": frame(push(0), push(1, incarnation=INCARNATION.hex().encode())),
    "instance_id_as_text.bin": frame(push(0), push(1, client_instance_id=b"EBESExQVFhcYGRobHB0eHw")),
    "zero_instance_id.bin": frame(push(0, client_instance_id=bytes(16))),
    "no_instance_id.bin": frame(push(0, client_instance_id=b"")),
    "absurd_sequence.bin": frame(push(0), push(2**63)),
}

if __name__ == "__main__":
    for name, data in OBJECTS.items():
        (Path(__file__).parent / name).write_bytes(data)
