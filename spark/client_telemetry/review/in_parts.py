"""A review made in parts: clients are judged apart from each other, by as many workers as there are, and put together. Pure.

What one client's outcome needs of the others is in Setting, which is made first: when brokers changed, failed logins, and which
requests were refused on connections that name nobody. Who may have sent those is looked for among all clients, so that clients
that may (suspects) are judged at the end, together.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from client_telemetry.identity.owners import OwnerRule, first_match
from client_telemetry.review import functions, metric_changes, metric_curves, prediction
from client_telemetry.review.activity import Activity, Evidence, FailedLogin
from client_telemetry.review.judge_client import Surroundings, outcomes
from client_telemetry.review.metric_changes import Compare, CompareColumns
from client_telemetry.review.metric_curves import GroupSums
from client_telemetry.review.metric_curves import Span as CurveSpan
from client_telemetry.review.model import Review, ReviewedClient, WindowWithoutData
from client_telemetry.review.phases import Upgrade, upgrade_of
from client_telemetry.review.prediction import Prediction, compared, evidence_of, predict
from client_telemetry.review.rule_records import rule_records
from client_telemetry.review.signs import Refusal, attributed
from client_telemetry.review.tracks import Track, tracks
from client_telemetry.review.windows import Windows, windows

Predictions = Mapping[tuple[str | None, str, str], Prediction]
"""By client id, principal and software name."""


@dataclass(frozen=True)
class Setting:
    """What is the same for all clients. `refused`: address, API key and version of refusals that name nobody. `times`: what metrics
    are compared over; None = too short. `shown`: what curves show. `owner_rules`: the user's."""

    from_release: str
    to_release: str
    around: Surroundings
    refused: frozenset[tuple[str, int, int]]
    slot_seconds: float
    times: Windows | None
    shown: CurveSpan
    owner_rules: Sequence[OwnerRule] = ()

    @property
    def upgrade(self) -> Upgrade:
        return self.around.upgrade


class Part(NamedTuple):
    """What is found of some of the clients. `suspects`: those that are not judged yet, with what was predicted of them.
    `columns`: comparisons too; `answered`: see Review."""

    clients: list[ReviewedClient]
    suspects: list[tuple[Track, Prediction | None]]
    comparisons: list[Compare]
    curves: GroupSums
    answered: dict[int, set[tuple[str | None, str]]]
    columns: tuple[CompareColumns, ...] = ()


def setting(
    evidence: Evidence,
    from_release: str,
    to_release: str,
    until: float | None = None,
    owner_rules: Sequence[OwnerRule] = (),
) -> Setting:
    """Raises NoSuchUpgrade, and WindowWithoutData where nothing was recorded of anybody."""
    upgrade = upgrade_of(evidence.runs, evidence.features, from_release, to_release, until)
    first = evidence.first
    if first is None:
        raise WindowWithoutData(_NOTHING)
    around = Surroundings.of(
        upgrade,
        evidence.failed_logins,
        evidence.slot_seconds,
        stops_and_starts=[at for run in evidence.runs for at in (run.started, run.until)],
        data_from=first,
        has_failed_logins=evidence.has_failed_logins,
    )
    refused = frozenset((each.address, each.api_key, each.version) for each in evidence.unnamed_refusals)
    return Setting(
        from_release,
        to_release,
        around,
        refused,
        evidence.slot_seconds,
        windows(upgrade, first),
        metric_curves.shown(upgrade, first),
        owner_rules,
    )


def part(
    activities: Iterable[Activity], common: Setting, predictions: Predictions | None = None
) -> tuple[Part, list[Track]]:
    """Of all activities of some of the clients; the tracks as well. `predictions`: of a report; a client that is not among them
    is judged by what it did before the first broker changed. Raises what judge raises of releases."""
    upgrade = common.upgrade
    found = tracks(activities, upgrade.began)
    made = Part([], [], [], {}, {})
    for track in found:
        foreseen = (predictions or {}).get(track.key)
        if foreseen is None:
            evidence = evidence_of(track, upgrade.old, upgrade.began)
            foreseen = predict(evidence, common.from_release, common.to_release)
        if common.refused and _may_be_refused(track, common.refused):
            made.suspects.append((track, foreseen))
        else:
            made.clients.append(_reviewed(track, foreseen, (), common))
        if common.times is not None:
            made.comparisons.extend(metric_changes.of_track(track, common.times, common.slot_seconds))
        rule = _owner_rule(track, common)
        metric_curves.add_track(made.curves, track, rule.owner if rule else None, common.shown)
        _add_answered(made.answered, track, upgrade.new)
    return made, found


def assembled(
    made: Sequence[Part], evidence: Evidence, common: Setting
) -> tuple[Review, list[Compare], GroupSums]:
    """The review of all parts, comparisons of metrics to be made, and sums of their curves. Of `evidence` all but its activities is
    needed. Raises WindowWithoutData."""
    suspects = [each for one in made for each in one.suspects]
    refusals = attributed([track for track, _ in suspects], evidence.unnamed_refusals)
    clients = [client for one in made for client in one.clients]
    for index, (track, foreseen) in enumerate(suspects):
        clients.append(_reviewed(track, foreseen, refusals.get(index, ()), common))
    if not clients:
        raise WindowWithoutData(_NOTHING)
    clients.sort(key=lambda client: (client.client_id or "", client.principal, client.track_name))
    explained = {(r.api_key, r.version) for own in refusals.values() for r in own}
    answered: dict[int, set[tuple[str | None, str]]] = {}
    curves: GroupSums = {}
    for one in made:
        metric_curves.add(curves, one.curves)
        for broker, own in one.answered.items():
            answered.setdefault(broker, set()).update(own)
    found = Review(
        evidence.cluster_id,
        common.upgrade,
        tuple(clients),
        rule_records(clients),
        unexplained_logins=tuple(_logins_by_address(evidence.failed_logins)),
        unexplained_refusals=sum(
            each.requests
            for each in evidence.unnamed_refusals
            if (each.api_key, each.version) not in explained
        ),
        has_failed_logins=evidence.has_failed_logins,
        has_refusals=evidence.has_refusals,
        answered={broker: frozenset(own) for broker, own in answered.items()},
    )
    comparisons = [each for one in made for each in one.comparisons]
    comparisons += [each for one in made for columns in one.columns for each in columns.comparisons()]
    return found, comparisons, curves


def review(
    evidence: Evidence,
    from_release: str,
    to_release: str,
    until: float | None = None,
    predictions: Predictions | None = None,
) -> Review:
    """In one part, without metrics. Raises NoSuchUpgrade and WindowWithoutData, and what judge raises of releases."""
    common = setting(evidence, from_release, to_release, until)
    made, _ = part(evidence.activities, common, predictions)
    return assembled([made], evidence, common)[0]


_NOTHING = "no client was recorded during the upgrade"


def _may_be_refused(track: Track, refused: frozenset[tuple[str, int, int]]) -> bool:
    """Whether it sent, from one of its addresses, what was refused there (signs.attributed)."""
    sent = [*track.used, *((each.api_key, each.version) for each in track.failures if each.refused)]
    return any((address, *api) in refused for address in track.addresses for api in sent)


def _add_answered(
    answered: dict[int, set[tuple[str | None, str]]], track: Track, new: frozenset[str]
) -> None:
    for activity in track.activities:
        if activity.incarnation in new and any(
            use.answered and key not in functions.PLUMBING for (key, _), use in activity.uses.items()
        ):
            client = activity.client
            answered.setdefault(activity.broker_id, set()).add((client.client_id, client.principal))


def _reviewed(
    track: Track, foreseen: Prediction | None, refusals: Sequence[Refusal], common: Setting
) -> ReviewedClient:
    known = (foreseen or prediction.NOTHING).knowledge
    happened = tuple(outcomes(track, refusals, known, common.around))
    name, version = track.software
    rule = _owner_rule(track, common)
    return ReviewedClient(
        track.key.client_id,
        track.key.principal,
        name,
        version,
        tuple(sorted(track.addresses)),
        tuple(sorted(track.protocols)),
        foreseen,
        happened,
        compared(foreseen, happened),
        tuple(sorted(track.groups)),
        rule.owner if rule else None,
        rule.contact if rule else None,
        track_name=track.key.software_name,
    )


def _owner_rule(track: Track, common: Setting) -> OwnerRule | None:
    return first_match(
        common.owner_rules, track.key.principal, track.key.client_id, track.groups, track.addresses
    )


def _logins_by_address(logins: Sequence[FailedLogin]) -> list[FailedLogin]:
    found: dict[tuple[str, str | None], FailedLogin] = {}
    for each in logins:
        key = each.address, each.mechanism
        before = found.get(key)
        if before is None:
            found[key] = each
        else:
            found[key] = before._replace(
                first=min(before.first, each.first),
                last=max(before.last, each.last),
                connections=before.connections + each.connections,
            )
    return [found[key] for key in sorted(found, key=lambda k: (k[0], k[1] or ""))]
