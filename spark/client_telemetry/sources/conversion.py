"""A declared source: which files a cluster's dump is made of, and the conversion of those that are new.

What the files say is not here (adapters.py), nor which of their bytes are new (arrivals.py).
"""

import json
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from client_telemetry.compatibility.releases import UnusableRelease
from client_telemetry.sources.adapter import Conversion, Refused, Source
from client_telemetry.sources.adapters import adapter_of, formats
from client_telemetry.sources.arrivals import SETTLED, Arrivals
from client_telemetry.sources.log_files import NoLogs, find_logs
from client_telemetry.sources.staged import Spread, Staged, one_after_another

_KEYS = {"format", "files", "release", "zone"}


class UnusableSource(ValueError):
    """What was declared is no source; the message says what to write."""


REFUSALS = (NoLogs, Refused, UnusableRelease, UnusableSource)
"""What conversion raises where another attempt would end the same way."""


def declared(text: str) -> Source:
    """A Source from a JSON object with the same keys, `files` being a list. Raises UnusableSource."""
    try:
        given = json.loads(text)
    except ValueError as error:
        raise UnusableSource(f"the source is not valid JSON: {error}") from None
    if not isinstance(given, dict) or not {"format", "files"} <= given.keys() <= _KEYS:
        raise UnusableSource(f"a source has format and files, and may have release and zone, not {text}")
    try:
        adapter = adapter_of(given["format"])
    except KeyError:
        raise UnusableSource(
            f"there is no format {given['format']!r}; there are {', '.join(formats())}"
        ) from None
    if (given.keys() & {"release", "zone"}) - adapter.options:
        takes = [name for name in formats() if adapter_of(name).options]
        raise UnusableSource(f"release and zone are of {', '.join(takes)}, not of {given['format']}")
    try:
        zone = ZoneInfo(given.get("zone", "UTC"))
    except (ZoneInfoNotFoundError, ValueError):
        raise UnusableSource(
            f"{given['zone']!r} is not a known time zone: write it as Europe/Berlin or UTC"
        ) from None
    return Source(given["format"], tuple(given["files"]), given.get("release"), zone)


def convert_new(
    source: Source,
    cluster_id: str,
    root: str | Path,
    settled: timedelta = SETTLED,
    spread: Spread = one_after_another,
) -> Conversion:
    """Convert what is new in the source's files into the dump below `root`, a folder or URL; all of it or nothing. What was written
    to within `settled` is taken up to its last whole message. `spread`: where parts of it run. Raises one of REFUSALS, or StillWritten."""
    arrivals = Arrivals(root)
    try:
        return _convert_new(source, cluster_id, arrivals, settled, spread)
    finally:
        arrivals.root.discard()


def _convert_new(
    source: Source, cluster_id: str, arrivals: Arrivals, settled: timedelta, spread: Spread
) -> Conversion:
    warnings = []
    try:
        files = find_logs(source.files)
    except NoLogs as error:
        if arrivals.is_first:
            raise
        files, warnings = [], [f"{error}: the source gave nothing new"]
    adapter = adapter_of(source.format)
    parts, unfinished = arrivals.new_parts(files, adapter.form(source), settled)
    if unfinished:
        warnings.append(
            f"{len(unfinished)} files are still written to and end within a message, which waits for the next run, "
            f"such as {unfinished[0]}"
        )
    if parts:
        staged = Staged(arrivals.root.staged(), arrivals.root.staging(), spread)
        done = adapter.convert(source, parts, cluster_id, arrivals.root, staged)
    else:
        done = Conversion("no file has anything new", {})
    arrivals.keep(done.left)
    done.counts["converted_files"] = len(parts) - len(done.left)
    done.warnings[:0] = warnings
    return done
