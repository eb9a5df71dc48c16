"""A review made in parts: clients are judged independently, by as many workers as there are, and put together. Pure.

What one client's outcome needs from others is in Setting, which is computed first: when brokers changed, failed logins,
and which requests were refused on connections without a known client. Possible senders of those are searched among all
clients, so such clients (suspects) are judged together at the end.
"""

from collections.abc import Iterable, Mapping, Sequence

from client_telemetry.activity.records import Activity, Evidence, FailedLogin
from client_telemetry.identity.owners import OwnerRule, first_match
from client_telemetry.review import functions, metric_changes, metric_curves, prediction
from client_telemetry.review.common_minutes import with_common_minutes
from client_telemetry.review.foreseen import evidence_of, of_cause, predict
from client_telemetry.review.hosts import hosts_of, with_hosts
from client_telemetry.review.judge_client import Surroundings, outcomes
from client_telemetry.review.metric_changes import Compare
from client_telemetry.review.metric_curves import GroupSums
from client_telemetry.review.model import Review, ReviewedClient, WindowWithoutData
from client_telemetry.review.outcome import Happened
from client_telemetry.review.phases import upgrade_of
from client_telemetry.review.prediction import Comparison, Prediction, compared
from client_telemetry.review.rule_records import rule_records
from client_telemetry.review.setting import Part, Predictions, Setting
from client_telemetry.review.signs import NOTHING_REFUSED, Attributed, Exactness, attributed
from client_telemetry.review.tracks import Track, tracks
from client_telemetry.review.windows import windows


def setting(
    evidence: Evidence,
    from_release: str,
    to_release: str,
    owner_rules: Sequence[OwnerRule] = (),
    began: float | None = None,
    scram_users: frozenset[str] | None = None,
    offered: Mapping[str, tuple[str, ...]] | None = None,
) -> Setting:
    """`began`: see upgrade_of. Raises NoSuchUpgrade, and WindowWithoutData if nothing was recorded of any client."""
    upgrade = upgrade_of(
        evidence.runs, evidence.features, from_release, to_release, began, evidence.requests_until
    )
    first = evidence.first
    if first is None:
        raise WindowWithoutData(_NOTHING)
    around = Surroundings.of(
        upgrade,
        evidence.failed_logins,
        Exactness(evidence.slot_seconds, evidence.fine_from, evidence.fine_slot_seconds),
        stops_and_starts=[at for run in evidence.runs for at in (run.started, run.until)],
        data_from=first,
        has_failed_logins=evidence.has_failed_logins,
    )
    refused = frozenset(
        (refusal.address, refusal.api_key, refusal.version) for refusal in evidence.unnamed_refusals
    )
    return Setting(
        from_release,
        to_release,
        around,
        refused,
        evidence.slot_seconds,
        windows(upgrade, first),
        metric_curves.shown(upgrade, first),
        owner_rules,
        scram_users,
        offered or {},
    )


def part(
    activities: Iterable[Activity], common: Setting, predictions: Predictions | None = None
) -> tuple[Part, list[Track]]:
    """For all activities of some of the clients; also returns their tracks. `predictions`: from a report; a client
    without one is judged by what it did before the first broker changed. Raises what judge raises about releases.
    """
    upgrade = common.upgrade
    all_tracks = tracks(activities, upgrade.began)
    result = Part([], [], [], {}, {})
    for track in all_tracks:
        foreseen = (predictions or {}).get(track.key)
        if foreseen is None:
            evidence = evidence_of(track, upgrade.old, upgrade.began, common.scram_users, common.offered)
            foreseen = predict(evidence, common.from_release, common.to_release)
        if common.refused and _may_be_refused(track, common.refused):
            result.suspects.append((track, foreseen))
        else:
            result.clients.append(_reviewed(track, foreseen, NOTHING_REFUSED, common))
        if common.times is not None:
            result.comparisons.extend(metric_changes.of_track(track, common.times, common.slot_seconds))
        rule = _owner_rule(track, common)
        metric_curves.add_track(result.curves, track, rule.owner if rule else None, common.shown)
        _add_answered(result.answered, track, upgrade.new)
    return result, all_tracks


def assembled(
    parts: Sequence[Part], evidence: Evidence, common: Setting
) -> tuple[Review, list[Compare], GroupSums]:
    """The review of all parts, comparisons of metrics to be made, and sums of their curves. From `evidence` everything
    except its activities is used. Raises WindowWithoutData.
    """
    suspects = [suspect for reviewed_part in parts for suspect in reviewed_part.suspects]
    refusals = attributed([track for track, _ in suspects], evidence.unnamed_refusals)
    clients = [client for reviewed_part in parts for client in reviewed_part.clients]
    for index, (track, foreseen) in enumerate(suspects):
        clients.append(_reviewed(track, foreseen, refusals.get(index, NOTHING_REFUSED), common))
    if not clients:
        raise WindowWithoutData(_NOTHING)
    clients.sort(key=lambda client: (client.client_id or "", client.principal, client.track_name))
    reviewed, minutes = with_common_minutes(clients)
    explained = {api for own in refusals.values() for api in own.is_shared}
    answered: dict[int, set[tuple[str | None, str]]] = {}
    curves: GroupSums = {}
    for reviewed_part in parts:
        metric_curves.add(curves, reviewed_part.curves)
        for broker, own in reviewed_part.answered.items():
            answered.setdefault(broker, set()).update(own)
    assembled_review = Review(
        evidence.cluster_id,
        common.upgrade,
        reviewed,
        rule_records([(each.prediction, each.outcomes, each.comparison) for each in reviewed]),
        unexplained_logins=tuple(_logins_by_address(evidence.failed_logins)),
        unexplained_refusals=sum(
            refusal.requests
            for refusal in evidence.unnamed_refusals
            if (refusal.api_key, refusal.version) not in explained
        ),
        has_failed_logins=evidence.has_failed_logins,
        has_refusals=evidence.has_refusals,
        broker_events=(*evidence.broker_events, *minutes),
        answered={broker: frozenset(own) for broker, own in answered.items()},
    )
    comparisons = [comparison for reviewed_part in parts for comparison in reviewed_part.comparisons]
    comparisons += [
        comparison
        for reviewed_part in parts
        for columns in reviewed_part.columns
        for comparison in columns.comparisons()
    ]
    return assembled_review, comparisons, curves


def review(evidence: Evidence, from_release: str, to_release: str) -> Review:
    """A review in one part, without metrics. Raises NoSuchUpgrade and WindowWithoutData, and what judge raises about
    releases.
    """
    common = setting(evidence, from_release, to_release)
    reviewed_part, _ = part(evidence.activities, common)
    return assembled([reviewed_part], evidence, common)[0]


_NOTHING = "no client was recorded during the upgrade"


def _may_be_refused(track: Track, refused: frozenset[tuple[str, int, int]]) -> bool:
    """Whether the client sent, from one of its addresses, what was refused there (signs.attributed)."""
    sent = [
        *track.used,
        *((failure.api_key, failure.version) for failure in track.failures if failure.refused),
    ]
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
    track: Track, foreseen: Prediction | None, refused: Attributed, common: Setting
) -> ReviewedClient:
    library = (foreseen or prediction.NOTHING).knowledge
    happened = outcomes(track, refused.refusals(), library, common.around)
    hosts = hosts_of(track, common.upgrade, common.around.data_from)
    if hosts is not None:
        happened = with_hosts(
            happened,
            hosts,
            lambda address, own: outcomes(own, refused.refusals(address), library, common.around, hosts),
        )
    comparison = compared(foreseen, happened)
    if foreseen is None and any(each.outcome == Happened.FAILING for each in happened):
        # A new client that meets what is known of these releases: its cause was predicted, if not for it.
        cause = of_cause(track, refused.refusals(), common.from_release, common.to_release)
        if cause is not None and compared(cause, happened) == Comparison.HAPPENED:
            foreseen, comparison = cause, Comparison.HAPPENED
    name, version = track.software
    rule = _owner_rule(track, common)
    return ReviewedClient(
        track.key.client_id,
        track.key.principal,
        name,
        version,
        tuple(sorted(track.addresses)),
        foreseen,
        tuple(happened),
        comparison,
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
    by_address: dict[tuple[str, str | None], FailedLogin] = {}
    for login in logins:
        key = login.address, login.mechanism
        before = by_address.get(key)
        if before is None:
            by_address[key] = login
        else:
            by_address[key] = before._replace(
                first=min(before.first, login.first),
                last=max(before.last, login.last),
                connections=before.connections + login.connections,
            )
    return [by_address[key] for key in sorted(by_address, key=lambda k: (k[0], k[1] or ""))]
