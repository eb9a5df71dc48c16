"""report.json, and answer.json, a part of it: the model as a document, client-supplied strings as they came. Fields: docs/report-format.md."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Final

from client_telemetry.formats.written_file import not_seen
from client_telemetry.reports.json_text import json_pieces
from client_telemetry.reports.upgrade.model import CLIENT_COLUMNS, ClientVerdict, UpgradeReport


def report_json(report: UpgradeReport) -> Iterator[str]:
    """The whole report, in pieces: 15 kB for each client. ASCII only: what a terminal or an editor would hide stands as an
    escape.
    """
    document: dict[str, object] = {
        field.name: getattr(report, field.name)
        for field in fields(report)
        if field.name not in ("answer", "applications", "changes", "sections", "cluster_questions", "written")
    }
    document["clients"] = (_client(report, client) for client in report.clients)
    places = {id(client): place for place, client in enumerate(report.clients)}
    document["applications"] = [_with_places(each, "clients", places) for each in report.applications]
    numbers = {id(each): place for place, each in enumerate(report.applications)}
    for name in ("changes", "cluster_questions", "sections"):
        document[name] = [_with_places(each, "applications", numbers) for each in getattr(report, name)]
    yield from json_pieces(document)
    yield "\n"


_OF_QUESTION: Final = (
    "cluster_name",
    "to_release",
    "last_dt",
    "created_at",
    "report_id",
    "knowledge_version",
)
_OF_CLIENT: Final = (
    "principal",
    "client_id",
    "identified_as",
    "verdict",
    "explanation",
    "fix",
    "first_seen_at",
    "last_seen_at",
    "already_failing",
)
_OF_APPLICATION: Final = ("name", "principal", "owner", "owner_contact")


def answer_json(report: UpgradeReport) -> Iterator[str]:
    """What campaigns read of report.json, by the same names, in pieces: 1 kB for each client. A campaign reads the reports of months
    with each of its runs."""
    places = {id(client): place for place, client in enumerate(report.clients)}
    coverage = report.coverage
    yield from json_pieces(
        {
            "schema_version": report.schema_version,
            "question": _some(report.question, _OF_QUESTION),
            "coverage": _some(coverage, ("complete_share", "broker_ids", "runs")),
            "incomplete": report.incomplete,
            "written_not_seen": report.written and dict(not_seen(report.written)),
            "blockers": [{"subject": each.subject} for each in report.blockers],
            "clients": (
                {
                    **_some(client, _OF_CLIENT),
                    "findings": [_some(each, ("rule_id", "verdict")) for each in client.findings],
                }
                for client in report.clients
            ),
            "applications": [
                {**_some(each, _OF_APPLICATION), "clients": [places[id(client)] for client in each.clients]}
                for each in report.applications
            ],
        }
    )
    yield "\n"


def _some(of: object, names: Sequence[str]) -> dict[str, object]:
    return {name: getattr(of, name) for name in names}


def _client(report: UpgradeReport, client: ClientVerdict) -> dict[str, object]:
    """Columns of `upgrade_verdicts`, all of them, then the derived fields and the findings."""
    question = {"cluster_id": report.question.cluster_id, "report_id": report.question.report_id}
    return {**question, **{name: getattr(client, name) for name in (*CLIENT_COLUMNS, "findings")}}


def _with_places(of: object, name: str, places: Mapping[int, int]) -> dict[str, object]:
    """A value of the report with the places of its clients, or of its applications, in its list of that `name`."""
    return {**vars(of), name: [places[id(each)] for each in getattr(of, name)]}
