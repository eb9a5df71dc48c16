"""Settings that brokers print at their start, in forms that test_wrappings.py has not."""

import json
from pathlib import Path

import pytest
from client_telemetry.formats.raw.manifest import parse_manifest
from client_telemetry.sources.log_files import find_logs
from client_telemetry.sources.request_log.broker_releases import BrokerReleases
from client_telemetry.sources.request_log.broker_survey import survey
from client_telemetry.sources.request_log.conversion import convert
from client_telemetry.sources.request_log.log_line import LineReader
from client_telemetry.sources.request_log.server_log import ServerLines

DATA = Path(__file__).parents[3] / "data/sources"
LINES = (DATA / "server_lines.log").read_text().splitlines()
SETTINGS = (DATA / "server_log/settings_3.9.1.txt").read_text()
HEADER = "[2026-11-22 10:48:00,900] INFO KafkaConfig values: "
LOGGER = " (kafka.server.KafkaConfig)"
BLOCK = [HEADER, *SETTINGS.splitlines(), LOGGER]


def settings(path: Path, text: str) -> list[dict[str, str] | None]:
    path.write_text(text)
    return [
        incarnation.settings
        for broker in survey(find_logs([str(path)]), year=2026).brokers
        for incarnation in broker.incarnations
    ]


def _log(*block: str) -> str:
    return "\n".join([LINES[0], *block, *LINES[1:]]) + "\n"


def _message(separator: str) -> str:
    return separator.join(["KafkaConfig values: ", *SETTINGS.splitlines(), ""])


ONE_ENTRY = {
    "log4j2 JSON": json.dumps(
        {
            "instant": {"epochSecond": 1795344480, "nanoOfSecond": 900000000},
            "level": "INFO",
            "loggerName": "kafka.server.KafkaConfig",
            "message": _message("\n"),
        }
    ),
    "Filebeat, multiline": json.dumps(
        {"@timestamp": "2026-11-22T10:48:00.900Z", "message": f"{HEADER}\n{SETTINGS}{LOGGER}"}
    ),
    "rsyslog": f"{HEADER}{_message('#012').replace(chr(9), '#011').removeprefix('KafkaConfig values: ')}{LOGGER}",
    "escaped twice": f"{HEADER}{_message(chr(92) + 'n').replace(chr(9), chr(92) + 't').removeprefix('KafkaConfig values: ')}{LOGGER}",
}


@pytest.mark.parametrize("layout", ONE_ENTRY)
def test_all_settings_in_one_entry(tmp_path, layout):
    (found,) = settings(tmp_path / "server.log", _log(ONE_ENTRY[layout]))
    assert found is not None and len(found) == 14
    assert found["delegation.token.master.key"] == "[set]" and found["zookeeper.connect"] == "null"


@pytest.mark.parametrize("prefix", ["TIME ", "kafka-1 kafka ", "kafka-1 › kafka ", "logs/1/server.log:"])
def test_a_shipper_puts_something_before_each_line(tmp_path, prefix):
    lines, time = "", ""
    for line in _log(*BLOCK).splitlines():
        time = f"{line[1:11]}T{line[12:20]}.{line[21:24]}000000Z" if line.startswith("[") else time
        lines += f"{prefix.replace('TIME', time)}{line}\n"
    (found,) = settings(tmp_path / "server.log", lines)
    assert found is not None and found["process.roles"] == "[broker, controller]"


def test_secrets_and_addresses_are_not_kept(tmp_path):
    block = [
        HEADER,
        "\tdelegation.token.secret.key = not-hidden",
        "\tlisteners = CLIENTS://broker-1.internal:9092,:9093",
        "\tsasl.jaas.config = org.example.Login password=hunter2",
        "\tsasl.oauthbearer.jwks.endpoint.url = https://user:hunter2@issuer/keys",
        "\tzookeeper.connect = zk-1.internal:2181/kafka",
        LOGGER,
    ]
    (found,) = settings(tmp_path / "server.log", _log(*block))
    assert found == {
        "delegation.token.secret.key": "[set]",
        "listeners": "CLIENTS",
        "sasl.oauthbearer.jwks.endpoint.url": "[set]",
        "zookeeper.connect": "[set]",
    }


def test_settings_of_a_controller_are_not_those_of_a_broker(tmp_path):
    block = [line.replace("[broker, controller]", "[controller]") for line in BLOCK]
    assert settings(tmp_path / "server.log", _log(*block)) == [None]


def test_each_process_has_what_it_printed(tmp_path):
    """Before the line with which a process begins, and again after it."""

    def start(hour: int, seconds: str) -> list[str]:
        block = [HEADER.replace("10:48:00", f"{hour}:00:01"), f"\tlog.segment.bytes = {seconds}", LOGGER]
        at = f"[2026-11-22 {hour}:00"
        return [
            *block,
            f"{at}:02,000] INFO [BrokerServer id=1] Transition from SHUTDOWN to STARTING (kafka.server.BrokerServer)",
            *(line.replace(":01,", ":09,") for line in block),
            f"{at}:12,000] INFO [KafkaRaftServer nodeId=1] Kafka Server started (kafka.server.KafkaRaftServer)",
        ]

    lines = [*start(11, "1"), *start(12, "2"), *start(13, "3")]
    assert settings(tmp_path / "server.log", "\n".join([*LINES, *lines]) + "\n") == [
        None,
        {"log.segment.bytes": "1"},
        {"log.segment.bytes": "2"},
        {"log.segment.bytes": "3"},
    ]


def test_brokers_that_are_mixed_in_one_stream_have_their_own():
    server, found = ServerLines(), []
    reader = LineReader()
    for line in (HEADER, "\tlog.segment.bytes = BROKER", "\tbroker.id = BROKER", LOGGER):
        for broker in "45":
            labelled = f"kafka-{broker}  | {line.replace('BROKER', broker)}".encode()
            assert server.is_notable(labelled)
            found += server.read(reader.read_other(labelled))
    assert [(event.label, event.node_id, event.settings) for event in found] == [
        (f"kafka-{broker}", int(broker), (("log.segment.bytes", broker),)) for broker in "45"
    ]


def test_settings_are_in_the_manifests(tmp_path):
    path = tmp_path / "server.log"
    path.write_text(_log(*BLOCK))
    convert(survey(find_logs([str(path)])), BrokerReleases.parse("3.9.1"), "x", tmp_path / "raw")
    manifests = [parse_manifest(file.read_bytes()) for file in (tmp_path / "raw").rglob("*.json")]
    assert manifests and all(
        (m.settings or {})["inter.broker.protocol.version"] == "3.9-IV0" for m in manifests
    )
