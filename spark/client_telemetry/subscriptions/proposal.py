"""A proposed change of subscriptions: what would be configured after it.

The rules are those of `kafka-client-metrics.sh` (incrementalAlterConfigs): an alter sets the keys that it names and
keeps the others, an empty value deletes a key, a resource without keys is removed. Source: ClientMetricsCommand,
ClientMetricsManager.updateSubscription.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from client_telemetry import Unusable
from client_telemetry.subscriptions.configured_file import Resource, resource_of

ADD, ALTER, DELETE = "add", "alter", "delete"
ACTIONS = (ADD, ALTER, DELETE)


class UnusableProposal(Unusable):
    """The proposal is unusable; one line with the reason and what to write instead."""


@dataclass(frozen=True)
class Operation:
    """`properties`: keys of Kafka and their texts; an empty text deletes the key. Without `name` Kafka generates one."""

    action: str
    name: str | None
    properties: Mapping[str, str]


def add_changes(arguments: argparse.ArgumentParser) -> None:
    """Options that describe a change, or several."""
    arguments.add_argument("--changes", help="JSON list of changes, to check several at once")
    arguments.add_argument("--action", choices=ACTIONS, help="type of the change")
    arguments.add_argument("--name", help="name of the subscription; default: a generated one")
    arguments.add_argument("--metrics", help="metric prefixes, separated by commas; * for all")
    arguments.add_argument("--interval-ms", help="push interval")
    arguments.add_argument("--match", help="selectors, key=regex, separated by commas")


def changes_of(args: argparse.Namespace) -> object:
    """The JSON list for `operations_of`, from `add_changes`. Raises UnusableProposal."""
    if args.changes:
        if args.action:
            raise UnusableProposal("give either --changes or --action")
        return json_of("--changes", args.changes)
    if not args.action:
        raise UnusableProposal(
            "there is no change to check: give --action (add, alter, delete), --changes, or --goal"
        )
    fields = {name: getattr(args, name) for name in ("name", "metrics", "interval_ms", "match")}
    return [{"action": args.action, **{key: value for key, value in fields.items() if value is not None}}]


def json_of(option: str, text: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UnusableProposal(f"{option} is not valid JSON: {error}") from error


def operations_of(content: object) -> list[Operation]:
    """From a JSON list of {"action": "add" | "alter" | "delete", "name", "metrics", "interval_ms", "match"}; an
    `interval_ms` of "" or an empty list or object deletes that key. Raises UnusableProposal."""
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list) or not content:
        raise UnusableProposal(
            'A proposal is a list of {"action", "name", "metrics", "interval_ms", "match"}; action is add, alter or delete'
        )
    operations = []
    for number, entry in enumerate(content, 1):
        try:
            operations.append(_operation(entry))
        except ValueError as error:
            raise UnusableProposal(f"change {number}: {error}") from error
    return operations


def _operation(entry: object) -> Operation:
    """Raises ValueError with the reason."""
    if not isinstance(entry, dict):
        raise ValueError('expected an object with "action" and "name"')
    action = entry.get("action", ALTER)
    if action not in ACTIONS:
        raise ValueError(f"action {action!r} is not one of {', '.join(ACTIONS)}")
    name = entry.get("name")
    if name in (None, "") and action != ADD:
        raise ValueError('"name" is needed; only a new subscription can do without')
    described = {key: value for key, value in entry.items() if key != "action"}
    properties = dict(resource_of({**described, "name": name or "generated"}).properties)
    if "match" in entry and not entry["match"] and entry["match"] is not None:
        properties["match"] = ""
    if action == DELETE and properties:
        raise ValueError("a deletion has a name and nothing else; to delete a key use alter")
    if action != DELETE and not properties:
        raise ValueError("it names neither metrics nor interval_ms nor match")
    return Operation(action, name or None, properties)


GENERATED = "(generated name)"


def propose(
    configured: Sequence[Resource], operations: Sequence[Operation]
) -> tuple[list[Resource], list[str]]:
    """What is configured after all operations, in configured order, whether or not Kafka accepts it; and remarks on effects that are
    probably unintended.
    """
    after = {resource.name: resource for resource in configured}
    remarks = []
    for number, operation in enumerate(operations, 1):
        name = operation.name or (GENERATED if len(operations) == 1 else f"{GENERATED} {number}")
        current = after.get(name)
        if operation.action == DELETE:
            if current is None:
                remarks.append(
                    f"There is no subscription {name!r}: Kafka says that it deleted it and changes nothing.{_likely(name, after)}"
                )
            after.pop(name, None)
            continue
        if operation.action == ADD and current is not None:
            remarks.append(
                f"There is a subscription {name!r} already: Kafka alters it and keeps the keys not named."
            )
        if operation.action == ALTER and current is None:
            remarks.append(f"There is no subscription {name!r}: Kafka creates it.{_likely(name, after)}")
        properties = {**(current.properties if current else {}), **operation.properties}
        properties = {key: value for key, value in properties.items() if value}
        if properties:
            after[name] = Resource(name, properties)
        else:
            after.pop(name, None)
            remarks.append(f"Nothing is left of {name!r}: Kafka removes it.")
    return list(after.values()), remarks


def _likely(name: str, names: Mapping[str, Resource]) -> str:
    close = get_close_matches(name, names, 1)
    return f" Did you mean {close[0]!r}?" if close else ""
