"""What one owner is asked for, as values: which change in which application by when. Forms of it are in forms.py."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from client_telemetry.console.counted import counted
from client_telemetry.knowledge.vocabulary import Verdict
from client_telemetry.reports.upgrade.changes import by_candidate, edits_of, of_fix
from client_telemetry.reports.upgrade.model import FIXES, Edit
from client_telemetry.reports.upgrade.wording import sentence_case

LONGEST: Final = 1800
"""Characters of a message that still is one: chats and mail programs cut longer ones."""
_CANDIDATES: Final = 3


class Named(NamedTuple):
    """An application, as clients sent its names."""

    name: str
    principal: str | None = None


@dataclass(frozen=True)
class Task:
    """A row: applications with the same work. `is_change`: something is to be changed; otherwise to be answered or checked.
    `breaks`: they stop working without it. `by`: None = no day is set.
    """

    applications: tuple[Named, ...]
    clusters: str
    change: str
    is_change: bool
    breaks: bool
    by: dt.date | None
    down: frozenset[Named] = frozenset()
    """Those of them that fail already."""
    edits: tuple[Edit, ...] = ()
    brief: str = ""
    """Instead of `change`, where there is no room for it."""
    hidden: int = 0
    """Further applications, whose names did not fit."""


@dataclass(frozen=True)
class Message:
    """`command`: what the owner can run to see that a change is right; empty where nothing is to be changed. `left_out`:
    applications whose rows did not fit."""

    subject: str
    beginning: str
    tasks: tuple[Task, ...]
    edits: tuple[Edit, ...]
    command: str
    proof: str
    reply: str
    contact: str
    left_out: int = 0


@dataclass(frozen=True)
class Upgrade:
    """What messages and tickets are about. `words`: such as `Kafka 4.0.1 (cluster orders-eu)`. `command`: proves a change. `scope`:
    what makes the keys of tickets differ from those of another upgrade."""

    words: str
    beginning: str
    command: str
    contact: str
    scope: str = ""


def subject(owner: str | None, tasks: Sequence[Task], upgrade: str) -> str:
    """By when, how many applications, and how many are down already. `upgrade`: its words.

    >>> a, b, c = Named("a"), Named("b"), Named("c")
    >>> day = dt.date(2026, 12, 5)
    >>> work = [Task((a, b), "", "Upgrade brod", True, True, day, frozenset([b])), Task((c,), "", "?", False, False, day)]
    >>> subject("erp", work, "Kafka 4.0.1 (cluster eu)")
    'By 2026-12-05: 2 applications of erp break on Kafka 4.0.1 (cluster eu), 1 to check, 1 already down'
    """
    breaking = _names(task for task in tasks if task.breaks)
    to_check = _names(tasks) - breaking
    down = {each for task in tasks for each in task.down}
    days = [task.by for task in tasks if task.by]
    by = f"By {min(days)}: " if days else ""
    many = len(breaking or to_check)
    verb = ("break on" if many != 1 else "breaks on") if breaking else "to check for"
    whose = f"of {owner}" if owner else "without an owner"
    parts = [f"{counted(many, 'application')} {whose} {verb} {upgrade}"]
    parts += [f"{len(to_check):,} to check"] if breaking and to_check else []
    parts += [f"{len(down):,} already down"] if down else []
    return by + ", ".join(parts)


def _names(tasks: Iterable[Task]) -> set[Named]:
    return {each for task in tasks for each in task.applications}


WHICH_LIBRARY: Final = (
    "Tell us the Kafka client library and version, and whether the configuration pins a protocol version"
)


def change_of(fix: str | None, contact: str) -> tuple[str, bool, tuple[Edit, ...]]:
    """A fix in the engine's words as what to ask for, whether that is a change, and what to type.

    >>> change_of("upgrade brod to 4.4.2 or later (it is old)", "kafka@example.com")[:2]
    ('Upgrade brod to 4.4.2 or later', True)
    >>> change_of(None, "kafka@example.com")[0]
    'No fix is known yet: ask kafka@example.com'
    >>> change_of("library not identified: if it is brod: upgrade brod; if it is kafkajs: replace it; otherwise: x", "")[0][-45:]
    'If brod: upgrade brod; if kafkajs: replace it'
    """
    wording = of_fix(fix)
    if wording.certainty == "open":
        return f"{WHICH_LIBRARY}.{if_library(fix)}", False, ()
    if wording.certainty not in FIXES:
        known = "" if not fix else f" ({wording.text})"
        return f"No fix is known yet{known}: ask {contact}", False, ()
    edits = edits_of(wording.text) if wording.certainty == "exact" else ()
    return sentence_case(wording.text), True, edits


def if_library(fix: str | None) -> str:
    """What follows from the answer which library it is, as a further sentence; empty if that is not known."""
    advice = list(by_candidate(fix).items())[:_CANDIDATES]
    return " If " + "; if ".join(f"{library}: {text}" for library, text in advice) if advice else ""


def task_for(
    named: Named,
    clusters: str,
    verdict: str,
    fix: str | None,
    why: str,
    by: dt.date | None,
    contact: str,
    down: frozenset[Named] = frozenset(),
) -> Task:
    """What is to be done, or to be answered, about an affected application."""
    if verdict == Verdict.INSUFFICIENT_EVIDENCE:
        # The explanation may repeat what a client declares: no mention of anybody.
        words = (fix or why).replace("@", "(at)")
        return Task((named,), clusters, f"Not known whether it breaks: {words}", False, False, by, down)
    change, is_change, edits = change_of(fix, contact)
    brief = WHICH_LIBRARY if of_fix(fix).certainty == "open" else ""
    return Task((named,), clusters, change, is_change, True, by, down, edits, brief)


def message(owner: str | None, tasks: Sequence[Task], upgrade: Upgrade) -> Message:
    """`tasks`: at least one, most urgent first."""
    tasks = merged(sorted(tasks, key=lambda task: (not task.breaks, not task.is_change)))
    is_change = any(task.is_change for task in tasks)
    answers = []
    if is_change:
        answers += ["the day by which each change is deployed, or that an application is retired and when"]
    if not all(task.is_change for task in tasks):
        answers += ["the answer to each question"]
    return Message(
        subject=subject(owner, tasks, upgrade.words),
        beginning=upgrade.beginning,
        tasks=tasks,
        edits=tuple(dict.fromkeys(edit for task in tasks for edit in task.edits)),
        command=upgrade.command if is_change else "",
        proof=(
            "It ends with 0 when no client that the repository names breaks. Once the change is deployed, the next report that sees the "
            "new client, and the old one no longer, lists the application as safe."
            if is_change
            else ""
        ),
        reply="; ".join(answers),
        contact=upgrade.contact,
    )


def merged(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Tasks with the same change, day and clusters as one."""
    found: dict[tuple[str, dt.date | None, str], Task] = {}
    for task in tasks:
        key = task.change, task.by, task.clusters
        same = found.get(key, task)
        names = tuple(dict.fromkeys((*same.applications, *task.applications)))
        found[key] = replace(same, applications=names, down=same.down | task.down)
    return tuple(found.values())


def briefly(whole: Message) -> Message:
    """With the brief form of each task that has one: those with the same become one."""
    tasks = [replace(task, change=task.brief, brief="") if task.brief else task for task in whole.tasks]
    return replace(whole, tasks=merged(tasks))


def shorter(whole: Message, names: int, rows: int, edits: int) -> Message:
    """With at most `rows` tasks of at most `names` applications each, and `edits` lines to copy; what is left out is counted."""
    tasks = tuple(
        replace(task, applications=task.applications[:names], hidden=max(0, len(task.applications) - names))
        for task in whole.tasks[:rows]
    )
    left_out = len(_names(whole.tasks[rows:]) - _names(whole.tasks[:rows]))
    kept = [edit for edit in whole.edits if any(edit in task.edits for task in tasks)]
    return replace(whole, tasks=tasks, edits=tuple(kept[:edits]), left_out=left_out)


def left_out_words(whole: Message) -> str:
    """What became of applications without a row; empty if there are none."""
    return (
        f"… and {counted(whole.left_out, 'more application')}; {whole.contact} has the list."
        if whole.left_out
        else ""
    )
