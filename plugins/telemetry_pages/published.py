"""What jobs have published: folders of fleet pages and upgrade reports under the clusters file's `publish` location.

A name that comes from a request is only ever compared with the names that a folder really lists; it is never made part
of a path that is then opened. So nothing outside can be reached, by `..`, by an absolute path or by a symbolic link.
"""

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

FLEET, REPORTS = "fleet", "upgrade_impact"
PAGE = "index.html"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
MEDIA_TYPES = {
    ".html": "text/html",
    ".csv": "text/csv",
    ".json": "application/json",
    ".md": "text/markdown",
}
"""Only these are handed out, in UTF-8."""

_SUMMARY = {"sentence", "counts", "coverage", "quality"}

LARGEST_KEPT = 256 * 1024
"""Bytes. A summary is kept in memory; the search index of a large fleet is read when it is asked."""


class NotPublished(LookupError):
    """There is no such file; the message says what there is."""


class Published:
    """One `publish` location: a local folder, as a path or file:// URL."""

    def __init__(self, location: str) -> None:
        url = urlparse(location)
        if url.scheme not in ("", "file"):
            raise NotPublished(f"{location}: only reports in a local folder can be shown")
        self.root = Path(unquote(url.path) if url.scheme else location)

    def clusters(self) -> list[str]:
        """Names of the folders of all clusters with a page or report."""
        return sorted({name for kind in (FLEET, REPORTS) for name in _folders(self.root / kind)})

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
                    raise NotPublished(f"{FLEET}/{cluster}/{day}/day.json is no summary of a day")
            except NotPublished as error:
                summary = {"damaged": str(error)}
            found.append({**summary, "day": day})
        return found

    def reports(self, cluster: str) -> list[dict[str, Any]]:
        """Summaries of upgrade reports, latest first; a report without one has only its `folder`."""
        folder = self._cluster(REPORTS, cluster)
        found = []
        for name in _folders(folder) if folder else []:
            try:
                summary = self.document(REPORTS, cluster, name, "summary.json")
            except NotPublished:
                summary = {}
            found.append({"created_at": "", **summary, "folder": name, "cluster": cluster})
        return sorted(found, key=lambda report: (report["created_at"], report["folder"]), reverse=True)

    def report_of_run(self, run_id: str) -> dict[str, Any] | None:
        """The report that a run of broker_upgrade_impact published."""
        every = (report for cluster in self.clusters() for report in self.reports(cluster))
        return next((report for report in every if report.get("report_id") == run_id), None)

    def document(self, *names: str) -> Any:
        """A published JSON file. Raises NotPublished, also for one that is no JSON."""
        path = self.file(*names)
        try:
            found = path.stat()
            if found.st_size > LARGEST_KEPT:
                return json.loads(path.read_text(encoding="utf-8"))
            return _parsed(path, found.st_mtime_ns)
        except ValueError as error:
            raise NotPublished(f"{'/'.join(names)} is damaged: {error}") from None

    def file(self, *names: str) -> Path:
        """The path of a published file, by the names of its folders and its own. Raises NotPublished."""
        path = self.root
        for number, name in enumerate(names):
            last = number == len(names) - 1
            listed = _files(path) if last else _folders(path)
            if name not in listed:
                raise NotPublished(f"there is no {'/'.join(names)}")
            path = path / listed[listed.index(name)]
        return path

    def _cluster(self, kind: str, cluster: str) -> Path | None:
        return self.root / kind / cluster if cluster in _folders(self.root / kind) else None


def _folders(folder: Path) -> list[str]:
    """Names of real folders in it, hidden ones (which are being written) left out."""
    return _names(folder, lambda entry: entry.is_dir() and not entry.is_symlink())


def _files(folder: Path) -> list[str]:
    return _names(
        folder, lambda entry: entry.is_file() and not entry.is_symlink() and entry.suffix in MEDIA_TYPES
    )


def _names(folder: Path, is_wanted) -> list[str]:
    if not folder.is_dir():
        return []
    return sorted(
        entry.name for entry in folder.iterdir() if not entry.name.startswith(".") and is_wanted(entry)
    )


@lru_cache(maxsize=512)
def _parsed(path: Path, _mtime_ns: int) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
