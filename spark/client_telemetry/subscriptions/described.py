"""Subscriptions from the output of `kafka-client-metrics.sh --describe` or `kafka-configs.sh --describe --entity-type
client-metrics`. Source: ClientMetricsCommand, ConfigCommand.
"""

import re

from client_telemetry.subscriptions.configuration import KEYS
from client_telemetry.subscriptions.configured_file import Resource

_HEADS = (
    re.compile(r"Client metrics configs for (?P<name>.*) are:"),
    re.compile(r"(?:Dynamic|All) configs for client-metrics? (?P<name>.*) are:"),
)
_NOTHING = re.compile(r"The client metric resource .* doesn't exist and doesn't have dynamic config\.")
_ENTRY = re.compile(rf"\s+(?P<key>{'|'.join(map(re.escape, KEYS))})=(?P<value>.*)")
# kafka-configs.sh
_MORE = re.compile(r"^(?P<value>.*) sensitive=(?:true|false) synonyms=\{(?P<synonyms>.*)\}$")


class UnreadableDescription(ValueError):
    """The text cannot be read; one line with the reason."""


def read(text: str) -> list[Resource]:
    """In the order of the text; printed defaults are left out. Raises UnreadableDescription."""
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
            raise UnreadableDescription(
                f"line {number} is not of kafka-client-metrics.sh --describe or kafka-configs.sh --describe: {line.strip()!r}"
            )
    names = [resource.name for resource in resources]
    if not resources:
        raise UnreadableDescription(
            "there is no subscription in it: paste the output of kafka-client-metrics.sh --describe"
        )
    if len(set(names)) < len(names):
        raise UnreadableDescription("a subscription stands there twice: paste one description")
    return resources
