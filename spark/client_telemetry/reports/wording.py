"""How values read in a sentence of any report. No markup, no counting."""

from datetime import UTC, datetime


def number(value: int) -> str:
    """With commas between thousands."""
    return f"{value:,}"


def minute(moment: datetime | None) -> str:
    """`2026-11-21 05:47`, in UTC; the zone is said once per report."""
    return "" if moment is None else moment.astimezone(UTC).isoformat(" ", "minutes")[:16]


def period(first: datetime | None, last: datetime | None) -> str:
    """From minute to minute; the day once where it is the same."""
    if first is None or last is None:
        return minute(first or last)
    start, end = minute(first), minute(last)
    if start == end:
        return start
    return f"{start} to {end[11:]}" if start[:10] == end[:10] else f"{start} to {end}"


def brokers(ids: tuple[int, ...]) -> str:
    if not ids:
        return ""
    return f"broker {ids[0]}" if len(ids) == 1 else f"brokers {', '.join(map(str, ids))}"
