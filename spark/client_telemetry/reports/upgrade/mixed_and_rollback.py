"""The mixed window of a rolling upgrade and the rollback, over all applications: counts, and whose verdict differs."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from client_telemetry.console.counted import counted
from client_telemetry.knowledge import measured_targets, releases
from client_telemetry.knowledge.vocabulary import Verdict
from client_telemetry.reports.upgrade.model import Application, Outlook

VERDICTS = tuple(Verdict)
_WORDS: dict[str, tuple[str, str]] = {
    Verdict.BREAKS: ("breaks", "break"),
    Verdict.INSUFFICIENT_EVIDENCE: ("cannot be judged", "cannot be judged"),
    Verdict.DEGRADES: ("degrades", "degrade"),
    Verdict.UNSUPPORTED: ("works but is unsupported", "work but are unsupported"),
    Verdict.SAFE: ("works", "work"),
}


BRIDGE = (3, 9)
"""The line on which clusters migrate from ZooKeeper to KRaft: releases.not_one_rolling_upgrade."""


def two_steps(from_release: str, to_release: str) -> str | None:
    """What replaces the mixed window and the rollback where brokers cannot be upgraded one after the other; None where they can."""
    reason = releases.not_one_rolling_upgrade(from_release, to_release)
    if not reason:
        return None
    if measured_targets.is_measured(from_release, to_release):
        return reason
    bridge = [each for each in releases.known() if releases.parse(each)[:2] == BRIDGE][-1]
    return (
        f"The change takes two upgrades: from {from_release} to {bridge}, where the cluster migrates to KRaft, then to "
        f"{to_release}. What happens while brokers run different releases, and on a rollback, differs between the two: "
        f"ask for {from_release} to {bridge} and for {bridge} to {to_release}. This report is about clients before the "
        "first and after the second."
    )


def mixed_window(applications: Sequence[Application], from_release: str, to_release: str) -> Outlook:
    counts = _counts(application.mixed_verdict for application in applications)
    sentences = [f"While some brokers run {from_release} and some {to_release}, {_in_words(counts)}."]
    latent = sum(c.mixed_verdict == Verdict.BREAKS and c.outcome == "breaks_latent" for c in applications)
    if latent:
        sentences += [
            f"Of those that break, {latent:,} {'does' if latent == 1 else 'do'} so only when triggered."
        ]
    if counts["breaks"] > latent:
        sentences += [
            "Applications that break at once stop one after the other, as partition leaders and the coordinators of groups "
            f"and transactions move to brokers on {to_release}."
        ]
    return _outlook(
        applications,
        counts,
        sentences,
        differs_in_the_mixed_window,
        "No application behaves differently while brokers run both releases.",
    )


def rollback(applications: Sequence[Application], from_release: str) -> Outlook:
    """After an upgrade; a question that is itself about a rollback has none."""
    counts = _counts(application.rollback_verdict for application in applications)
    sentences = [f"Once the brokers are back on {from_release}, {_in_words(counts)}."]
    again = sum(
        application.verdict == Verdict.BREAKS and application.rollback_verdict == Verdict.SAFE
        for application in applications
    )
    if again:
        sentences += [
            f"{counted(again, 'application')} that the upgrade breaks {'works' if again == 1 else 'work'} again."
        ]
    return _outlook(
        applications,
        counts,
        sentences,
        differs_on_rollback,
        "Rolling back breaks no application.",
    )


def _outlook(
    applications: Sequence[Application],
    counts: dict[str, int],
    sentences: list[str],
    differs: Callable[[Application], bool],
    none_differs: str,
) -> Outlook:
    differing = sum(map(differs, applications))
    if applications and not differing:
        sentences = [*sentences, none_differs]
    return Outlook(counts, tuple(sentences), differing)


def differs_in_the_mixed_window(application: Application) -> bool:
    return application.mixed_verdict not in (None, application.verdict)


def differs_on_rollback(application: Application) -> bool:
    """Whether going back leaves or makes trouble. That it ends the upgrade's is what one expects."""
    back = application.rollback_verdict
    return back in (Verdict.BREAKS, Verdict.DEGRADES) or (
        back not in (None, Verdict.SAFE) and back != application.verdict
    )


def _counts(verdicts: Iterable[str | None]) -> dict[str, int]:
    found = Counter(verdicts)
    return {verdict: found[verdict] for verdict in VERDICTS}


def _in_words(counts: dict[str, int]) -> str:
    """
    >>> _in_words({"breaks": 1, "safe": 2000})
    '1 application breaks, 2,000 work'
    """
    parts = [(count, _WORDS[verdict][count != 1]) for verdict, count in counts.items() if count]
    if not parts:
        return "no client was seen"
    (first, word), *others = parts
    return ", ".join([f"{counted(first, 'application')} {word}", *(f"{n:,} {words}" for n, words in others)])
