"""What a client does with Kafka, from the APIs that it used, and the APIs that its role needs.

The needs of a role distinguish "was not seen" from "is not used": a group consumer will look up an offset one day, seen
or not.
"""

import re
from collections.abc import Collection
from functools import cache, lru_cache
from typing import NamedTuple

from client_telemetry.knowledge import DamagedKnowledge, apis, one_of, rows
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.knowledge.vocabulary import Role, Verdict, When

FILE = "roles.csv"
ROLES = tuple(Role)
DATA_ROLES = tuple(role for role in ROLES if role != Role.ADMIN)
ASSUMED = (Role.PRODUCER, Role.GROUP_CONSUMER)
"""The roles assumed for a client of a known library while nothing shows its role."""

_PRODUCERS_CLIENT_ID = re.compile(r"(?:kafka-python-)?producer-\d+")
"""Given by KafkaProducer of Java (ProducerConfig) and of kafka-python where none is set; consumers and admin clients have others."""

_OF_GROUPS = frozenset((ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_FETCH))
_CLASSIC_MEMBERSHIP = frozenset((ApiKey.JOIN_GROUP, ApiKey.HEARTBEAT, ApiKey.LEAVE_GROUP, ApiKey.SYNC_GROUP))


class Need(NamedTuple):
    """What an API means to a role."""

    role: str
    api_key: int
    api_name: str
    reveals: bool
    needed: bool
    without_it: Verdict
    """breaks or degrades: what a client in this role suffers when the API is refused."""
    when: When
    trigger: str
    source: str


COLUMNS = Need._fields


@cache
def needs() -> dict[str, dict[int, Need]]:
    """Role -> API key -> need."""
    by_role: dict[str, dict[int, Need]] = {role: {} for role in ROLES}
    for line, (role, key_text, api_name, reveals, needed, without, when, trigger, source) in rows(
        FILE, COLUMNS
    ):
        for column, value, allowed in (
            ("role", role, ROLES),
            ("reveals", reveals, ("yes", "no")),
            ("needed", needed, ("yes", "no")),
            ("without_it", without, (Verdict.BREAKS, Verdict.DEGRADES)),
            ("when", when, (When.AT_ONCE, When.LATENT)),
        ):
            one_of(FILE, line, column, value, allowed)
        key = apis.key_of(FILE, line, key_text, api_name)
        if key in by_role[role]:
            raise DamagedKnowledge(FILE, line, f"{api_name} occurs twice for {role}")
        if (when == When.LATENT) != bool(trigger) or not source:
            raise DamagedKnowledge(
                FILE, line, "latent needs a trigger, at_once has none, and a source is required"
            )
        is_shown, is_needed = reveals == "yes", needed == "yes"
        by_role[role][key] = Need(
            role, key, api_name, is_shown, is_needed, Verdict(without), When(when), trigger, source
        )
    return by_role


def assumed(client_id: str | None) -> tuple[str, ...]:
    """The roles of a client of a known library that shows none.

    >>> " ".join(assumed("producer-2")), " ".join(assumed("orders"))
    ('producer', 'producer group_consumer')
    """
    return (Role.PRODUCER,) if client_id and _PRODUCERS_CLIENT_ID.fullmatch(client_id) else ASSUMED


@cache
def _revealing() -> dict[str, frozenset[int]]:
    return {
        role: frozenset(key for key, need in by_key.items() if need.reveals)
        for role, by_key in needs().items()
    }


def seen_in(used: Collection[int]) -> tuple[str, ...]:
    """Roles that the used API keys show, in the order of ROLES; empty if none.

    A client that only looks up, fetches or alters offsets (a lag exporter) is an admin tool. A producer that looks up a
    coordinator, and is in no group, has a transactional id (KIP-98): it does so before its first transaction.
    """
    shown = [role for role in ROLES if not _revealing()[role].isdisjoint(used)]
    if Role.ASSIGNED_CONSUMER in shown and {Role.GROUP_CONSUMER, Role.STREAMS_GROUP_MEMBER} & set(shown):
        shown.remove(Role.ASSIGNED_CONSUMER)
    if (
        shown == [Role.PRODUCER]
        and {ApiKey.FIND_COORDINATOR, ApiKey.INIT_PRODUCER_ID} <= set(used)
        and not _OF_GROUPS & set(used)
    ):
        shown.append(Role.TRANSACTIONAL_PRODUCER)
    if Role.PRODUCER in shown and Role.TRANSACTIONAL_PRODUCER in shown:
        shown.remove(Role.PRODUCER)
    offsets = {ApiKey.LIST_OFFSETS, ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_FETCH}
    if not shown and offsets & set(used):
        shown.append(Role.ADMIN)
    return tuple(shown)


def needed_by(role: str, used: Collection[int]) -> dict[int, Need]:
    """The APIs that a role cannot do without, given what the client was seen to use.

    A KIP-848 consumer keeps its membership with ConsumerGroupHeartbeat and needs none of the classic four; one that
    commits in transactions (TxnOffsetCommit) does not commit otherwise.
    """
    not_needed: set[int] = set()
    if ApiKey.CONSUMER_GROUP_HEARTBEAT in used and not _CLASSIC_MEMBERSHIP & set(used):
        not_needed |= _CLASSIC_MEMBERSHIP
    if ApiKey.TXN_OFFSET_COMMIT in used and ApiKey.OFFSET_COMMIT not in used:
        not_needed.add(ApiKey.OFFSET_COMMIT)
    return {key: need for key, need in needs()[role].items() if need.needed and key not in not_needed}


def may_use(role: str, used: Collection[int]) -> frozenset[int]:
    """The APIs without which a client in this role breaks if it uses them, given what it was seen to use: a member of a
    classic group is in no other.
    """
    others = {ApiKey.CONSUMER_GROUP_HEARTBEAT} if _CLASSIC_MEMBERSHIP & set(used) else set()
    return frozenset(key for key, need in needs()[role].items() if need.without_it == Verdict.BREAKS) - others


def loss(key: int, client_roles: Collection[str], used: Collection[int] = ()) -> Need:
    """What a client in these roles suffers if an API that it uses is refused: the worst over its roles.

    An admin call by a client that also produces or consumes is not its main job: it degrades. Not so CreateTopics of a
    stream processor, which produces, consumes in a group and makes no other admin call (`used`): such frameworks create
    their topics at startup and fail without them (faust, goka). An API that no role lists breaks if it moves data, sets
    up the connection, or has an unknown purpose; telemetry, and administration beside data, degrade.
    """
    return _loss(key, tuple(client_roles), frozenset(used))


@lru_cache(maxsize=4096)
def _loss(key: int, client_roles: tuple[str, ...], used: frozenset[int]) -> Need:
    needs_of_roles = [needs()[role][key] for role in client_roles if key in needs()[role]]
    if set(client_roles) - {Role.ADMIN}:
        processes = {Role.PRODUCER, Role.GROUP_CONSUMER} <= set(client_roles)
        needs_of_roles = [
            need if need.role != Role.ADMIN else _beside_data(need, processes, used)
            for need in needs_of_roles
        ]
    if needs_of_roles:
        return min(
            needs_of_roles, key=lambda need: (need.without_it != Verdict.BREAKS, need.when != When.AT_ONCE)
        )
    api = apis.by_key().get(key)
    only_admin = set(client_roles) == {Role.ADMIN}
    breaks = only_admin or api is None or api.used_by in ("connection", "data")
    return Need(
        "",
        key,
        "",
        False,
        False,
        Verdict.BREAKS if breaks else Verdict.DEGRADES,
        When.AT_ONCE,
        "",
        f"knowledge base: {FILE}",
    )


def _beside_data(need: Need, processes: bool, used: Collection[int]) -> Need:
    """What an admin call is worth to a client that also moves data."""
    no_other = not (_revealing()[Role.ADMIN] - {ApiKey.CREATE_TOPICS}) & set(used)
    if need.api_key == ApiKey.CREATE_TOPICS and processes and no_other:
        return need._replace(when=When.LATENT, trigger="its next start, as it creates its topics itself")
    return need._replace(without_it=Verdict.DEGRADES, when=When.AT_ONCE, trigger="")
