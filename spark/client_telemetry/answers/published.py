"""Published reports and campaigns in a folder, found by what the folder lists: no name that is asked for becomes a path."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

_REPORTS: Final = "upgrade_impact"
_CAMPAIGNS: Final = "upgrade_campaign"
_NAMED: Final = 20


Document = dict[str, object]
"""An object of JSON that this or an older version published."""


class NotThere(LookupError):
    """What was asked for is not published; the message says what is."""


class Published:
    """A published folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def clusters(self) -> list[str]:
        return [folder.name for folder in _folders(self._root / _REPORTS)]

    def reports(self, cluster: str) -> list[dict[str, object]]:
        """Summaries of a cluster's upgrade reports, newest first."""
        folder = _named(_folders(self._root / _REPORTS), cluster, "cluster with an upgrade report")
        found = []
        for each in _folders(folder):
            try:
                summary = _parsed(each / "summary.json")
            except NotThere:
                continue
            found.append({**summary, "report": each.name})
        return sorted(found, key=lambda each: str(each.get("created_at")), reverse=True)

    def report(self, cluster: str, report: str = "") -> Document:
        """report.json of the named report, or of the newest one."""
        name = report_name(cluster, self.reports(cluster), report)
        folders = _folders(_named(_folders(self._root / _REPORTS), cluster, "cluster"))
        return _parsed(_named(folders, name, f"report of cluster {cluster}") / "report.json")

    def campaigns(self) -> list[str]:
        return [folder.name for folder in _folders(self._root / _CAMPAIGNS)]

    def campaign(self, name: str) -> Document:
        """campaign.json."""
        return _parsed(_named(_folders(self._root / _CAMPAIGNS), name, "campaign") / "campaign.json")


def report_name(cluster: str, summaries: Sequence[Mapping[str, object]], report: str) -> str:
    """Of the report that was asked for, or of the newest one. `summaries`: newest first."""
    if not summaries:
        raise NotThere(f"cluster {cluster!r} has no upgrade report")
    return report or str(summaries[0]["report"])


def _folders(folder: Path) -> list[Path]:
    """Real folders in it, without those that are being written."""
    try:
        entries = sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [
        each for each in entries if not each.name.startswith(".") and each.is_dir() and not each.is_symlink()
    ]


def _named(folders: list[Path], name: str, what: str) -> Path:
    for folder in folders:
        if folder.name == name:
            return folder
    there = ", ".join(folder.name for folder in folders[:_NAMED]) or "none"
    raise NotThere(f"there is no {what} of this name; there are: {there}")


def _parsed(file: Path) -> Document:
    try:
        if file.is_symlink():
            raise FileNotFoundError
        found = _read(file, file.stat().st_mtime_ns)
    except FileNotFoundError:
        raise NotThere(f"{file.parent.name} has no {file.name}: publish it again") from None
    except (ValueError, OSError):
        raise NotThere(f"{file.name} of {file.parent.name} cannot be read: publish it again") from None
    if not isinstance(found, dict):
        raise NotThere(f"{file.name} of {file.parent.name} is something else: publish it again")
    return found


@lru_cache(maxsize=4)
def _read(file: Path, _modified: int) -> object:
    return json.loads(file.read_text(encoding="utf-8-sig"))


def items(document: Mapping[str, object], key: str) -> Iterator[Document]:
    """The objects of a list; nothing for a document of an older version."""
    yield from (each for each in values(document, key) if isinstance(each, dict))


def member(document: Mapping[str, object], key: str) -> Document:
    """An object; empty for a document of an older version."""
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def values(document: Mapping[str, object], key: str) -> list[object]:
    """Of a list; none for a document of an older version."""
    found = document.get(key)
    return found if isinstance(found, list) else []
