"""Clients that brokers are themselves: they fetch from each other, write transaction markers, elect leaders. Pure.

On a cluster with one listener for all they show up beside the others.
"""

import re
from functools import cache

from client_telemetry.compatibility import apis

ASKED: dict[str, frozenset[int]] = {
    r"broker-\d+-txn-marker-sender": frozenset((18, 27)),
    r"raft-client-\d+": frozenset((18, 52, 53, 54, 59, 80, 81, 82)),
    r"AddPartitionsManager-client-\d+": frozenset((18, 24)),
}
"""Client ids of Kafka's own, and all that they ask: TransactionMarkerChannelManager, KafkaRaftManager,
AddPartitionsToTxnManager. The whole id must match. An application can have such an id too: what it asks tells.

What only fetches is missing on purpose: replica fetchers, and KafkaRaftManager's Fetch. Consumers fetch too, and what tells
them apart is the replica id in the request (-1 for a consumer), which events do not carry. Writers of dumps see it and leave
brokers out (docs/raw-dump-contract.md); whoever is in a dump under such an id is counted, since a client that is hidden is
taken for safe."""

REPLICA_FETCHER = r"broker-\d+-fetcher-\d+(?:-.*)?"
"""Client id of a broker that fetches from another (BrokerBlockingSender)."""

CLIENT_IDS = "|".join(ASKED)

LOGIN = frozenset((17, 18, 36))
"""What anybody asks on a listener with SASL, before it logs in."""

CLIENTS_ONLY = frozenset((0, 8, 9, 11, 12, 13, 14, 15, 16, 61, 65, 66))
"""Produce, OffsetCommit, OffsetFetch, JoinGroup, Heartbeat, LeaveGroup, SyncGroup, DescribeGroups, ListGroups,
DescribeProducers, DescribeTransactions, ListTransactions: brokers answer them and never ask them. A connection on which
one was answered is no broker's, whatever it is called; kafka-transactions.sh, for one, asks WriteTxnMarkers too."""


@cache
def api_keys() -> frozenset[int]:
    """APIs that only brokers and controllers ask, by the knowledge base. Their other clients have a mere node id for
    client id, which an application may have too."""
    return frozenset(key for key, api in apis.by_key().items() if api.used_by == "broker")


def is_broker(
    client_id: str | None, answered_api_keys: frozenset[int] = frozenset(), *, is_sasl: bool = False
) -> bool:
    """Whether a connection with this client id, on which these APIs were answered, is a broker's or controller's.

    >>> sender = "broker-1-txn-marker-sender"
    >>> is_broker(sender), is_broker("1"), is_broker("1", frozenset((3, 6)))
    (True, False, True)
    >>> is_broker(sender, frozenset((0, 27))), is_broker(sender, frozenset((3, 27)))
    (False, True)
    >>> is_broker("broker-1-fetcher-0", frozenset((1,)))
    False
    """
    if not CLIENTS_ONLY.isdisjoint(answered_api_keys):
        return False
    if not api_keys().isdisjoint(answered_api_keys):
        return True
    asked = next((keys for ids, keys in ASKED.items() if client_id and re.fullmatch(ids, client_id)), None)
    return asked is not None and answered_api_keys <= (asked | LOGIN if is_sasl else asked)
