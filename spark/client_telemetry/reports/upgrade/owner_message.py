"""The message to an owner of an upgrade report (three forms: reports/owners/forms.py), and the letter that begins with it."""

from collections.abc import Iterator
from typing import Final
from urllib.parse import quote, urlencode

from client_telemetry.knowledge.vocabulary import Verdict
from client_telemetry.reports.owners import forms
from client_telemetry.reports.owners.message import (
    WHICH_LIBRARY,
    Message,
    Named,
    Task,
    Upgrade,
    change_of,
    if_library,
    message,
)
from client_telemetry.reports.upgrade import wording, written_ticket
from client_telemetry.reports.upgrade.changes import of_fix
from client_telemetry.reports.upgrade.model import Application, OwnerStake, UpgradeReport
from client_telemetry.reports.upgrade.questions import library_question, owner_questions
from client_telemetry.reports.upgrade.sections import needs_work

ASKER: Final = "the team that runs the brokers"
"""Whom owners answer to where nobody is named."""
LONGEST_LETTER: Final = 2000
"""Characters of a mailto: address: Windows hands on no more than 2,083 to a mail program (INTERNET_MAX_URL_LENGTH)."""


def owner_message(report: UpgradeReport, stake: OwnerStake) -> Message:
    question, applications = report.question, report.of_owner.get(stake.owner, [])
    is_done = "rolled back" if report.is_rollback else "upgraded"
    when = f" on {report.planned_for}" if report.planned_for else "; the day is not set yet"
    asker = report.asked_by or ASKER
    works = [each for each in applications if needs_work(each)]
    breaking = sum(each.verdict == Verdict.BREAKS for each in works)
    upgrade = Upgrade(
        words=f"Kafka {question.to_release} (cluster {question.cluster_name})",
        beginning=(
            f"The brokers of Kafka cluster {question.cluster_name} will be {is_done} from {question.from_release} to "
            f"{question.to_release}{when}. {_at_stake(breaking, len(applications), has_owner=stake.owner is not None)}"
        ),
        command=f"client-telemetry scan . --from {question.from_release} --to {question.to_release}",
        contact=asker,
    )
    return message(stake.owner, [task for each in works for task in _tasks(report, each, asker)], upgrade)


def _at_stake(breaking: int, applications: int, *, has_owner: bool) -> str:
    """How many applications stop. Where no owner is known, whoever reads it is asked to pass it on."""
    yours, of_yours = ("your applications", " of yours") if has_owner else ("these applications", "")
    if not breaking:
        text = f"No application{of_yours} is known to stop, but not all is known:"
    elif breaking == applications == 1:
        text = (
            f"{'Your application' if has_owner else 'This application'} stops working unless it is changed."
        )
    elif breaking == 1:
        text = f"One of {yours} stops working unless it is changed."
    elif breaking == applications:
        text = f"All {breaking:,} of {yours} stop working unless they are changed."
    else:
        text = f"{breaking:,} of {'your' if has_owner else 'these'} {applications:,} applications stop working unless they are changed."
    return text if has_owner else f"Nobody is known to own what follows: please pass it on. {text}"


def letter_address(report: UpgradeReport, stake: OwnerStake, *, subject_only: bool = False) -> str:
    """A mailto: address that begins a letter to the owner with as much of the message as an address has room for.
    `subject_only`: of hundreds of owners, for a page has one for each."""
    whole = owner_message(report, stake)
    if subject_only:
        return _address(stake.contact, {"subject": whole.subject})

    def address(shorter: Message) -> str:
        body = forms.plain_text(shorter).partition("\n\n")[2]
        return _address(stake.contact, {"subject": shorter.subject, "body": body})

    return address(forms.fitted(whole, LONGEST_LETTER, address))


def _address(contact: str | None, fields: dict[str, str]) -> str:
    return f"mailto:{contact}?{urlencode(fields, errors='replace', quote_via=quote)}"


def _tasks(report: UpgradeReport, application: Application, asker: str) -> Iterator[Task]:
    """One for each change that its clients need; otherwise one for what is to be answered or checked."""
    by = report.planned_for
    named = Named(application.name, application.principal)
    down = frozenset([named]) if application.already_failing else frozenset[Named]()
    broken = [client for client in application.clients if client.verdict == Verdict.BREAKS]
    by_change = {client.change: client for client in broken}
    for client in by_change.values():
        change, is_change, edits = change_of(client.fix, asker)
        brief = ""
        if of_fix(client.fix).certainty == "open":
            brief = WHICH_LIBRARY
            asked = library_question(client, application)
            change = f"{asked}{if_library(client.fix)}" if asked else change
            if confirm := written_ticket.to_confirm(report.written, client):
                brief, change = confirm, f"{confirm}.{if_library(client.fix)}"
        yield Task((named,), "", change, is_change, True, by, down, edits, brief)
    if not broken:
        yield Task((named,), "", _to_check(application), False, False, by, down)


def _to_check(application: Application) -> str:
    """What to answer or to look at where nothing breaks."""
    questions = " ".join(owner_questions(application))
    if questions:
        return questions
    happens = wording.sentence_case(wording.happens(application))
    if application.fix:
        return f"{happens}: {application.fix}"
    return f"{happens}: {application.explanation}"
