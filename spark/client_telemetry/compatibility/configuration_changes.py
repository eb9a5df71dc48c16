"""What becomes of the settings of a broker (its server.properties) on another release, by the configuration keys that both define.

What Kafka does with them, tried on the classes of 2.8.0, 3.9.1 and 4.0.0: a key that the release does not define is ignored, a required key
that is missing, a value outside of the valid range and the name of a class that is not there keep the broker from starting.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from client_telemetry.compatibility import cluster_notes
from client_telemetry.compatibility.broker_settings import SET, BrokerSetup
from client_telemetry.compatibility.java_properties import Setting
from client_telemetry.knowledge import broker_classes, broker_configuration, releases, removed_settings
from client_telemetry.knowledge.broker_configuration import BROKER, RANGE, REQUIRED, ChangedKey, Key
from client_telemetry.knowledge.removed_settings import Removed
from client_telemetry.knowledge.vocabulary import Answer

_LISTENER = re.compile(r"listener\.name\.[^.]+\.(.+)")
_VARIABLE = re.compile(r"KAFKA_(?:CFG_)?([A-Z0-9_]+)")
"""Bitnami's images have CFG_ in front of every key."""
_ASSIGNED = re.compile(r"""(["']?)(KAFKA_[A-Z0-9_]+)\s*[=:]\s*(.*)\1""", re.DOTALL)
_QUOTED = re.compile(r"""(["'])(.*)\1""", re.DOTALL)
_BEFORE_ASSIGNED = ("export", "-")
"""What stands before a variable in a shell script, and in the list of a Compose file."""
_BETWEEN_ASSIGNED = re.compile(r"[\s;]+(?:export\s+)?(?=KAFKA_[A-Z0-9_]+=)")
_NOT_SETTINGS = re.compile(
    r"KAFKA_(?:\w+_OPTS|OPTS|VERSION|LOG4J_\w+|TOOLS_LOG4J_\w+|JMX_\w+|HOME|DATA_DIRS|CLUSTER_ID|\w*MOUNT\w*)"
)
"""Variables of the images' own: Java's options, logging, paths."""
_SYNONYMS = {"node.id": "broker.id", "broker.id": "node.id"}
"""Either sets the other (KafkaConfig.populateSynonyms)."""
PROTOCOL = "inter.broker.protocol.version"
"""Brokers on KRaft do not read it (since 3.3, KIP-778), and yet refuse one that they do not know."""
_PROTOCOLS = (PROTOCOL, "log.message.format.version")
_PROTOCOL_LINE = re.compile(r"(0\.\d+\.\d+|[1-9]\d*\.\d+)(?:[.-].*)?")
"""As MetadataVersion.fromVersionString takes it: `3.9`, `3.9-IV0`, `3.9.1`, `0.10.2-IV0`."""
_LATER_NAMES = {
    ("group.coordinator.rebalance.protocols", "streams"): ("4.1.0", "classic,consumer"),
    **{
        ("group.consumer.assignors", name): (
            "4.0.0",
            f"org.apache.kafka.coordinator.group.assignor.{assignor}",
        )
        for name, assignor in (("uniform", "UniformAssignor"), ("range", "RangeAssignor"))
    },
}
"""Names in a list, which only some of the releases with the key know: since when, and what older ones take (GroupCoordinatorConfig)."""
REPORTERS, JMX_REPORTER = "metric.reporters", "org.apache.kafka.common.metrics.JmxReporter"
"""Brokers before 4.0 add it to the reporters that are set, unless this says no (KIP-830):"""
_ADDS_JMX_REPORTER = "auto.include.jmx.reporter"
_MODES = ("process.roles", "zookeeper.connect")
"""Every broker has one of them: KRaft or ZooKeeper."""
_OF_CLIENTS = "bootstrap.servers"
_OF_CLIENTS_TOO = re.compile(
    r"(?:ssl|sasl|security|metrics?|config\.providers)(?:\..+)?|listeners|compression\.type|connections\.max\.idle\.ms|request\.timeout\.ms"
)
"""Keys of brokers that clients and Connect workers have too (CommonClientConfigs, WorkerConfig, RestServerConfig)."""
_READ_BEFORE_ALL = re.compile(r"config\.providers(?:\..+)?")
"""AbstractConfig reads it, so that releases without it in their ConfigDef (before 4.2) obey it too (KIP-421)."""
_VARIABLE_VALUE = re.compile(r"\$\{|\$\(|\{\{")
_NAMES_CLASSES = re.compile(
    r"(?:.+[._])?(?:class|class\.name|reporters|assignors)|security\.providers|sasl\.jaas\.config"
)
"""Keys with the names of classes, also those that Kafka defines as a text or a list. `sasl.jaas.config` begins with one."""
_CLASS = re.compile(r"(?!com\.sun\.|javax?\.)(?:\w+\.)+[A-Z][\w$]*")
"""Not one of Java's own, such as Krb5LoginModule."""


class Settings(NamedTuple):
    """Those of one container, resource or text. `where`: the objects and keys around it. `is_part`: a command, an image, an operator may
    set more."""

    where: str
    settings: Sequence[Setting]
    is_part: bool


class SetKey(NamedTuple):
    """A setting, and the key whose definition applies to it."""

    setting: Setting
    key: str
    """Without the prefix of a listener and SASL mechanism."""


class IgnoredKey(NamedTuple):
    """A setting that the other release ignores."""

    setting: Setting
    key: str
    removed: Removed | None
    """None: what the broker loses is not known."""

    @property
    def loses(self) -> bool:
        return self.removed is None or bool(self.removed.lost)


class RefusedValue(NamedTuple):
    setting: Setting
    key: str
    valid_range: str


class NamedClass(NamedTuple):
    setting: Setting
    key: str
    name: str
    instead: str
    """What to name where the other release does not have it; empty: not known."""


class Blocker(NamedTuple):
    """A note on the upgrade that applies to a broker with these settings. `subject`: the key that shows it, or `ZooKeeper mode`."""

    subject: str
    what: str


class OwnSettings(NamedTuple):
    """What a move from one release to another means for the settings of one file. Each is in the order of the file."""

    gone: tuple[IgnoredKey, ...]
    """Defined by the one that is left, not by the other."""
    in_neither: tuple[IgnoredKey, ...]
    """Defined by other releases only."""
    takes_effect: tuple[SetKey, ...]
    """Ignored so far, defined by the other."""
    missing: tuple[str, ...]
    """Keys that the other requires and the file does not set: the broker does not start."""
    refused: tuple[RefusedValue, ...]
    """Values outside of the other's range: the broker does not start."""
    gone_classes: tuple[NamedClass, ...]
    """Classes of Kafka that the other does not have: the broker does not start."""
    classes_not_judged: tuple[NamedClass, ...]
    """Classes that no release of Apache Kafka has: of plugins and products."""
    loses_jmx: SetKey | None
    """The reporters, if the other no longer adds JmxReporter to them: what it exports is not in JMX any more."""
    defaults: tuple[ChangedKey, ...]
    """Keys that the file does not set and whose default changes."""
    not_judged: tuple[SetKey, ...]
    """Keys that no release of Apache Kafka defines: of config providers, plugins, authorizers and products."""
    is_zookeeper: bool
    """Whether it says that the broker keeps its metadata in ZooKeeper."""
    has_mode: bool
    """Whether it says how the broker keeps its metadata. Otherwise something else sets that (an operator, a managed service)."""
    is_whole: bool
    """Whether nothing else sets more. Otherwise `missing` is empty: what is required may be set elsewhere."""
    values_not_known: tuple[SetKey, ...]
    """Keys whose values are elsewhere (`valueFrom`, a variable): only that they are set counts."""
    blockers: tuple[Blocker, ...]
    """Most urgent first."""

    @property
    def must_change(self) -> bool:
        """Whether the broker does not start, starts without something that it had, or must not be upgraded so."""
        return bool(
            any(each.loses for each in self.gone)
            or self.loses_jmx
            or self.missing
            or self.refused
            or self.gone_classes
            or self.blockers
        )


def of_environment(settings: Iterable[Setting]) -> list[Setting]:
    """KAFKA_… variables of container images as the keys that they set: `_` stands for a dot, `__` for an underscore, `___` for a dash.
    Variables of the images' own are left out, other keys stay. Quotes are the shell's, or YAML's.

    >>> of_environment([Setting(1, "KAFKA_NODE_ID", "1"), Setting(2, "KAFKA_HEAP_OPTS", "-Xmx1g"), Setting(3, "log.dirs", "/a")])
    [Setting(line=1, key='node.id', value='1'), Setting(line=3, key='log.dirs', value='/a')]
    >>> of_environment([Setting(1, "export", 'KAFKA_CFG_NODE_ID="1"'), Setting(2, "-", "KAFKA_LOG_DIRS: /a")])
    [Setting(line=1, key='node.id', value='1'), Setting(line=2, key='log.dirs', value='/a')]
    """
    assigned = (each for setting in settings for each in _assigned(setting))
    return [_of_variable(each) for each in assigned if not _NOT_SETTINGS.fullmatch(each.key)]


def _assigned(setting: Setting) -> list[Setting]:
    """All that one line of a shell script exports."""
    parts = _BETWEEN_ASSIGNED.split(setting.value) if setting.key in _BEFORE_ASSIGNED else []
    matches = filter(None, map(_ASSIGNED.fullmatch, parts))
    return [Setting(setting.line, match[2], match[3]) for match in matches] or [setting]


def _of_variable(setting: Setting) -> Setting:
    if not (match := _VARIABLE.fullmatch(setting.key)):
        return setting
    signs = {"_": ".", "__": "_", "___": "-"}
    key = re.sub("_+", lambda found: signs.get(found[0], found[0]), match[1].lower())
    return Setting(setting.line, key, _QUOTED.sub(r"\2", setting.value.strip()))


def has_broker_keys(settings: Iterable[Setting]) -> bool:
    """Whether some release of Apache Kafka defines one of them; of a client or Connect worker, one that these do not have too."""
    ever = broker_configuration.ever(BROKER)
    keys = {_defined_key(each.key, ever) for each in settings}
    is_client = _OF_CLIENTS in keys
    return any(key in ever and not (is_client and _OF_CLIENTS_TOO.fullmatch(key)) for key in keys)


def of_settings(
    settings: Sequence[Setting], from_release: str, to_release: str, *, is_part: bool = False
) -> OwnSettings:
    """`is_part`: something else may set more. Raises KeyError for a release whose configuration is not known."""
    before, after = (broker_configuration.of(BROKER, release) for release in (from_release, to_release))
    ever = broker_configuration.ever(BROKER)
    effective = {each.key: each for each in settings}
    found = [SetKey(each, _defined_key(each.key, ever)) for each in effective.values()]
    judged = [each for each in found if _is_judged(each.key)]
    is_set = {each.key for each in found} | {_SYNONYMS[each.key] for each in found if each.key in _SYNONYMS}
    has_mode, is_kraft = not is_set.isdisjoint(_MODES), "process.roles" in is_set
    is_whole = has_mode and not is_part
    refused = tuple(
        RefusedValue(each.setting, each.key, valid)
        for each in _with_node_id(judged)
        if each.key in after and (valid := _valid_range(each, after) or _older_name(each, to_release))
    )
    is_read = {
        each: (_is_read(each.key, before, from_release), _is_read(each.key, after, to_release))
        for each in judged
    }
    named = list(_named_classes(found, after, to_release))
    gone_classes = tuple(
        each
        for each in named
        if _is_known(each.name, to_release) and each.name not in broker_classes.of(to_release)
    )
    said = {each.key for each in refused} | {each.key for each in gone_classes}
    return OwnSettings(
        gone=tuple(_ignored(each, to_release) for each in judged if is_read[each] == (True, False)),
        in_neither=tuple(_ignored(each, to_release) for each in judged if is_read[each] == (False, False)),
        takes_effect=tuple(each for each in judged if is_read[each] == (False, True)),
        missing=tuple(
            key
            for key, each in sorted(after.items())
            if is_whole and each.default == REQUIRED and key not in is_set
        ),
        refused=refused,
        gone_classes=gone_classes,
        classes_not_judged=tuple(each for each in named if not _is_known(each.name, to_release)),
        loses_jmx=_loses_jmx(judged, from_release, to_release),
        defaults=tuple(
            each
            for each in broker_configuration.changes(BROKER, from_release, to_release).defaults
            if each.key not in is_set
            and REQUIRED not in (each.before.default, each.after.default)
            and not (each.key == PROTOCOL and is_kraft)
        ),
        not_judged=tuple(each for each in found if each not in judged),
        is_zookeeper=has_mode and not is_kraft,
        has_mode=has_mode,
        is_whole=is_whole,
        values_not_known=tuple(each for each in judged if _value(each.setting) == SET),
        blockers=tuple(
            each
            for each in _blockers(
                _setup(judged, {**before, **after} if is_whole else {}), from_release, to_release
            )
            if each.subject not in said
        ),
    )


def _is_judged(key: str) -> bool:
    is_known = key in broker_configuration.ever(BROKER) or removed_settings.of(key) is not None
    return is_known and not _READ_BEFORE_ALL.fullmatch(key)


def _is_read(key: str, defined: Mapping[str, Key], release: str) -> bool:
    """Kafka's reporters read keys that are in no ConfigDef of brokers: such a one is read until it is removed."""
    if key in broker_configuration.ever(BROKER):
        return key in defined
    return removed_settings.from_release(key, release) is None


def _ignored(found: SetKey, release: str) -> IgnoredKey:
    return IgnoredKey(found.setting, found.key, removed_settings.from_release(found.key, release))


def _loses_jmx(found: Iterable[SetKey], from_release: str, to_release: str) -> SetKey | None:
    by_key = {each.key: each for each in found}
    reporters, added = by_key.get(REPORTERS), by_key.get(_ADDS_JMX_REPORTER)
    adds_it, still_adds_it = (
        removed_settings.from_release(_ADDS_JMX_REPORTER, each) is None for each in (from_release, to_release)
    )
    is_off = added is not None and added.setting.value.strip() == "false"
    if reporters is None or is_off or not adds_it or still_adds_it:
        return None
    names = _value(reporters.setting)
    return reporters if names != SET and JMX_REPORTER not in names else None


def _setup(found: Iterable[SetKey], defined: Mapping[str, Key]) -> BrokerSetup:
    """With the defaults of what the file does not set, if it is whole."""
    defaults = {key: each.default for key, each in defined.items() if each.default != REQUIRED}
    return BrokerSetup({**defaults, **{each.key: _value(each.setting) for each in found}})


def _value(setting: Setting) -> str:
    """SET for a variable: `${file:/a:b}` of a config provider, `$(NAME)` of Kubernetes, `{{ name }}` of a template."""
    return SET if _VARIABLE_VALUE.search(setting.value) else setting.value


def _blockers(setup: BrokerSetup, from_release: str, to_release: str) -> Iterator[Blocker]:
    for note in cluster_notes.for_upgrade(from_release, to_release):
        applies = note.applies({0: setup})
        if applies.answer == Answer.YES:
            yield Blocker(applies.subject, note.what)


def _defined_key(key: str, ever: frozenset[str]) -> str:
    """`listener.name.internal.scram-sha-256.sasl.jaas.config` sets sasl.jaas.config for one mechanism of one listener."""
    of_listener = _LISTENER.fullmatch(key)
    if key in ever or not of_listener:
        return key
    whole, of_mechanism = of_listener[1], of_listener[1].partition(".")[2]
    return next((each for each in (whole, of_mechanism) if each in ever), key)


def _with_node_id(found: Sequence[SetKey]) -> list[SetKey]:
    """`broker.id` as the node.id that it sets, where nothing else does (KafkaConfig.populateSynonyms)."""
    names = {each.key for each in found}
    return [
        SetKey(each.setting, "node.id") if each.key == "broker.id" and "node.id" not in names else each
        for each in found
    ]


def _valid_range(found: SetKey, after: Mapping[str, Key]) -> str:
    """What the value has to be and is not; empty: nothing is known to be wrong with it."""
    if found.key in _PROTOCOLS:
        newest = after[PROTOCOL].default
        return f"up to {newest}" if _protocol_line(found.setting.value) > _protocol_line(newest) else ""
    valid = after[found.key].valid_range
    return valid if valid and not _is_within(found.setting.value, valid) else ""


def _older_name(found: SetKey, release: str) -> str:
    """What the release takes in place of a name that it does not know; empty: no such name is known."""
    for name in found.setting.value.split(","):
        since, instead = _LATER_NAMES.get((found.key, name.strip()), (release, ""))
        if releases.parse(release) < releases.parse(since):
            return instead
    return ""


def _protocol_line(version: str) -> tuple[int, ...]:
    """Empty for a value that is no version, such as a placeholder."""
    match = _PROTOCOL_LINE.fullmatch(version.strip())
    return releases.parse(match[1]) if match else ()


def _named_classes(
    found: Iterable[SetKey], after: Mapping[str, Key], to_release: str
) -> Iterator[NamedClass]:
    """Of the keys that the other release reads."""
    for each in found:
        is_read = each.key in after or _READ_BEFORE_ALL.fullmatch(each.key)
        if is_read and _NAMES_CLASSES.fullmatch(each.key):
            for part in each.setting.value.split(","):
                name = part.split(maxsplit=1)[0] if part.strip() else ""
                if _CLASS.fullmatch(name):
                    removed = removed_settings.from_release(name, to_release)
                    yield NamedClass(each.setting, each.key, name, removed.instead if removed else "")


def _is_known(name: str, release: str) -> bool:
    """Whether it is a class of Kafka, and which of them the release has is known."""
    return name in broker_classes.ever() and bool(broker_classes.of(release))


def _is_within(value: str, valid_range: str) -> bool:
    """A value that is no number, such as a placeholder, is not judged."""
    match = RANGE.fullmatch(valid_range)
    try:
        number = float(value.strip())
        low, high = (float(end) if end else None for end in (match.groups() if match else (None, None)))
    except ValueError:
        return True
    return (low is None or low <= number) and (high is None or number <= high)
