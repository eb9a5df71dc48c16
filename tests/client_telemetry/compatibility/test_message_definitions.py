"""Sets of APIs, held against Kafka's own message definitions: those of 4.0.1, which are in the jar that `make test` fetches."""

import json
import re
from collections.abc import Iterator
from zipfile import ZipFile

import pytest
from client_telemetry.compatibility import failures, mixed_window
from client_telemetry.identity import broker_clients
from client_telemetry.knowledge import apis, roles

BETWEEN_BROKERS = {
    "WriteTxnMarkers": "KIP-98: from transaction coordinators to leaders",
    "InitializeShareGroupState": "KIP-932: from group coordinators to share coordinators",
    "ReadShareGroupState": "KIP-932",
    "WriteShareGroupState": "KIP-932",
    "DeleteShareGroupState": "KIP-932",
    "ReadShareGroupStateSummary": "KIP-932",
}
"""Asked on brokers' listeners, and by brokers only."""

AT_LEADERS = {"Produce", "ShareFetch", "ShareAcknowledge"}
"""With a group or transaction in them, and sent to leaders of partitions all the same."""


@pytest.fixture(scope="module")
def definitions(kafka_clients_jar) -> dict[str, dict]:
    """Requests by name, without the word Request."""
    of_this_release = kafka_clients_jar.with_name("kafka-clients-4.0.1.jar")
    if not of_this_release.exists():
        pytest.skip("only another release's jar is here")
    with ZipFile(of_this_release) as jar:
        texts = [
            jar.read(name).decode()
            for name in jar.namelist()
            if name.startswith("common/message/") and name.endswith("Request.json")
        ]
    found = [json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.M)) for text in texts]
    return {each["name"].removesuffix("Request"): each for each in found}


def entities(fields: list[dict]) -> Iterator[str]:
    for each in fields:
        yield each.get("entityType", "")
        yield from entities(each.get("fields", []))


def about(definitions: dict[str, dict], entity: str) -> set[int]:
    """APIs whose request has such a field: `groupId`, `transactionalId`."""
    return {each["apiKey"] for each in definitions.values() if entity in entities(each.get("fields", ()))}


def keys(*names: str) -> set[int]:
    return {apis.find(name).key for name in names}


def test_what_brokers_do_not_answer_is_of_brokers_and_what_clients_ask_is_not(definitions):
    for name, each in definitions.items():
        of_brokers = "broker" not in (each.get("listeners") or ()) or name in BETWEEN_BROKERS
        assert (apis.by_key()[each["apiKey"]].used_by == "broker") == of_brokers, name


def test_what_only_clients_ask_is_answered_by_brokers_only(definitions):
    """Controllers answer none of it, and it is about records, groups, transactions or what producers left."""
    asked = {
        name: each for name, each in definitions.items() if each["apiKey"] in broker_clients.CLIENTS_ONLY
    }
    assert set(asked) == {
        "Produce", "OffsetCommit", "OffsetFetch", "JoinGroup", "Heartbeat", "LeaveGroup", "SyncGroup", "DescribeGroups",
        "ListGroups", "DescribeProducers", "DescribeTransactions", "ListTransactions",
    }  # fmt: skip
    assert all(each["listeners"] == ["broker"] for each in asked.values())


@pytest.mark.parametrize(
    "name",
    [
        "broker-1-txn-marker-sender",
        "raft-client-3",
        "AddPartitionsManager-client-1",
    ],
)
def test_brokers_by_their_client_id(name):
    assert broker_clients.is_broker(name)
    assert not broker_clients.is_broker(f"my-{name}")


def test_an_application_with_a_client_id_of_brokers_is_told_by_what_it_asks():
    name, metadata, api_versions, login, verify = "AddPartitionsManager-client-1", 3, 18, 36, 24
    assert broker_clients.is_broker(name, frozenset((verify, api_versions)))
    assert broker_clients.is_broker(name, frozenset((verify, api_versions, login)), is_sasl=True)
    assert not broker_clients.is_broker(name, frozenset((verify, login)))
    assert not broker_clients.is_broker(name, frozenset((verify, metadata)), is_sasl=True)


@pytest.mark.parametrize("name", ["broker-1-fetcher-0", "raft-client-3"])
def test_who_only_fetches_is_no_broker_by_its_client_id(name):
    """A consumer can be called so; what tells is the replica id, by which writers of dumps leave brokers out."""
    assert not broker_clients.is_broker(name, frozenset((1,)))


@pytest.mark.parametrize("key", sorted(broker_clients.CLIENTS_ONLY))
def test_who_was_answered_a_clients_request_is_a_client(key):
    assert not broker_clients.is_broker("raft-client-3", frozenset((key, *broker_clients.api_keys())))


@pytest.mark.parametrize("key", sorted(broker_clients.api_keys()))
def test_who_was_answered_a_brokers_request_is_a_broker(key):
    assert broker_clients.is_broker("1", frozenset((3, key)))


def test_what_coordinators_answer_names_a_group_or_a_transaction(definitions):
    of_data = {key for key, api in apis.by_key().items() if api.used_by == "data"} - keys(*AT_LEADERS)
    groups, transactions = (
        about(definitions, "groupId") & of_data,
        about(definitions, "transactionalId") & of_data,
    )
    newer = keys("StreamsGroupHeartbeat")  # KIP-1071, since 4.1
    # A client that leaves its group does not look up its coordinator for that; administrators describe groups.
    after_a_look_up = (groups | transactions) - keys("LeaveGroup") | keys("DescribeGroups") | newer
    assert after_a_look_up == failures._AT_COORDINATORS
    # AddOffsetsToTxn names a group and goes to the transaction's coordinator; TxnOffsetCommit is of both.
    of_share_groups = keys("ShareGroupHeartbeat")
    both = keys("AddOffsetsToTxn", "TxnOffsetCommit")
    assert groups - both - of_share_groups == mixed_window._AT_GROUP_COORDINATORS
    assert transactions - keys("TxnOffsetCommit") == mixed_window._AT_TRANSACTION_COORDINATORS
    assert groups > apis.MEMBERSHIP and groups > failures._POSITIONS


def test_roles_show_in_what_their_apis_are_about(definitions):
    reveal = {
        role: {key for key, need in needs.items() if need.reveals} for role, needs in roles.needs().items()
    }
    assert reveal["transactional_producer"] <= about(definitions, "transactionalId")
    assert reveal["group_consumer"] | reveal["share_consumer"] <= about(definitions, "groupId")
    # Whatever names a group and is no admin's is a consumer's; TxnOffsetCommit is of producers that consume as well.
    of_data = {key for key in about(definitions, "groupId") if apis.by_key()[key].used_by == "data"}
    consumers = set().union(*(roles.needs()[role] for role in ("group_consumer", "share_consumer")))
    assert of_data - consumers <= keys("TxnOffsetCommit", "AddOffsetsToTxn")
    # Every API of administrators is one of the role's, and shows it.
    assert reveal["admin"] == {key for key, api in apis.by_key().items() if api.used_by == "admin"}
