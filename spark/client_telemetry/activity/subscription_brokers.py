"""What a question about subscriptions needs to know of the brokers: what is configured, and which release they run. From what
the user says, or what brokers reported.
"""

import datetime as dt
import json
import re
from collections.abc import Iterable

from client_telemetry.knowledge import releases
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.subscriptions import answered
from client_telemetry.subscriptions.configuration import KEYS
from client_telemetry.subscriptions.configured_file import Resource, resource_of
from client_telemetry.tables.rows import BrokerRow, SubscriptionRecord

_HEADS = (
    re.compile(r"Client metrics configs for (?P<name>.*) are:"),
    re.compile(r"(?:Dynamic|All) configs for client-metrics? (?P<name>.*) are:"),
)
_NOTHING = re.compile(r"The client metric resource .* doesn't exist and doesn't have dynamic config\.")
_ENTRY = re.compile(rf"\s+(?P<key>{'|'.join(map(re.escape, KEYS))})=(?P<value>.*)")
# kafka-configs.sh
_MORE = re.compile(r"^(?P<value>.*) sensitive=(?:true|false) synonyms=\{(?P<synonyms>.*)\}$")


class NotKnown(ValueError):
    """Brokers did not report it, or what the user said cannot be read; the message says what to write."""


def configured_of(text: str | None, brokers: list[BrokerRow]) -> tuple[list[Resource], list[str]]:
    """What is configured, and remarks. `text`: as a JSON list, as `kafka-client-metrics.sh --describe` printed it, or
    lines of a request log with GetTelemetrySubscriptions answers; None = what the brokers reported. Raises NotKnown.
    """
    if text:
        try:
            if answered.MARK in text:
                return answered.read(text), []
            if text.lstrip().startswith("["):
                return [resource_of(entry) for entry in json.loads(text)], []
            return described(text), []
        except ValueError as error:  # also NoAnswers
            raise NotKnown(f"--configured: {error}") from error
    resources, remarks = configured_resources(brokers)
    if resources is None:
        raise NotKnown(
            "no broker reported what is configured in these days: paste the output of "
            "kafka-client-metrics.sh --describe as --configured, or [] if there is nothing"
        )
    return resources, remarks


def described(text: str) -> list[Resource]:
    """From the output of `kafka-client-metrics.sh --describe` or `kafka-configs.sh --describe --entity-type client-metrics`
    (ClientMetricsCommand, ConfigCommand), in its order; printed defaults are left out. Raises ValueError.
    """
    resources: list[Resource] = []
    properties: dict[str, str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        head = next((match for pattern in _HEADS if (match := pattern.fullmatch(line.strip()))), None)
        entry = _ENTRY.fullmatch(line)
        if head:
            properties = {}
            resources.append(Resource(head["name"], properties))
        elif not line.strip() or _NOTHING.fullmatch(line.strip()):
            continue
        elif entry and properties is not None:
            more = _MORE.match(entry["value"])
            if more and "DEFAULT_CONFIG" in more["synonyms"] and "DYNAMIC" not in more["synonyms"]:
                continue
            value = more["value"] if more else entry["value"]
            if value:
                properties[entry["key"]] = value
        else:
            raise ValueError(
                f"line {number} is not of kafka-client-metrics.sh --describe or kafka-configs.sh --describe: {line.strip()!r}"
            )
    names = [resource.name for resource in resources]
    if not resources:
        raise ValueError(
            "there is no subscription in it: paste the output of kafka-client-metrics.sh --describe"
        )
    if len(set(names)) < len(names):
        raise ValueError("a subscription stands there twice: paste one description")
    return resources


def release_of(release: str | None, brokers: list[BrokerRow]) -> tuple[str, tuple[str, ...]]:
    """The oldest release of the last day, on which the fewest clients are answered, and the others. `release`: of all
    brokers, None = what they reported. Raises NotKnown.
    """
    if release:
        try:
            return releases.exact(release), ()
        except releases.UnusableRelease as error:
            raise NotKnown(str(error)) from error
    last = max((row["dt"] for row in brokers), default=None)
    latest = {}
    for row in sorted(
        brokers, key=lambda row: (row["dt"], row["last_evidence_at"] is not None, row["last_evidence_at"])
    ):
        possible = [candidate for candidate in row["releases"] or () if candidate in releases.known()]
        if row["dt"] == last and possible:
            latest[row["broker_id"]] = possible[0]
    if not latest:
        raise NotKnown("the brokers' release is not known in these days: give --release")
    running = sorted(set(latest.values()), key=releases.parse)
    return running[0], tuple(running[1:])


def configured_resources(broker_rows: Iterable[BrokerRow]) -> tuple[list[Resource] | None, list[str]]:
    """Subscriptions of the last day on which brokers reported any, and remarks; None if no broker reported."""
    latest: dict[int, tuple[tuple[dt.date, dt.datetime], list[SubscriptionRecord]]] = {}
    for row in broker_rows:
        if row["subscriptions"] is not None:
            at = (row["dt"], row["last_evidence_at"] or dt.datetime.min.replace(tzinfo=dt.UTC))
            if row["broker_id"] not in latest or at >= latest[row["broker_id"]][0]:
                latest[row["broker_id"]] = (at, row["subscriptions"])
    if not latest:
        return None, []
    newest = max(latest.values(), key=lambda dated: dated[0])[1]
    resources = [
        resource_of(
            {
                "name": subscription["name"],
                "metrics": list(subscription["metrics"] or []),
                "interval_ms": subscription["interval_ms"],
                "match": dict(subscription["match"] or {}),
            }
        )
        for subscription in newest
    ]
    differ = any(_plain(subscriptions) != _plain(newest) for _, subscriptions in latest.values())
    remarks = ["Brokers reported different subscriptions; those reported last are taken."] if differ else []
    return resources, remarks


def _plain(subscriptions: Iterable[SubscriptionRecord]) -> list[tuple[object, ...]]:
    return sorted(
        (
            subscription["name"],
            subscription["interval_ms"],
            tuple(subscription["metrics"] or ()),
            tuple(sorted((subscription["match"] or {}).items())),
        )
        for subscription in subscriptions
    )


def offers_subscriptions(broker_rows: Iterable[BrokerRow]) -> bool | None:
    """Whether brokers of the last day offer GetTelemetrySubscriptions, which they do only with a metrics plugin."""
    rows = list(broker_rows)
    last = max((row["dt"] for row in rows), default=None)
    offers = [
        any(api["api_key"] == ApiKey.GET_TELEMETRY_SUBSCRIPTIONS for api in row["api_versions"])
        for row in rows
        if row["dt"] == last and row["api_versions"] is not None
    ]
    return any(offers) if offers else None
