"""Published upgrade reports in a folder, as the answers of a campaign."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from client_telemetry.campaign.answers import Answer, from_report
from client_telemetry.campaign.plan import Campaign
from client_telemetry.console.counted import first_of
from client_telemetry.formats.report_file import NotAReport

REPORT_VERSION: Final = 3
ANSWER: Final = "answer.json"
"""Beside a report: what campaigns read of it. Reports of older versions have none."""
_NAMED: Final = 3


def reports(folder: Path, campaign: Campaign) -> Iterator[Answer]:
    """Of the campaign's clusters and target: those in published folders (`upgrade_impact/<cluster>/<report>/report.json`) at or below
    `folder`; without such folders, every report.json below it. Of older schema versions and other releases none is read. Raises
    NotAReport or OSError.
    """
    if not folder.is_dir():
        raise NotAReport(f"{folder} is not a folder of published reports: name it by --reports")
    for file in _files(folder):
        answer = _report(file, campaign)
        if answer is not None and answer.cluster in campaign.clusters:
            yield answer


def _files(folder: Path) -> list[Path]:
    files = [file for file in sorted(folder.rglob("report.json")) if _is_inside(file, folder)]
    return [file for file in files if "upgrade_impact" in file.parts] or files


def others_in(folder: Path) -> str:
    """Which clusters (by their folders) and releases the reports are about; empty if that is not known."""
    found = {
        f"{file.parent.parent.name} to {release}"
        for file in _files(folder)
        if (release := _summarized_release(file.with_name("summary.json")))
    }
    return first_of(sorted(found), _NAMED)


def _is_inside(file: Path, folder: Path) -> bool:
    """Neither in a folder that is just being written, nor reached by a link."""
    is_hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    return not is_hidden and file.resolve().is_relative_to(folder.resolve())


def _report(file: Path, campaign: Campaign) -> Answer | None:
    if _summarized_release(file.with_name("summary.json")) not in (None, campaign.to_release):
        return None
    part = file.with_name(ANSWER)
    if part.is_file() and not part.is_symlink():
        file = part
    try:
        document = json.loads(file.read_text(encoding="utf-8-sig"))
        if isinstance(document, dict) and 0 < document.get("schema_version", 0) < REPORT_VERSION:
            return None
        answer = from_report(document)
    except (ValueError, TypeError) as error:
        reason = error if isinstance(error, NotAReport) else "not valid JSON"
        raise NotAReport(f"{file}: {reason}: remove it, or publish it again") from None
    return answer if answer.to_release == campaign.to_release else None


def _summarized_release(summary: Path) -> str | None:
    """The target release in the small file beside a report; None: not known."""
    try:
        found = json.loads(summary.read_text(encoding="utf-8"))["to_release"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return found if isinstance(found, str) else None
