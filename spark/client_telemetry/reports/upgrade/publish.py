"""Puts a report where people find it: <root>/upgrade_impact/<cluster>/<report>/, and `latest.json` beside it."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from client_telemetry.campaign.report_files import ANSWER, DIGEST
from client_telemetry.console.grouped import grouped
from client_telemetry.formats import trial_file, written_file
from client_telemetry.formats.trial_file import NotATrial, Trial
from client_telemetry.formats.written_file import NotWritten, Written
from client_telemetry.reports.folder import PAGE as PAGE
from client_telemetry.reports.folder import replace_file, replace_folder
from client_telemetry.reports.json_text import timestamp
from client_telemetry.reports.names import folder_name
from client_telemetry.reports.open_metrics import publish_numbers
from client_telemetry.reports.owners import forms
from client_telemetry.reports.upgrade import earlier_report, written_note, written_ticket
from client_telemetry.reports.upgrade.document import answer_json, report_json
from client_telemetry.reports.upgrade.earlier_report import Answered
from client_telemetry.reports.upgrade.model import Question, UpgradeReport
from client_telemetry.reports.upgrade.numbers import upgrade_numbers
from client_telemetry.reports.upgrade.owner_message import owner_message
from client_telemetry.reports.upgrade.owner_ticket import (
    failed_logins_ticket,
    owner_ticket,
    written_only_ticket,
)
from client_telemetry.reports.upgrade.page import report_page, with_links
from client_telemetry.reports.upgrade.spreadsheet import client_line, clients_csv, findings_csv, owner_csv
from client_telemetry.reports.upgrade.ticket import report_ticket
from client_telemetry.reports.upgrade.trial_note import KINDS, with_trials

EARLIER = "earlier.json"
"""The answer that the report was compared with, so that publishing it again gives the same."""


def publish(report: UpgradeReport, root: Path) -> Path:
    """Writes the report below `root` and returns its folder. A reader sees all of its files or none: they are
    written beside the folder and moved into place; a report of the same id is replaced whole. (Two moves: for an
    instant in between there is no folder.) Then `latest.json` of the cluster names it."""
    folder = _folder(report.question, root)
    cluster = folder.parent
    earlier = _earlier(report.question, root)
    if earlier is not None:
        report = replace(report, since=earlier_report.since(report, earlier))
    contents = {**files(report, _links(report.question, root)), **_outcomes(report.question, root)}
    report_id = report.question.report_id
    contents |= _written(report.written, folder, report_id, str(contents.get(PAGE, "")))
    contents |= _tried(folder, report_id, str(contents.get(PAGE, "")))
    if earlier is not None:
        contents[EARLIER] = earlier_report.written(earlier)
    replace_folder(folder, contents.items())
    newest = root / _newest(report.question)
    there = _answered(newest)
    if there is None or there.created_at <= report.question.created_at:
        replace_file(newest, earlier_report.written(earlier_report.answered(report)))
    summary = json.loads((folder / "summary.json").read_text())
    pointer = {"path": f"{folder.name}/{PAGE}", **summary}
    if not _is_older(pointer, cluster / "latest.json"):
        replace_file(cluster / "latest.json", json.dumps(pointer, indent=1) + "\n")
        publish_numbers(root, "upgrade", report.question.cluster_name, upgrade_numbers(report))
    return folder


def link_again(question: Question, root: Path) -> bool:
    """Have a published report link to what is published now, and take over its review's messages to owners, without making it
    again: of 100,000 clients that takes minutes. False where it is not there, or its page has no place for links."""
    folder = _folder(question, root)
    page = folder / PAGE
    linked = with_links(page.read_text(encoding="utf-8"), _links(question, root)) if page.is_file() else None
    if linked is None:
        return False
    messages = _outcomes(question, root)
    for path in folder.glob("owners/*/review.md"):
        if path.relative_to(folder).as_posix() not in messages:
            path.unlink()
    for name, text in messages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        replace_file(folder / name, text)
    replace_file(page, linked)
    return True


def _written(of_lake: Written | None, folder: Path, report_id: str, page: str) -> dict[str, str]:
    """What artefacts of the lake add; otherwise what others have added to the report that is replaced."""
    document = of_lake
    if document is None:
        try:
            document = written_file.read(folder / written_file.NAME, report_id)
        except (FileNotFoundError, NotWritten):
            return {}
    text = written_file.file_text(document)
    return {written_file.NAME: text, PAGE: written_note.with_written(page, document) or page}


def _tried(folder: Path, report_id: str, page: str) -> dict[str, str]:
    """What a rehearsal and a replay have added to the report that is replaced; nothing if they were about another."""
    trials = _trials(folder, report_id)
    if not trials:
        return {}
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in trials}
    return {**texts, PAGE: with_trials(page, trials) or page}


def _trials(folder: Path, report_id: str) -> dict[str, Trial]:
    """Content of the files by their names."""
    found = {}
    for name in KINDS:
        try:
            found[name] = trial_file.read(folder / name, report_id)
        except (FileNotFoundError, NotATrial):
            continue
    return found


def add_trials(folder: Path, report_id: str) -> bool:
    """Has the page of a published report say what was rehearsed and replayed. False where it has no place for that."""
    page = folder / PAGE
    if not page.is_file():
        return False
    text = with_trials(page.read_text(encoding="utf-8"), _trials(folder, report_id))
    if text is None:
        return False
    replace_file(page, text)
    return True


def _folder(question: Question, root: Path) -> Path:
    return root / "upgrade_impact" / folder_name(question.cluster_name) / folder_name(question.report_id)


def _is_older(pointer: dict[str, object], latest: Path) -> bool:
    """Whether the latest report is a later one: an older that is published again, to link to its review, does not take its place."""
    return latest.is_file() and json.loads(latest.read_text())["created_at"] > pointer["created_at"]


def _earlier(question: Question, root: Path) -> Answered | None:
    """The answer to compare with: the newest published one of the question, or, of a report that is published again, the one that
    it was compared with."""
    found = [_answered(root / each) for each in (_own(question, EARLIER), _newest(question))]
    before = [
        each
        for each in found
        if each and each.cluster_id == question.cluster_id and each.created_at < question.created_at
    ]
    return max(before, key=lambda each: each.created_at, default=None)


def _answered(file: Path) -> Answered | None:
    return earlier_report.read(file.read_bytes()) if file.is_file() else None


def files_to_read(question: Question) -> tuple[str, ...]:
    """Below the root: what `publish` reads of the cluster's reports, where it is there."""
    of_report = (EARLIER, *KINDS, written_file.NAME)
    cluster = f"upgrade_impact/{folder_name(question.cluster_name)}"
    return (
        f"{cluster}/latest.json",
        _newest(question),
        *(_own(question, name) for name in of_report),
    )


def _newest(question: Question) -> str:
    return f"upgrade_impact/{folder_name(question.cluster_name)}/{earlier_report.question_file(question)}"


def _own(question: Question, name: str) -> str:
    return f"upgrade_impact/{folder_name(question.cluster_name)}/{folder_name(question.report_id)}/{name}"


def _links(question: Question, root: Path) -> list[tuple[str, str]]:
    """What else is published of the cluster: name and address, relative to the report's folder."""
    cluster = folder_name(question.cluster_name)
    found = []
    day = f"fleet/{cluster}/{question.last_dt}/{PAGE}"
    if (root / day).is_file():
        found.append((f"Fleet page of {question.last_dt}", f"../../../{day}"))
    review = _review(question, root)
    if review is not None:
        found.append(("Review of this upgrade", f"../../../upgrade_review/{cluster}/{review.name}/{PAGE}"))
        found += [(name.split("/")[1], name) for name in _outcomes(question, root)]
    return found


def _review(question: Question, root: Path) -> Path | None:
    """The folder of the latest review of the upgrade that the report is about."""
    cluster = root / "upgrade_review" / folder_name(question.cluster_name)
    found = [(json.loads(file.read_text()), file.parent) for file in sorted(cluster.glob("*/summary.json"))]
    releases = question.from_release, question.to_release
    own = [
        (review["created_at"], folder)
        for review, folder in found
        if (review["from_release"], review["to_release"]) == releases
    ]
    return max(own)[1] if own else None


def _outcomes(question: Question, root: Path) -> dict[str, str]:
    """What became of each owner's clients, beside the pack that said what would."""
    review = _review(question, root)
    messages = [] if review is None else sorted((review / "owners").glob("*/review.md"))
    return {f"owners/{file.parent.name}/{file.name}": file.read_text(encoding="utf-8") for file in messages}


def files(report: UpgradeReport, links: Sequence[tuple[str, str]] = ()) -> dict[str, Iterable[str]]:
    """Path within the report's folder to content, in pieces that are made when they are written: hundreds of MB for 10,000
    clients. `links`: to other published pages.
    """
    lines = {id(client): client_line(report.question, client) for client in report.clients}
    answer = "".join(answer_json(report))
    result: dict[str, Iterable[str]] = {
        PAGE: report_page(report, links),
        "report.json": report_json(report),
        ANSWER: answer,
        "clients.csv": clients_csv(lines.values()),
        "findings.csv": findings_csv(report.question, report.clients),
        "report.md": report_ticket(report),
        "summary.json": json.dumps(_summary(report, answer), indent=1) + "\n",
    }
    of_owners = grouped(report.clients, lambda client: client.owner)
    for stake in report.owners:
        if not stake.has_pack:
            continue
        pack, clients = f"owners/{stake.folder}", of_owners[stake.owner]
        result |= {f"{pack}/{name}": text for name, text in forms.files(owner_message(report, stake)).items()}
        result[f"{pack}/report.md"] = owner_ticket(report, stake)
        result[f"{pack}/clients.csv"] = owner_csv(clients, report.planned_for)
        result[f"{pack}/clients_full.csv"] = clients_csv([lines[id(client)] for client in clients])
    for unseen in written_ticket.owners_to_tell(report.written):
        result.setdefault(f"owners/{folder_name(unseen)}/report.md", written_only_ticket(report, unseen))
    with_clients = {stake.owner for stake in report.owners}
    for owner in dict.fromkeys(login.owner for login in report.failed_logins):
        if owner is not None and owner not in with_clients:
            result[f"owners/{folder_name(owner)}/report.md"] = failed_logins_ticket(report, owner)
    return result


def _summary(report: UpgradeReport, answer: str) -> dict[str, object]:
    """What a list of reports shows, and by which a campaign knows that it has read the report."""
    question = report.question
    return {
        "schema_version": report.schema_version,
        "report_id": question.report_id,
        "cluster_name": question.cluster_name,
        "from_release": question.from_release,
        "to_release": question.to_release,
        "sentence": report.sentence,
        "planned_for": report.planned_for and report.planned_for.isoformat(),
        "asked_by": report.asked_by,
        "counts": report.counts,
        "client_counts": report.client_counts,
        "safe_so_far": report.safe_so_far,
        "written_not_seen": report.written and dict(written_file.not_seen(report.written)),
        "created_at": timestamp(question.created_at),
        DIGEST: hashlib.sha256(answer.encode()).hexdigest(),
    }
