import pytest
from client_telemetry.knowledge import apis, roles


def keys(*names: str) -> set[int]:
    return {apis.find(name).key for name in names}


@pytest.mark.parametrize(
    ("used", "shown"),
    [
        ((), ()),
        (("ApiVersions", "Metadata", "FindCoordinator"), ()),
        (("ListOffsets",), ("admin",)),
        (("OffsetCommit",), ("admin",)),
        (("OffsetFetch",), ("admin",)),
        (("Produce",), ("producer",)),
        (("InitProducerId",), ("producer",)),
        (("Produce", "InitProducerId", "EndTxn"), ("transactional_producer",)),
        (("Fetch",), ("assigned_consumer",)),
        (("Fetch", "OffsetCommit"), ("assigned_consumer",)),
        (("Fetch", "Heartbeat"), ("group_consumer",)),
        (("Fetch", "ConsumerGroupHeartbeat"), ("group_consumer",)),
        (("Produce", "Fetch", "JoinGroup"), ("producer", "group_consumer")),
        (("CreateTopics",), ("admin",)),
        (("Produce", "DescribeConfigs"), ("producer", "admin")),
        (("ListOffsets", "Metadata"), ("admin",)),
    ],
)
def test_roles_that_requests_show(used, shown):
    assert roles.seen_in(keys(*used)) == shown


def test_what_a_group_consumer_needs():
    needed = set(roles.needed_by("group_consumer", keys("Fetch", "JoinGroup")))
    assert keys("JoinGroup", "ListOffsets", "OffsetCommit", "Fetch") <= needed
    assert not keys("LeaveGroup", "Produce") & needed
    new_protocol = set(roles.needed_by("group_consumer", keys("ConsumerGroupHeartbeat")))
    assert not keys("JoinGroup", "SyncGroup", "Heartbeat") & new_protocol


@pytest.mark.parametrize(
    ("api", "client_roles", "suffers", "when"),
    [
        ("Produce", ("producer",), "breaks", "at_once"),
        ("ListOffsets", ("group_consumer",), "breaks", "latent"),
        ("CreateTopics", ("admin",), "breaks", "at_once"),
        ("CreateTopics", ("producer", "admin"), "degrades", "at_once"),
        ("OffsetForLeaderEpoch", ("group_consumer",), "degrades", "latent"),
        ("PushTelemetry", ("producer",), "degrades", "at_once"),
        ("SaslHandshake", ("producer",), "breaks", "at_once"),
        ("ListOffsets", ("admin",), "breaks", "at_once"),
    ],
)
def test_what_a_refusal_costs(api, client_roles, suffers, when):
    loss = roles.loss(apis.find(api).key, client_roles)
    assert (loss.without_it, loss.when) == (suffers, when)
