"""Values of rows and records as JSON has them."""

from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
from typing import Any


def timestamp(moment: datetime) -> str:
    """ISO 8601 in UTC to the microsecond, `2026-11-21T05:47:54.130000Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def plain(value: Any) -> Any:
    """Dataclasses as objects, tuples as arrays, times as text."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, datetime):
        return timestamp(value)
    return value.isoformat() if isinstance(value, date) else value
