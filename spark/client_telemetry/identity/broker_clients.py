"""Clients that are brokers themselves: they fetch from each other, write transaction markers, elect leaders. Pure.

On a cluster with a single listener they show up among the other clients.
"""

import re

from client_telemetry.knowledge import apis
from client_telemetry.knowledge.api_key import ApiKey

ASKED: dict[str, frozenset[int]] = {
    r"broker-\d+-txn-marker-sender": frozenset((ApiKey.API_VERSIONS, ApiKey.WRITE_TXN_MARKERS)),
    r"raft-client-\d+": frozenset(
        (
            ApiKey.API_VERSIONS,
            ApiKey.VOTE,
            ApiKey.BEGIN_QUORUM_EPOCH,
            ApiKey.END_QUORUM_EPOCH,
            ApiKey.FETCH_SNAPSHOT,
            ApiKey.ADD_RAFT_VOTER,
            ApiKey.REMOVE_RAFT_VOTER,
            ApiKey.UPDATE_RAFT_VOTER,
        )
    ),
    r"AddPartitionsManager-client-\d+": frozenset((ApiKey.API_VERSIONS, ApiKey.ADD_PARTITIONS_TO_TXN)),
}
"""Kafka's own client ids, and everything that they send: TransactionMarkerChannelManager, KafkaRaftManager,
AddPartitionsToTxnManager. The whole id must match. An application can have such an id too; its requests give it
away.

Ids that only fetch are missing on purpose: replica fetchers, and KafkaRaftManager's Fetch. Consumers fetch too, and
only the replica id in the request (-1 for a consumer) distinguishes them, which events do not carry. Writers of dumps
see it and leave brokers out (docs/raw-dump-contract.md); a client that is in a dump under such an id is counted, since
a hidden client would be taken for safe.
"""

REPLICA_FETCHER = r"broker-\d+-fetcher-\d+(?:-.*)?"
"""Client id under which a broker fetches from another (BrokerBlockingSender)."""

CLIENT_IDS = "|".join(ASKED)


CLIENTS_ONLY = frozenset(
    (
        ApiKey.PRODUCE,
        ApiKey.OFFSET_COMMIT,
        ApiKey.OFFSET_FETCH,
        ApiKey.JOIN_GROUP,
        ApiKey.HEARTBEAT,
        ApiKey.LEAVE_GROUP,
        ApiKey.SYNC_GROUP,
        ApiKey.DESCRIBE_GROUPS,
        ApiKey.LIST_GROUPS,
        ApiKey.DESCRIBE_PRODUCERS,
        ApiKey.DESCRIBE_TRANSACTIONS,
        ApiKey.LIST_TRANSACTIONS,
    )
)
"""Brokers answer these but never send them. A connection on which one was answered is not a broker's, whatever its client
id; kafka-transactions.sh, for example, sends WriteTxnMarkers too.
"""


def api_keys() -> frozenset[int]:
    """APIs that only brokers and controllers send, according to the knowledge base. Their other clients use the bare
    node id as client id, which an application may use too.
    """
    return apis.keys_used_by("broker")


def is_broker(
    client_id: str | None, answered_api_keys: frozenset[int] = frozenset(), *, is_sasl: bool = False
) -> bool:
    """Whether a connection with this client id and these answered APIs is a broker's or controller's.

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
    expected_keys = next(
        (keys for ids, keys in ASKED.items() if client_id and re.fullmatch(ids, client_id)), None
    )
    return expected_keys is not None and answered_api_keys <= (
        expected_keys | apis.SET_UP if is_sasl else expected_keys
    )
