"""A subscription as Kafka reads it: the keys `metrics`, `interval.ms` and `match` of a CLIENT_METRICS resource.

Source: ClientMetricsConfigs, ClientMetricsManager.updateSubscription and ConfigDef of Kafka 3.7.0 to 4.4.0. The
differences: up to 3.9 the controller reads `match` and `interval.ms` in its own, simpler way, and brokers may then fail
on what it accepted; from 4.2 lists lose duplicates and must not contain an empty element (KIP-1161).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from py4j.java_gateway import JavaObject

from client_telemetry.subscriptions.java_runtime import JavaRuntime, RefusedByJava

DEFAULT_INTERVAL_MS = 300_000
MIN_INTERVAL_MS = 100
MAX_INTERVAL_MS = 3_600_000
METRICS = "metrics"
INTERVAL_MS = "interval.ms"
MATCH = "match"
KEYS = (METRICS, INTERVAL_MS, MATCH)
SELECTORS = (
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
)

_CONTROLLER_USES_CONFIG_DEF = (4, 0)
_LISTS_WITHOUT_DUPLICATES = (4, 2)
# java.util.regex' \s
_COMMA = re.compile(r"[ \t\n\x0b\f\r]*,[ \t\n\x0b\f\r]*")
_BLANK = "".join(map(chr, range(0x21)))
_INTEGER = re.compile(r"[+-]?\d+")
_INTEGER_DIGITS = 4000
"""Longer texts are refused right away: Python converts no more digits, and nobody means that many leading zeros."""
_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1


class RefusedByKafka(ValueError):
    """Kafka's exception and message. `by_controller`: the alter request fails. Otherwise it succeeds, but every broker
    fails to apply it: what was configured under this name before stays in force.
    """

    def __init__(self, name: str, error: str, message: str, by_controller: bool = True) -> None:
        super().__init__(message)
        self.name = name
        self.error = error
        self.message = message
        self.by_controller = by_controller


@dataclass(frozen=True)
class Selector:
    """One pattern of `match`. `pattern` is a java.util.regex.Pattern in the JVM that compiled it."""

    attribute: str
    regex: str
    pattern: JavaObject


@dataclass(frozen=True)
class Subscription:
    """`metrics` in configured order. `interval_ms` as configured: values above 300,000 have no effect."""

    name: str
    metrics: tuple[str, ...]
    interval_ms: int
    selectors: tuple[Selector, ...]


def parse(
    name: str, properties: Mapping[str, str], release: tuple[int, ...], java: JavaRuntime
) -> Subscription:
    """The subscription of a resource's whole configuration. Raises RefusedByKafka."""
    if not name:
        raise RefusedByKafka(name, "InvalidRequestException", "Subscription name can't be empty")
    for key in properties:
        if key not in KEYS:
            raise RefusedByKafka(
                name, "InvalidRequestException", f"Unknown client metrics configuration: {key}"
            )
    by_controller = release[:2] >= _CONTROLLER_USES_CONFIG_DEF
    if not by_controller:
        _check_as_controllers_before_4(name, properties, java)

    def refused(error: str, message: str) -> RefusedByKafka:
        return RefusedByKafka(name, error, message, by_controller)

    def list_of(key: str) -> list[str]:
        text = properties.get(key, "").strip(_BLANK)
        values = _COMMA.split(text) if text else []
        if release[:2] >= _LISTS_WITHOUT_DUPLICATES:
            values = list(dict.fromkeys(values))
            if "" in values:
                raise refused("ConfigException", f"Configuration '{key}' values must not be empty.")
        return values

    metrics = list_of(METRICS)
    interval = properties.get(INTERVAL_MS)
    interval_ms = DEFAULT_INTERVAL_MS if interval is None else _integer(interval.strip(_BLANK))
    if interval_ms is None:
        raise refused(
            "ConfigException",
            f"Invalid value {interval} for configuration {INTERVAL_MS}: Not a number of type INT",
        )
    match = list_of(MATCH)
    _check_range(name, interval_ms)
    return Subscription(name, tuple(metrics), interval_ms, _selectors(name, match, java, by_controller))


def _check_as_controllers_before_4(name: str, properties: Mapping[str, str], java: JavaRuntime) -> None:
    """Integer.parseInt of the text as it is, and String.split(",") in place of ConfigDef's lists."""
    interval = properties.get(INTERVAL_MS)
    if interval is not None:
        interval_ms = _integer(interval)
        if interval_ms is None:
            raise RefusedByKafka(name, "NumberFormatException", f'For input string: "{interval}"')
        _check_range(name, interval_ms)
    match = properties.get(MATCH)
    if match is not None:
        _selectors(name, _java_split(match, ","), java, by_controller=True)


def _check_range(name: str, interval_ms: int) -> None:
    if not MIN_INTERVAL_MS <= interval_ms <= MAX_INTERVAL_MS:
        raise RefusedByKafka(
            name,
            "InvalidRequestException",
            f"Invalid value {interval_ms} for {INTERVAL_MS}, interval must be between 100 and 3600000 (1 hour)",
        )


def _selectors(name: str, items: list[str], java: JavaRuntime, by_controller: bool) -> tuple[Selector, ...]:
    """ClientMetricsConfigs.parseMatchingPatterns; of two items with one key the later wins."""
    selectors: dict[str, Selector] = {}
    for item in items:
        refused = RefusedByKafka(
            name, "InvalidConfigurationException", f"Illegal client matching pattern: {item}", by_controller
        )
        parts = [part.strip(_BLANK) for part in _java_split(item, "=")]
        if len(parts) != 2 or parts[0] not in SELECTORS:
            raise refused
        try:
            selectors[parts[0]] = Selector(parts[0], parts[1], java.compile(parts[1]))
        except RefusedByJava as error:
            raise refused from error
    return tuple(selectors.values())


def _java_split(text: str, separator: str) -> list[str]:
    """String.split: empty parts at the end are dropped, but a text without the separator is one part.

    >>> _java_split("a==", "="), _java_split("=", "="), _java_split("", "=")
    (['a'], [], [''])
    """
    parts = text.split(separator)
    if len(parts) == 1:
        return parts
    while parts and not parts[-1]:
        parts.pop()
    return parts


def _integer(text: str) -> int | None:
    """Integer.parseInt; None if it throws."""
    # Integer.parseInt reads char by char, so digits beyond U+FFFF (two chars) do not count.
    if not _INTEGER.fullmatch(text) or len(text) > _INTEGER_DIGITS or max(text) > "\uffff":
        return None
    number = int(text)
    return number if _INT_MIN <= number <= _INT_MAX else None
