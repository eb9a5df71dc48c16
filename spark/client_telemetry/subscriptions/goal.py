"""From what somebody wants to know to the smallest subscription that delivers it.

Smallest means: the fewest metric prefixes that match no unwanted metric, and the simplest selectors that match the
wanted client instances and no others of the evidence.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from os.path import commonprefix

from client_telemetry import Unusable
from client_telemetry.knowledge.telemetry_metrics import ALL_METRICS, java_metrics, standard_metrics
from client_telemetry.subscriptions.answers import ConfiguredSubscriptions
from client_telemetry.subscriptions.configuration import parse
from client_telemetry.subscriptions.configured_file import resource_of
from client_telemetry.subscriptions.java_runtime import JavaRuntime
from client_telemetry.subscriptions.observed import (
    CONSUMER,
    PRODUCER,
    ObservedInstance,
    can_push,
    known_metrics,
)

TOPICS = {
    "latency": (".latency.", ".queue.time."),
    "connections": (".connection.",),
    "rebalances": (".rebalance.", ".assigned.partitions"),
    "commits": (".commit.",),
    "throttling": (".throttle.",),
    "standard metrics": ("",),
}
"""Words for goals -> parts of the names of KIP-714's standard metrics, or of Java's if KIP-714 has none for a kind of
client.
"""
UPGRADE_REVIEW = "upgrade review"
REVIEWED = {
    PRODUCER: (
        "connection.creation.total",
        "node.request.latency.avg",
        "produce.throttle.time.avg",
        "record.error.total",
        "record.queue.time.avg",
        "record.retry.total",
        "record.send.total",
        "request.latency.avg",
    ),
    CONSUMER: (
        "connection.creation.total",
        "coordinator.commit.latency.avg",
        "coordinator.rebalance.latency.avg",
        "coordinator.rebalance.total",
        "fetch.manager.fetch.latency.avg",
        "fetch.manager.fetch.throttle.time.avg",
        "node.request.latency.avg",
        "poll.idle.ratio.avg",
    ),
}
"""What the review of an upgrade compares (activity/client_metrics.py; a test keeps them in step), below
`org.apache.kafka.<kind>.`.
"""
WORDS = (*TOPICS, UPGRADE_REVIEW)
_ESCAPED = {",": r"\x2C", "=": r"\x3D", "\n": r"\n", "\t": r"\t", "\r": r"\r", " ": r"\x20"}
_LONGEST_ALTERNATIVE = 200


class UnusableGoal(Unusable):
    """The goal is unusable; one line with the reason and what to write instead."""


@dataclass(frozen=True)
class Goal:
    """`metrics`: one of WORDS, or full names. The other fields are conditions on clients; None: any."""

    metrics: str | tuple[str, ...]
    interval_ms: int = 60_000
    owner: str | None = None
    library: str | None = None
    software_version: str | None = None
    client_type: str | None = None
    client_ids: tuple[str, ...] | None = None
    name: str | None = None


def goal_of(content: object) -> Goal:
    """From JSON. Raises UnusableGoal."""
    if not isinstance(content, dict) or "metrics" not in content:
        raise UnusableGoal(
            f'a goal is an object with "metrics" (one of {", ".join(WORDS)}, or a list of names)'
        )
    keys = [field.name for field in fields(Goal)]
    unknown = set(content) - set(keys)
    if unknown:
        raise UnusableGoal(f"unknown key {min(unknown)!r} of the goal; known are {', '.join(keys)}")
    metrics = content["metrics"]
    if isinstance(metrics, str) and metrics not in WORDS:
        raise UnusableGoal(f"{metrics!r} is none of {', '.join(WORDS)}; name the metrics as a list instead")
    if content.get("client_type") not in (None, PRODUCER, CONSUMER):
        raise UnusableGoal(f"client_type is {PRODUCER} or {CONSUMER}")
    values = {key: value for key, value in content.items() if value is not None}
    if not isinstance(metrics, str):
        values["metrics"] = tuple(metrics)
    if "client_ids" in values:
        values["client_ids"] = tuple(values["client_ids"])
    return Goal(**values)


@dataclass(frozen=True)
class Suggestion:
    """`change`: an entry of a proposal. `missing`: wanted instances that it does not match; `unwanted`: other instances
    that it matches.
    """

    change: dict[str, object]
    wanted: int
    missing: tuple[ObservedInstance, ...]
    unwanted: tuple[ObservedInstance, ...]
    remarks: tuple[str, ...]

    def inexact(self) -> list[str]:
        """Sentences about clients that the proposed selectors cannot separate."""
        sentences = []
        for words, instances in (("does not reach", self.missing), ("also reaches", self.unwanted)):
            if instances:
                ids = sorted({str(instance.instance.client_id) for instance in instances})
                more = ", ..." if len(ids) > 5 else ""
                sentences.append(
                    f"No selectors tell the wanted clients apart: the proposal {words} {len(instances)} instances "
                    f"({', '.join(ids[:5])}{more})."
                )
        return sentences


def suggest(
    goal: Goal, observed: Sequence[ObservedInstance], release: tuple[int, ...], java: JavaRuntime
) -> Suggestion:
    """Raises UnusableGoal if no client of the evidence is wanted."""
    wanted_instances = [instance for instance in observed if _is_wanted(goal, instance)]
    if not wanted_instances:
        raise UnusableGoal("no client that can push is of this kind in the days of evidence")
    names, remarks = _metric_names(goal, wanted_instances)
    prefixes = shortest_prefixes(
        names, known_metrics() | {metric for instance in observed for metric in instance.metrics}
    )
    able = [instance for instance in observed if can_push(instance) is not False]
    chosen = {id(instance) for instance in wanted_instances}
    best: tuple[int, dict[str, str], list[ObservedInstance], list[ObservedInstance]] | None = None
    for match in _candidates(wanted_instances):
        matched = _matched(match, able, release, java)
        missing = [instance for instance in wanted_instances if id(instance) not in matched]
        unwanted = [instance for instance in able if id(instance) in matched and id(instance) not in chosen]
        wrong = len(missing) * len(able) + len(unwanted)
        if best is None or wrong < best[0]:
            best = (wrong, match, missing, unwanted)
        if not wrong:
            break
    assert best is not None
    _, match, missing, unwanted = best
    change = {"action": "add", "metrics": prefixes, "interval_ms": goal.interval_ms, "match": match}
    if goal.name:
        change["name"] = goal.name
    return Suggestion(change, len(wanted_instances), tuple(missing), tuple(unwanted), tuple(remarks))


def _is_wanted(goal: Goal, observed: ObservedInstance) -> bool:
    client = observed.instance
    return (
        can_push(observed) is True
        and goal.owner in (None, observed.owner)
        and goal.library in (None, observed.library, client.software_name)
        and goal.software_version in (None, client.software_version)
        and (goal.client_type is None or goal.client_type in observed.client_types)
        and (goal.client_ids is None or client.client_id in goal.client_ids)
    )


def _metric_names(goal: Goal, instances: Sequence[ObservedInstance]) -> tuple[list[str], list[str]]:
    if not isinstance(goal.metrics, str):
        return list(goal.metrics), []
    types = {kind for instance in instances for kind in instance.client_types}
    if goal.client_type:
        types = {goal.client_type}
    names = [
        name for kind in (PRODUCER, CONSUMER) if kind in types for name in names_about(goal.metrics, kind)
    ]
    if not names:
        raise UnusableGoal(f"no metric about {goal.metrics} is known of these clients")
    remarks = []
    if goal.metrics == "latency":
        remarks.append("Clients push averages and maxima of latencies; percentiles they have none.")
    return names, remarks


def names_about(words: str, kind: str) -> list[str]:
    """`words`: one of WORDS; `kind`: PRODUCER or CONSUMER."""
    if words == UPGRADE_REVIEW:
        return [f"org.apache.kafka.{kind}.{name}" for name in REVIEWED[kind]]

    def about(names: Iterable[str]) -> list[str]:
        return [name for name in names if any(part in name for part in TOPICS[words])]

    return about(standard_metrics(kind)) or about(java_metrics(kind))


def shortest_prefixes(names: Iterable[str], known_names: Collection[str]) -> list[str]:
    """Prefixes, cut at dots, that cover these names and no other known one.

    >>> shortest_prefixes(["a.b.c", "a.b.d"], ["a.b.c", "a.b.d", "a.x"])
    ['a.b.']
    """
    wanted_names = list(dict.fromkeys(names))
    if ALL_METRICS in wanted_names:
        return [ALL_METRICS]
    prefixes = []
    for name in wanted_names:
        pieces = name.split(".")
        for count in range(1, len(pieces)):
            prefix = ".".join(pieces[:count]) + "."
            if all(metric in wanted_names for metric in known_names if metric.startswith(prefix)):
                prefixes.append(prefix)
                break
        else:
            prefixes.append(name)
    return list(dict.fromkeys(prefixes))


def _candidates(instances: Sequence[ObservedInstance]) -> Iterator[dict[str, str]]:
    """Selectors that match everything wanted, the simplest first."""
    ids = sorted(
        {observed.instance.client_id for observed in instances if observed.instance.client_id is not None}
    )
    names = _same(instances, lambda observed: observed.instance.software_name)
    versions = _same(instances, lambda observed: observed.instance.software_version)
    software = {"client_software_name": names} if names else {}
    exact = software | ({"client_software_version": versions} if versions else {})
    common = commonprefix(ids)  # noqa: RUF071  (texts, not paths)
    begin = {"client_id": quoted(common) + ".*"} if len(ids) > 1 and common else {}
    alternatives = {"client_id": alternation(ids)} if ids and len(ids) <= _LONGEST_ALTERNATIVE else {}
    addresses = sorted({observed.instance.source_address or "" for observed in instances} - {""})
    are_few = 0 < len(addresses) <= _LONGEST_ALTERNATIVE
    places = {"client_source_address": alternation(addresses)} if are_few else {}
    yield from (
        {}, software, begin, exact, software | begin, alternatives, software | alternatives, exact | alternatives,
        alternatives | places, exact | alternatives | places,
    )  # fmt: skip


def _same(
    instances: Sequence[ObservedInstance], value: Callable[[ObservedInstance], str | None]
) -> str | None:
    values = {value(instance) for instance in instances}
    only = next(iter(values)) if len(values) == 1 else None
    return quoted(only) if only else None


def alternation(values: Sequence[str]) -> str:
    """A regex for exactly these values."""
    return quoted(values[0]) if len(values) == 1 else f"({'|'.join(map(quoted, values))})"


def quoted(text: str) -> str:
    r"""A regex for exactly this text, without the characters that a selector cannot contain.

    >>> print(quoted("a.b=c,d"))
    a\.b\x3Dc\x2Cd
    """
    return "".join(_quoted(character) for character in text)


def _quoted(character: str) -> str:
    if character in _ESCAPED:
        return _ESCAPED[character]
    if not character.isprintable():
        return f"\\x{{{ord(character):x}}}"
    return f"\\{character}" if character in r"\.^$|?*+()[]{}&" else character


def _matched(
    match: dict[str, str], observed: Sequence[ObservedInstance], release: tuple[int, ...], java: JavaRuntime
) -> set[int]:
    resource = resource_of({"name": "goal", "metrics": ["*"], "match": match})
    subscription = parse(resource.name, resource.properties, release, java)
    answers = ConfiguredSubscriptions([subscription], release, java).answers(
        [instance.instance for instance in observed]
    )
    return {id(instance) for instance, answer in zip(observed, answers, strict=True) if answer.subscriptions}
