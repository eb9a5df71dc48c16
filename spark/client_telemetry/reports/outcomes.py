"""Verdicts as reports count and name them."""

from collections.abc import Mapping

from client_telemetry.knowledge.vocabulary import Verdict, When

OUTCOMES = {
    "breaks_at_once": "breaks at once",
    "breaks_latent": "breaks later",
    "insufficient_evidence": "not enough evidence",
    "degrades": "degrades",
    "unsupported": "unsupported",
    "safe": "safe",
}
"""Verdicts as they are counted, in order of precedence, with their words: `breaks` is split by its `when`."""


def outcome(verdict: str, when: str | None) -> str:
    """The key of OUTCOMES: what breaks and is not known to break later breaks at once."""
    return (
        verdict if verdict != Verdict.BREAKS else "breaks_latent" if when == When.LATENT else "breaks_at_once"
    )


OUTCOME_MEANINGS = {
    "breaks_at_once": "the client's main job stops when the brokers run the new release",
    "breaks_latent": "nothing happens at first; the client's main job stops when the trigger occurs",
    "insufficient_evidence": "nothing known breaks, but not enough is known to call the client safe",
    "degrades": "the client keeps doing its main job but loses a function",
    "unsupported": "works, but Kafka no longer supports this client version",
    "safe": "every request that its role needs was observed or is declared, and the new release accepts it",
}


SAFE_SO_FAR = "safe so far"


SAFE_SO_FAR_MEANING = "safe by all that was seen, but not observed for long enough by the client's own rhythm"


def split_safe(counts: Mapping[str, int], safe_so_far: int) -> dict[str, int]:
    """Numbers by outcome in which the safe ones are without those that are safe so far, which come last.

    >>> split_safe({"breaks_at_once": 1, "safe": 3}, 1)
    {'breaks_at_once': 1, 'safe': 2, 'safe so far': 1}
    """
    return {**counts, "safe": counts["safe"] - safe_so_far, SAFE_SO_FAR: safe_so_far}
