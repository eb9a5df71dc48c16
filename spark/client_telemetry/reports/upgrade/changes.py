"""Fixes grouped: one row per change, with whom it cures. The engine's words for a fix (compatibility/fixes.py) become
the change proper, what can be done to the brokers instead, and how sure it is."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from client_telemetry.compatibility.verdict import NOT_IDENTIFIED, PINNED
from client_telemetry.console.counted import counted
from client_telemetry.knowledge import edits
from client_telemetry.knowledge.vocabulary import Verdict
from client_telemetry.reports.upgrade.model import (
    CERTAINTIES,
    FIXES,
    Application,
    Change,
    ClientVerdict,
    Edit,
)
from client_telemetry.reports.upgrade.wording import PINS, either, without_brackets

NO_CHANGE = "no change is known"
IDENTIFY = "ask the owner which client library it is"
"""The change of clients whose library is not identified: what follows depends on the answer."""
_CERTAINTY = tuple(CERTAINTIES)
_PROBABLY = re.compile(r"^probably [^;:]* \(not declared\): ")
_INSTEAD = re.compile(
    r"[;,] or (upgrade the brokers to [\d.]+ or later instead|go back to [\d.]+ only)"
    r"(?:, which accepts these versions)?"
)
_IF_IT_IS = re.compile(r"if it is ([\w/-]+): (.*?)(?=; if it is |; otherwise: |$)")


class Wording(NamedTuple):
    """A fix taken apart."""

    text: str
    certainty: str
    instead: tuple[str, ...]
    is_inferred: bool


@lru_cache(maxsize=65536)
def of_fix(fix: str | None) -> Wording:
    """
    >>> of_fix("upgrade brod to 4.4.2 or later (it is old); or upgrade the brokers to 4.0.1 or later instead").text
    'upgrade brod to 4.4.2 or later'
    """
    if not fix:
        return Wording(NO_CHANGE, "none", (), False)
    instead = tuple(_INSTEAD.findall(fix))
    fix = _INSTEAD.sub("", fix)
    if fix.startswith(NOT_IDENTIFIED):
        return Wording(IDENTIFY, "open", instead, False)
    text = without_brackets(_PROBABLY.sub("", fix))
    return Wording(text, _certainty(text), instead, text != without_brackets(fix))


_DEPENDS = (PINNED[: PINNED.index("(")].rstrip(), "no release ", "none of ")
"""How a change begins that is no more than a possibility: a setting that may be there, a way around what no release has."""
_OF_OTHERS = "ask "
"""How one begins that others have to answer: nothing is known that the owner can do."""


def _certainty(text: str) -> str:
    """
    >>> _certainty("ask AWS: there is nothing to upgrade"), _certainty("no release can log in: use PLAIN"), _certainty("upgrade")
    ('none', 'conditional', 'exact')
    """
    if text.startswith(_OF_OTHERS):
        return "none"
    return "conditional" if text.startswith(_DEPENDS) else "exact"


def by_candidate(fix: str | None) -> dict[str, str]:
    """What to change if an unidentified client is one of its candidates, by library.

    >>> by_candidate("library not identified: if it is brod: upgrade brod; if it is kafkajs: replace it; otherwise: x")
    {'brod': 'upgrade brod', 'kafkajs': 'replace it'}
    """
    return dict(_IF_IT_IS.findall(_INSTEAD.sub("", fix or "")))


def for_any_other(fix: str | None) -> str:
    """What to change if an unidentified client is another library than those that `by_candidate` has.

    >>> for_any_other("library not identified: if it is brod: upgrade brod; otherwise: upgrade the library")
    'upgrade the library'
    """
    return _INSTEAD.sub("", fix or "").rpartition("otherwise: ")[2].removeprefix(f"{NOT_IDENTIFIED}: ")


def changes(applications: Iterable[Application]) -> tuple[Change, ...]:
    """Of all clients that break. The surest first, so what is no fix comes last; among these, what cures most applications
    together with what stands before it, then most clients."""
    groups: dict[str, list[tuple[Application, ClientVerdict]]] = {}
    needs: Counter[frozenset[str]] = Counter()
    for application in applications:
        broken = [client for client in application.clients if client.verdict == Verdict.BREAKS]
        for client in broken:
            groups.setdefault(of_fix(client.fix).text, []).append((application, client))
        if broken:
            needs[frozenset(of_fix(client.fix).text for client in broken)] += 1
    sureness = {text: _sureness(members) for text, members in groups.items()}
    result: list[Change] = []
    done: set[str] = set()

    def order(text: str) -> tuple[int, int, int, str]:
        cured = sum(count for need, count in needs.items() if text in need and need <= done | {text})
        return sureness[text], -cured, -len(groups[text]), text

    while len(done) < len(groups):
        text = min(groups.keys() - done, key=order)
        done.add(text)
        fixes = {each for each in done if _CERTAINTY[sureness[each]] in FIXES}
        left = sum(count for need, count in needs.items() if not need <= fixes)
        result.append(_change(text, groups[text], left))
    return tuple(result)


def _sureness(members: Iterable[tuple[Application, ClientVerdict]]) -> int:
    return min(_CERTAINTY.index(of_fix(client.fix).certainty) for _, client in members)


def _change(text: str, members: Sequence[tuple[Application, ClientVerdict]], left: int) -> Change:
    parts = [of_fix(client.fix) for _, client in members]
    owners = Counter(client.owner for _, client in members)
    certainty = _CERTAINTY[_sureness(members)]
    return Change(
        text=text,
        certainty=certainty,
        is_fix=certainty in FIXES,
        instead=tuple(sorted({each for part in parts for each in part.instead})),
        edits=edits_of(text) if certainty == "exact" else (),
        clients=len(members),
        inferred=sum(part.is_inferred for part in parts),
        owners=tuple(sorted(owners, key=lambda owner: (-owners[owner], owner is None, owner or ""))),
        applications_left=left,
        applications=tuple({id(application): application for application, _ in members}.values()),
    )


def certainties_of(application: Application) -> frozenset[str]:
    """Of the changes of all its clients that break: keys of CERTAINTIES."""
    broken = (client for client in application.clients if client.verdict == Verdict.BREAKS)
    return frozenset(of_fix(client.fix).certainty for client in broken)


def clients_of(change: Change, application: Application) -> list[ClientVerdict]:
    """Clients of an application that this change cures."""
    return [client for client in application.clients if client.change == change.text]


def needs_more(change: Change, applications: Sequence[Application] | None = None) -> list[Application]:
    """Of these applications of the change, all by default, those with other clients that need another change too."""
    return [
        each
        for each in (change.applications if applications is None else applications)
        if any(client.change not in (None, change.text) for client in each.clients)
    ]


def inferred(change: Change, applications: Iterable[Application]) -> str:
    """Of these applications' clients: whose library is inferred, which versions fit, and why the change names another one;
    empty where all declare it."""
    guessed = [
        client
        for application in applications
        for client in clients_of(change, application)
        if of_fix(client.fix).is_inferred
    ]
    if not guessed:
        return ""
    fitting = sorted({(client.identified_as or "").removeprefix("probably ") for client in guessed} - {""})
    whose = "its" if len(guessed) == 1 else "their"
    named = f", which fit {', '.join(fitting)}" if fitting else ""
    text = f"The library of {counted(len(guessed), 'client')} is not declared; it was inferred from {whose} requests{named}."
    pins = [words for library, words in PINS.items() if f"{library} (any version" in named]
    if change.text.startswith("upgrade ") and pins:
        text += (
            f" The named version works with default settings. If the application already runs it or a later one, its "
            f"configuration pins an older protocol version ({either(pins)}): raise that instead."
        )
    return text


def edits_of(text: str) -> tuple[Edit, ...]:
    """Edits of a change. Several of one clause (pom.xml, build.gradle) are alternatives, and so are clauses that `or` joins."""
    found: dict[edits.Edit, bool] = {}
    joined = ""
    for part in _JOINED.split(text):
        if _JOINED.fullmatch(part):
            joined = part
            continue
        for place, edit in enumerate(edits.of(part)):
            found.setdefault(edit, bool(found) and (place > 0 or "or" in joined.split()))
    return tuple(
        Edit(e.file, e.line, e.release_notes or None, alternative) for e, alternative in found.items()
    )


_JOINED = re.compile(r"((?:[,;] )?(?:\bor(?! (?:later|newer)\b)|\band)\b |[,;] )")
"""What stands between the clauses of a change."""


def first_of(changes_: Sequence[Change], owner: str | None) -> tuple[str | None, int]:
    """The change to make first for one owner, and how many of the owner's applications have clients that it cures."""
    ranked = [
        (_CERTAINTY.index(change.certainty), -sum(a.owner == owner for a in change.applications), place)
        for place, change in enumerate(changes_)
        if change.is_fix and owner in change.owners
    ]
    if not ranked:
        return None, 0
    _, count, place = min(ranked)
    return changes_[place].text, -count
