"""Which metrics clients push (KIP-714): the standard ones, and those that librdkafka and kafka-clients have."""

from collections.abc import Collection, Iterable
from functools import cache

from client_telemetry.knowledge import rows
from client_telemetry.knowledge.vocabulary import Role

ALL_METRICS = "*"
FILE, JAVA_FILE = "librdkafka_telemetry_metrics.csv", "java_telemetry_metrics.csv"
COLUMNS = ("client_type", "metric", "source")
STANDARD_FILE = "standard_telemetry_metrics.csv"
STANDARD_COLUMNS = ("metric", "client_type", "otlp_type", "labels", "required", "source")


@cache
def standard_metrics(client_type: str) -> dict[str, bool]:
    """KIP-714's standard metrics of a client type, in order -> whether every client that pushes must have it."""
    return {
        metric: required == "yes"
        for _, (metric, kind, _, _, required, _) in rows(STANDARD_FILE, STANDARD_COLUMNS)
        if kind == client_type
    }


@cache
def librdkafka_metrics(client_type: str, file: str = FILE) -> tuple[str, ...]:
    return tuple(metric for _, (kind, metric, _) in rows(file, COLUMNS) if kind == client_type)


def java_metrics(client_type: str) -> tuple[str, ...]:
    return librdkafka_metrics(client_type, JAVA_FILE)


def subscription_matches_none(requested: Collection[str], client_roles: Collection[str]) -> bool | None:
    """Whether a librdkafka client in these roles is asked only for metrics that it does not have.

    `requested` are the prefixes of all subscriptions that match the client: `*` and the empty prefix match everything;
    no prefix at all means that no subscription matches and nothing is asked for. None if the roles do not distinguish
    producer from consumer.
    """
    if not requested:
        return False
    types = {"consumer" if "consumer" in role else "producer" for role in client_roles if role != Role.ADMIN}
    if not types:
        return None
    return any(
        not any(asked_for(metric, requested) for metric in metrics)
        for metrics in map(librdkafka_metrics, types)
    )


def asked_for(metric: str, prefixes: Iterable[str]) -> bool:
    return any(prefix == ALL_METRICS or metric.startswith(prefix) for prefix in prefixes)
