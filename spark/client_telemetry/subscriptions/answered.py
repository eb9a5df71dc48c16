"""What clients are asked for, from the GetTelemetrySubscriptions answers in a broker's request log (JSON, Kafka 3.7
on).

An answer does not name its subscriptions. So each distinct answer becomes one that matches, by instance id, the clients
that last received it: what these clients are asked for is then exact, and nothing is claimed about others.
"""

import json
from collections import defaultdict
from typing import TypedDict, cast

from client_telemetry.subscriptions.answers import checksum, subscription_id
from client_telemetry.subscriptions.configuration import INTERVAL_MS, MATCH, METRICS
from client_telemetry.subscriptions.configured_file import Resource
from client_telemetry.subscriptions.instances import BadInstanceId, instance_id_of

MARK = '"requestApiKeyName":"GET_TELEMETRY_SUBSCRIPTIONS"'


class NoAnswers(ValueError):
    """The text has no usable answers; one line."""


def read(text: str) -> list[Resource]:
    """From lines of request logs; other lines are ignored. Raises NoAnswers."""
    last: dict[str, tuple[tuple[str, ...], int]] = {}
    for line in text.splitlines():
        if MARK not in line:
            continue
        response = _response(line)
        if response is None or response.get("errorCode") != 0:
            continue
        metrics, interval = tuple(response["requestedMetrics"]), int(response["pushIntervalMs"])
        if _is_its_id(response, metrics, interval):
            last[response["clientInstanceId"]] = (metrics, interval)
    instances_by_request: dict[tuple[tuple[str, ...], int], list[str]] = defaultdict(list)
    for instance_id, answer in last.items():
        if answer[0]:
            instances_by_request[answer].append(instance_id)
    if not last:
        raise NoAnswers("there is no GetTelemetrySubscriptions answer in these lines of a request log")
    return [
        Resource(
            f"answered-{number}",
            {
                METRICS: ",".join(metrics),
                INTERVAL_MS: str(interval),
                MATCH: f"client_instance_id=({'|'.join(sorted(ids))})",
            },
        )
        for number, ((metrics, interval), ids) in enumerate(instances_by_request.items(), 1)
    ]


class Response(TypedDict, total=False):
    """A GetTelemetrySubscriptions answer, as Kafka names its fields; of a line that was changed, any may lack."""

    errorCode: int
    clientInstanceId: str
    subscriptionId: int
    pushIntervalMs: int
    requestedMetrics: list[str]


def _response(line: str) -> Response | None:
    """The response in an entry; None for a line that was cut or changed."""
    begin = line.find("{")
    try:
        entry, _ = json.JSONDecoder().raw_decode(line, begin)
        response = entry["response"]
    except (ValueError, KeyError, TypeError):
        return None
    return cast("Response", response) if isinstance(response, dict) else None


def _is_its_id(response: Response, metrics: tuple[str, ...], interval_ms: int) -> bool:
    """Whether the answer's id matches its metrics and interval: an answer that was altered is left out."""
    try:
        instance_id = instance_id_of(str(response["clientInstanceId"]))
    except (BadInstanceId, KeyError):
        return False
    return subscription_id(checksum(metrics, interval_ms), instance_id) == response.get("subscriptionId")
