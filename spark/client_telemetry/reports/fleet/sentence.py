"""The sentence of the day, in good grammar for none, one and many."""

from collections.abc import Mapping, Sequence

from client_telemetry.console.counted import counted
from client_telemetry.reports.fleet.model import Changes, Phrase


def sentence(
    counts: Mapping[str, int], changes: Sequence[Changes], by_release: Mapping[str, int]
) -> tuple[Phrase, ...]:
    """In pieces: applications, what changed against the nearest known day, who uses versions that newer releases refuse.
    `by_release`: which releases, in words -> applications that use a version that just these refuse.
    """
    if not counts["clients"]:
        return (Phrase("No client was seen."),)
    clients = counted(counts["clients"], "client")
    phrases = [Phrase(f"{counted(counts['applications'], 'application')} with {clients}", "clients")]
    known = [each for each in changes if each.is_known]
    if known:
        nearest = known[0]
        since = "since " + nearest.words
        moved = (
            f"{nearest.new_applications or 'none'} new, {nearest.gone_applications or 'none'} gone {since}"
        )
        phrases += [Phrase(", "), Phrase(moved, "changes")]
    phrases += [Phrase("; ") if known else Phrase(", ")]
    users = counts["applications_with_deprecated_versions"]
    if not users:
        return (*phrases, Phrase("none uses a request version that a newer release refuses."))
    uses = "uses" if users == 1 else "use"
    phrases += [
        Phrase(f"{users:,}", "deprecated"),
        Phrase(f" {uses} request versions that {_refusing(users, by_release)}"),
    ]
    return (*phrases, Phrase(_trend(users, known) + "."))


def _refusing(users: int, by_release: Mapping[str, int]) -> str:
    """Who refuses them, with the number of applications of which that is so where it is not all of them: `newer releases
    refuse (12 of them: 4.0.0 and later)`.
    """
    words = min(by_release, key=lambda words: ("later" not in words, words))
    if by_release[words] == users:
        return f"{words} {'refuse' if 'later' in words else 'refuses'}"
    return f"newer releases refuse ({by_release[words]:,} of them: {words})"


def _trend(users: int, known: Sequence[Changes]) -> str:
    """Against the farthest known day: `: 2 fewer than a week before`."""
    if not known:
        return ""
    then = known[-1]
    change = users - then.deprecated_applications
    if not change:
        return (
            f": as many as on {then.words}" if then.words.startswith("the") else f": as many as {then.words}"
        )
    return f": {abs(change):,} {'more' if change > 0 else 'fewer'} than {then.words}"
