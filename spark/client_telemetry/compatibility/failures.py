"""What already fails before the upgrade, from what the source's brokers refused and answered, and with which errors.

`already_failing` stands beside the verdict, which is about the target: a client can be refused by both releases, or be
refused today and served again by the target (`works_again`).

A refused request closes the connection, and most refusals cannot be tied to a client (the broker logs them without
client id). What remains visible is what the client sends before and after: it looks up the coordinator again and again
and nothing that follows is answered, or it is a group member that reads no records. These signs count only on releases
that have removed request versions, and not for clients that speak as of 0.11, which no release refuses. The exception is a
Java client that asks for its coordinator and for nothing there: it asks once it has something to request.
"""

from collections.abc import Collection, Iterator
from functools import cache
from typing import NamedTuple

from client_telemetry.compatibility import eras
from client_telemetry.compatibility.evidence import (
    ApiUse,
    ClientEvidence,
    Uses,
    declared_library,
    format_versions,
)
from client_telemetry.knowledge import apis, error_codes, features, releases, roles, served
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.knowledge.error_codes import KafkaError
from client_telemetry.knowledge.vocabulary import Role, Verdict

_POSITIONS = frozenset((ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_FETCH))
_AT_COORDINATORS = frozenset(
    (
        ApiKey.OFFSET_COMMIT,
        ApiKey.OFFSET_FETCH,
        ApiKey.JOIN_GROUP,
        ApiKey.HEARTBEAT,
        ApiKey.SYNC_GROUP,
        ApiKey.DESCRIBE_GROUPS,
        ApiKey.INIT_PRODUCER_ID,
        ApiKey.ADD_PARTITIONS_TO_TXN,
        ApiKey.ADD_OFFSETS_TO_TXN,
        ApiKey.END_TXN,
        ApiKey.TXN_OFFSET_COMMIT,
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        ApiKey.SHARE_GROUP_HEARTBEAT,
        ApiKey.STREAMS_GROUP_HEARTBEAT,
    )
)
_LEAVES_OR_ADMINISTERS_AT_COORDINATORS = frozenset(
    (
        ApiKey.LEAVE_GROUP,
        ApiKey.DELETE_GROUPS,
        ApiKey.OFFSET_DELETE,
        ApiKey.DESCRIBE_TRANSACTIONS,
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        ApiKey.SHARE_GROUP_DESCRIBE,
        ApiKey.STREAMS_GROUP_DESCRIBE,
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
        ApiKey.ALTER_SHARE_GROUP_OFFSETS,
        ApiKey.DELETE_SHARE_GROUP_OFFSETS,
    )
)
_DATA = frozenset((ApiKey.PRODUCE, ApiKey.FETCH))
_JAVA = "kafka-clients"
_LOOK_UPS, _HEARTBEATS = 5, 10
"""Counts of requests without what must follow them; this many are no coincidence."""


def refused(evidence: ClientEvidence, uses: Collection[int]) -> dict[int, list[ApiUse]]:
    """API key -> its uses, for APIs of which the broker refused every request. Error 35 to ApiVersions does not count
    as a refusal.
    """
    uses_by_key: dict[int, list[ApiUse]] = {}
    for use in (ApiUse(*use) for use in evidence.api_uses):
        if use.rejected and use.api_key not in uses and use.api_key != apis.API_VERSIONS:
            uses_by_key.setdefault(use.api_key, []).append(use)
    return uses_by_key


def now(evidence: ClientEvidence, uses: Uses, source: str) -> tuple[str, ...]:
    """Why the client already fails on the source, in words; empty if nothing shows that it does."""
    reasons = []
    tried = {use[0] for use in evidence.api_uses}
    client_roles = roles.seen_in(tried - {apis.API_VERSIONS})
    for key, of_api in sorted(refused(evidence, uses).items()):
        if roles.loss(key, client_roles, tried).without_it == Verdict.BREAKS:
            versions = format_versions([use.version for use in of_api])
            count = sum(use.rejected for use in of_api)
            reasons.append(f"{source} refused {apis.request(key, versions)} every time ({count} times)")
    if not reasons and baseline(source) and not eras.negotiates_as_of_0_11(evidence.api_uses):
        reasons += _unanswered(evidence, uses, source)
    return tuple(reasons)


class AnsweredWithErrors(NamedTuple):
    """Why a client fails that is answered. `upgrade_helps`: another release may not answer so."""

    reason: str
    upgrade_helps: bool


def by_answers(evidence: ClientEvidence, uses: Uses, source: str) -> list[AnsweredWithErrors]:
    """What fails although brokers answer: an API that the client's main job needs gets nothing but errors, or what it asks
    its coordinator for does not exist on the source. Empty if nothing shows that anything does.
    """
    tried = {use[0] for use in evidence.api_uses}
    client_roles = roles.seen_in(tried - {apis.API_VERSIONS})
    failing = [
        _with_errors(key, code, source)
        for key, code in evidence.failed_apis
        if roles.loss(key, client_roles, tried).without_it == Verdict.BREAKS and _is_harm(key, code)
    ]
    if not failing:
        failing += _behind_closed_gates(evidence, uses, source, client_roles)
    if not failing and _asks_only_for_its_coordinator(evidence, uses):
        reason = (
            f"it looks its coordinator up again and again on {source} and then requests nothing from it: it needs a request "
            f"that brokers on {source} do not accept (share groups, for example), or it fails itself"
        )
        failing.append(AnsweredWithErrors(reason, upgrade_helps=False))
    return failing


def _behind_closed_gates(
    evidence: ClientEvidence, uses: Uses, source: str, client_roles: Collection[str]
) -> Iterator[AnsweredWithErrors]:
    """APIs of which every version in use waits for a feature level that the source has not finalized: brokers answer with
    error 35, also where the source of the evidence has no answers.
    """
    if evidence.source_features is None:
        return
    for gate in features.closed(source, dict(evidence.source_features)):
        versions = [use.version for use in uses.get(gate.api_key, ())]
        waits = bool(versions) and all(
            gate.min_version <= version <= gate.max_version for version in versions
        )
        if waits and roles.loss(gate.api_key, client_roles, uses.keys()).without_it == Verdict.BREAKS:
            yield AnsweredWithErrors(
                f"{source} refuses {apis.request(gate.api_key, format_versions(versions))} until {gate.feature} {gate.level} is "
                f"finalized; it is {dict(evidence.source_features).get(gate.feature, 0)}",
                upgrade_helps=True,
            )


def _is_harm(key: int, code: int) -> bool:
    """For an administrative request, an error may be the answer: the topic exists already, the group is gone."""
    api = apis.by_key().get(key)
    is_refused = code in error_codes.NOT_AUTHORIZED or code == KafkaError.UNSUPPORTED_VERSION
    return is_refused or (api is not None and api.used_by in ("data", "connection"))


def _with_errors(key: int, code: int, source: str) -> AnsweredWithErrors:
    known = error_codes.known().get(code)
    means = f": {known.means}" if known else ""
    helps = known is not None and known.upgrade_helps
    stays = "; the upgrade does not change that" if known and known.stays and not helps else ""
    return AnsweredWithErrors(
        f"{source} answers each {apis.name(key)} with error {error_codes.text(code)}{means}{stays}", helps
    )


def _asks_only_for_its_coordinator(evidence: ClientEvidence, uses: Uses) -> bool:
    """Of a Java client only. librdkafka looks up the coordinator of any consumer that has a group.id, whatever it does then
    (rd_kafka_cgrp_coord_query in rdkafka_cgrp.c); other libraries were not read.
    """
    identity = declared_library(evidence)
    if (
        identity is None
        or identity.library != _JAVA
        or (_AT_COORDINATORS | _LEAVES_OR_ADMINISTERS_AT_COORDINATORS | _DATA) & uses.keys()
    ):
        return False
    look_ups = sum(use.requests for use in uses.get(ApiKey.FIND_COORDINATOR, ()))
    return look_ups >= _LOOK_UPS and Role.ADMIN not in roles.seen_in(uses.keys())


def _unanswered(evidence: ClientEvidence, uses: Uses, source: str) -> list[str]:
    answered = {key: sum(use.requests for use in of_api) for key, of_api in uses.items()}
    look_ups = answered.get(ApiKey.FIND_COORDINATOR, 0)
    at_coordinator = sum(answered.get(key, 0) for key in _AT_COORDINATORS)
    again = look_ups >= (2 * _LOOK_UPS if at_coordinator else _LOOK_UPS)
    if look_ups and not at_coordinator and not evidence.declares_software:
        again |= answered.get(ApiKey.METADATA, 0) >= 2 * _LOOK_UPS
    if (
        again
        and 2 * at_coordinator <= look_ups
        and Role.ADMIN not in roles.seen_in(set(answered) - _AT_COORDINATORS)
    ):
        return [
            f"it looks its coordinator up again and again on {source}, and {'hardly any' if at_coordinator else 'none'} "
            "of the requests that follow is answered"
        ]
    if (
        answered.get(ApiKey.HEARTBEAT, 0) >= _HEARTBEATS
        and apis.MEMBERSHIP & answered.keys()
        and _POSITIONS & answered.keys()
        and ApiKey.FETCH not in answered
    ):
        return [f"it is in its group on {source} and reads no record: no Fetch of it was answered"]
    return []


@cache
def baseline(release: str) -> str:
    """The newest earlier release that serves producers or consumers something that this one refuses; empty if there is
    none.
    """
    older = [candidate for candidate in releases.known() if releases.is_rollback(release, candidate)]
    for each in reversed(older):
        gone = served.dropped(each, release)
        if any(apis.by_key()[key].used_by == "data" for key in gone):
            return each
    return ""
