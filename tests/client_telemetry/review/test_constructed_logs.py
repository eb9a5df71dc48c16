"""The truth table of outcomes once more, each case as what brokers write: three folders with a request log and a server.log."""

import csv
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import scenarios
from client_telemetry.activity.log_evidence import from_logs
from client_telemetry.knowledge import apis
from client_telemetry.review.in_parts import review
from client_telemetry.sources.log_files import find_logs

TABLE = Path(__file__).parents[2] / "data/review/outcomes.csv"
CASES = list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines()))
BEGAN = datetime(2026, 11, 22, 12, 0, 30, tzinfo=UTC)
REFUSAL = (
    "ERROR Exception while processing request from {connection} (kafka.network.Processor)\n"
    "org.apache.kafka.common.errors.UnsupportedVersionException: Received request for api with key {key} ({name}) and "
    "unsupported version {version}"
)
LOGIN = (
    "INFO [SocketServer listenerType=BROKER, nodeId={broker}] Failed authentication with /10.0.0.7 "
    "(channelId=10.0.0.1:9092-10.0.0.7:{port}-9) (Authentication failed during authentication due to invalid credentials "
    "with SASL mechanism SCRAM-SHA-256) (org.apache.kafka.common.network.Selector)"
)
FEATURES = (
    "INFO [BrokerServer id={broker}] Loaded new metadata Features(metadataVersion=x, finalizedFeatures={{{levels}}}, "
    "finalizedFeaturesEpoch=5). (org.apache.kafka.metadata.publisher.FeaturesPublisher)"
)


def stamp(at: float) -> str:
    return f"[{BEGAN + timedelta(seconds=at):%Y-%m-%d %H:%M:%S},{int(at % 1 * 1000):03}]"


def server_log(broker: int) -> Iterator[tuple[float, str]]:
    stop = scenarios.STOPS[broker]
    levels = [
        (-0.5, "metadata.version=21"),
        (scenarios.FINALIZED_AT, "metadata.version=25, transaction.version=2"),
    ]
    for at, release in ((-5.0, "3.9.1"), (stop + scenarios.DOWN, "4.0.1")):
        yield (
            at,
            "INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)",
        )
        yield at, f"INFO [BrokerServer id={broker}] Starting broker (kafka.server.BrokerServer)"
        yield at, f"INFO Kafka version: {release} (org.apache.kafka.common.utils.AppInfoParser)"
    yield (
        stop,
        "INFO Terminating process due to signal SIGTERM (org.apache.kafka.common.utils.LoggingSignalHandler)",
    )
    for at, own in levels:
        yield at, FEATURES.format(broker=broker, levels=own)
    yield scenarios.END, f"INFO [BrokerServer id={broker}] still here (kafka.server.BrokerServer)"


def refusal(api: str, version: str, port: str) -> str:
    return REFUSAL.format(
        connection=f"10.0.0.1:9092-10.0.0.7:{port}", key=apis.find(api).key, name=api, version=version
    )


def entry(api: str, version: str, case: dict[str, str], broker: int, error: str) -> str:
    name, _, software_version = case["software"].partition(" ")
    fields = {
        "requestHeader": {
            "requestApiKey": apis.find(api).key,
            "requestApiVersion": int(version),
            "clientId": "orders",
            "requestApiKeyName": re.sub(r"(?<!^)(?=[A-Z])", "_", api).upper(),
        },
        "request": {},
        "response": {"errorCode": int(error)} if error else {},
        "connection": f"10.0.0.1:9092-10.0.0.7:400{broker}-{broker}",
        "totalTimeMs": 1.0,
        "securityProtocol": case["protocol"],
        "principal": "User:orders",
        "listener": "CLIENTS",
        "clientInformation": {"softwareName": name, "softwareVersion": software_version or "unknown"},
    }
    text = json.dumps(fields, separators=(",", ":"))
    return f"DEBUG Completed request:{text} (kafka.request.logger)"


def written(case: dict[str, str], root: Path) -> Path:
    requests: dict[int, list[tuple[float, str]]] = {broker: [] for broker in scenarios.STOPS}
    servers = {broker: list(server_log(broker)) for broker in scenarios.STOPS}
    for api, version, at, broker, error, is_refused in scenarios.requests(case["did"]):
        if is_refused:
            servers[broker].append((at, refusal(api, version, f"400{broker}-{broker}")))
        else:
            requests[broker].append((at, entry(api, version, case, broker, error)))
    for number, each in enumerate(scenarios.refusals(case["unnamed_refusals"])):
        servers[3].append(
            (each.first, refusal(apis.name(each.api_key), str(each.version), f"{5000 + number}-7"))
        )
    for number, login in enumerate(scenarios.failed_logins(case["failed_logins"])):
        servers[3].append((login.first, LOGIN.format(broker=3, port=7000 + number)))
    for broker, lines in requests.items():
        folder = root / f"node{broker}"
        folder.mkdir(parents=True)
        for name, own in (("kafka-request.log", lines), ("server.log", servers[broker])):
            own.sort(key=lambda line: line[0])
            (folder / name).write_text("".join(f"{stamp(at)} {text}\n" for at, text in own))
    return root


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_logs_tell_what_the_table_tells(case: dict[str, str], tmp_path: Path) -> None:
    found = review(from_logs(find_logs([str(written(case, tmp_path))])), "3.9.1", "4.0.1")
    (client,) = found.clients
    happened = {e.phase: f"{e.outcome}:{e.kind}" if e.kind else e.outcome for e in client.outcomes}
    assert happened == {phase: case[phase] for phase in ("rolling", "not_finalized", "finalized")}, client
