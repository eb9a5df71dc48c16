"""The sentence that is the answer, in good grammar for none, one and many."""

import re
from collections.abc import Iterable, Mapping

from client_telemetry.console.counted import counted
from client_telemetry.knowledge.releases import not_one_rolling_upgrade
from client_telemetry.reports.upgrade.model import Phrase

LONGEST_TRIGGER = 52
"""Characters. A longer trigger does not fit into the sentence; the client's row has it."""

DEPRECATED_ONLY = (
    "the logs are at INFO and contain deprecated requests only (KAFKA-18272): clients that sent none are missing, and so are "
    "all other requests of those that did"
)


def answer(
    cluster: str,
    from_release: str,
    to_release: str,
    counts: Mapping[str, int],
    triggers: Iterable[str | None],
    is_rollback: bool = False,
    seen_in: str | None = None,
    safe_so_far: int = 0,
    already_failing: int = 0,
    works_again: int = 0,
    unnamed_connections: int = 0,
    connections_beyond: int = 0,
    as_before: int = 0,
) -> tuple[Phrase, ...]:
    """The answer in pieces. `counts`: applications per outcome. `triggers`: those of the applications that break later.
    `is_rollback`: the release is older. `seen_in`: the window that it rests on (`8 minutes of traffic`). `safe_so_far`:
    of the safe ones, those that were not seen for long. `already_failing`: applications that fail on the from-release;
    `works_again`: those of them that the other release serves. Not covered by any verdict: `unnamed_connections`, of nobody
    knows whom, and `connections_beyond`, which brokers counted of known software beyond those that were seen.
    `as_before`: of the applications that break later, those of which the same can be said of today.

    >>> counts = {"breaks_at_once": 1, "breaks_latent": 2, "safe": 39, "insufficient_evidence": 0}
    >>> text(answer("orders-eu", "3.9.1", "4.0.0", counts, ["offset reset: new group", "offset reset"]))
    'Upgrading cluster orders-eu from 3.9.1 to 4.0.0 breaks 1 of 42 applications at once and 2 more at their next \
offset reset. 39 are safe, and every client was seen well enough for a verdict.'
    """
    total = sum(counts.values())
    change = f"from {from_release} to {to_release}"
    opening = f"{'Rolling back' if is_rollback else f'Upgrading cluster {cluster}'} {change} "
    if is_rollback:
        opening += f"on cluster {cluster} "
    if seen_in:
        opening = f"In {seen_in}: {opening[0].lower()}{opening[1:]}"
    if total == 0:
        nobody = Phrase("cannot be judged: no client was seen.")
        return (Phrase(opening), nobody, *_not_covered(unnamed_connections, connections_beyond))
    broken = _broken(counts, total, triggers, as_before)
    failing = _failing(already_failing, works_again)
    not_covered = _not_covered(unnamed_connections, connections_beyond)
    rest = _rest(counts, safe_so_far, bool(not_covered))
    way = not_one_rolling_upgrade(from_release, to_release)
    whole = (Phrase(opening), *broken, Phrase(". "), *failing, *rest, Phrase("."), *not_covered)
    return (*whole, Phrase(f" {way}")) if way else whole


def text(phrases: Iterable[Phrase]) -> str:
    return "".join(phrase.text for phrase in phrases)


def _broken(
    counts: Mapping[str, int], total: int, triggers: Iterable[str | None], as_before: int
) -> list[Phrase]:
    at_once, latent = counts.get("breaks_at_once", 0), counts.get("breaks_latent", 0)
    seen = f" of {total:,} applications" if total > 1 else " of 1 application"
    if not at_once and not latent:
        if counts.get("insufficient_evidence"):
            which = f"any application ({total:,} checked)" if total > 1 else "the only application"
            return [Phrase(f"is not known to break {which}")]
        return [Phrase(f"breaks none{seen}" if total > 1 else "does not break the only application")]
    phrases = [Phrase("breaks ")]
    if at_once or total > 1:
        phrases += [Phrase(f"{at_once:,}", "breaks_at_once") if at_once else Phrase("none")]
        phrases += [Phrase(f"{seen} at once")]
    if latent and (at_once or total > 1):
        phrases += [
            Phrase(" and "),
            Phrase(f"{latent:,} more" if at_once else f"{latent:,}", "breaks_latent"),
        ]
    elif latent:
        phrases += [Phrase("1", "breaks_latent"), Phrase(seen)]
    if latent:
        phrases += [Phrase(f" {_trigger(latent, triggers)}")]
    if latent and as_before:
        phrases += [Phrase(", as today" if as_before == latent else f" ({as_before:,} of them as today)")]
    return phrases


def _failing(already_failing: int, works_again: int) -> list[Phrase]:
    if not already_failing:
        return []
    phrases = [
        Phrase(
            f"{already_failing:,} already {'fails' if already_failing == 1 else 'fail'}", "already_failing"
        )
    ]
    if works_again:
        whose = "" if works_again == already_failing == 1 else f"{works_again:,} of them "
        works = "works" if works_again == 1 else "work"
        phrases += [Phrase(", and "), Phrase(f"{whose}{works} again afterwards", "works_again")]
    return [*phrases, Phrase(". ")]


def _not_covered(unnamed: int, beyond: int) -> list[Phrase]:
    sentences = []
    if unnamed:
        has = "has" if unnamed == 1 else "have"
        sentences += [f" {counted(unnamed, 'connection')} from unidentified clients {has} no verdict."]
    if beyond:
        were = "was" if beyond == 1 else "were"
        sentences += [
            f" {counted(beyond, 'connection')} {were} counted by the brokers but not observed: no verdict."
        ]
    return [Phrase(sentence) for sentence in sentences]


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _rest(counts: Mapping[str, int], safe_so_far: int, is_incomplete: bool) -> list[Phrase]:
    """The verdicts that occur besides `breaks`, and that no client lacks evidence where none does. `is_incomplete`: some
    connections are covered by no verdict."""
    safe = counts.get("safe", 0) - safe_so_far
    phrases: list[Phrase] = []
    if safe:
        phrases += [Phrase(f"{safe:,} {_are(safe)} safe", "safe")]
    if safe_so_far:
        more = "more " if safe else ""
        phrases += [Phrase(", ")] if phrases else []
        phrases += [Phrase(f"{safe_so_far:,} {more}{_are(safe_so_far)} safe so far", "safe")]
    words = (
        ("degrades", "degrades", "degrade"),
        ("unsupported", "works but is unsupported", "work but are unsupported"),
        ("insufficient_evidence", "lacks evidence", "lack evidence"),
    )
    for outcome, one, many in words:
        count = counts.get(outcome, 0)
        if not count:
            continue
        phrases += [Phrase(", ")] if phrases else []
        phrases += [Phrase(f"{count:,} {one if count == 1 else many}", outcome)]
    if is_incomplete and phrases:
        return phrases
    if not counts.get("insufficient_evidence") and not safe_so_far:
        seen = "very client was seen well enough for a verdict"
        phrases += [Phrase(f", and e{seen}" if phrases else f"E{seen}")]
    return phrases


def _trigger(applications: int, triggers: Iterable[str | None]) -> str:
    """When latent verdicts strike: the trigger, if it is one and the same and short enough."""
    whose = "its" if applications == 1 else "their"
    phrases = {at_trigger(trigger, whose) for trigger in triggers}
    phrase = phrases.pop() if len(phrases) == 1 else None
    if phrase is None:
        return "later, each when triggered" if applications > 1 else "later, when triggered"
    return phrase


_SAYS_WHAT_HAPPENS = re.compile(
    r"\b(?:is|are|moves|closes|times|begins|starts|restarts|rebalances|holds|refuses|answers)\b"
)


def at_trigger(trigger: str | None, whose: str) -> str | None:
    """When a latent verdict strikes, without what follows the trigger as its explanation; None where it is missing or long.

    >>> at_trigger("an offset reset: new group, new partition", "its")
    'at its next offset reset'
    >>> at_trigger("its next start", "their")
    'at their next start'
    >>> at_trigger("its group coordinator moves or restarts", "their")
    'when their group coordinator moves or restarts'
    """
    if not trigger:
        return None
    head = trigger.replace("(", ":").replace(",", ":").split(":")[0].strip().rstrip(".")
    if not 0 < len(head) <= LONGEST_TRIGGER:
        return None
    if _SAYS_WHAT_HAPPENS.search(head):
        return f"when {re.sub(r'^its ', f'{whose} ', head)}"
    for article in ("a ", "an ", "the ", "its ", "their ", "next "):
        head = head.removeprefix(article)
    return f"at {whose} next {head}"
