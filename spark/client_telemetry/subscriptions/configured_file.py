"""Subscriptions from a file: a JSON list of {"name", "metrics": [], "interval_ms", "match": {}}, as in the manifests of
dumps.

Each is converted to the texts that Kafka would have been given, so that Kafka's own rules interpret them: a comma in a
regex splits it here as it would there.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from client_telemetry import Unusable
from client_telemetry.subscriptions.configuration import INTERVAL_MS, MATCH, METRICS

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_KEYS = {"name", "metrics", "interval_ms", "match"}


class UnreadableSubscriptions(Unusable):
    """The file is unusable; one line with the file and the reason."""


@dataclass(frozen=True)
class Resource:
    """A CLIENT_METRICS resource: its name and its configuration as texts."""

    name: str
    properties: Mapping[str, str]


def read(path: Path) -> list[Resource]:
    """In file order. Raises UnreadableSubscriptions."""
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UnreadableSubscriptions(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnreadableSubscriptions(f"{path} is not UTF-8: save it as UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise UnreadableSubscriptions(f"{path} is not valid JSON: {error}") from error
    if not isinstance(content, list):
        raise UnreadableSubscriptions(f"{path}: expected a list of subscriptions")
    resources: dict[str, Resource] = {}
    for number, entry in enumerate(content, 1):
        try:
            resource = resource_of(entry)
        except ValueError as error:
            raise UnreadableSubscriptions(f"{path}: subscription {number}: {error}") from error
        if resource.name in resources:
            raise UnreadableSubscriptions(
                f"{path}: subscription {number}: {resource.name!r} occurs twice: names must be unique"
            )
        resources[resource.name] = resource
    return list(resources.values())


def resource_of(entry: object) -> Resource:
    """Raises ValueError with the reason."""
    if not isinstance(entry, dict):
        raise ValueError('expected an object with "name", "metrics", "interval_ms" and "match"')
    unknown = set(entry) - _KEYS
    if unknown:
        raise ValueError(f"unknown key {min(unknown)!r}; known are name, metrics, interval_ms and match")
    name = entry.get("name")
    if not isinstance(name, str):
        raise ValueError('"name" must be a text')
    properties = {}
    metrics = entry.get("metrics")
    if metrics is not None:
        properties[METRICS] = _list(metrics, "metrics")
    interval = entry.get("interval_ms")
    if interval is not None:
        if isinstance(interval, bool) or not isinstance(interval, int | str):
            raise ValueError('"interval_ms" must be a whole number of milliseconds')
        properties[INTERVAL_MS] = str(interval)
    if match := _selectors(entry.get("match")):
        properties[MATCH] = match
    for text in (name, *properties.values()):
        if _LONE_SURROGATE.search(text):
            raise ValueError(
                f"{text!a} contains half of a character (a lone surrogate): write the whole character"
            )
    return Resource(name, properties)


def _selectors(match: object) -> str:
    """Empty where nothing restricts the subscription."""
    if isinstance(match, dict):
        if not all(isinstance(value, str) for value in match.values()):
            raise ValueError('"match" must have texts as values')
        match = [f"{key}={value}" for key, value in match.items()]
    return "" if match is None else _list(match, "match")


def _list(value: object, key: str) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        expected = "an object of texts" if key == "match" else "a list of texts"
        raise ValueError(f'"{key}" must be {expected}')
    return ",".join(value)
