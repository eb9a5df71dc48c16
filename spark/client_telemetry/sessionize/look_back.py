"""The days that a day's partition looks back at."""

import datetime as dt

from client_telemetry.tables.client_sessions import HISTORY_DAYS


def first_day(day: dt.date) -> dt.date:
    return day - dt.timedelta(days=HISTORY_DAYS)


def midnight_us(day: dt.date) -> int:
    """When the day begins, in UTC: microseconds since 1970."""
    return (day - dt.date(1970, 1, 1)) // dt.timedelta(microseconds=1)
