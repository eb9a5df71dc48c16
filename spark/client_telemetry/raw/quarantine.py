"""What could not be read, as rows of `undecodable_records`."""

from typing import Any

from client_telemetry.raw.errors import UndecodableRecord
from client_telemetry.raw.object_key import ObjectKey

MAX_EVIDENCE_BYTES = 64 * 1024


def quarantine_row(
    key: ObjectKey, offset: int, data: bytes, total: int, error: UndecodableRecord
) -> tuple[Any, ...]:
    """A row of undecodable_records without cluster_id and dt."""
    return (
        key.dataset,
        str(key),
        offset,
        "decode",
        error.error_class,
        f"{error.message}. {error.remedy}",
        data[:MAX_EVIDENCE_BYTES],
        total,
        key.broker_id,
        key.incarnation,
        error.sequence,
        error.client_instance_id or None,
    )
