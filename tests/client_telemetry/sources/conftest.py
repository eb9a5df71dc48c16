"""Request log entries, shaped as the brokers of the sample wrote them."""

import json
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parents[3] / "include" / "sample"


@pytest.fixture
def sample_logs() -> Path:
    return SAMPLE / "request_logs"


def json_line(
    second: int | str,
    api: tuple[int, str, int],
    request: dict | str = "",
    response: dict | str = "",
    *,
    client_id: str | None = "orders",
    connection: str = "10.0.0.9:9092-10.0.1.1:40001-0-1",
    listener: str = "CLIENTS",
    software: tuple[str, str] = ("apache-kafka-java", "3.9.1"),
    **more: object,
) -> bytes:
    """One line of the JSON format (RequestConvertToJson of 4.x), `second` after 2026-11-21 12:00."""
    key, name, version = api
    minute, second = divmod(int(second), 60)
    hour, minute = 12 + minute // 60, minute % 60
    entry = {
        "isForwarded": False,
        "requestHeader": {
            "requestApiKey": key,
            "requestApiVersion": version,
            "correlationId": 1,
            "clientId": client_id,
            "requestApiKeyName": name,
        },
        "request": request,
        "response": response,
        "connection": connection,
        "totalTimeMs": 2.0,
        "requestQueueTimeMs": 0.1,
        "localTimeMs": 0.1,
        "remoteTimeMs": 0.0,
        "throttleTimeMs": 0,
        "responseQueueTimeMs": 0.1,
        "sendTimeMs": 0.1,
        "securityProtocol": "SASL_SSL",
        "principal": "User:orders",
        "listener": listener,
        "clientInformation": {"softwareName": software[0], "softwareVersion": software[1]},
        **more,
    }
    text = json.dumps(entry, separators=(",", ":"), ensure_ascii=False)
    return f"[2026-11-21 {hour}:{minute:02d}:{second:02d},000] DEBUG Completed request:{text} (kafka.request.logger)".encode()


API_VERSIONS, METADATA, PRODUCE, FETCH, PUSH = (
    (18, "API_VERSIONS", 3),
    (3, "METADATA", 12),
    (0, "PRODUCE", 9),
    (1, "FETCH", 16),
    (72, "PUSH_TELEMETRY", 0),
)


def metadata(brokers: dict[int, tuple[str, int]], leaders: dict[int, int] | None = None) -> dict:
    """A Metadata answer: brokers by node id, and the leader of each partition of the topic `t`."""
    parts = [{"errorCode": 0, "partitionIndex": p, "leaderId": n} for p, n in (leaders or {}).items()]
    return {
        "brokers": [{"nodeId": n, "host": h, "port": p} for n, (h, p) in brokers.items()],
        "clusterId": "c1uSter",
        "topics": [{"errorCode": 0, "name": "t", "partitions": parts}],
    }


def produced(partition: int) -> dict:
    parts = [{"index": partition, "errorCode": 0}]
    return {"responses": [{"name": "t", "partitionResponses": parts}]}
