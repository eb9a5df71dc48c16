"""Unreadable input as rows of `undecodable_records`."""

from typing import NamedTuple

from client_telemetry.formats.raw.errors import UndecodableRecord
from client_telemetry.formats.raw.object_key import ObjectKey

MAX_EVIDENCE_BYTES = 64 * 1024

_Bytes = bytes
"""A column is named `bytes`."""


class QuarantineRow(NamedTuple):
    """The columns of `undecodable_records`, in their order, without cluster_id and dt."""

    dataset: str
    source_object: str
    source_offset: int
    stage: str
    error_class: str
    message: str
    bytes: _Bytes
    bytes_total: int
    broker_id: int | None
    broker_incarnation: str | None
    sequence: int | None
    client_instance_id: _Bytes | None


def quarantine_row(
    key: ObjectKey, offset: int, data: bytes, total: int, error: UndecodableRecord
) -> QuarantineRow:
    """`data`: the part of the original that is kept; `total`: its full length in bytes."""
    return QuarantineRow(
        dataset=key.dataset,
        source_object=str(key),
        source_offset=offset,
        stage="decode",
        error_class=error.error_class,
        message=f"{error.message}. {error.remedy}",
        bytes=data[:MAX_EVIDENCE_BYTES],
        bytes_total=total,
        broker_id=key.broker_id,
        broker_incarnation=key.incarnation,
        sequence=error.sequence,
        client_instance_id=error.client_instance_id or None,
    )
