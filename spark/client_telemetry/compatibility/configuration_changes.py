"""What becomes of the settings of a broker (its server.properties) on another release, by the configuration keys that both define.

What Kafka does with them, tried on the classes of 2.8.0, 3.9.1 and 4.0.0: a key that the release does not define is ignored, a required key
that is missing and a value outside of the valid range keep the broker from starting (ConfigException).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from client_telemetry.compatibility.java_properties import Setting
from client_telemetry.knowledge import broker_configuration
from client_telemetry.knowledge.broker_configuration import BROKER, RANGE, REQUIRED, ChangedKey, Key

_LISTENER = re.compile(r"listener\.name\.[^.]+\.(.+)")
_ENVIRONMENT = re.compile(r"KAFKA_[A-Z0-9_]+")
_NOT_SETTINGS = re.compile(
    r"KAFKA_(?:\w+_OPTS|OPTS|VERSION|LOG4J_\w+|TOOLS_LOG4J_\w+|JMX_\w+|HOME|DATA_DIRS|CLUSTER_ID|\w*MOUNT\w*)"
)
"""Variables of the images' own: Java's options, logging, paths."""
_SYNONYMS = {"node.id": "broker.id", "broker.id": "node.id"}
"""Either sets the other (KafkaConfig.populateSynonyms)."""


class SetKey(NamedTuple):
    """A setting, and the key whose definition applies to it."""

    setting: Setting
    key: str
    """Without the prefix of a listener and SASL mechanism."""


class RefusedValue(NamedTuple):
    setting: Setting
    valid_range: str


class OwnSettings(NamedTuple):
    """What a move from one release to another means for the settings of one file. Each is in the order of the file."""

    gone: tuple[SetKey, ...]
    """Defined by the one that is left, not by the other: ignored there."""
    in_neither: tuple[SetKey, ...]
    """Defined by other releases only: ignored by both."""
    takes_effect: tuple[SetKey, ...]
    """Ignored so far, defined by the other."""
    missing: tuple[str, ...]
    """Keys that the other requires and the file does not set: the broker does not start."""
    refused: tuple[RefusedValue, ...]
    """Values outside of the other's range: the broker does not start."""
    defaults: tuple[ChangedKey, ...]
    """Keys that the file does not set and whose default changes."""
    not_judged: tuple[SetKey, ...]
    """Keys that no release of Apache Kafka defines: of plugins, authorizers and products."""

    @property
    def must_change(self) -> bool:
        return bool(self.gone or self.missing or self.refused)


def of_environment(settings: Iterable[Setting]) -> list[Setting]:
    """KAFKA_… variables of container images as the keys that they set: `_` stands for a dot, `__` for an underscore, `___` for a dash.
    Variables of the images' own are left out, other keys stay.

    >>> of_environment([Setting(1, "KAFKA_NODE_ID", "1"), Setting(2, "KAFKA_HEAP_OPTS", "-Xmx1g"), Setting(3, "log.dirs", "/a")])
    [Setting(line=1, key='node.id', value='1'), Setting(line=3, key='log.dirs', value='/a')]
    """
    return [
        each._replace(key=_of_variable(each.key)) if _ENVIRONMENT.fullmatch(each.key) else each
        for each in settings
        if not _NOT_SETTINGS.fullmatch(each.key)
    ]


def _of_variable(name: str) -> str:
    signs = {"_": ".", "__": "_", "___": "-"}
    return re.sub("_+", lambda match: signs.get(match[0], match[0]), name.removeprefix("KAFKA_").lower())


def of_settings(settings: Sequence[Setting], from_release: str, to_release: str) -> OwnSettings:
    """Raises KeyError for a release whose configuration is not known."""
    before, after = (broker_configuration.of(BROKER, release) for release in (from_release, to_release))
    ever = broker_configuration.ever(BROKER)
    effective = {each.key: each for each in settings}
    found = [SetKey(each, _defined_key(each.key, ever)) for each in effective.values()]
    is_set = {each.key for each in found} | {_SYNONYMS[each.key] for each in found if each.key in _SYNONYMS}
    return OwnSettings(
        gone=tuple(each for each in found if each.key in before and each.key not in after),
        in_neither=tuple(
            each for each in found if each.key in ever and each.key not in before and each.key not in after
        ),
        takes_effect=tuple(each for each in found if each.key not in before and each.key in after),
        missing=tuple(_missing(after, is_set)),
        refused=tuple(_refused(found, after)),
        defaults=tuple(
            each
            for each in broker_configuration.changes(BROKER, from_release, to_release).defaults
            if each.key not in is_set and REQUIRED not in (each.before.default, each.after.default)
        ),
        not_judged=tuple(each for each in found if each.key not in ever),
    )


def _defined_key(key: str, ever: frozenset[str]) -> str:
    """`listener.name.internal.scram-sha-256.sasl.jaas.config` sets sasl.jaas.config for one mechanism of one listener."""
    of_listener = _LISTENER.fullmatch(key)
    if key in ever or not of_listener:
        return key
    whole, of_mechanism = of_listener[1], of_listener[1].partition(".")[2]
    return next((each for each in (whole, of_mechanism) if each in ever), key)


def _missing(after: Mapping[str, Key], is_set: set[str]) -> Iterator[str]:
    for key, definition in sorted(after.items()):
        if definition.default == REQUIRED and key not in is_set:
            yield key


def _refused(found: Iterable[SetKey], after: Mapping[str, Key]) -> Iterator[RefusedValue]:
    for each in found:
        valid = after[each.key].valid_range if each.key in after else ""
        if valid and not _is_within(each.setting.value, valid):
            yield RefusedValue(each.setting, valid)


def _is_within(value: str, valid_range: str) -> bool:
    """A value that is no number, such as a placeholder, is not judged."""
    match = RANGE.fullmatch(valid_range)
    try:
        number = float(value.strip())
        low, high = (float(end) if end else None for end in (match.groups() if match else (None, None)))
    except ValueError:
        return True
    return (low is None or low <= number) and (high is None or number <= high)
