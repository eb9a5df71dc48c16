"""Published upgrade reports in a folder, as the answers of a campaign."""

import hashlib
import json
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final, Protocol

from client_telemetry.campaign.answers import Answer, from_report
from client_telemetry.campaign.plan import Campaign
from client_telemetry.console.counted import first_of
from client_telemetry.console.output_file import replace_file
from client_telemetry.formats.report_file import NAME, NotAReport

REPORT_VERSION: Final = 3
ANSWER: Final = "answer.json"
"""Beside a report: what campaigns read of it. Reports of older versions have none."""
SUMMARY: Final = "summary.json"
DIGEST: Final = "answer_digest"
"""In the summary: SHA-256 of the file ANSWER, in hex digits. Older reports have none."""
_NAMED: Final = 3


class Folder(Protocol):
    """Where reports are published: a folder, or an object store."""

    def names(self) -> list[str]:
        """Of the files in it that are called report.json, from the folder, sorted."""

    def folders(self, name: str) -> list[str]:
        """Names of the folders in a folder of this name, sorted; none if there is no such folder."""

    def read(self, name: str) -> bytes:
        """Raises OSError; FileNotFoundError if there is no such file."""

    def write(self, name: str, content: bytes) -> None:
        """Readers see the old content or the new one."""


class LocalFolder:
    """Raises NotAReport for a path that is no folder."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise NotAReport(f"{root} is not a folder of published reports: name it by --reports")
        self.root = root

    def __str__(self) -> str:
        return str(self.root)

    def names(self) -> list[str]:
        published = self.root / "upgrade_impact"
        below = published if published.is_dir() else self.root
        files = [file for file in below.rglob(NAME) if _is_inside(file, self.root)]
        return sorted(file.relative_to(self.root).as_posix() for file in files)

    def folders(self, name: str) -> list[str]:
        return sorted(each.name for each in (self.root / name).glob("[!.]*/"))

    def write(self, name: str, content: bytes) -> None:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, content)

    def read(self, name: str) -> bytes:
        file = self.root / name
        if not _is_inside(file, self.root):
            raise FileNotFoundError(name)
        return file.read_bytes()


class ReportFile:
    """A published report, by the name of its report.json. Its methods raise NotAReport and OSError."""

    def __init__(self, folder: Folder, name: str, campaign: Campaign) -> None:
        self._folder, self._name, self._campaign = folder, PurePosixPath(name), campaign

    @cached_property
    def digest(self) -> str:
        """Of its content, without reading it where the summary has the digest."""
        return self._summarized(DIGEST) or hashlib.sha256(self._content[1]).hexdigest()

    def answer(self) -> Answer | None:
        """None for a report of an older schema version, or about another target or cluster."""
        name, content = self._content
        try:
            document = json.loads(content.decode("utf-8-sig"))
            if isinstance(document, dict) and 0 < document.get("schema_version", 0) < REPORT_VERSION:
                return None
            answer = from_report(document)
        except (ValueError, TypeError) as error:
            reason = error if isinstance(error, NotAReport) else "not valid JSON"
            raise NotAReport(f"{self._folder}/{name}: {reason}: remove it, or publish it again") from None
        is_about = (
            answer.to_release == self._campaign.to_release and answer.cluster in self._campaign.clusters
        )
        return answer if is_about else None

    @property
    def cluster_folder(self) -> str:
        return self._name.parent.parent.name

    @property
    def target(self) -> str | None:
        """By the summary; None: not known."""
        return self._summarized("to_release")

    @property
    def is_about_others(self) -> bool:
        """Whether the summary says so."""
        cluster = self._summarized("cluster_name")
        return self.target not in (None, self._campaign.to_release) or (
            cluster is not None and cluster not in self._campaign.clusters
        )

    def _summarized(self, key: str) -> str | None:
        value = self._summary.get(key)
        return value if isinstance(value, str) else None

    @cached_property
    def _summary(self) -> dict[str, object]:
        """The small file beside the report; empty if there is none that can be read."""
        try:
            found = json.loads(self._folder.read(str(self._name.with_name(SUMMARY))))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def _content(self) -> tuple[PurePosixPath, bytes]:
        part = self._name.with_name(ANSWER)
        try:
            return part, self._folder.read(str(part))
        except FileNotFoundError:
            return self._name, self._folder.read(str(self._name))


def report_files(folder: Folder, campaign: Campaign) -> list[ReportFile]:
    """Reports in published folders (`upgrade_impact/<cluster>/<report>/report.json`) at or below `folder`, without such folders every
    report.json below it; without those whose summary names another target or cluster."""
    return [file for file in _files(folder, campaign) if not file.is_about_others]


def others_in(folder: Folder, campaign: Campaign) -> str:
    """Which clusters (by their folders) and releases the reports are about; empty if that is not known."""
    files = _files(folder, campaign)
    return first_of(
        sorted({f"{file.cluster_folder} to {file.target}" for file in files if file.target}), _NAMED
    )


def _files(folder: Folder, campaign: Campaign) -> list[ReportFile]:
    names = folder.names()
    published = [name for name in names if "upgrade_impact" in PurePosixPath(str(folder), name).parts]
    return [ReportFile(folder, name, campaign) for name in published or names]


def _is_inside(file: Path, folder: Path) -> bool:
    """Neither in a folder that is just being written, nor reached by a link."""
    is_hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    return not is_hidden and file.resolve().is_relative_to(folder.resolve())
