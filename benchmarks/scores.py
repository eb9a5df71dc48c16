"""What a page of accuracy counts: predictions, scores, tables and the list of misses."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from client_telemetry.knowledge.vocabulary import Verdict

WORKS = "works"
COLUMNS = ("cases", "break", "found", "false alarms", "wrong safe", "undecided")


@dataclass(frozen=True)
class Prediction:
    kind: str
    """Of evidence."""
    library: str
    name: str
    """Of the client or program."""
    target: str
    outcome: str
    """works, degrades or breaks: what happened."""
    verdict: str
    reason: str

    @property
    def is_wrong_safe(self) -> bool:
        return self.outcome != WORKS and self.verdict in (Verdict.SAFE, Verdict.UNSUPPORTED)

    @property
    def is_false_alarm(self) -> bool:
        return self.outcome == WORKS and self.verdict in (Verdict.BREAKS, Verdict.DEGRADES)

    @property
    def is_undecided(self) -> bool:
        return self.verdict == Verdict.INSUFFICIENT_EVIDENCE

    @property
    def is_right(self) -> bool:
        return not (self.is_wrong_safe or self.is_false_alarm or self.is_undecided)


def grouped(some: Iterable[Prediction], by: Callable[[Prediction], str]) -> dict[str, list[Prediction]]:
    found: dict[str, list[Prediction]] = {}
    for each in some:
        found.setdefault(by(each), []).append(each)
    return found


def table(title: str, groups: dict[str, list[Prediction]]) -> list[str]:
    lines = [f"| {title} | {' | '.join(COLUMNS)} |", f"|---|{'---:|' * len(COLUMNS)}"]
    for name, some in sorted(groups.items()):
        breaking = [each for each in some if each.outcome == Verdict.BREAKS]
        cells = (
            len(some),
            len(breaking),
            sum(each.verdict == Verdict.BREAKS for each in breaking),
            sum(each.is_false_alarm for each in some),
            sum(each.is_wrong_safe for each in some),
            sum(each.is_undecided for each in some),
        )
        lines.append(f"| {name} | {' | '.join(map(str, cells))} |")
    return [*lines, ""]


def misses(some: Iterable[Prediction]) -> list[str]:
    """One line for each client, outcome, verdict and reason, with its targets."""
    together: dict[tuple[str, str, str, str], set[str]] = {}
    for each in some:
        reason = each.reason.split("; settled by")[0].replace(each.target.split()[0], "the target")
        key = (
            each.name,
            each.outcome,
            each.verdict,
            reason.split("; the target accepts")[0].replace("|", "\\|"),
        )
        together.setdefault(key, set()).add(each.target)
    if not together:
        return ["No miss.", ""]
    lines = ["| client | happened | predicted | targets | why |", "|---|---|---|---|---|"]
    for (name, outcome, verdict, reason), targets in sorted(together.items()):
        lines.append(f"| {name} | {outcome} | {verdict} | {', '.join(sorted(targets))} | {reason} |")
    return [*lines, ""]
