"""A client's job as functions: produce, fetch, keep its group membership, commit, complete transactions; for a tool
that does none of these, each API that it sends. Pure.

A function continues under another API if a client moved to a newer protocol (KIP-848, KIP-932). Requests that only
support a function do not count: a client of transaction.version 2 no longer sends AddPartitionsToTxn (KIP-890), and how
often Metadata, FindCoordinator and Fetch are sent depends on where leaders are.
"""

from collections.abc import Collection, Sequence
from functools import cache

from client_telemetry.knowledge import apis
from client_telemetry.knowledge.api_key import ApiKey

PRODUCE, FETCH, MEMBERSHIP, COMMIT, TRANSACT = "produce", "fetch", "membership", "commit", "transact"
_BY_API: dict[int, str] = {
    ApiKey.PRODUCE: PRODUCE,
    ApiKey.FETCH: FETCH,
    ApiKey.SHARE_FETCH: FETCH,
    ApiKey.HEARTBEAT: MEMBERSHIP,
    ApiKey.CONSUMER_GROUP_HEARTBEAT: MEMBERSHIP,
    ApiKey.SHARE_GROUP_HEARTBEAT: MEMBERSHIP,
    ApiKey.STREAMS_GROUP_HEARTBEAT: MEMBERSHIP,
    ApiKey.OFFSET_COMMIT: COMMIT,
    ApiKey.TXN_OFFSET_COMMIT: COMMIT,
    ApiKey.SHARE_ACKNOWLEDGE: COMMIT,
    ApiKey.END_TXN: TRANSACT,
}
PLUMBING = (
    frozenset(
        (ApiKey.METADATA, ApiKey.FIND_COORDINATOR, ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY)
    )
    | apis.SET_UP
)
"""Sent by every client."""
_SERVES: dict[int, str] = {
    ApiKey.LIST_OFFSETS: FETCH,
    ApiKey.OFFSET_FETCH: FETCH,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: FETCH,
    ApiKey.JOIN_GROUP: MEMBERSHIP,
    ApiKey.SYNC_GROUP: MEMBERSHIP,
    ApiKey.LEAVE_GROUP: MEMBERSHIP,
    ApiKey.FIND_COORDINATOR: MEMBERSHIP,
    ApiKey.INIT_PRODUCER_ID: TRANSACT,
    ApiKey.ADD_PARTITIONS_TO_TXN: TRANSACT,
    ApiKey.ADD_OFFSETS_TO_TXN: TRANSACT,
}
"""The function that suffers when another request of a producer or consumer is refused."""

WORDS = {
    PRODUCE: ("writes", "writing", "records"),
    FETCH: ("reads", "reading", "records"),
    MEMBERSHIP: ("sends", "sending", "heartbeats"),
    COMMIT: ("commits", "committing", "offsets"),
    TRANSACT: ("completes", "completing", "transactions"),
}


def of_client(api_keys: Collection[int]) -> bool:
    """Whether the client produces or consumes; otherwise it is a tool, and each API is a function of its own.

    >>> of_client([3, 1]), of_client([3, 15, 16])
    (True, False)
    """
    return any(key in _BY_API for key in api_keys)


@cache
def function(api_key: int, *, is_tool: bool) -> str | None:
    """The function of a request, None for one that only supports a function.

    >>> function(8, is_tool=False), function(2, is_tool=False), function(2, is_tool=True)
    ('commit', None, 'ListOffsets')
    """
    if is_tool:
        return None if api_key in PLUMBING else apis.name(api_key)
    return _BY_API.get(api_key)


def served(api_key: int, *, is_tool: bool) -> str | None:
    """The function that cannot continue without the request; None for one that no function needs (an admin call of a
    consumer).
    """
    return function(api_key, is_tool=is_tool) or (None if is_tool else _SERVES.get(api_key))


def does(names: Sequence[str]) -> str:
    """What a client keeps doing, in words.

    >>> does(["fetch", "membership", "commit"])
    'reads records, sends heartbeats and commits offsets'
    >>> does(["ListGroups", "DescribeGroups"])
    'sends ListGroups and DescribeGroups'
    """
    parts: list[str] = []
    verb_before = ""
    for verb, _, what in map(_words, names):
        parts.append(what if verb == verb_before else f"{verb} {what}")
        verb_before = verb
    return " and ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part)


def doing(name: str) -> str:
    """What it stopped doing, in words.

    >>> doing("commit")
    'committing offsets'
    """
    _, gerund, what = _words(name)
    return f"{gerund} {what}"


def _words(name: str) -> tuple[str, str, str]:
    return WORDS.get(name, ("sends", "sending", name))
