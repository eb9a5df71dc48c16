"""Clients that brokers are themselves: they fetch from each other, write transaction markers, elect leaders. Pure.

On a cluster with one listener for all they show up beside the others.
"""

import re

from client_telemetry.compatibility import apis

CLIENT_IDS = (
    r"broker-\d+-(?:fetcher-\d+(?:-.*)?|txn-marker-sender)|raft-client-\d+|AddPartitionsManager-client-\d+"
)
"""Kafka's own: ReplicaManager's fetchers, TransactionMarkerChannelManager, KafkaRaftManager,
AddPartitionsToTxnManager. The whole id must match."""


CLIENTS_ONLY = frozenset((0, 8, 9, 11, 12, 13, 14, 15, 16, 61, 65, 66))
"""Produce, OffsetCommit, OffsetFetch, JoinGroup, Heartbeat, LeaveGroup, SyncGroup, DescribeGroups, ListGroups,
DescribeProducers, DescribeTransactions, ListTransactions: brokers answer them and never ask them. A connection on which
one was answered is no broker's, whatever it is called; kafka-transactions.sh, for one, asks WriteTxnMarkers too."""


def api_keys() -> frozenset[int]:
    """APIs that only brokers and controllers ask, by the knowledge base. Their other clients have a mere node id for
    client id, which an application may have too."""
    return frozenset(key for key, api in apis.by_key().items() if api.used_by == "broker")


def is_broker(client_id: str | None, answered_api_keys: frozenset[int] = frozenset()) -> bool:
    """Whether a connection with this client id, on which these APIs were answered, is a broker's or controller's.

    >>> is_broker("broker-1-fetcher-0"), is_broker("1"), is_broker("1", frozenset((3, 6)))
    (True, False, True)
    >>> is_broker("broker-1-fetcher-0", frozenset((0, 1)))
    False
    """
    if not CLIENTS_ONLY.isdisjoint(answered_api_keys):
        return False
    named = client_id is not None and re.fullmatch(CLIENT_IDS, client_id) is not None
    return named or not api_keys().isdisjoint(answered_api_keys)
