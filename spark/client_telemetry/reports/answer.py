"""The sentence that is the answer, in good grammar for none, one and many."""

from collections.abc import Iterable, Mapping

from client_telemetry.reports.model import Phrase

LONGEST_TRIGGER = 48
"""Characters. A longer trigger does not fit into the sentence; the client's row has it."""


def answer(
    cluster: str,
    from_release: str,
    to_release: str,
    counts: Mapping[str, int],
    triggers: Iterable[str | None],
    is_rollback: bool = False,
    seen_in: str | None = None,
) -> tuple[Phrase, ...]:
    """The answer in pieces. `counts`: clients per outcome. `triggers`: those of the clients that break later.
    `is_rollback`: the release is older. `seen_in`: what it rests on, where that is little.

    >>> counts = {"breaks_at_once": 1, "breaks_latent": 2, "safe": 39, "insufficient_evidence": 0}
    >>> text(answer("orders-eu", "3.9.1", "4.0.0", counts, ["offset reset: new group", "offset reset"]))
    'Upgrading cluster orders-eu from 3.9.1 to 4.0.0 breaks 1 of 42 clients at once and 2 more at their next \
offset reset. 39 are safe, none lacks evidence.'
    """
    total = sum(counts.values())
    change = f"from {from_release} to {to_release}"
    opening = f"{'Going back' if is_rollback else f'Upgrading cluster {cluster}'} {change} "
    if is_rollback:
        opening += f"on cluster {cluster} "
    if seen_in:
        opening = f"As far as {seen_in} show, {opening[0].lower()}{opening[1:]}"
    if total == 0:
        return (Phrase(opening), Phrase("cannot be judged: no client was seen."))
    broken = _broken(counts, total, triggers)
    rest = _rest(counts, total)
    return (Phrase(opening), *broken, Phrase(". "), *rest, Phrase("."))


def text(phrases: Iterable[Phrase]) -> str:
    return "".join(phrase.text for phrase in phrases)


def _broken(counts: Mapping[str, int], total: int, triggers: Iterable[str | None]) -> list[Phrase]:
    at_once, latent = counts.get("breaks_at_once", 0), counts.get("breaks_latent", 0)
    seen = f" of {total:,} clients" if total > 1 else " of 1 client"
    if not at_once and not latent:
        known = " as far as is known" if counts.get("insufficient_evidence") else ""
        return [
            Phrase(f"breaks none{seen}{known}" if total > 1 else f"does not break the only client{known}")
        ]
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
    return phrases


def _rest(counts: Mapping[str, int], total: int) -> list[Phrase]:
    """The verdicts that occur besides `breaks`; a lack of evidence is always told, also that there is none."""
    words = (
        ("safe", "is safe", "are safe"),
        ("degrades", "degrades", "degrade"),
        ("unsupported", "works without being supported", "work without being supported"),
        ("insufficient_evidence", "lacks evidence", "lack evidence"),
    )
    phrases: list[Phrase] = []
    for outcome, one, many in words:
        count = counts.get(outcome, 0)
        if not count and outcome != "insufficient_evidence":
            continue
        phrases += [Phrase(", ")] if phrases else []
        if count:
            phrases += [Phrase(f"{count:,} {one if count == 1 else many}", outcome)]
        else:
            phrases += [Phrase(f"{'none' if phrases else 'None'} lacks evidence")]
    return phrases


def _trigger(clients: int, triggers: Iterable[str | None]) -> str:
    """When latent verdicts strike: the trigger, if it is one and the same and short enough."""
    heads = {trigger_head(trigger) for trigger in triggers}
    whose = "its" if clients == 1 else "their"
    head = heads.pop() if len(heads) == 1 else None
    if head is None:
        return (
            "later, each when something sets it off" if clients > 1 else "later, when something sets it off"
        )
    return f"at {whose} next {head}"


def trigger_head(trigger: str | None) -> str | None:
    """What comes before the explanation of a trigger, without article; None where it is missing or long.

    >>> trigger_head("an offset reset: new group, new partition")
    'offset reset'
    """
    if not trigger:
        return None
    head = trigger.replace("(", ":").replace(",", ":").split(":")[0].strip().rstrip(".")
    for article in ("a ", "an ", "the "):
        head = head.removeprefix(article)
    return head if 0 < len(head) <= LONGEST_TRIGGER else None
