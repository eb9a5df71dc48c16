"""What to write in place of what Kafka refuses, and warnings about what Kafka accepts but that is probably unintended."""

import re
import uuid
from collections.abc import Collection, Iterator
from difflib import get_close_matches

from client_telemetry.knowledge.telemetry_metrics import ALL_METRICS
from client_telemetry.subscriptions.configuration import (
    DEFAULT_INTERVAL_MS,
    INTERVAL_MS,
    KEYS,
    MATCH,
    MAX_INTERVAL_MS,
    METRICS,
    MIN_INTERVAL_MS,
    SELECTORS,
    RefusedByKafka,
    Subscription,
)
from client_telemetry.subscriptions.configured_file import Resource
from client_telemetry.subscriptions.instances import BadInstanceId, host_address, instance_id_of, kafka_uuid

_OTHER_KEYS = {
    "interval": INTERVAL_MS,
    "push_interval_ms": INTERVAL_MS,
    "intervalms": INTERVAL_MS,
    "metric": METRICS,
    "prefixes": METRICS,
    "matches": MATCH,
    "matcher": MATCH,
    "selector": MATCH,
    "selectors": MATCH,
}
_OTHER_SELECTORS = {
    "id": "client_id",
    "clientid": "client_id",
    "instance_id": "client_instance_id",
    "instanceid": "client_instance_id",
    "clientinstanceid": "client_instance_id",
    "name": "client_software_name",
    "software": "client_software_name",
    "software_name": "client_software_name",
    "library": "client_software_name",
    "version": "client_software_version",
    "software_version": "client_software_version",
    "ip": "client_source_address",
    "host": "client_source_address",
    "address": "client_source_address",
    "source_address": "client_source_address",
    "client_address": "client_source_address",
    "client_ip": "client_source_address",
    "port": "client_source_port",
    "source_port": "client_source_port",
    "client_port": "client_source_port",
}
_NO_SELECTORS = ("principal", "user", "group", "group_id", "transactional_id", "topic", "client_rack", "rack")
_UNITS_MS = {"ms": 1, "s": 1000, "sec": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000}
_BOUNDED_BEGIN = re.compile(
    r"(?P<before>.*?)(?P<atom>\\?[^\\(){}\[\]|]|\[[^\]]*\]|\([^()]*\))\{(?P<low>\d+)\Z"
)
_ESCAPE_OF_SEVERAL = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|0[0-7]{1,3}|E)\Z")
"""What precedes a { and is not repeated except for its last character."""
_CUT_BOUND = re.compile(r"\{\d+\Z")
_BOUNDED_END = re.compile(r"(?P<high>\d*)\}(?P<after>.*)\Z")
_FAMILY = re.compile(r"org\.apache\.kafka\.[a-z]")


def instead(refused: RefusedByKafka, resource: Resource) -> str:
    """One sentence: what to write instead."""
    if not refused.name:
        return "Give the subscription a name, or use --generate-name."
    for key in resource.properties:
        if key not in KEYS:
            return f"Write {_likely_key(key)}." if _likely_key(key) else f"The keys are {', '.join(KEYS)}."
    if INTERVAL_MS in refused.message or refused.error.endswith("NumberFormatException"):
        return _interval(resource.properties.get(INTERVAL_MS, ""))
    if "must not be empty" in refused.message:
        return "Remove the comma that has nothing before or after it."
    return _match(
        resource.properties.get(MATCH, ""), refused.message.removeprefix("Illegal client matching pattern: ")
    )


def _likely_key(key: str) -> str | None:
    plain = key.strip().lower().replace("-", "_")
    if plain.replace("_", ".") in KEYS:
        return plain.replace("_", ".")
    close = get_close_matches(plain, KEYS, 1)
    return _OTHER_KEYS.get(plain.replace(".", "_")) or (close[0] if close else None)


def _interval(text: str) -> str:
    with_unit = re.fullmatch(r"\s*(\d+)(?:[.,]0*)?\s*([a-z]*)\s*", text.lower().replace("_", ""))
    whole = f"Write a whole number of milliseconds from {MIN_INTERVAL_MS} to {MAX_INTERVAL_MS}"
    if with_unit and len(with_unit[1]) < 20 and (not with_unit[2] or with_unit[2] in _UNITS_MS):
        interval_ms = int(with_unit[1]) * _UNITS_MS.get(with_unit[2], 1)
        if interval_ms > MAX_INTERVAL_MS:
            return f"{whole}, for instance {DEFAULT_INTERVAL_MS}: a longer interval has no effect."
        return f"{whole}, for instance {max(interval_ms, MIN_INTERVAL_MS)}."
    return f"{whole}."


def _match(match: str, item: str) -> str:
    """`item`: the one that Kafka names, a piece of `match` between two commas."""
    pieces = [piece.strip() for piece in match.split(",")]
    at = pieces.index(item.strip()) if item.strip() in pieces else -1
    following = pieces[at + 1] if 0 <= at < len(pieces) - 1 else ""
    bounded = _bounded(item, following)
    if bounded:
        return f"A comma separates selectors; write {bounded}."
    if _CUT_BOUND.search(item) and _BOUNDED_END.match(following):
        return "A comma separates selectors, also within {n,m}: write the repetitions out, or {n} and ?."
    if not item.strip():
        return "Remove the comma that has nothing before or after it."
    key, equals, regex = item.partition("=")
    key = key.strip()
    if not equals:
        return _without_equals(item, is_first=at <= 0)
    if key not in SELECTORS:
        return _no_selector(key, regex)
    if not regex.strip(" ="):
        return f"Write {key}=.* for any value, or leave the selector out: without it, the subscription matches every client."
    if re.search(r"\(\?<?=", regex):
        return (
            "A selector may contain only one =, so (?= and (?<= are not possible: use (?! or (?<!, or list the "
            "values with |."
        )
    if "=" in regex:
        return rf"A selector may contain only one =; within a regex write \x3D: {key}={regex.strip().replace('=', chr(92) + 'x3D')}."
    return _regex(key, regex.strip(), following)


def _without_equals(item: str, *, is_first: bool) -> str:
    for separator in (":", "~", " "):
        name = item.partition(separator)[0].strip()
        if separator in item and _selector(name):
            return f"Write {_selector(name)}={item.partition(separator)[2].strip() or '.*'}."
    if not is_first:
        return (
            r"A comma separates selectors: if this is part of the preceding regex, write \x2C for the comma, or an "
            "alternative (a|b)."
        )
    return f"Write {_selector(item) or 'client_id'}=REGEX."


def _no_selector(key: str, regex: str) -> str:
    if likely := _selector(key):
        return f"Write {likely}={regex.strip()}."
    if key.lower().replace(".", "_").replace("-", "_") in _NO_SELECTORS:
        return f"There is no selector by {key}: select its clients by client_id, or by their addresses."
    return f"The selectors are {', '.join(SELECTORS)}."


def _bounded(item: str, following: str) -> str | None:
    """`a{2` and `3}` -> `aaa?`, the equivalent without a comma."""
    begin, end = _BOUNDED_BEGIN.search(item), _BOUNDED_END.match(following)
    if begin is None or end is None or _ESCAPE_OF_SEVERAL.search(begin["before"] + begin["atom"]):
        return None
    atom, low = begin["atom"], int(begin["low"])
    if not end["high"]:
        repeated = f"{atom}{{{low}}}{atom}*"
    else:
        optional = int(end["high"]) - low
        if not 0 <= optional <= 20:
            return None
        repeated = f"{atom}{{{low}}}" + f"{atom}?" * optional
    return f"{begin['before']}{repeated}{end['after']}"


def _regex(key: str, regex: str, following: str) -> str:
    if "(?P<" in regex:
        return "Java writes a named group (?<name>...), without P."
    if regex[0] in "*+?":
        return f"A selector is a regular expression, not a glob: write {key}=.{regex}."
    if regex.count("[") > regex.count("]") and following:
        return r"A comma separates selectors, also within []: write \x2C for it."
    if regex.count("(") != regex.count(")") or regex.count("[") != regex.count("]") or "{" in regex:
        escaped = re.sub(r"(?<!\\)([\[\](){}])", r"\\\1", regex)
        return f"Close each bracket, or escape a literal one with a backslash: {key}={escaped}."
    if regex.endswith("\\"):
        return f"A backslash must be followed by a character; for a literal backslash write two: {key}={regex}\\."
    return (
        "java.util.regex.Pattern cannot compile it; to match the text literally, put it between \\Q and \\E."
    )


def _selector(name: str) -> str | None:
    plain = re.sub(r"[.\- ]", "_", name.strip().lower())
    if plain in SELECTORS:
        return plain
    close = get_close_matches(plain, SELECTORS, 1, 0.8)
    return (
        _OTHER_SELECTORS.get(plain)
        or _OTHER_SELECTORS.get(plain.removeprefix("kafka_"))
        or (close[0] if close else None)
    )


def doubts(
    subscription: Subscription, resource: Resource, release: tuple[int, ...], known_metrics: Collection[str]
) -> Iterator[str]:
    """Sentences about what Kafka accepts but may be a mistake. `known_metrics`: full names that clients are known to
    have.
    """
    if subscription.interval_ms > DEFAULT_INTERVAL_MS:
        yield (
            f"interval.ms={subscription.interval_ms} has no effect: a broker never lets a client wait longer than "
            f"{DEFAULT_INTERVAL_MS} ms."
        )
    if not subscription.metrics:
        yield "It names no metrics: clients that only it matches push nothing."
    for prefix in subscription.metrics:
        doubt = _metric(prefix, subscription.metrics, known_metrics)
        if doubt:
            yield doubt
    keys = [item.partition("=")[0].strip() for item in resource.properties.get(MATCH, "").split(",")]
    for key in dict.fromkeys(key for key in keys if keys.count(key) > 1):
        yield f"{key} is given more than once: the last one wins."
    for selector in subscription.selectors:
        yield from _selector_doubts(selector.attribute, selector.regex, release)


def _metric(prefix: str, prefixes: Collection[str], known: Collection[str]) -> str | None:
    if prefix == ALL_METRICS:
        return "* asks for everything, so its other metrics are not needed." if len(prefixes) > 1 else None
    if not prefix:
        return "An empty metric asks for everything, as a prefix of every name; write * to say so."
    if any(metric.startswith(prefix) for metric in known):
        return None
    doubt = f"No known metric begins with {prefix}: "
    if "*" in prefix:
        return f"{doubt}metrics are prefixes, without a *; write {prefix.partition('*')[0] or ALL_METRICS}."
    plain = re.sub(r"[-/:]", ".", re.sub(r"-metrics(?=[./:]|$)", "", prefix.strip().lower()))
    for candidate in (plain, f"org.apache.kafka.{plain}", f"{plain}.", f"org.apache.kafka.{plain}."):
        if any(metric.startswith(candidate) for metric in known):
            return f"{doubt}write {candidate}."
    close = get_close_matches(prefix, known, 1, 0.7)
    if close:
        return f"{doubt}did you mean {close[0]}?"
    if _FAMILY.match(prefix):
        return f"{doubt}only clients that have it push it."
    return f"{doubt}names of Kafka's own metrics begin with org.apache.kafka.; applications may have others (KIP-1076)."


def _selector_doubts(attribute: str, regex: str, release: tuple[int, ...]) -> Iterator[str]:
    if re.fullmatch(r"[\w-]*\w\*", regex):
        yield (
            f"{attribute}={regex} is a regular expression, not a glob: * repeats the character before it. Write "
            f"{attribute}={regex[:-1]}.* for what begins with {regex[:-1]}."
        )
    if attribute == "client_instance_id":
        try:
            instance_id = kafka_uuid(uuid.UUID(regex).bytes)
        except ValueError:
            try:
                instance_id = kafka_uuid(instance_id_of(regex))
            except BadInstanceId:
                instance_id = regex
        if instance_id != regex:
            yield f"Brokers spell a client instance id as URL-safe base64: write client_instance_id={instance_id}."
    if attribute == "client_source_address":
        if "/" in regex:
            yield f"{attribute}={regex}: addresses contain no slash, and CIDR notation is not a regex; write for example 10\\.1\\..*."
        plain = regex.replace("\\", "")
        if ":" in plain and host_address(plain) != plain:
            yield f"Brokers write an IPv6 address out: write client_source_address={host_address(plain)}."
    if attribute == "client_source_port" and release < (3, 8):
        yield "Brokers on Kafka 3.7 compare this selector with the client's address, so no port ever matches."
