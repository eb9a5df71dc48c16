"""One ticket for each owner and fix, from a report or a campaign."""

import datetime as dt
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from client_telemetry.campaign.answers import Answer, Application
from client_telemetry.console.counted import counted
from client_telemetry.console.grouped import grouped
from client_telemetry.knowledge.vocabulary import Verdict
from client_telemetry.reports.client_strings import shortened, without_invisible
from client_telemetry.reports.markdown import code, prose
from client_telemetry.reports.owners import forms
from client_telemetry.reports.owners.message import Named, Task, Upgrade, message, task_for
from client_telemetry.reports.upgrade.changes import IDENTIFY, of_fix
from client_telemetry.reports.upgrade.wording import sentence_case
from client_telemetry.trackers.ticket import LONGEST_BODY, LONGEST_TITLE, Ticket, key_line, key_of

ASKED: Final = (Verdict.BREAKS, Verdict.INSUFFICIENT_EVIDENCE)
"""Verdicts that ask something of an owner."""
UNKNOWN: Final = "answer what is not known"
ASKER: Final = "the team that runs the brokers"
_NOTES: Final = 4_000
"""Characters kept free for what people write below a ticket, and for applications that are done."""
_DONE_NAMED: Final = 20
_REFERS: Final = re.compile(r"([#!@])(?=\w)")
"""What begins a reference (#1, group/project!1) or a mention: in titles, which have no code spans, Gitea links the issue to the other."""


@dataclass(frozen=True)
class Item:
    """An application that needs one change. `change`: as the ticket's key has it. `task`: None where nothing is left for the owner;
    `done`: then, why."""

    owner: str | None
    change: str
    named: Named
    task: Task | None
    done: str = ""
    is_fixed: bool = False


def tickets(upgrade: Upgrade, items: Iterable[Item]) -> list[Ticket]:
    """In the order of the first item of each."""
    groups = grouped(items, lambda item: (item.owner, item.change))
    return [_ticket(upgrade, owner, change, group) for (owner, change), group in groups.items()]


def _ticket(upgrade: Upgrade, owner: str | None, change: str, items: Sequence[Item]) -> Ticket:
    tasks = [item.task for item in items if item.task is not None]
    is_fixed = all(item.is_fixed for item in items)
    key = key_of(upgrade.scope, owner or "", change)
    days = [task.by for task in tasks if task.by]
    last = key_line(key, is_fixed=is_fixed)
    short = forms.fitted(message(owner, tasks, upgrade), LONGEST_BODY - _NOTES, forms.wiki)
    done = [item for item in items if item.task is None]
    markdown = forms.markdown(short).partition("\n\n")[2] if tasks else f"{prose(upgrade.beginning)}\n"
    wiki = forms.wiki(short) if tasks else f"{forms.wiki_text(upgrade.beginning)}\n"
    return Ticket(
        key,
        _title(upgrade, owner, change, days),
        f"{markdown}\n{_done(done, code, prose)}{last}\n",
        f"{wiki}\n{_done(done, forms.wiki_code, forms.wiki_text)}{last}\n",
        min(days).isoformat() if days else "",
        is_fixed,
        bool(tasks),
    )


def _title(upgrade: Upgrade, owner: str | None, change: str, days: Sequence[dt.date]) -> str:
    """Without the number of applications: a title that changes daily is no title."""
    whose = _REFERS.sub(r"\1 ", owner or "no owner")
    by = f" by {min(days)}" if days else ""
    what = "tell us the client library" if change == IDENTIFY else change
    return shortened(
        without_invisible(f"{upgrade.words}: {sentence_case(what)}{by} ({whose})"), LONGEST_TITLE
    )


def _done(items: Sequence[Item], name: Callable[[str], str], words: Callable[[str], str]) -> str:
    """What nothing is left of, and why."""
    if not items:
        return ""
    lines = [f"- {name(item.named.name)}: {words(item.done)}" for item in items[:_DONE_NAMED]]
    if len(items) > _DONE_NAMED:
        lines += [f"- {counted(len(items) - _DONE_NAMED, 'more application')}"]
    return "\n".join(["Nothing left to do:", "", *lines, "", ""])


def of_report(
    answer: Answer, planned_for: dt.date | None, asked_by: str | None, from_release: str
) -> list[Ticket]:
    """Of one report, in which what is safe has no ticket. Nothing in it is fixed: that takes a second look, which campaigns take."""
    when = f" on {planned_for}" if planned_for else "; the day is not set yet"
    upgrade = Upgrade(
        scope=f"{answer.cluster} to {answer.to_release}",
        words=f"Kafka {answer.to_release} (cluster {answer.cluster})",
        beginning=(
            f"The brokers of Kafka cluster {answer.cluster} will be upgraded from {from_release} to {answer.to_release}{when}."
        ),
        command=f"client-telemetry scan . --from {from_release} --to {answer.to_release}",
        contact=asked_by or ASKER,
    )
    items = [item for each in answer.applications for item in _items(each, upgrade, planned_for)]
    return tickets(upgrade, items)


def _items(application: Application, upgrade: Upgrade, by: dt.date | None) -> list[Item]:
    """One for each change that the application's clients need."""
    named = Named(application.name, application.principal)
    down = (
        frozenset([named])
        if any(each.already_failing for each in application.clients)
        else frozenset[Named]()
    )
    found: dict[str, Item] = {}
    for client in application.clients:
        change = change_named(client.verdict, client.fix)
        if client.verdict in ASKED and change not in found:
            task = task_for(
                named, "", client.verdict, client.fix, client.explanation, by, upgrade.contact, down
            )
            found[change] = Item(application.owner, change, named, task)
    return list(found.values())


def change_named(verdict: str, fix: str | None) -> str:
    """By which tickets are told apart."""
    return UNKNOWN if verdict == Verdict.INSUFFICIENT_EVIDENCE else of_fix(fix).text
