"""The mixed window of a rolling upgrade and the way back, over all clients: counts, and whose verdict differs."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from client_telemetry.reports.model import ClientVerdict, Outlook
from client_telemetry.reports.wording import counted

VERDICTS = ("breaks", "insufficient_evidence", "degrades", "unsupported", "safe")
_WORDS = {
    "breaks": ("breaks", "break"),
    "insufficient_evidence": ("cannot be judged", "cannot be judged"),
    "degrades": ("degrades", "degrade"),
    "unsupported": ("works without being supported", "work without being supported"),
    "safe": ("works", "work"),
}


def mixed_window(clients: Sequence[ClientVerdict], from_release: str, to_release: str) -> Outlook:
    counts = _counts(client.mixed_verdict for client in clients)
    sentences = [f"While some brokers run {from_release} and some {to_release}, {_told(counts)}."]
    latent = sum(c.mixed_verdict == "breaks" and c.outcome == "breaks_latent" for c in clients)
    if latent:
        sentences += [
            f"Of those that break, {latent:,} {'does' if latent == 1 else 'do'} so only at a trigger."
        ]
    if counts["breaks"] > latent:
        sentences += [
            "What breaks at once does so bit by bit: as the leaders of partitions, and the coordinators of groups "
            f"and transactions, move to brokers on {to_release}."
        ]
    return _outlook(
        clients,
        counts,
        sentences,
        differs_in_the_mixed_window,
        "No client fares otherwise then than its verdict says.",
    )


def way_back(clients: Sequence[ClientVerdict], from_release: str) -> Outlook:
    """After an upgrade; a question that is itself about the way back has none."""
    counts = _counts(client.rollback_verdict for client in clients)
    sentences = [f"Once the brokers are back on {from_release}, {_told(counts)}."]
    again = sum(client.verdict == "breaks" and client.rollback_verdict == "safe" for client in clients)
    if again:
        sentences += [
            f"{counted(again, 'client')} that the upgrade breaks {'works' if again == 1 else 'work'} again then."
        ]
    return _outlook(
        clients,
        counts,
        sentences,
        differs_on_the_way_back,
        "Going back leaves or gets no client into trouble.",
    )


def _outlook(
    clients: Sequence[ClientVerdict],
    counts: dict[str, int],
    sentences: list[str],
    differs: Callable[[ClientVerdict], bool],
    none_differs: str,
) -> Outlook:
    differing = sum(map(differs, clients))
    if clients and not differing:
        sentences = [*sentences, none_differs]
    return Outlook(counts, tuple(sentences), differing)


def differs_in_the_mixed_window(client: ClientVerdict) -> bool:
    return client.mixed_verdict not in (None, client.verdict)


def differs_on_the_way_back(client: ClientVerdict) -> bool:
    """Whether going back leaves or makes trouble. That it ends the upgrade's is what one expects."""
    back = client.rollback_verdict
    return back in ("breaks", "degrades") or (back not in (None, "safe") and back != client.verdict)


def _counts(verdicts: Iterable[str | None]) -> dict[str, int]:
    found = Counter(verdicts)
    return {verdict: found[verdict] for verdict in VERDICTS}


def _told(counts: dict[str, int]) -> str:
    """
    >>> _told({"breaks": 1, "safe": 2000})
    '1 client breaks, 2,000 work'
    """
    parts = [(count, _WORDS[verdict][count != 1]) for verdict, count in counts.items() if count]
    if not parts:
        return "no client was seen"
    (first, word), *others = parts
    return ", ".join([f"{counted(first, 'client')} {word}", *(f"{n:,} {words}" for n, words in others)])
