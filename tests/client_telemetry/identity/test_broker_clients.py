"""Which connections are those of brokers and controllers themselves, by their client id and what they ask."""

import pytest
from client_telemetry.identity.broker_clients import is_broker
from client_telemetry.knowledge import apis


def keys(names: str) -> frozenset[int]:
    return frozenset(apis.find(name).key for name in names.split())


MARKERS, RAFT, PARTITIONS = "broker-7-txn-marker-sender", "raft-client-7", "AddPartitionsManager-client-7"
OF_CLIENTS = (
    "Produce OffsetCommit OffsetFetch JoinGroup Heartbeat LeaveGroup SyncGroup DescribeGroups ListGroups DescribeProducers "
    "DescribeTransactions ListTransactions"
)
OWN = [
    (MARKERS, "ApiVersions"),
    (MARKERS, "WriteTxnMarkers"),
    (RAFT, "ApiVersions Vote BeginQuorumEpoch EndQuorumEpoch FetchSnapshot"),
    (RAFT, "AddRaftVoter RemoveRaftVoter UpdateRaftVoter"),
    (PARTITIONS, "ApiVersions AddPartitionsToTxn"),
]


@pytest.mark.parametrize(("client_id", "asked"), OWN)
def test_who_is_called_as_a_broker_and_asks_what_a_broker_does_is_one(client_id, asked):
    assert is_broker(client_id)
    for name in asked.split():
        assert is_broker(client_id, keys(name)), name
    assert is_broker(client_id, keys(asked))
    login = keys("SaslHandshake SaslAuthenticate")
    assert is_broker(client_id, keys(asked) | login, is_sasl=True)


@pytest.mark.parametrize("client_id", [MARKERS, RAFT, PARTITIONS])
def test_who_asks_what_only_clients_do_is_none_whatever_it_is_called(client_id):
    """kafka-transactions.sh, for one, asks WriteTxnMarkers too."""
    for name in OF_CLIENTS.split():
        assert not is_broker(client_id, keys(f"ApiVersions {name}")), name
        assert not is_broker("1", keys(f"WriteTxnMarkers {name}")), name


@pytest.mark.parametrize("client_id", [MARKERS, PARTITIONS, RAFT])
def test_an_application_can_have_such_an_id_and_asks_something_else(client_id):
    assert not is_broker(client_id, keys("ApiVersions Metadata"))
    assert not is_broker(client_id, keys("Fetch"))


def test_a_login_is_a_brokers_only_on_a_listener_where_it_logs_in():
    for name in ("SaslHandshake", "SaslAuthenticate"):
        assert not is_broker(PARTITIONS, keys(name))
        assert is_broker(PARTITIONS, keys(name), is_sasl=True)
    assert not is_broker("orders", keys("SaslHandshake"), is_sasl=True)


@pytest.mark.parametrize(
    "client_id",
    ["broker-7-txn-marker-sender-2", "my-raft-client-7", "raft-client-", "broker-7-fetcher-0", "7", "", None],
)
def test_other_names_are_no_brokers(client_id):
    assert not is_broker(client_id)
    assert not is_broker(client_id, keys("Fetch"))


def test_what_only_brokers_ask_is_enough():
    for name in ("LeaderAndIsr", "UpdateMetadata", "ControlledShutdown", "AlterPartition", "BrokerHeartbeat"):
        assert is_broker("7", keys(f"Metadata {name}")), name
        assert is_broker(None, keys(name)), name
