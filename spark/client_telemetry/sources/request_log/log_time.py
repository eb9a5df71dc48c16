"""When a log line was written, from the text before its message.

log4j prints times in any pattern, and what carries lines puts its own in front. A pattern that could mean two times is
refused: a time that is hours or months off is worse than none.
"""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<month>(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))"
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,:](?P<fraction>\d{1,9}))?(?!\d)"
    r"(?:\s?(?P<half>[AaPp]\.?[Mm])\b\.?)?"
)
_ZONE = (
    r"(?:\s?(?P<zone>Z(?!\w)|(?:(?:UTC|GMT)\s?)?[+-]\d\d(?::?\d\d){0,2}(?![\d:-])|(?:UTC|GMT)[+-]\d(?![\d:])"
    r"|(?:UTC|GMT)(?!\w)|(?!ALERT)(?:[A-Z]{1,4}T|MSK|WIB|MES?Z)(?!\w)|[A-Z][a-z]+/[A-Z][A-Za-z_]+))?"
)
_FORMS = tuple(
    re.compile(form)
    for form in (
        # ISO 8601 and its relatives, log4j's ISO8601 and DEFAULT
        r"(?<!\d)(?P<year>\d{4})(?P<separator>[-/.])(?P<month>\d\d)(?P=separator)(?P<day>\d\d)[ T_]\s?" + _CLOCK + _ZONE,
        # COMPACT, ISO8601_BASIC
        r"(?<!\d)(?P<year>20\d\d)(?P<month>\d\d)(?P<day>\d\d)[ T]?(?P<hour>\d\d):?(?P<minute>\d\d):?(?P<second>\d\d)"
        r"[.,]?(?P<fraction>\d{3}|\d{6}|\d{9})?(?!\d)" + _ZONE,
        # DATE, Apache's access log
        r"(?<!\d)(?P<day>\d{1,2})[ /-]" + _MONTH + r"[ /-](?P<year>\d{4})[ :T]\s?" + _CLOCK + _ZONE,
        r"\b" + _MONTH + r" {1,2}(?P<day>\d{1,2}),? (?P<year>20\d\d),? " + _CLOCK + _ZONE,
        # ctime and Date.toString
        r"\b" + _MONTH + r" {1,2}(?P<day>\d{1,2}) " + _CLOCK + _ZONE + r" (?P<year>20\d\d)\b",
        # US_MONTH_DAY_YEAR4_TIME and its neighbours with the day first
        r"(?<!\d)(?P<one>\d{1,2})(?P<separator>[-/.])(?P<two>\d{1,2})(?P=separator)(?P<year>\d{4}|\d\d),? " + _CLOCK + _ZONE,
    )
)  # fmt: skip
_WITHOUT_YEAR = re.compile(r"\b" + _MONTH + r" {1,2}(?P<day>\d{1,2}) " + _CLOCK + _ZONE)
"""RFC 3164."""
_CLOCK_ALONE = re.compile(_CLOCK)
_EPOCH_MS = re.compile(r"(?<![\d.])(\d{13})(?![\d.])")
_EPOCH = re.compile(r"^\W*(\d{10})(?:[.,](\d{1,9}))?(?!\d)")
_NAMED_OFFSET = re.compile(r"^(?:UTC|GMT)?\s?([+-])(\d\d?)(?::?(\d\d))?(?::?(\d\d))?$")


class Time(NamedTuple):
    """`nanos`: Unix time; None = not readable, and `problem` says why. `has_no_year`: the year was inferred."""

    nanos: int | None
    problem: str = ""
    has_no_year: bool = False


NO_TIME = Time(None, "no time that can be read")


class _Unreadable(ValueError):
    """A time that could mean several; the message says what to do."""


class Clock:
    """`zone`: of times without one; UTC itself = none was specified. `year`: of times without one; None = that which
    makes the time the latest before `written_before`, when the file was last modified.
    """

    def __init__(
        self, zone: tzinfo = UTC, year: int | None = None, written_before: datetime | None = None
    ) -> None:
        self.zone, self._year, self._written_before = zone, year, written_before
        self._seconds: dict[str, Time] = {}

    def read(self, text: str) -> Time:
        """The first time in a text, in the order of the forms above."""
        for form in _FORMS:
            match = form.search(text)
            if match is not None:
                return self._cached(match)
        if epoch := _EPOCH_MS.search(text):
            return Time(int(epoch[1]) * 10**6)
        if seconds := _EPOCH.match(text):
            return Time(int(seconds[1]) * 10**9 + _fraction(seconds[2]))
        if match := _WITHOUT_YEAR.search(text):
            return self._cached(match)
        if _CLOCK_ALONE.search(text):
            return Time(None, "a time of day without its date")
        return NO_TIME

    def of_number(self, number: float) -> int | None:
        """Nanoseconds of Unix time in seconds, milli-, micro- or nanoseconds: they differ in magnitude."""
        for limit, unit in ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3), (10**20, 1)):
            if 10**8 < number < limit:
                return int(number * unit) if unit == 1 or isinstance(number, int) else round(number * unit)
        return None

    def _cached(self, match: re.Match[str]) -> Time:
        at, to = match.span("fraction")
        key = match[0] if at < 0 else match.string[match.start() : at] + match.string[to : match.end()]
        whole = self._seconds.get(key)
        if whole is None:
            if len(self._seconds) > 4096:
                self._seconds.clear()
            whole = self._seconds[key] = self._whole(match)
        if whole.nanos is None or at < 0:
            return whole
        return whole._replace(nanos=whole.nanos + _fraction(match["fraction"]))

    def _whole(self, match: re.Match[str]) -> Time:
        """Without the fraction of the second."""
        fields = match.groupdict()
        try:
            year, month, day = self._date(fields)
            hour = _hour(int(fields["hour"] or 0), fields.get("half"))
            minute, second = int(fields["minute"] or 0), int(fields["second"] or 0)
            local = datetime(year or 2000, month, day, hour, minute, second)  # noqa: DTZ001 (local time)
            if year is None:
                local = self._with_year(local)
            moment = self._in_zone(local, fields["zone"])
        except _Unreadable as error:
            return Time(None, str(error))
        except (ValueError, OverflowError):
            return Time(None, "a time that no calendar has")
        return Time(int(moment.timestamp()) * 10**9, has_no_year=year is None and self._year is None)

    def _date(self, fields: dict[str, str | None]) -> tuple[int | None, int, int]:
        year = int(fields["year"] or 0) or None if "year" in fields else None
        if year is not None and year < 100:
            year += 2000
        if fields.get("one"):
            one, two = int(fields["one"] or 0), int(fields["two"] or 0)
            if one <= 12 and two <= 12 and one != two:
                raise _Unreadable("a date whose day and month cannot be told apart")
            return (year, two, one) if one > 12 else (year, one, two)
        month = fields["month"] or ""
        number = int(month) if month.isdigit() else MONTHS.index(month.lower()) + 1
        return year, number, int(fields["day"] or 0)

    def _with_year(self, local: datetime) -> datetime:
        if self._year is not None:
            return local.replace(year=self._year)
        if self._written_before is None:
            raise _Unreadable("a time without its year: specify the year")
        latest = self._written_before.replace(tzinfo=None) + timedelta(days=1)
        dated = local.replace(year=latest.year)
        return dated if dated <= latest else local.replace(year=latest.year - 1)

    def _in_zone(self, local: datetime, zone: str | None) -> datetime:
        if zone is None:
            return local.replace(tzinfo=self.zone)
        if zone in ("Z", "UTC", "GMT"):
            return local.replace(tzinfo=UTC)
        offset = _NAMED_OFFSET.match(zone)
        if offset is not None:
            sign = -1 if offset[1] == "-" else 1
            hours, minutes, seconds = (int(part or 0) for part in offset.group(2, 3, 4))
            if hours > 14 or minutes > 59:
                raise _Unreadable(f"{zone} is not an offset from UTC")
            return local.replace(tzinfo=UTC) - sign * timedelta(hours=hours, minutes=minutes, seconds=seconds)
        if "/" in zone:
            return local.replace(tzinfo=_zone_of(zone))
        if self.zone is UTC:
            raise _Unreadable(f"a time with the zone name {zone}: specify the zone")
        # An hour that a change of the clocks repeats: the name says which of them it is.
        moments = [local.replace(tzinfo=self.zone, fold=fold) for fold in (0, 1)]
        names = [moment.tzname() or "" for moment in moments]
        if zone in names:
            return moments[names.index(zone)]
        if all(name.isalpha() for name in names):  # zones without letters have names in Java only
            raise _Unreadable(
                f"a time with the zone name {zone}, which {self.zone} does not have at that time"
            )
        return moments[0]


def _zone_of(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise _Unreadable(f"{name} is not a known time zone") from None


def _hour(hour: int, half: str | None) -> int:
    if not half:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError(f"{hour} {half}")
    return hour % 12 + (12 if half[0] in "Pp" else 0)


def _fraction(digits: str | None) -> int:
    return int((digits or "0").ljust(9, "0"))
