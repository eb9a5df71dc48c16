"""What jobs have published: folders of fleet pages and upgrade reports under the clusters file's `publish` location, a
local folder or an object store.

A name that comes from a request is only ever compared with the names that a folder really lists; it is never made part
of a path that is then opened. So nothing outside can be reached, by `..`, by an absolute path or by a symbolic link.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

import fsspec

FLEET, REPORTS, REVIEWS, CHECKS = "fleet", "upgrade_impact", "upgrade_review", "subscription_check"
CAMPAIGNS = "upgrade_campaign"
"""Folder of planned upgrades, each about one cluster or several."""
PAGE = "index.html"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
MEDIA_TYPES = {
    ".html": "text/html",
    ".csv": "text/csv",
    ".json": "application/json",
    ".md": "text/markdown",
    ".txt": "text/plain",
    ".prom": "text/plain",
}
"""Only these are handed out, in UTF-8."""

METRICS = "metrics"
_SUMMARY = {"sentence", "counts", "coverage", "quality"}

LARGEST_KEPT = 256 * 1024
"""Bytes. A summary is kept in memory; the search index of a large fleet is read when it is asked."""


_DAILY_FILES = {
    PAGE: "fleet page",
    "quality.json": "results of quality checks",
    "curves.json": "curves of clients",
}
_REPORT_WORDS = {REPORTS: "upgrade report", REVIEWS: "review", CHECKS: "subscription check"}


class NotPublished(LookupError):
    """There is no such file; the message says to people what is missing, and what to do."""


@dataclass(frozen=True)
class File:
    """A published file, or a folder of such."""

    files: fsspec.AbstractFileSystem
    path: str

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).name

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.path).suffix

    def __truediv__(self, name: str) -> "File":
        return File(self.files, f"{self.path.rstrip('/')}/{name}")

    def read_bytes(self) -> bytes:
        return self.files.cat_file(self.path)

    def size(self) -> int:
        return int(self.files.info(self.path)["size"])

    def version(self) -> str:
        """Another one when its content may be another."""
        found = self.files.info(self.path)
        return str(found.get("mtime") or found.get("ETag") or found.get("LastModified"))

    def part(self, start: int, end: int) -> bytes:
        """Bytes from `start` to before `end`, without reading the others."""
        return self.files.cat_file(self.path, start=start, end=end)

    def entries(self) -> list[dict[str, Any]]:
        """What a folder lists, as it is now; nothing if there is no such folder."""
        try:
            listed = self.files.ls(self.path, detail=True, refresh=True)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [entry for entry in listed if entry["name"].rstrip("/") != self.path.rstrip("/")]

    def below(self) -> list[PurePosixPath]:
        """All files in a folder and its folders, as they are now, by one request to an object store."""
        try:
            return [PurePosixPath(path) for path in self.files.find(self.path, refresh=True)]
        except (FileNotFoundError, NotADirectoryError):
            return []


class Published:
    """One `publish` location: a local folder, as a path or URL, or an object store, whose credentials are in the environment
    (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL), where app.py puts those of Airflow connections."""

    def __init__(self, location: str) -> None:
        url = location.partition("?")[0] if "://" in location else location
        try:
            files, path = fsspec.core.url_to_fs(url)
        except (ValueError, ImportError) as error:
            raise NotPublished(f"{url}: {error}") from None
        self.root = File(files, path)

    def clusters(self) -> list[str]:
        """Names of the folders of all clusters with a page or report."""
        return sorted(
            {name for kind in (FLEET, REPORTS, REVIEWS, CHECKS) for name in _folders(self.root / kind)}
        )

    def days(self, cluster: str) -> list[str]:
        """Days with a fleet page, latest first."""
        folder = self._cluster(FLEET, cluster)
        return [name for name in reversed(_folders(folder)) if _DAY.fullmatch(name)] if folder else []

    def day(self, cluster: str, day: str) -> dict[str, Any]:
        """The summary of a day. Raises NotPublished."""
        return self.document(FLEET, cluster, day, "day.json")

    def summaries(self, cluster: str, days: list[str]) -> list[dict[str, Any]]:
        """Summaries of days; one that cannot be read has only its `day` and what is wrong as `damaged`."""
        found = []
        for day in days:
            try:
                summary = self.day(cluster, day)
                if not (isinstance(summary, dict) and summary.keys() >= _SUMMARY):
                    raise NotPublished(f"{FLEET}/{cluster}/{day}/day.json is not a summary of a day")
            except NotPublished as error:
                summary = {"damaged": str(error)}
            found.append({**summary, "day": day})
        return found

    def reports(self, cluster: str, kind: str = REPORTS) -> list[dict[str, Any]]:
        """Summaries of upgrade reports, reviews or subscription checks, latest first; one without a summary has only its
        `folder`."""
        folder = self._cluster(kind, cluster)
        found = []
        for name in _folders(folder) if folder else []:
            try:
                summary = self.document(kind, cluster, name, "summary.json")
            except NotPublished:
                summary = {}
            found.append({"created_at": "", **summary, "folder": name, "cluster": cluster})
        return sorted(found, key=lambda report: (report["created_at"], report["folder"]), reverse=True)

    def report_of_run(self, run_id: str, kind: str = REPORTS) -> dict[str, Any] | None:
        """The report that a run of broker_upgrade_impact (or, with CHECKS, telemetry_subscription_check) published."""
        every = (report for cluster in self.clusters() for report in self.reports(cluster, kind))
        return next((report for report in every if report.get("report_id") == run_id), None)

    def campaigns(self) -> list[dict[str, Any]]:
        """What each campaign's gate.json and summary.json say, and its `folder`; without those whose gate.json cannot be read: of
        these nobody knows whose they are."""
        found = []
        for name in _folders(self.root / CAMPAIGNS):
            try:
                gate = self.document(CAMPAIGNS, name, "gate.json")
            except NotPublished:
                continue
            try:
                summary = self.document(CAMPAIGNS, name, "summary.json")
            except NotPublished:  # an older version published it
                summary = {}
            found.append({**gate, "asked_at": None, "counts": {}, "left": None, **summary, "folder": name})
        return found

    def document(self, *names: str) -> Any:
        """A published JSON file. Raises NotPublished, also for one that is not valid JSON."""
        path = self.file(*names)
        try:
            if path.size() > LARGEST_KEPT:
                return json.loads(path.read_bytes())
            return _parsed(path, path.version())
        except ValueError as error:
            raise NotPublished(f"{'/'.join(names)} is damaged: {error}") from None

    def search_index(self, cluster: str, day: str) -> tuple[File, File] | None:
        """`search.instances.txt` and `search.names.txt` of a day of `days`; None where an older version published the day."""
        folder = self.root / FLEET / cluster / day
        names = {PurePosixPath(entry["name"]).name for entry in folder.entries() if not entry.get("islink")}
        ids, texts = folder / "search.instances.txt", folder / "search.names.txt"
        return (ids, texts) if {ids.name, texts.name} <= names else None

    def file(self, *names: str) -> File:
        """The path of a published file, by the names of its folders and its own. Raises NotPublished."""
        path = self.root
        for number, name in enumerate(names):
            last = number == len(names) - 1
            listed = _files(path) if last else _folders(path)
            if name not in listed:
                raise NotPublished(_missing(names, number))
            path = path / listed[listed.index(name)]
        return path

    def entry(self, message: str, *names: str) -> tuple[list[str], list[str]]:
        """Of the folder of a page, by the names of its folders: its files, and owners that have a `message`. Raises NotPublished where there is no page."""
        folder = self.root
        for name in names:
            folder = folder / name
        self.file(*names, PAGE)
        messages = (path for path in (folder / "owners").below() if path.name == message)
        return _files(folder), sorted(path.parent.name for path in messages)

    def numbers(self) -> dict[str, str]:
        """Text of the published files of OpenMetrics by their names without the ending: `fleet-east`, `upgrade-east`, `campaign-orders`."""
        folder = self.root / METRICS
        names = _names(folder, lambda name, entry: entry["type"] == "file" and name.endswith(".prom"))
        return {name.removesuffix(".prom"): (folder / name).read_bytes().decode() for name in names}

    def _cluster(self, kind: str, cluster: str) -> File | None:
        return self.root / kind / cluster if cluster in _folders(self.root / kind) else None


def _missing(names: tuple[str, ...], number: int) -> str:
    """Of kind, cluster, day or report, and file: what to say where the name of this number is not listed.

    >>> _missing(("fleet", "east", "2026-11-20", "index.html"), 2)
    'No fleet page for 2026-11-20: run client_telemetry_daily for that day'
    >>> _missing(("upgrade_impact", "east", "x", "index.html"), 2), _missing(("fleet", "west", "x", "y"), 1)
    ("No upgrade report 'x' of cluster east", "No pages for cluster 'west'")
    """
    kind, cluster, entry, file = (*names, "", "", "")[:4]
    if kind == CAMPAIGNS:
        return f"No campaign {cluster!r}: run upgrade_campaign"
    if number < 2:
        return f"No pages for cluster {cluster!r}"
    if kind == FLEET and not _DAY.fullmatch(entry):
        return f"{entry!r} is not a date (YYYY-MM-DD)"
    if kind == FLEET and (number == 2 or file == PAGE or file in _DAILY_FILES):
        words = _DAILY_FILES.get(file, _DAILY_FILES[PAGE])
        return f"No {words} for {entry}: run client_telemetry_daily for that day"
    if number == 2 or file == PAGE:
        return f"No {_REPORT_WORDS[kind]} {entry!r} of cluster {cluster}"
    return f"{'/'.join(names[2:])} is missing"


def _folders(folder: File) -> list[str]:
    """Names of real folders in it, hidden ones (which are being written) left out."""
    return _names(folder, lambda name, entry: entry["type"] == "directory")


def _files(folder: File) -> list[str]:
    return _names(
        folder, lambda name, entry: entry["type"] == "file" and PurePosixPath(name).suffix in MEDIA_TYPES
    )


def _names(folder: File, is_wanted: Callable[[str, dict[str, Any]], bool]) -> list[str]:
    found = []
    for entry in folder.entries():
        name = PurePosixPath(entry["name"].rstrip("/")).name
        if not name.startswith(".") and not entry.get("islink") and is_wanted(name, entry):
            found.append(name)
    return sorted(found)


@lru_cache(maxsize=512)
def _parsed(path: File, _version: str) -> Any:
    return json.loads(path.read_bytes())
