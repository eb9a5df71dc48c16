"""A declared source: which files a cluster's dump consists of, and the conversion of the new ones.

adapters.py reads the files; arrivals.py decides which of their bytes are new.
"""

import json
from datetime import UTC, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from client_telemetry import Unusable
from client_telemetry.knowledge.releases import UnusableRelease
from client_telemetry.sources.adapter import Conversion, Refused, Source
from client_telemetry.sources.adapters import ADAPTERS
from client_telemetry.sources.arrivals import SETTLED, Arrivals
from client_telemetry.sources.log_files import NoLogs, find_logs
from client_telemetry.sources.staged import Spread, Staged, one_after_another

_OPTIONS = {"release", "zone", "year"}
_KEYS = {"format", "files"} | _OPTIONS


class UnusableSource(Unusable):
    """The declaration is not a valid source; the message says what to write."""


class NothingRead(Refused):
    """Nothing in the files can be read; the message says why. Nothing was kept."""


REFUSALS = (NoLogs, Refused, UnusableRelease, UnusableSource)
"""Exceptions of a conversion that another attempt would raise again."""


def declared(text: str) -> Source:
    """A Source from a JSON object with the same keys, where `files` is a list. Raises UnusableSource."""
    try:
        fields = json.loads(text)
    except ValueError as error:
        raise UnusableSource(f"the source is not valid JSON: {error}") from None
    if not isinstance(fields, dict) or not {"format", "files"} <= fields.keys() <= _KEYS:
        raise UnusableSource(
            f"a source has format and files, and may have release, zone and year, not {text}"
        )
    adapter = ADAPTERS.get(str(fields["format"]))
    if adapter is None:
        raise UnusableSource(f"there is no format {fields['format']!r}; there are {', '.join(ADAPTERS)}")
    if (fields.keys() & _OPTIONS) - adapter.options:
        takes = [name for name, other in ADAPTERS.items() if other.options]
        raise UnusableSource(f"release, zone and year are of {', '.join(takes)}, not of {fields['format']}")
    try:
        zone: tzinfo = ZoneInfo(fields["zone"]) if fields.get("zone") else UTC
    except (ZoneInfoNotFoundError, ValueError):
        raise UnusableSource(
            f"{fields['zone']!r} is not a known time zone: write it as Europe/Berlin or UTC"
        ) from None
    year = fields.get("year")
    if year is not None and not (isinstance(year, int) and 2000 <= year < 2100):
        raise UnusableSource(f"{year!r} is not a year: write it as 2026")
    return Source(fields["format"], tuple(fields["files"]), fields.get("release"), zone, year)


def convert_new(
    source: Source,
    cluster_id: str,
    root: str | Path,
    settled: timedelta = SETTLED,
    spread: Spread = one_after_another,
    keep_unread: bool = True,
) -> Conversion:
    """Convert what is new in the source's files into the dump below `root`, a folder or URL; everything or nothing.
    Files modified within `settled` are taken up to their last whole message. `spread`: where independent parts run.
    `keep_unread`: whether files of which nothing can be read enter the dump, as unreadable records; otherwise NothingRead.
    Raises one of REFUSALS, or StillWritten.
    """
    arrivals = Arrivals(root)
    try:
        return _convert_new(source, cluster_id, arrivals, settled, spread, keep_unread)
    finally:
        arrivals.root.discard()


def _convert_new(
    source: Source,
    cluster_id: str,
    arrivals: Arrivals,
    settled: timedelta,
    spread: Spread,
    keep_unread: bool,
) -> Conversion:
    warnings = []
    try:
        files = find_logs(source.files)
    except NoLogs as error:
        if arrivals.is_first:
            raise
        files, warnings = [], [f"{error}: the source gave nothing new"]
    adapter = ADAPTERS[source.format]
    parts, unfinished = arrivals.new_parts(files, adapter.form(source), settled)
    if unfinished:
        warnings.append(
            f"{len(unfinished)} files are still written to and end within a message, which waits for the next run, "
            f"such as {unfinished[0]}"
        )
    if parts:
        staged = Staged(arrivals.root.staged(), arrivals.root.staging(), spread)
        result = adapter.convert(source, parts, cluster_id, arrivals.root, staged)
    else:
        is_empty = arrivals.is_first and not unfinished
        nothing_read = "nothing was read: the files are empty" if is_empty else ""
        result = Conversion("no file has anything new", {}, nothing_read=nothing_read)
    if result.nothing_read and not keep_unread:
        raise NothingRead(result.nothing_read)
    arrivals.keep(result.left)
    result.counts["converted_files"] = len(parts) - len(result.left)
    result.warnings[:0] = warnings
    return result
