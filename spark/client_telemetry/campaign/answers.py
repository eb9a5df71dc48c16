"""What a daily report says about each application: the evidence from which states are made."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from client_telemetry.formats import report_file
from client_telemetry.formats.report_file import NotAReport
from client_telemetry.formats.typed_values import of_row
from client_telemetry.knowledge.vocabulary import PRECEDENCE, Completeness


@dataclass(frozen=True)
class Client:
    """One row of a report. `rules`: those that its verdict is based on, sorted."""

    principal: str | None
    client_id: str | None
    software: str
    verdict: str
    rules: tuple[str, ...]
    explanation: str
    fix: str | None
    first_seen_at: dt.datetime
    last_seen_at: dt.datetime
    already_failing: bool = False
    """On the release that the brokers run today."""


@dataclass(frozen=True)
class Application:
    """`name` is unique within principal and owner. `clients`: at least one, worst first."""

    name: str
    principal: str | None
    owner: str | None
    contact: str | None
    clients: tuple[Client, ...]


@dataclass(frozen=True)
class _Head:
    """A report of one cluster. `day`: last UTC day of its evidence. `complete_share`: of broker hours; None without brokers.
    `unseen_brokers`: no hour of them was seen completely. `incomplete`: what the evidence lacks altogether, in a sentence.
    """

    cluster: str
    to_release: str
    day: dt.date
    created_at: dt.datetime
    report_id: str
    knowledge_version: str
    complete_share: float | None
    unseen_brokers: tuple[int, ...]
    blockers: tuple[str, ...]
    incomplete: str | None
    unseen: tuple[tuple[str, int], ...] = field(default=(), kw_only=True)
    """Verdicts of artefacts that brokers should have seen and did not, with how many have each."""


@dataclass(frozen=True)
class Facts(_Head):
    """What is asked of a report beside the states that came from it. `failing`: principal (empty: none) and name of the applications
    that fail on today's brokers."""

    has_applications: bool
    failing: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Answer(_Head):
    """A report with its applications."""

    applications: tuple[Application, ...]

    @property
    def facts(self) -> Facts:
        failing = tuple(
            (application.principal or "", application.name)
            for application in self.applications
            if any(client.already_failing for client in application.clients)
        )
        return of_row(Facts, vars(self), has_applications=bool(self.applications), failing=failing)


_AnyHead = TypeVar("_AnyHead", bound=_Head)


def from_report(document: report_file.Report) -> Answer:
    """From the content of report.json, schema version 3. Raises NotAReport."""
    try:
        question, coverage = document["question"], document["coverage"]
        clients = document["clients"]
        return Answer(
            cluster=str(question["cluster_name"]),
            to_release=str(question["to_release"]),
            day=dt.date.fromisoformat(question["last_dt"]),
            created_at=_time(question["created_at"]),
            report_id=str(question["report_id"]),
            knowledge_version=str(question["knowledge_version"]),
            complete_share=coverage["complete_share"],
            unseen_brokers=_unseen_brokers(coverage),
            blockers=tuple(dict.fromkeys(str(note["subject"]) for note in document.get("blockers") or ())),
            incomplete=document.get("incomplete"),
            unseen=tuple(sorted((document.get("written_not_seen") or {}).items())),
            applications=tuple(
                _application(each, [clients[place] for place in each["clients"]])
                for each in document["applications"]
            ),
        )
    except (LookupError, TypeError, ValueError, AttributeError):
        raise NotAReport("not the report.json of an upgrade report, schema version 3") from None


def newest(answers: Iterable[_AnyHead], to_release: str) -> list[_AnyHead]:
    """The newest answer about each cluster and day, in the order of days: repeated and unordered ones make no difference."""
    by_day: dict[tuple[dt.date, str], _AnyHead] = {}
    for answer in answers:
        key = answer.day, answer.cluster
        if answer.to_release == to_release and (
            key not in by_day or _version(by_day[key]) < _version(answer)
        ):
            by_day[key] = answer
    return [by_day[key] for key in sorted(by_day)]


def _version(answer: _Head) -> tuple[dt.datetime, str]:
    return answer.created_at, answer.report_id


def _unseen_brokers(coverage: report_file.Coverage) -> tuple[int, ...]:
    seen = {
        run["broker_id"] for run in coverage["runs"] if list(run["completeness"]) == [Completeness.COMPLETE]
    }
    return tuple(sorted(int(broker) for broker in set(coverage["broker_ids"]) - seen))


def _application(application: report_file.Application, clients: Iterable[report_file.Client]) -> Application:
    rows = tuple(_client(client) for client in clients)
    if not rows:
        raise ValueError
    return Application(
        str(application["name"]),
        application["principal"],
        application["owner"],
        application["owner_contact"],
        rows,
    )


def _client(row: report_file.Client) -> Client:
    verdict = str(row["verdict"])
    if verdict not in PRECEDENCE:
        raise ValueError(verdict)
    deciding = {str(found["rule_id"]) for found in row["findings"] if found["verdict"] == verdict}
    return Client(
        principal=row["principal"],
        client_id=row["client_id"],
        software=str(row.get("identified_as") or ""),
        verdict=verdict,
        rules=tuple(sorted(deciding)),
        explanation=str(row["explanation"]),
        fix=row["fix"],
        first_seen_at=_time(row["first_seen_at"]),
        last_seen_at=_time(row["last_seen_at"]),
        already_failing=row.get("already_failing") is True,
    )


def _time(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).astimezone(dt.UTC)
