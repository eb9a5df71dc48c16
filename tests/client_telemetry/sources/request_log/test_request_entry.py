import random

import pytest
from client_telemetry.sources.compression import CutOff
from client_telemetry.sources.log_files import find_logs, lines
from client_telemetry.sources.request_log.log_line import LineReader
from client_telemetry.sources.request_log.request_entry import (
    TEXT as WHOLE_TEXT,
)
from client_telemetry.sources.request_log.request_entry import (
    BadEntry,
    fields_of_text,
    parse_entry,
    received_nanos,
    topics_of,
)

from ..conftest import API_VERSIONS, json_line

TEXT = (
    "Completed request:RequestHeader(apiKey=JOIN_GROUP, apiVersion=7, clientId={client_id}, correlationId=12) -- "
    "{{group_id=mx,member_id=,group_instance_id=null}},response:{{throttle_time_ms=0,error_code=79}} from connection "
    "127.0.0.1:38200-0:0:0:0:0:0:0:1:36668-6;totalTime:21.241,requestQueueTime:0.7,securityProtocol:SASL_SSL,"
    "principal:User:CN=orders, O=Acme,listener:EXTERNAL"
)
SOFTWARE = ",clientInformation:ClientInformation(softwareName=apache-kafka-java, softwareVersion=3.9.1)"


def _message(line: bytes) -> str:
    return LineReader().read(line).message


@pytest.mark.parametrize(
    "client_id",
    [
        "orders",
        "",
        "drv@host1 (github.com/segmentio/kafka-go)",
        "evil, correlationId=1) -- {x}",
        "a, apiVersion=99, clientId=b, correlationId=1",
        "ümläut-🚀",
    ],
)
def test_a_text_entry_whatever_its_client_id(client_id):
    entry = parse_entry(TEXT.format(client_id=client_id) + SOFTWARE + " (kafka.request.logger)")
    assert (entry.api_key, entry.api_version, entry.client_id) == (11, 7, client_id)
    assert (entry.principal, entry.listener) == ("User:CN=orders, O=Acme", "EXTERNAL")
    assert (entry.software_name, entry.software_version) == ("apache-kafka-java", "3.9.1")
    assert entry.connection_id == "127.0.0.1:38200-0:0:0:0:0:0:0:1:36668-6"
    assert entry.request == {"groupId": "mx"}


def test_looking_for_words_finds_what_the_whole_pattern_finds():
    words = [
        *("Completed request:", "RequestHeader(apiKey=FETCH, apiVersion=4, clientId=", ", correlationId=", "7", ") -- ", "{a}"),
        *(",response:", " from connection ", "1.2.3.4:1-5.6.7.8:2-0", ";totalTime:1.5", ",", "securityProtocol:SSL"),
        *(",principal:User:a", ",listener:L", SOFTWARE, "\n"),
    ]  # fmt: skip
    random_, taken = random.Random(0), 0
    for _ in range(20_000):
        entry = words[:12] + words[12:15]
        entry.insert(11, ",x:1,")
        for _ in range(random_.randrange(4)):
            at = random_.randrange(len(entry) + 1)
            if random_.random() < 0.3 and entry:
                del entry[at - 1]
            else:
                entry.insert(at, random_.choice(words))
        message = "".join(entry)
        whole = WHOLE_TEXT.match(message)
        taken += whole is not None
        if whole:
            assert fields_of_text(message) == whole.groupdict(), message
        else:
            with pytest.raises(BadEntry):
                fields_of_text(message)
    assert 2_000 < taken < 18_000


def test_topics_of_a_text_entry():
    body = "{{group_id=mx,topics=[{{name=mx-seed,partition_indexes=[0]}},{{name=mx.2}}]}}"
    entry = parse_entry(
        TEXT.replace("{{group_id=mx,member_id=,group_instance_id=null}}", body).format(client_id="a")
    )
    assert topics_of(entry.request) == ["mx-seed", "mx.2"]


def test_a_text_entry_of_2_4_tells_no_software():
    entry = parse_entry(TEXT.format(client_id="null"))
    assert entry.software_name is None
    assert entry.client_id is None


def test_the_same_entry_of_both_formats():
    of_json = parse_entry(
        _message(
            json_line(0, (11, "JOIN_GROUP", 7), {"groupId": "mx"}, {"errorCode": 79}, client_id="orders")
        )
    )
    of_text = parse_entry(TEXT.format(client_id="orders") + SOFTWARE)
    for name in (
        "api_key",
        "api_version",
        "client_id",
        "software_name",
        "software_version",
        "security_protocol",
    ):
        assert getattr(of_json, name) == getattr(of_text, name), name
    assert of_json.request["groupId"] == of_text.request["groupId"]


def test_an_entry_is_written_after_its_request_was_received():
    entry = parse_entry(TEXT.format(client_id="orders"))
    assert received_nanos(entry, 10**18) == 10**18 - 21_241_000


@pytest.mark.parametrize("keep", [40, 200, 300])
def test_an_entry_that_is_cut_off_is_none(keep):
    with pytest.raises(BadEntry):
        parse_entry(_message(json_line(0, API_VERSIONS))[:keep])
    with pytest.raises(BadEntry):
        parse_entry(TEXT.format(client_id="orders")[:keep])


@pytest.mark.parametrize(
    "line", ["Completed request:{}", 'Completed request:{"requestHeader":{}}', "Completed request:"]
)
def test_what_only_begins_like_an_entry(line):
    with pytest.raises(BadEntry):
        parse_entry(line)


@pytest.mark.parametrize(
    ("name", "entries", "halves"),
    [("kafka-4.0.1-json", 3365, 0), ("kafka-2.7.2-text", 961, 4), ("kafka-2.4.1-text", 1043, 4)],
)
def test_real_logs(sample_logs, name, entries, halves):
    """All that cannot be read are the halves of the two entries whose client id has a line feed."""
    read, bad = 0, []
    (log,) = find_logs([str(sample_logs / f"{name}.request.log.zst")])
    for _, line in lines(log, CutOff()):
        try:
            parse_entry(_message(line))
            read += 1
        except BadEntry:
            bad.append(line)
    assert (read, len(bad)) == (entries, halves)
    assert all(line.endswith(b"clientId=two") or line.startswith(b"lines ") for line in bad)


TRACED = {
    "4.x, data classes": (
        "Handling request:RequestHeader(apiKey=JOIN_GROUP, apiVersion=5, clientId=billing, correlationId=7, headerVersion=1) -- "
        "JoinGroupRequestData(groupId='invoices', sessionTimeoutMs=45000, memberId='') from connection "
        "10.0.0.9:9092-10.0.1.1:40001-3;securityProtocol:SASL_SSL,principal:User:billing",
        (11, 5, "billing", "10.0.0.9:9092-10.0.1.1:40001-3", "User:billing", {"groupId": "invoices"}, False),
    ),
    "2.x, structs": (
        "Handling request:RequestHeader(apiKey=OFFSET_COMMIT, apiVersion=2, clientId=null, correlationId=7) -- "
        "{group_id=invoices,generation_id=3,member_id=m} from connection 10.0.0.9:9092-10.0.1.1:40001-3;"
        "securityProtocol:PLAINTEXT,principal:User:ANONYMOUS",
        (8, 2, None, "10.0.0.9:9092-10.0.1.1:40001-3", "User:ANONYMOUS", {"groupId": "invoices"}, False),
    ),
    "topics of a Produce": (
        "Handling request:RequestHeader(apiKey=PRODUCE, apiVersion=2, clientId=x, correlationId=0, headerVersion=1) -- "
        "{acks=1,timeout=10000,partitionSizes=[orders-0=107, a-b-12=3]} from connection INTERNAL_IP-198.51.100.20:33245-169;"
        "securityProtocol:SASL_SSL,principal:User:x (kafka.server.KafkaApis)",
        (
            0, 2, "x", "INTERNAL_IP-198.51.100.20:33245-169", "User:x",
            {"topics": [{"name": "orders"}, {"name": "a-b"}]}, False,
        ),
    ),
    "a controller's, forwarded": (
        "Handling request:Forwarded request: RequestContext(header=RequestHeader(apiKey=ENVELOPE, apiVersion=0)) "
        "RequestHeader(apiKey=CREATE_TOPICS, apiVersion=7, clientId=x, correlationId=0, headerVersion=2) -- "
        "CreateTopicsRequestData(validateOnly=false) from connection 10.0.0.9:9092-10.0.1.1:40001-3;"
        "securityProtocol:SASL_SSL,principal:User:x",
        (19, 7, "x", "10.0.0.9:9092-10.0.1.1:40001-3", "User:x", {}, True),
    ),
}  # fmt: skip
"""KafkaApis.handle and RequestChannel.Request.requestDesc."""


@pytest.mark.parametrize("case", TRACED)
def test_a_request_that_kafka_apis_took(case):
    message, expected = TRACED[case]
    entry = parse_entry(message)
    assert entry.is_traced
    assert (
        entry.api_key, entry.api_version, entry.client_id, entry.connection_id, entry.principal, entry.request,
        entry.is_forwarded,
    ) == expected  # fmt: skip


def test_a_cut_line_of_kafka_apis_is_no_entry():
    message = TRACED["2.x, structs"][0]
    with pytest.raises(BadEntry, match="cut off"):
        parse_entry(message[: message.index(" from connection")])
