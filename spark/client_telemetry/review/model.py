"""A review: an upgrade, its clients with what was predicted and what happened, and how often each rule was right. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from client_telemetry.review import outcome, prediction
from client_telemetry.review.activity import Evidence, FailedLogin
from client_telemetry.review.judge_client import Surroundings, outcomes
from client_telemetry.review.outcome import Outcome
from client_telemetry.review.phases import Upgrade, upgrade_of
from client_telemetry.review.prediction import Prediction, compared, evidence_of, predict
from client_telemetry.review.rule_records import RuleRecord, rule_records
from client_telemetry.review.signs import attributed
from client_telemetry.review.tracks import Track, tracks


class WindowWithoutData(ValueError):
    """Nothing was recorded of any client before or after; the message says which."""


@dataclass(frozen=True)
class ReviewedClient:
    """`outcomes`: one for each phase after `before`. `comparison`: of prediction.COMPARISONS."""

    client_id: str | None
    principal: str
    software_name: str
    software_version: str
    addresses: tuple[str, ...]
    listener_protocols: tuple[str, ...]
    prediction: Prediction | None
    outcomes: tuple[Outcome, ...]
    comparison: str
    groups: tuple[str, ...] = ()
    owner: str | None = None
    owner_contact: str | None = None

    @property
    def last_outcome(self) -> Outcome:
        """The latest that says something: a client that was not seen in the last phase is what it was before."""
        telling = [each for each in self.outcomes if each.outcome != outcome.NOT_SEEN]
        return telling[-1] if telling else self.outcomes[-1]

    @property
    def is_failing(self) -> bool:
        return self.last_outcome.outcome == outcome.FAILING

    @property
    def failed(self) -> Outcome | None:
        """The first phase in which it failed."""
        return next((each for each in self.outcomes if each.outcome == outcome.FAILING), None)


@dataclass(frozen=True)
class Review:
    cluster_id: str
    upgrade: Upgrade
    clients: tuple[ReviewedClient, ...]
    rules: tuple[RuleRecord, ...]
    unexplained_logins: tuple[FailedLogin, ...] = ()
    unexplained_refusals: int = 0
    has_failed_logins: bool = True
    has_refusals: bool = True
    notes: tuple[str, ...] = field(default=())
    tracks: tuple[Track, ...] = field(default=(), repr=False, compare=False)
    """What the clients did."""


def review(
    evidence: Evidence,
    from_release: str,
    to_release: str,
    until: float | None = None,
    predictions: Mapping[tuple[str | None, str, str], Prediction] | None = None,
) -> Review:
    """`predictions`: of a report, by client id, principal and software name; a client that is not among them is judged by
    what it did before the first broker changed. Raises NoSuchUpgrade and WindowWithoutData, and what judge raises of releases."""
    upgrade = upgrade_of(evidence.runs, evidence.features, from_release, to_release, until)
    found = tracks(evidence.activities, upgrade.began)
    if not found:
        raise WindowWithoutData("nothing was recorded of any client in the window of the upgrade")
    around = Surroundings.of(
        upgrade,
        evidence.failed_logins,
        evidence.slot_seconds,
        stops_and_starts=[at for run in evidence.runs for at in (run.started, run.until)],
        data_from=min(each.since for each in evidence.activities),
        has_failed_logins=evidence.has_failed_logins,
    )
    refusals = attributed(found, evidence.unnamed_refusals)
    clients = []
    for index, track in enumerate(found):
        foreseen = (predictions or {}).get(track.key)
        if foreseen is None:
            foreseen = predict(evidence_of(track, upgrade.old, upgrade.began), from_release, to_release)
        known = (foreseen or prediction.NOTHING).knowledge
        clients.append(
            _reviewed(track, foreseen, tuple(outcomes(track, refusals.get(index, ()), known, around)))
        )
    explained = {(r.api_key, r.version) for own in refusals.values() for r in own}
    return Review(
        evidence.cluster_id,
        upgrade,
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
        tracks=tuple(found),
    )


def _reviewed(track: Track, foreseen: Prediction | None, happened: tuple[Outcome, ...]) -> ReviewedClient:
    name, version = track.software
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
