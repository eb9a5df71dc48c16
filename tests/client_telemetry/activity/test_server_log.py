"""server.log of Kafka 3.9.1 and 4.0.1, line by line as they come."""

import pytest
from client_telemetry.activity.server_log import failed_starts, read

LOG = b"""\
[2026-11-22 12:04:54,995] INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)
[2026-11-22 12:04:55,095] INFO KafkaConfig values:
	advertised.listeners = null
[2026-11-22 12:04:57,805] INFO [BrokerServer id=3] Transition from SHUTDOWN to STARTING (kafka.server.BrokerServer)
[2026-11-22 12:04:58,239] INFO [ControllerServer id=3] Loaded new metadata Features(metadataVersion=3.9-IV0, finalizedFeatures={metadata.version=21}, finalizedFeaturesEpoch=5). (org.apache.kafka.metadata.publisher.FeaturesPublisher)
[2026-11-22 12:04:58,350] INFO Kafka version: 3.9.1 (org.apache.kafka.common.utils.AppInfoParser)
[2026-11-22 12:05:11,918] INFO [SocketServer listenerType=BROKER, nodeId=3] Failed authentication with /127.0.0.1 (channelId=127.0.0.1:27022-127.0.0.1:48922-16) (Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256) (org.apache.kafka.common.network.Selector)
[2026-11-22 12:10:17,410] INFO Terminating process due to signal SIGTERM (org.apache.kafka.common.utils.LoggingSignalHandler)
[2026-11-22 12:10:22,084] INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)
[2026-11-22 12:10:22,640] INFO [BrokerServer id=3] Starting broker (kafka.server.BrokerServer)
[2026-11-22 12:10:23,177] INFO Kafka version: 4.0.1 (org.apache.kafka.common.utils.AppInfoParser)
[2026-11-22 12:11:10,713] ERROR Closing socket for 127.0.0.1:27022-127.0.0.1:60526-2-10 because of error (kafka.network.Processor)
org.apache.kafka.common.errors.UnsupportedVersionException: Received request for api with key 8 (OffsetCommit) and unsupported version 1
[2026-11-22 12:11:10,714] ERROR Exception while processing request from 127.0.0.1:27022-127.0.0.1:60526-2-10 (kafka.network.Processor)
org.apache.kafka.common.errors.UnsupportedVersionException: Received request for api with key 8 (OffsetCommit) and unsupported version 1
[2026-11-22 12:16:18,466] INFO [ControllerServer id=3] Loaded new metadata Features(metadataVersion=4.0-IV3, finalizedFeatures={group.version=1, transaction.version=2, metadata.version=25}, finalizedFeaturesEpoch=1673). (org.apache.kafka.metadata.publisher.FeaturesPublisher)
"""


def test_both_runs_of_the_broker_with_their_releases() -> None:
    first, second = read(LOG.splitlines())

    assert (first.node_id, first.releases, second.node_id, second.releases) == (
        3,
        ("3.9.1",),
        3,
        ("4.0.1",),
    )
    assert second.started - first.started == pytest.approx(327.089)
    assert first.stopping is not None and second.stopping is None


def test_a_refused_request_counts_once_of_its_two_lines() -> None:
    _, run = read(LOG.splitlines())

    assert [(each.connection_id, each.api_key, each.version) for each in run.refused] == [
        ("127.0.0.1:27022-127.0.0.1:60526-2-10", 8, 1)
    ]


def test_a_failed_login_has_address_mechanism_and_reason() -> None:
    run, _ = read(LOG.splitlines())

    (login,) = run.logins
    assert (login.address, login.mechanism) == ("127.0.0.1", "SCRAM-SHA-256")
    assert login.reason.endswith("with SASL mechanism SCRAM-SHA-256")


def test_finalized_features() -> None:
    first, second = read(LOG.splitlines())

    assert first.features[0][1] == {"metadata.version": 21}
    assert second.features[0][1] == {"group.version": 1, "transaction.version": 2, "metadata.version": 25}


STARTED = b"[2026-11-22 12:0%d:10,000] INFO [KafkaRaftServer nodeId=3] Kafka Server started (kafka.server.KafkaRaftServer)\n"


def run_of(minute: int, release: str, *, is_up: bool) -> bytes:
    at = f"[2026-11-22 12:0{minute}:0".encode()
    lines = (
        at + b"0,000] INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)\n"
        + at + b"2,000] INFO [BrokerServer id=3] Transition from SHUTDOWN to STARTING (kafka.server.BrokerServer)\n"
        + at + b"3,000] INFO Kafka version: " + release.encode() + b" (org.apache.kafka.common.utils.AppInfoParser)\n"
    )  # fmt: skip
    return lines + (STARTED % minute if is_up else b"")


def test_a_start_after_which_the_broker_did_not_come_up_is_an_event() -> None:
    log = run_of(1, "3.9.1", is_up=True) + run_of(3, "4.0.1", is_up=False) + run_of(5, "4.0.1", is_up=True)
    assert failed_starts([read(log.splitlines())]) == [
        "Broker 3 was started on 4.0.1 at 12:03:00 and did not come up; it was started again at 12:05:00"
    ]
    given_up = run_of(1, "3.9.1", is_up=True) + run_of(2, "4.0.1", is_up=False)
    assert failed_starts([read(given_up.splitlines())]) == []  # it may still be starting
    other = LOG.replace(b"=3]", b"=1]").replace(b"id=3", b"id=1")
    (event,) = failed_starts([read(given_up.splitlines()), read(other.splitlines())])
    assert event == "Broker 3 was started on 4.0.1 at 12:02:00 and did not come up; it was not started again"


def test_nothing_is_said_of_logs_that_have_no_complete_start() -> None:
    assert failed_starts([read(LOG.splitlines())]) == []
    assert failed_starts([]) == []


CONFIG = "org.apache.kafka.common.config.ConfigException: "
NOT_ALLOWED = (
    "https://keys.example is not allowed. Update system property 'org.apache.kafka.sasl.oauthbearer.allowed.urls' to allow "
    "https://keys.example"
)
UP = """\
[2026-11-22 12:00:00,000] INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)
[2026-11-22 12:00:01,000] INFO [BrokerServer id=3] Transition from SHUTDOWN to STARTING (kafka.server.BrokerServer)
[2026-11-22 12:00:02,000] INFO Kafka version: 3.9.1 (org.apache.kafka.common.utils.AppInfoParser)
[2026-11-22 12:00:03,000] INFO [KafkaRaftServer nodeId=3] Kafka Server started (kafka.server.KafkaRaftServer)
[2026-11-22 12:01:00,000] INFO Terminating process due to signal SIGTERM (org.apache.kafka.common.utils.LoggingSignalHandler)
"""
SETTING = f"""\
[2026-11-22 12:02:00,000] INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)
[2026-11-22 12:02:01,000] ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)
{CONFIG}Invalid value 4096 for configuration log.segment.bytes: Value must be at least 1048576
\tat org.apache.kafka.common.config.ConfigDef$Range.ensureValid(ConfigDef.java:1035)
"""
STARTUP = f"""\
[2026-11-22 12:02:01,000] INFO [BrokerServer id=3] Transition from SHUTDOWN to STARTING (kafka.server.BrokerServer)
[2026-11-22 12:02:02,000] INFO Kafka version: 4.0.1 (org.apache.kafka.common.utils.AppInfoParser)
[2026-11-22 12:02:09,000] ERROR [BrokerServer id=3] Fatal error during broker startup. Prepare to shutdown (kafka.server.BrokerServer)
org.apache.kafka.common.KafkaException: {CONFIG}{NOT_ALLOWED.replace("//", "//me:hunter2@")}
\tat org.apache.kafka.common.network.SaslChannelBuilder.configure(SaslChannelBuilder.java:190)
[2026-11-22 12:02:09,500] INFO [BrokerServer id=3] Transition from STARTING to SHUTTING_DOWN (kafka.server.BrokerServer)
[2026-11-22 12:02:10,000] ERROR Exiting Kafka due to fatal exception during startup. (kafka.Kafka$)
org.apache.kafka.common.KafkaException: {CONFIG}{NOT_ALLOWED.replace("//", "//me:hunter2@")}
"""


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (
            SETTING,
            "Broker 3 was started at 12:02:00 and did not come up (Invalid value 4096 for configuration log.segment.bytes: Value "
            "must be at least 1048576)",
        ),
        (STARTUP, f"Broker 3 was started on 4.0.1 at 12:02:01 and did not come up ({NOT_ALLOWED})"),
    ],
)
def test_a_failed_start_has_its_reason(failure, sentence):
    assert failed_starts([read((UP + failure).encode().splitlines())]) == [
        f"{sentence}; it was not started again"
    ]
    again = UP.replace("12:00", "12:02:4").replace(":4:", ":4")
    lines = (UP + failure + again).encode().splitlines()
    assert [event.rpartition("; ")[0] for event in failed_starts([read(lines)])] == [sentence]


def test_a_failed_start_without_another_one_is_an_event_too():
    (event,) = failed_starts([read(STARTUP.encode().splitlines())])
    assert event.startswith(
        "Broker 3 was started on 4.0.1 at 12:02:01 and did not come up (https://keys.example is"
    )


def test_a_failed_start_that_does_not_say_why():
    lines = STARTUP.replace("ERROR Exiting", "INFO x").splitlines()
    lines = [line.encode() for line in lines if "Exception" not in line]
    (event,) = failed_starts([read(lines)])
    assert event == "Broker 3 was started on 4.0.1 at 12:02:01 and did not come up; it was not started again"


def test_a_process_that_is_started_again_and_again_is_one_event():
    failures = [SETTING.replace("12:02:0", f"12:02:{tens}") for tens in range(3)]
    assert failed_starts([read((UP + "".join(failures)).encode().splitlines())]) == [
        "Broker 3 was started 3 times from 12:02:00 to 12:02:20 and did not come up (Invalid value 4096 for configuration "
        "log.segment.bytes: Value must be at least 1048576); it was not started again"
    ]
