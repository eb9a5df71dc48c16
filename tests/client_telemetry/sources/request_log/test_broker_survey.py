import pytest
from client_telemetry.knowledge import served
from client_telemetry.sources.log_files import find_logs
from client_telemetry.sources.request_log.broker_survey import survey
from client_telemetry.sources.request_log.connection_ids import addresses, id_told_apart
from client_telemetry.sources.request_log.endpoint_owners import TwoClusters
from client_telemetry.sources.request_log.request_entry import parse_entry

from ..conftest import API_VERSIONS, FETCH, METADATA, PRODUCE, json_line, metadata, produced


def _survey(folder, logs: dict[str, list[bytes]], *named: str):
    for name, entries in logs.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\n".join(entries) + b"\n")
    return survey(find_logs(named or [str(folder)]))


def _answer(release: str) -> dict:
    ranges = [(key, *api.advertised) for key, api in served.by(release).items() if not api.condition]
    return {
        "errorCode": 0,
        "apiKeys": [{"apiKey": k, "minVersion": a, "maxVersion": b} for k, a, b in ranges],
    }


@pytest.mark.parametrize(
    ("connection_id", "host", "port"),
    [
        ("10.0.0.9:9092-10.0.1.1:40001-3", "10.0.1.1", 40001),
        ("10.0.0.9:9092-10.0.1.1:40001-0-17", "10.0.1.1", 40001),
        ("0:0:0:0:0:0:0:1:9092-fe80:0:0:0:1:2:3:4%eth0:40001-2-1", "fe80:0:0:0:1:2:3:4%eth0", 40001),
    ],
)
def test_both_ends_of_a_connection(connection_id, host, port):
    found = addresses(connection_id)
    assert (found.host, found.port) == (host, port)
    assert addresses("nonsense") is None


MASKED = {
    "Amazon MSK masks the local address": ("INTERNAL_IP-203.0.113.7:33245-169", "203.0.113.7", 33245),
    "MSK, a private client": ("INTERNAL_IP-INTERNAL_IP:33245-169", "", 33245),
    "a scrubber masks both": ("<ip>:9092-<ip>:40001-0-17", "", 40001),
    "octets are masked": ("10.0.x.x:9092-10.0.x.x:40001-3", "", 40001),
    "all is masked": ("[REDACTED]", "", 0),
    "stars": ("***", "", 0),
}


@pytest.mark.parametrize("case", MASKED)
def test_what_a_mask_leaves_of_a_connection(case):
    connection_id, host, port = MASKED[case]
    remote = addresses(connection_id)
    assert (remote.host, remote.port) == (host, port)


@pytest.mark.parametrize("connection_id", ["nonsense", "10.0.0.9:9092", "", "a b"])
def test_what_is_no_connection(connection_id):
    assert addresses(connection_id) is None


def _told_apart(connection: str, client_id: str) -> str:
    line = json_line(0, FETCH, connection=connection, client_id=client_id).decode()
    entry = parse_entry(line[line.index("Completed request:") : line.rindex("}") + 1])
    return id_told_apart(connection, entry)


def test_masked_connections_differ_by_number_or_else_by_client():
    assert _told_apart("INTERNAL_IP-INTERNAL_IP:33245-169", "a") == _told_apart(
        "INTERNAL_IP-INTERNAL_IP:33245-169", "b"
    )
    assert _told_apart("INTERNAL_IP-INTERNAL_IP:33245-169", "a") != _told_apart(
        "INTERNAL_IP-INTERNAL_IP:33245-170", "a"
    )
    assert _told_apart("[REDACTED]", "a") != _told_apart("[REDACTED]", "b")


def test_the_broker_of_masked_lines_is_that_of_the_name_or_as_given(tmp_path):
    masked = [json_line(0, FETCH, connection="INTERNAL_IP-203.0.113.7:33245-169")]
    found = _survey(tmp_path, {"Broker-3.log": masked})
    assert [(b.broker_id, b.id_known_by) for b in found.brokers] == [(3, "name")]
    found = _survey(tmp_path, {"Broker-3.log": masked}, f"2={tmp_path}/Broker-3.log")
    assert [(b.broker_id, b.id_known_by) for b in found.brokers] == [(2, "given")]


TRACED = (
    "[2026-11-22 10:10:00,000] TRACE [KafkaApi-5] Handling request:RequestHeader(apiKey=FETCH, apiVersion=11, clientId=orders, "
    "correlationId=1, headerVersion=1) -- FetchRequestData(replicaId=-1) from connection 10.0.0.9:9092-10.0.1.1:40001-0;"
    "securityProtocol:SASL_SSL,principal:User:orders (kafka.server.KafkaApis)"
)


def test_kafka_apis_names_the_node_id(tmp_path):
    found = _survey(tmp_path, {"kafka.log": [TRACED.encode()]})
    assert [(b.broker_id, b.entries) for b in found.brokers] == [(5, 1)]
    assert not found.doubled


def test_lines_of_kafka_apis_do_not_count_besides_the_request_loggers(tmp_path):
    request = json_line(0, FETCH, connection="10.0.0.9:9092-10.0.1.1:40001-0")
    found = _survey(tmp_path, {"kafka.log": [TRACED.encode(), request]})
    assert len(found.doubled) == 1
    assert [broker.entries for broker in found.brokers] == [1]


def test_the_node_id_is_known_by_the_address_that_metadata_lists(tmp_path):
    answer = metadata({4: ("10.0.0.9", 9092), 5: ("10.0.0.10", 9092)})
    found = _survey(tmp_path, {"a.log": [json_line(0, METADATA, {}, answer)]})
    assert found.cluster_id == "c1uSter"
    assert [(b.broker_id, b.id_known_by) for b in found.brokers] == [(4, "metadata")]
    assert found.without_log == [5]


def test_the_node_id_is_known_by_the_partitions_that_it_leads(tmp_path):
    """Brokers are advertised by names that are no addresses: who accepts a Produce leads the partition."""
    answer = metadata({4: ("kafka-4.example", 9092), 5: ("kafka-5.example", 9092)}, {0: 4, 1: 5})
    there = "10.0.0.10:9092-10.0.1.1:40001-0-1"
    found = _survey(
        tmp_path,
        {
            "a.log": [json_line(0, METADATA, {}, answer), json_line(1, PRODUCE, {}, produced(0))],
            "b.log": [json_line(1, PRODUCE, {}, produced(1), connection=there)],
        },
    )
    assert [(b.broker_id, b.id_known_by) for b in found.brokers] == [(4, "leadership"), (5, "leadership")]


def test_a_log_that_does_not_tell_its_node_id_gets_a_number_or_what_was_said(tmp_path):
    logs = {"a.log": [json_line(0, FETCH)]}
    assert [(b.broker_id, b.id_known_by) for b in _survey(tmp_path, logs).brokers] == [(0, "numbered")]
    surveyed = _survey(tmp_path, logs, f"7={tmp_path}/a.log")
    assert [(b.broker_id, b.id_known_by) for b in surveyed.brokers] == [(7, "given")]


def test_brokers_that_are_mixed_in_one_file(tmp_path):
    lines = [
        json_line(i, FETCH, connection=f"10.0.0.{9 + i % 3}:9092-10.0.1.1:40001-0-1", listener="CLIENTS")
        for i in range(6)
    ]
    found = _survey(tmp_path, {"all.log": lines})
    assert [b.entries for b in found.brokers] == [2, 2, 2]


def test_listeners_of_one_broker_are_one_broker(tmp_path):
    lines = [
        json_line(0, FETCH, connection="10.0.0.9:9092-10.0.1.1:40001-0-1", listener="CLIENTS"),
        json_line(1, FETCH, connection="192.168.7.9:9094-10.0.1.1:40001-0-1", listener="EXTERNAL"),
    ]
    assert len(_survey(tmp_path, {"a.log": lines}).brokers) == 1


def test_rotated_files_and_copies(tmp_path):
    lines = [json_line(i, FETCH) for i in range(4)]
    found = _survey(tmp_path, {"r.log": lines[2:], "r.log.2026-11-21-11": lines[:2], "copy/r.log": lines[:2]})
    assert [file.same_as is not None for file in found.files] == [False, False, True]


def test_a_file_with_lines_of_two_clusters_is_named(tmp_path):
    other = {**metadata({1: ("10.0.0.9", 9092)}), "clusterId": "another"}
    lines = [
        json_line(0, METADATA, {}, metadata({1: ("10.0.0.9", 9092)})),
        json_line(1, METADATA, {}, other),
    ]
    with pytest.raises(TwoClusters, match=r"mixed\.log has lines of more than one: export the log of each"):
        _survey(tmp_path, {"mixed.log": lines})


def test_logs_of_two_clusters_are_refused(tmp_path):
    other = {**metadata({1: ("10.0.0.9", 9092)}), "clusterId": "another"}
    with pytest.raises(
        TwoClusters, match=r"another: \S*b\.log, c1uSter: \S*a\.log\): name the logs of one cluster"
    ):
        _survey(
            tmp_path,
            {
                "a.log": [json_line(0, METADATA, {}, metadata({1: ("10.0.0.9", 9092)}))],
                "b.log": [json_line(0, METADATA, {}, other)],
            },
        )


def test_a_broker_whose_answers_change_began_another_incarnation(tmp_path):
    lines = [
        json_line(0, FETCH),
        json_line(5, API_VERSIONS, {}, _answer("3.9.1")),
        json_line(
            6,
            API_VERSIONS,
            {},
            {"errorCode": 35, "apiKeys": [{"apiKey": 18, "minVersion": 0, "maxVersion": 4}]},
        ),
        json_line(60, API_VERSIONS, {}, _answer("4.0.0")),
    ]
    incarnations = _survey(tmp_path, {"a.log": lines}).brokers[0].incarnations
    assert [incarnation.candidates for incarnation in incarnations] == [
        ("3.9.0", "3.9.1", "3.9.2"),
        ("4.0.0",),
    ]
    assert incarnations[1].since - incarnations[0].since == 60 * 10**9


def test_a_line_of_a_client_that_imitates_an_entry_does_not_stretch_the_window(sample_logs):
    broker = survey(find_logs([str(sample_logs / "kafka-2.7.2-text.request.log.zst")])).brokers[0]
    assert broker.broker_id == 1
    assert broker.last - broker.first < 400 * 10**9
