"""Sets of API keys, by the names that their explanations say."""

import pytest
from client_telemetry.compatibility import (
    failures,
    fixes,
    inference,
    one_process,
    well_observed,
)
from client_telemetry.identity import broker_clients, programs
from client_telemetry.knowledge import apis, roles
from client_telemetry.reports.fleet import request_versions

BEFORE_LOGIN = "SaslHandshake ApiVersions SaslAuthenticate"


@pytest.mark.parametrize(
    ("found", "names"),
    [
        (one_process.ONE_VERSION, "OffsetCommit JoinGroup Heartbeat LeaveGroup SyncGroup DescribeGroups DeleteTopics InitProducerId AddPartitionsToTxn EndTxn DescribeConfigs"),
        (programs.JAVA_SEVERAL, "Fetch ListOffsets OffsetFetch FindCoordinator ListGroups"),
        (apis.SET_UP, BEFORE_LOGIN),
        (broker_clients.ASKED[r"broker-\d+-txn-marker-sender"], "ApiVersions WriteTxnMarkers"),
        (broker_clients.ASKED[r"raft-client-\d+"], "ApiVersions Vote BeginQuorumEpoch EndQuorumEpoch FetchSnapshot AddRaftVoter RemoveRaftVoter UpdateRaftVoter"),
        (broker_clients.ASKED[r"AddPartitionsManager-client-\d+"], "ApiVersions AddPartitionsToTxn"),
        (request_versions.SENT_BY_BROKERS, "Fetch ListOffsets ApiVersions OffsetForLeaderEpoch AddPartitionsToTxn"),
        (well_observed._SHARED, "Metadata FindCoordinator"),
        (fixes._NEW_PROTOCOL, "ConsumerGroupHeartbeat ConsumerGroupDescribe"),
        (failures._MEMBERSHIP, "JoinGroup Heartbeat SyncGroup"),
        (failures._POSITIONS, "OffsetCommit OffsetFetch"),
        (roles._CLASSIC_MEMBERSHIP, "JoinGroup Heartbeat LeaveGroup SyncGroup"),
        ({roles._OFFSET_COMMIT, roles._TXN_OFFSET_COMMIT}, "OffsetCommit TxnOffsetCommit"),
        ({roles._CREATE_TOPICS, roles._CONSUMER_GROUP_HEARTBEAT}, "CreateTopics ConsumerGroupHeartbeat"),
        ({failures._FETCH, failures._METADATA, failures._FIND_COORDINATOR}, "Fetch Metadata FindCoordinator"),
        ({inference._METADATA, apis.API_VERSIONS}, "Metadata ApiVersions"),
    ],
)  # fmt: skip
def test_keys_are_those_of_the_names(found, names):
    assert {apis.name(key) for key in found} == set(names.split())
