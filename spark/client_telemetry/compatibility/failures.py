"""What fails today already, before the upgrade: read from what the source's brokers refused and answered.

`already_failing` is beside the verdict, which tells of the target: a client can be refused by both releases, or be
refused today and served again by the target (`works_again`).

A refused request closes the connection, and most refusals cannot be tied to a client (a broker logs them without client
id). What is left of such a client is what it asks before and after: the coordinator looked up again and again and nothing
answered by it; a group member that reads no record. These count only on releases that have removed request versions, and
not for clients that speak as of 0.11, which no release refuses.
"""

from collections.abc import Collection, Mapping
from functools import cache

from client_telemetry.compatibility import apis, eras, releases, roles, served
from client_telemetry.compatibility.evidence import ApiUse, ClientEvidence, format_versions
from client_telemetry.compatibility.verdict import BREAKS

_FETCH, _METADATA, _FIND_COORDINATOR = 1, 3, 10
_MEMBERSHIP = frozenset((11, 12, 14))
_POSITIONS = frozenset((8, 9))
_AT_COORDINATORS = frozenset((8, 9, 11, 12, 14, 15, 22, 24, 25, 26, 28, 68, 76, 88))
_LOOK_UPS, _HEARTBEATS = 5, 10
"""So many without what must follow them are no coincidence."""


def refused(evidence: ClientEvidence, uses: Collection[int]) -> dict[int, list[ApiUse]]:
    """API key -> its uses, of APIs of which the broker refused every request. Error 35 to ApiVersions is no refusal."""
    found: dict[int, list[ApiUse]] = {}
    for use in (ApiUse(*each) for each in evidence.api_uses):
        if use.rejected and use.api_key not in uses and use.api_key != apis.API_VERSIONS:
            found.setdefault(use.api_key, []).append(use)
    return found


def now(evidence: ClientEvidence, uses: Mapping[int, list[ApiUse]], source: str) -> tuple[str, ...]:
    """Why the client fails on the source already, in words; empty where nothing shows that it does."""
    found = []
    tried = {use[0] for use in evidence.api_uses}
    client_roles = roles.seen_in(tried - {apis.API_VERSIONS})
    for key, of_api in sorted(refused(evidence, uses).items()):
        if roles.loss(key, client_roles, tried).without_it == BREAKS:
            versions = format_versions([use.version for use in of_api])
            count = sum(use.rejected for use in of_api)
            found.append(f"{source} refused {apis.request(key, versions)} every time ({count} times)")
    if not found and removes_versions(source) and not eras.negotiates_as_of_0_11(evidence.api_uses):
        found += _unanswered(evidence, uses, source)
    return tuple(found)


def _unanswered(evidence: ClientEvidence, uses: Mapping[int, list[ApiUse]], source: str) -> list[str]:
    answered = {key: sum(use.requests for use in of_api) for key, of_api in uses.items()}
    look_ups = answered.get(_FIND_COORDINATOR, 0)
    at_coordinator = sum(answered.get(key, 0) for key in _AT_COORDINATORS)
    again = look_ups >= (2 * _LOOK_UPS if at_coordinator else _LOOK_UPS)
    if look_ups and not at_coordinator and not evidence.declares_software:
        again |= answered.get(_METADATA, 0) >= 2 * _LOOK_UPS
    if (
        again
        and 2 * at_coordinator <= look_ups
        and roles.ADMIN not in roles.seen_in(set(answered) - _AT_COORDINATORS)
    ):
        return [
            f"it looks its coordinator up again and again on {source}, and {'hardly any' if at_coordinator else 'none'} "
            "of the requests that follow is answered"
        ]
    if (
        answered.get(12, 0) >= _HEARTBEATS
        and _MEMBERSHIP & answered.keys()
        and _POSITIONS & answered.keys()
        and _FETCH not in answered
    ):
        return [f"it is in its group on {source} and reads no record: no Fetch of it was answered"]
    return []


@cache
def removes_versions(release: str) -> bool:
    """Whether clients of older releases find requests refused: some version that producers or consumers had is gone."""
    return bool(baseline(release))


@cache
def baseline(release: str) -> str:
    """The newest release before this one that serves something to producers or consumers which this one refuses;
    empty where none does."""
    older = [each for each in releases.known() if releases.is_rollback(release, each)]
    for each in reversed(older):
        gone = served.dropped(each, release)
        if any(apis.by_key()[key].used_by == "data" for key in gone):
            return each
    return ""
