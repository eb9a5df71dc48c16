"""What newer protocols brokers serve, from what they answered: of groups, transactions and client metrics."""

from collections.abc import Collection, Mapping
from typing import Final

from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.probe.probing import ANSWERED, BrokerAnswers

_BY_API: Final = {
    "group.protocol=consumer (KIP-848)": ApiKey.CONSUMER_GROUP_HEARTBEAT,
    "share groups (KIP-932)": ApiKey.SHARE_GROUP_HEARTBEAT,
    "streams groups (KIP-1071)": ApiKey.STREAMS_GROUP_HEARTBEAT,
}
_SECOND_PROTOCOL_FROM: Final = 5
"""EndTxn v5 is the first of transactions of level 2 (KIP-890)."""
YES, NO = "yes", "no"


def of(brokers: Collection[BrokerAnswers], finalized: Mapping[str, int]) -> dict[str, str]:
    """`yes`, `no`, or why it is not known. `finalized`: feature -> level."""
    found = {name: _of_api(brokers, key) for name, key in _BY_API.items()}
    # A broker without a plugin for metrics does not advertise GetTelemetrySubscriptions, and answers PushTelemetry all the same.
    metrics = [ApiKey.GET_TELEMETRY_SUBSCRIPTIONS in broker.advertised.versions for broker in brokers]
    found["client metrics (KIP-714)"] = YES if all(metrics) else NO
    return found | {
        f"transactions, level {level}": _transactions(brokers, finalized, level) for level in (0, 1, 2)
    }


def _of_api(brokers: Collection[BrokerAnswers], key: int, version_from: int = 0) -> str:
    """Whether every broker answers some version of the API."""
    outcomes = [
        {
            outcome
            for (api_key, version), outcome in broker.outcomes.items()
            if api_key == key and version >= version_from
        }
        for broker in brokers
    ]
    if all(ANSWERED in of_broker for of_broker in outcomes):
        return YES
    return NO if all(outcomes) else "not asked"


def _transactions(brokers: Collection[BrokerAnswers], finalized: Mapping[str, int], level: int) -> str:
    if level == 0:
        return _of_api(brokers, ApiKey.END_TXN)
    if finalized.get("transaction.version", 0) < level:
        return NO
    return _of_api(brokers, ApiKey.END_TXN, _SECOND_PROTOCOL_FROM) if level > 1 else YES
