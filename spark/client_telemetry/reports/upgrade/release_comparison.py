"""The comparison of nearby releases: applications per outcome on each, who fares otherwise, and which is better."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from client_telemetry.console.counted import counted
from client_telemetry.console.grouped import grouped
from client_telemetry.reports.outcomes import OUTCOMES, outcome
from client_telemetry.reports.upgrade.applications import outcome_on
from client_telemetry.reports.upgrade.model import Application, Target, TargetDifference
from client_telemetry.tables.rows import TargetRecord

NAMED = 5
"""Applications of a difference that are named."""
_REASONS = 2
"""Reasons that the sentence names."""


def compared_targets(
    rows: Iterable[TargetRecord], to_release: str, applications: Sequence[Application]
) -> tuple[Target, ...]:
    """`rows`: upgrade_reports.targets, which count clients; applications are counted here."""
    targets = []
    for row in rows:
        release = row["to_release"]
        found = Counter(outcome_on(each, release) for each in applications)
        counts = {name: found[name] for name in OUTCOMES}
        again = sum(
            each.works_again if release == to_release else _works_again(each, release)
            for each in applications
        )
        so_far = sum(
            outcome_on(each, release) == "safe" and not _well_observed(each) for each in applications
        )
        targets.append(Target(release, release == to_release, counts, so_far, again))
    return tuple(targets)


def _works_again(application: Application, release: str) -> bool:
    """Whether a client of it that is already failing is served there: conclusion.py says the same of a verdict."""
    return any(
        client.already_failing
        and not outcome_on(client, release).startswith(("breaks", "insufficient_evidence"))
        for client in application.clients
    )


def _well_observed(application: Application) -> bool:
    return any(client.well_observed for client in application.clients)


def target_differences(applications: Iterable[Application]) -> tuple[TargetDifference, ...]:
    """Applications that fare otherwise in the same way, on the same releases, for the same reason; most first."""
    groups: dict[tuple[tuple[str, ...], str, str, str, bool], list[Application]] = defaultdict(list)
    for application in applications:
        alike = grouped(
            application.other_targets, lambda other: (outcome(other.verdict, other.when), other.reason)
        )
        for (there, reason), others in alike.items():
            where = tuple(other.to_release for other in others)
            key = (where, application.outcome, there, reason, _well_observed(application))
            groups[key].append(application)
    differences = [
        TargetDifference(
            where, here, there, reason, well_observed, len(alike), tuple(each.name for each in alike[:NAMED])
        )
        for (where, here, there, reason, well_observed), alike in groups.items()
    ]
    return tuple(
        sorted(differences, key=lambda each: (-each.applications, each.releases, each.there, each.reason))
    )


def better_target(
    targets: Sequence[Target], applications: Sequence[Application], is_rollback: bool
) -> str | None:
    """The sentence that names the nearby release on which fewest applications break, nearest first, or where none breaks
    fewer, on which fewest lack evidence; None where no release is better. `targets` are in the order of releases."""
    asked = next((target for target in targets if target.is_asked), None)
    better = [target for target in targets if asked and _broken(target) < _broken(asked)]
    if asked is None:
        return None
    if not better:
        return _settling_target(targets, asked, is_rollback)
    nearest_first = list(reversed(better)) if is_rollback else better
    best = min(nearest_first, key=lambda target: (_broken(target), target.counts["insufficient_evidence"]))
    later = targets[targets.index(best) + 1 :]
    and_later = later and not is_rollback and all(_broken(each) == _broken(best) for each in later)
    opening = f"{best.to_release} and later break" if and_later else f"{best.to_release} breaks"
    later_too = best.counts["breaks_latent"] != asked.counts["breaks_latent"]
    broken = f"{best.counts['breaks_at_once']:,} at once" if _broken(best) else "none"
    if later_too and _broken(best):
        broken += f" and {best.counts['breaks_latent']:,} later"
    freed = [
        application
        for application in applications
        if _breaks(application) and not _breaks(application, best.to_release)
    ]
    added = sum(
        _breaks(application, best.to_release) and not _breaks(application) for application in applications
    )
    only = not any(
        _breaks(application, each.to_release)
        for application in freed
        for each in targets
        if not each.is_asked
    )
    fail = "fails" if len(freed) == 1 else "fail"
    where = (
        f"{fail} only on {asked.to_release}"
        if only
        else f"{fail} on {asked.to_release} but not on {best.to_release}"
    )
    more = f", and {counted(added, 'other')} {'fails' if added == 1 else 'fail'} there" if added else ""
    return (
        f"{opening} {broken}: {counted(len(freed), 'application')} {where}"
        f"{_reasons(freed, best.to_release)}{more}.{_settled(asked, best)}"
    )


def _settled(asked: Target, best: Target) -> str:
    settled = asked.counts["insufficient_evidence"] - best.counts["insufficient_evidence"]
    if settled <= 0:
        return ""
    verb = "lacks" if settled == 1 else "lack"
    return f" It also settles {counted(settled, 'application')} that {verb} evidence on {asked.to_release}."


def _settling_target(targets: Sequence[Target], asked: Target, is_rollback: bool) -> str | None:
    """The sentence that names the nearby release on which fewest applications lack evidence and no more break than on the one
    asked about, nearest first; None where none leaves fewer."""
    open_ = asked.counts["insufficient_evidence"]
    settling = [
        each
        for each in targets
        if _broken(each) == _broken(asked) and each.counts["insufficient_evidence"] < open_
    ]
    if not settling:
        return None
    nearest_first = list(reversed(settling)) if is_rollback else settling
    best = min(nearest_first, key=lambda each: each.counts["insufficient_evidence"])
    left = best.counts["insufficient_evidence"]
    settled = counted(open_ - left, "application")
    lack = "lacks" if open_ - left == 1 else "lack"
    return (
        f"{best.to_release} settles {settled} that {lack} evidence on {asked.to_release}, and breaks no more."
    )


def _broken(target: Target) -> int:
    return target.counts["breaks_at_once"] + target.counts["breaks_latent"]


def _breaks(application: Application, release: str | None = None) -> bool:
    """On a release; on the one that was asked about where none is given."""
    verdict = next(
        (other.verdict for other in application.other_targets if other.to_release == release), None
    )
    return (verdict or application.verdict) == "breaks"


def _reasons(freed: Iterable[Application], release: str) -> str:
    reasons = {
        other.reason
        for application in freed
        for other in application.other_targets
        if other.to_release == release
    }
    reasons.discard("")
    return f" ({'; '.join(sorted(reasons))})" if 0 < len(reasons) <= _REASONS else ""
