"""Whether a client was replaced by another version or library. Pure.

A client that declares its software says so. One that does not is known by its request versions: a library asks brokers of
one release in one version of an API, so another one there, for good and on connections opened since, is another library,
another version of it or other settings. Between brokers of different releases, versions also change by themselves.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from client_telemetry.activity.records import clock
from client_telemetry.knowledge import apis, kip511, served, software
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.review.phases import FINALIZED, Upgrade
from client_telemetry.review.signs import CERTAIN, LIKELY, OF_TRANSACTIONS, Refusal
from client_telemetry.review.tracks import Track

OVERLAP_SECONDS = 60.0
"""While a client is replaced, the old and the new one may run beside each other for this long."""
LEAST_REQUESTS = 3
_FIRST_WITH_SOFTWARE = 3
_BY_FEATURES = OF_TRANSACTIONS | {ApiKey.PRODUCE}
"""Produce and requests of transactions: their versions rise when transaction.version is finalized (KIP-890)."""


class ClientChange(NamedTuple):
    """`at`: when the new one was first seen; `ended`: when the old one was last seen."""

    at: float
    ended: float
    reason: str
    confidence: str = CERTAIN


class _Sent(NamedTuple):
    """Requests in one version of an API, answered or not, on brokers of the from-release or upgraded ones."""

    version: int
    is_new: bool
    first: float
    last: float
    requests: int


def changed(
    track: Track, refusals: Sequence[Refusal], upgrade: Upgrade, slot_seconds: float, until: float
) -> ClientChange | None:
    """The change since the first broker stopped, by `until`; None if there was none or it cannot be told."""
    if any(kip511.is_known(name) for name, _ in track.versions):
        return _by_name(track, upgrade, until)
    if track.versions:
        return _by_request_versions(track, refusals, upgrade, slot_seconds, until)
    return None


def _by_name(track: Track, upgrade: Upgrade, until: float) -> ClientChange | None:
    before = {v for v, (first, _) in track.versions.items() if first < upgrade.began}
    old = {v for v in before if kip511.is_known(v[0])}
    came = {
        v: first
        for v, (first, _) in track.versions.items()
        if upgrade.began <= first < until and kip511.is_known(v[0])
    }
    if not old and all(_names_every_connection(v, upgrade.from_release) for v in came):
        old = before
    if not old or not came:
        return None
    if any(track.versions[v][1] > min(came.values()) + OVERLAP_SECONDS for v in old):
        return None
    new = min(came, key=lambda v: came[v])
    was = max(old, key=lambda v: track.versions[v][1])
    name = " ".join(was) if kip511.is_known(was[0]) else "unknown library"
    ended = track.versions[was][1]
    return ClientChange(came[new], ended, f"{name} until {clock(ended)}, then {' '.join(new)}")


def _names_every_connection(version: tuple[str, str], from_release: str) -> bool:
    """Whether a client with this software would have had its name before the upgrade, too: brokers take it from
    ApiVersions v3 on (KIP-511).
    """
    api = served.by(from_release).get(apis.API_VERSIONS)
    if api is None or api.advertised.max < _FIRST_WITH_SOFTWARE:
        return False
    identity = software.identify_name(*version)
    return identity is None or not identity.leaves_connections_unnamed


def _by_request_versions(
    track: Track, refusals: Sequence[Refusal], upgrade: Upgrade, slot_seconds: float, until: float
) -> ClientChange | None:
    finalized = upgrade.phase(FINALIZED)
    changes = []
    for api_key in _api_keys(track):
        replaced = _replaced(track, api_key, refusals, upgrade, until)
        if replaced is None:
            continue
        was, new = replaced
        if finalized and api_key in _BY_FEATURES and new.is_new and new.first >= finalized.since:
            continue
        if was.is_new != new.is_new or not _was_reopened(track, was, new, slot_seconds):
            continue
        reason = (
            f"{apis.name(api_key)} v{was.version} until {clock(was.last)}, then v{new.version} on brokers of the same "
            "release: another library, another version of it or other settings; it declares no name"
        )
        changes.append(ClientChange(new.first, was.last, reason, LIKELY))
    return min(changes, default=None)


def may_have_changed(track: Track, refusals: Sequence[Refusal], upgrade: Upgrade, until: float) -> str | None:
    """For a client without a name that no longer sends a version that the target refuses: it may have been replaced, or
    it adapts. It cannot be told if brokers of no release got both versions.
    """
    if any(kip511.is_known(name) for name, _ in track.versions):
        return None
    for api_key in _api_keys(track):
        replaced = _replaced(track, api_key, refusals, upgrade, until)
        if replaced is None or replaced[0].is_new == replaced[1].is_new:
            continue
        was, new = replaced
        old_brokers = served.by(upgrade.from_release).get(api_key)
        new_brokers = served.by(upgrade.to_release).get(api_key)
        if old_brokers is None or new_brokers is None or was.version >= new_brokers.served.min:
            continue
        if new.version <= old_brokers.served.max:
            return (
                f"{apis.name(api_key)} v{was.version} until {clock(was.last)}, then v{new.version}, but not both on "
                "brokers of one release: whether it was replaced or adapts to the brokers cannot be told"
            )
    return None


def _api_keys(track: Track) -> list[int]:
    return sorted({key for key, _ in track.by_version} - {apis.API_VERSIONS})


def _replaced(
    track: Track, api_key: int, refusals: Sequence[Refusal], upgrade: Upgrade, until: float
) -> tuple[_Sent, _Sent] | None:
    """The last requests in a version from before the upgrade and the first ones in another that came since, for good; on
    brokers of the same release, if there are such.
    """
    all_sent = [sent for sent in _sent(track, api_key, refusals, upgrade) if sent.first < until]
    first: dict[int, float] = {}
    for sent in all_sent:
        first[sent.version] = min(sent.first, first.get(sent.version, sent.first))
    before = [sent for sent in all_sent if first[sent.version] < upgrade.began]
    came = [
        sent for sent in all_sent if first[sent.version] >= upgrade.began and sent.requests >= LEAST_REQUESTS
    ]
    if not before or not came:
        return None
    new = min(came, key=lambda sent: sent.first)
    if max(sent.last for sent in before) > new.first + OVERLAP_SECONDS:
        return None
    pairs = [(was, now) for was in before for now in came if was.is_new == now.is_new]
    if pairs:
        return max(pairs, key=lambda pair: (pair[0].last, -pair[1].first))
    return max(before, key=lambda sent: sent.last), new


def _sent(track: Track, api_key: int, refusals: Sequence[Refusal], upgrade: Upgrade) -> Iterator[_Sent]:
    times: dict[tuple[int, bool], list[tuple[float, float, int]]] = {}
    for (key, version), spans in track.by_version.items():
        if key == api_key:
            for span in spans:
                times.setdefault((version, span.incarnation in upgrade.new), []).append(span[:3])
    for failure in track.failures:
        if failure.api_key == api_key:
            own = failure.first, failure.last, failure.failed + failure.refused
            times.setdefault((failure.version, failure.incarnation in upgrade.new), []).append(own)
    for refusal in refusals:
        if refusal.api_key == api_key and not upgrade.old.isdisjoint(refusal.incarnations):
            continue  # times on each side are not known
        if refusal.api_key == api_key:
            times.setdefault((refusal.version, True), []).append(
                (refusal.first, refusal.last, refusal.requests)
            )
    for (version, is_new), own_times in times.items():
        yield _Sent(
            version,
            is_new,
            min(first for first, _, _ in own_times),
            max(last for _, last, _ in own_times),
            sum(requests for *_, requests in own_times),
        )


def _was_reopened(track: Track, was: _Sent, new: _Sent, slot_seconds: float) -> bool:
    """Whether a connection was opened when the versions changed."""
    begin, end = min(was.last, new.first) - slot_seconds, max(was.last, new.first) + slot_seconds
    return any(sample.since < end and sample.until > begin for sample in track.opened)
