"""The days that a day's partition looks back at."""

import datetime as dt

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.tables.client_sessions import HISTORY_DAYS


def first_day(day: dt.date) -> dt.date:
    return day - dt.timedelta(days=HISTORY_DAYS)


def with_history(rows: DataFrame, day: dt.date) -> DataFrame:
    """Rows of the day and of the HISTORY_DAYS before it, by `dt`."""
    return rows.where(F.col("dt").between(F.lit(first_day(day)), F.lit(day)))


def midnight(day: dt.date) -> Column:
    """When the day begins, in UTC."""
    return F.lit(dt.datetime.combine(day, dt.time(), dt.UTC))


def midnight_us(day: dt.date) -> int:
    """The same in microseconds since 1970."""
    return (day - dt.date(1970, 1, 1)) // dt.timedelta(microseconds=1)
