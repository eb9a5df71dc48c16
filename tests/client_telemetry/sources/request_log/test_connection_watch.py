import orjson
import pytest
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ConnectionEvent
from client_telemetry.knowledge.logins import THREE_ROUNDS
from client_telemetry.sources.request_log.connection_watch import ConnectionWatch, seen
from client_telemetry.sources.request_log.log_line import LineReader
from client_telemetry.sources.request_log.request_entry import parse_entry

from ..conftest import API_VERSIONS, FETCH, METADATA, PRODUCE, json_line

KINDS = {ConnectionEvent.OPENED: "opened", ConnectionEvent.ACTIVE: "active", ConnectionEvent.CLOSED: "closed"}
HELLO = {"clientSoftwareName": "kgo", "clientSoftwareVersion": "v1.15.4"}
UNNAMED = ("unknown", "unknown")


def _watch(*lines: bytes) -> list[ConnectionEvent]:
    events: list[ConnectionEvent] = []
    watch = ConnectionWatch(events.append, 2**63)
    reader = LineReader()
    for line in lines:
        read = reader.read(line)
        watch.add(seen(parse_entry(read.message), read.nanos), read.nanos)
    watch.end()
    return events


def _uses(event: ConnectionEvent) -> dict[tuple[int, int], tuple[int, int]]:
    return {(u.api_key, u.version): (u.requests, u.rejected) for u in event.api_uses}


def test_a_connection_that_greets_was_opened_then():
    events = _watch(
        json_line(10, API_VERSIONS, HELLO, {"errorCode": 0}, software=UNNAMED),
        json_line(11, PRODUCE, {"transactionalId": "tx-1"}, software=("kgo", "v1.15.4")),
    )
    assert [KINDS[e.kind] for e in events] == ["opened", "active"]
    client = events[-1].client
    assert (client.client_software_name, client.sent_software_version) == ("kgo", "v1.15.4")
    assert (client.client_address, client.client_port) == ("10.0.1.1", 40001)
    assert _uses(events[-1]) == {(18, 3): (1, 0), (0, 9): (1, 0)}
    assert list(events[-1].transactional_ids) == ["tx-1"]


def test_topics_are_those_of_the_first_request_of_each_version():
    events = _watch(
        json_line(10, PRODUCE, {"topicData": [{"name": "orders", "partitionData": []}]}),
        json_line(11, PRODUCE, {"topicData": [{"name": "later", "partitionData": []}]}),
        json_line(12, FETCH, {"topics": [{"topic": "payments"}, {"topic": "orders"}, {"topicId": "x"}]}),
        json_line(
            13, (9, "OFFSET_FETCH", 8), {"groups": [{"groupId": "g", "topics": [{"name": "refunds"}]}]}
        ),
        json_line(14, (3, "METADATA", 1), {"topics": [{"name": "no name of a topic"}, "x", {"name": 7}]}),
        json_line(15, (3, "METADATA", 0), {"topics": None}),
    )
    assert list(events[-1].topics) == ["orders", "payments", "refunds"]


def test_a_connection_that_was_there_before_the_log_is_not_opened():
    assert [KINDS[e.kind] for e in _watch(json_line(10, FETCH))] == ["active"]


def test_snapshots_every_five_minutes_count_since_the_beginning():
    events = _watch(
        json_line(10, FETCH), json_line(299, FETCH), json_line(301, FETCH), json_line(1300, FETCH)
    )
    assert [_uses(e)[1, 16][0] for e in events] == [2, 3, 1]
    assert [e.observed_at_nanos // 10**9 % 3600 for e in events] == [299, 599, 1300]
    assert events[0].opened_at_nanos == events[1].opened_at_nanos


def test_a_refused_version_is_no_version_in_use():
    events = _watch(
        json_line(10, (18, "API_VERSIONS", 5), "", {"errorCode": 35}, software=UNNAMED),
        json_line(11, API_VERSIONS, HELLO, {"errorCode": 0}, software=UNNAMED),
    )
    assert _uses(events[-1]) == {(18, 3): (1, 0), (18, 5): (0, 1)}
    assert events[-1].client.client_software_name == "kgo"


def test_a_name_that_an_old_request_resets_was_reported_before():
    """Clients that ask ApiVersions once more in a version up to 2 are `unknown` to the broker from then on (KIP-511). The
    event before has the name, so that the connection keeps it (flag name_reset of client_connections)."""
    greeted = json_line(10, API_VERSIONS, HELLO, {"errorCode": 0}, software=UNNAMED)
    named = json_line(11, FETCH, software=("kgo", "v1.15.4"))
    for reset in (
        json_line(12, (18, "API_VERSIONS", 2), {}, {"errorCode": 0}, software=("kgo", "v1.15.4")),
        json_line(12, METADATA, software=UNNAMED),  # the request that reset it is not in the log
    ):
        events = _watch(greeted, named, reset, json_line(13, FETCH, software=UNNAMED))
        before = next(each for each in events if each.client.client_software_name == "kgo")
        assert _uses(before).keys() == {(18, 3), (1, 16)}, "what it had done under its name"
        assert events[-1].client.client_software_name == "unknown"


def test_a_connection_of_a_sasl_listener_need_not_begin_with_api_versions():
    """What precedes a login is in no request log: the name stands in clientInformation alone, and the connection is a new
    one if all earlier ones are known."""
    line = json_line(10, FETCH, software=("kgo", "v1.15.4"))
    (event,) = _watch(line)
    assert KINDS[event.kind] == "active", "it can have been there before the log"
    events: list[ConnectionEvent] = []
    watch, read = ConnectionWatch(events.append, 0), LineReader().read(line)
    watch.add(seen(parse_entry(read.message), read.nanos), read.nanos)
    watch.end()
    assert [KINDS[each.kind] for each in events] == ["opened", "active"]
    assert events[-1].client.client_software_name == "kgo"
    assert _uses(events[-1]) == {(1, 16): (1, 0)}


def test_a_refused_name_is_sent_and_not_registered():
    bad = {"clientSoftwareName": "my_client", "clientSoftwareVersion": "1+2"}
    events = _watch(
        json_line(10, API_VERSIONS, bad, {"errorCode": 42}, software=UNNAMED),
        json_line(11, FETCH, software=UNNAMED),
    )
    client = events[-1].client
    assert (client.sent_software_name, client.client_software_name) == ("my_client", "unknown")
    assert client.api_versions_error == 42


@pytest.mark.parametrize(
    "line",
    [
        json_line(10, (6, "UPDATE_METADATA", 6), client_id="1"),
        json_line(10, (1, "FETCH", 12), {"replicaId": 3}),
        json_line(10, FETCH, {"replicaState": {"replicaId": 3, "replicaEpoch": 1}}),
        json_line(10, (24, "ADD_PARTITIONS_TO_TXN", 5), client_id="AddPartitionsManager-client-2"),
    ],
    ids=["an API of brokers", "a follower fetches", "a follower fetches since 3.5", "a client id of brokers"],
)
def test_other_brokers_are_left_out(line):
    assert _watch(json_line(9, API_VERSIONS, software=UNNAMED), line) == []


def test_a_consumer_is_no_follower():
    assert len(_watch(json_line(10, FETCH, {"replicaId": -1}))) == 1


def test_instance_ids_that_the_broker_gave():
    asks = (71, "GET_TELEMETRY_SUBSCRIPTIONS", 0)
    events = _watch(
        json_line(10, asks, {"clientInstanceId": "AAAAAAAAAAAAAAAAAAAAAA"}, _given("vbIwPY8MTDqgVD2pmFLUQw")),
        json_line(20, asks, {"clientInstanceId": "vbIwPY8MTDqgVD2pmFLUQw"}, _given("vbIwPY8MTDqgVD2pmFLUQw")),
        json_line(30, asks, {}, {"errorCode": 89, "clientInstanceId": "AAECAwQFBgcICQoLDA0ODw"}),
        json_line(40, asks, {}, _given("AAAAAAAAAAAAAAAAAAAAAA")),
        json_line(50, asks, {}, _given("no id")),
        json_line(60, asks, {}, "cut"),
    )
    assert [each.hex() for each in events[-1].client_instance_ids] == ["bdb2303d8f0c4c3aa0543da99852d443"]


def _given(instance_id: str) -> dict:
    return {"throttleTimeMs": 0, "errorCode": 0, "clientInstanceId": instance_id}


def _login(number: int, name: str = "librdkafka", protocol: str = "SASL_SSL") -> str:
    """The mechanism of a connection whose first logged request has this number."""
    header = {
        "requestApiKey": 3,
        "requestApiVersion": 12,
        "correlationId": number,
        "clientId": "fraud",
        "requestApiKeyName": "METADATA",
    }
    line = json_line(10, METADATA, software=(name, "2.3.0"), requestHeader=header, securityProtocol=protocol)
    return _watch(line)[-1].client.sasl_mechanism


def test_how_many_requests_a_login_took_tells_the_mechanism():
    """As in the log of a real rolling upgrade: librdkafka 2.3.0 to 2.16.0 with PLAIN and SCRAM."""
    assert _login(4) == "OAUTHBEARER|PLAIN"
    assert _login(5) == "SCRAM-SHA-256|SCRAM-SHA-512"
    assert _login(6) == THREE_ROUNDS, "GSSAPI, or another one that was begun twice"
    assert _login(167) == "", "it had connected before, or uses another mechanism"
    assert _login(5, name="apache-kafka-java") == _login(4, name="unknown") == "", "others number otherwise"
    assert _login(5, protocol="SSL") == ""


@pytest.mark.parametrize(
    ("request_", "is_shown"),
    [
        ({"replicaId": -1}, True),
        ({"replicaState": {"replicaId": 2, "replicaEpoch": 6}}, False),
        ({"replicaId": 2}, False),
    ],
)
def test_a_replica_fetcher_is_told_by_its_replica_id_and_not_by_its_client_id(request_, is_shown):
    events = _watch(json_line(10, FETCH, request_, client_id="broker-2-fetcher-0"))
    assert [event.client.client_id for event in events] == ["broker-2-fetcher-0"] * is_shown


def test_answers_with_errors_only_are_counted_by_code():
    denied = {"responses": [{"name": "t", "partitionResponses": [{"index": 0, "errorCode": 29}]}]}
    partly = {"responses": [{"partitionResponses": [{"errorCode": 29}, {"errorCode": 0}]}]}
    (*_, event) = _watch(
        json_line(10, API_VERSIONS, HELLO, {"errorCode": 35}),
        json_line(11, PRODUCE, {}, denied),
        json_line(12, PRODUCE, {}, denied),
        json_line(13, PRODUCE, {}, partly),
        json_line(14, (68, "CONSUMER_GROUP_HEARTBEAT", 0), {}, {"errorCode": 25}),
        json_line(15, (71, "GET_TELEMETRY_SUBSCRIPTIONS", 0), {}, {"errorCode": 42}),
    )
    errors = [(e.api_key, e.version, e.error_code, e.requests) for e in event.api_errors]
    assert errors == [(0, 9, 29, 2), (68, 0, 25, 1)]
    assert _uses(event)[0, 9] == (3, 0), "an answer is an answer"


def test_errors_are_known_after_the_log_was_interrupted():
    watch = ConnectionWatch(lambda event: None, 2**63)
    read = LineReader().read(json_line(11, PRODUCE, {}, {"errorCode": 29}))
    watch.add(seen(parse_entry(read.message), read.nanos), read.nanos)
    watch.end()
    events: list[ConnectionEvent] = []
    later = ConnectionWatch(events.append, 2**63)
    later.resume(orjson.loads(orjson.dumps(watch.state())))
    later.add(seen(parse_entry(read.message), read.nanos + 10**9), read.nanos + 10**9)
    later.end()
    assert [(e.error_code, e.requests) for e in events[-1].api_errors] == [(29, 2)]
