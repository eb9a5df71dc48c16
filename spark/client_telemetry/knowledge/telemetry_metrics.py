"""Which metrics librdkafka pushes (KIP-714), enough to tell whether a subscription matches none of them."""

from collections.abc import Collection
from functools import cache

from client_telemetry.knowledge import rows
from client_telemetry.knowledge.vocabulary import Role

FILE = "librdkafka_telemetry_metrics.csv"
COLUMNS = ("client_type", "metric", "source")


@cache
def _metric_names(client_type: str) -> tuple[str, ...]:
    return tuple(metric for _, (kind, metric, _) in rows(FILE, COLUMNS) if kind == client_type)


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
    return any(not _asked_for(metrics, requested) for metrics in map(_metric_names, types))


def _asked_for(metrics: Collection[str], requested: Collection[str]) -> bool:
    return any(prefix == "*" or metric.startswith(prefix) for prefix in requested for metric in metrics)
