"""Settings of brokers in YAML as people keep it: Kubernetes manifests and what `helm template` prints, Compose files, values of Helm charts,
resources of Strimzi and of Confluent for Kubernetes, variables of Ansible.

Not the place of a setting but its form tells it from others: a list of `name` and `value`, a list of `KEY=value`, a mapping, and a
text as a properties file has it, with a variable KAFKA_… or a key with dots that some release of Apache Kafka defines.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import yaml

from client_telemetry.compatibility import java_properties
from client_telemetry.compatibility.broker_settings import SET
from client_telemetry.compatibility.configuration_changes import Settings, has_broker_keys, of_environment
from client_telemetry.compatibility.java_properties import Setting, UnreadableProperties
from client_telemetry.knowledge import broker_configuration

LARGEST: Final = 4 * 2**20
"""Characters of a file."""
_KEY = re.compile(r"KAFKA_[A-Z0-9_]+|[a-z]+(?:[.][\w-]+)+")
_ASSIGNED = re.compile(r"([\w.-]+)(?:=(.*))?", re.DOTALL)
_ONE_LINE = re.compile(r"\s*[a-z]+(?:[.][\w-]+)+\s*=.*")
_OVERRIDE = re.compile(r"--override[ =]+([a-z]+(?:[.][\w-]+)+)=(\S*)")
_MERGE, _NULL = "tag:yaml.org,2002:merge", "tag:yaml.org,2002:null"
_OF_OPERATORS = ("kafka.strimzi.io/", "platform.confluent.io/")
_BROKERS = ("Kafka", "KRaftController")
"""Kinds of theirs that are brokers or controllers."""
_ZOOKEEPER = {
    "kafka.strimzi.io/": ("spec", "zookeeper"),
    "platform.confluent.io/": ("spec", "dependencies", "zookeeper"),
    "kafka.banzaicloud.io/": ("spec", "zkAddresses"),
}
"""Where resources of Strimzi, Confluent for Kubernetes and Koperator name ZooKeeper."""
_OTHERS = re.compile(r"x-.*|(?!kafka_(?:broker|controller)_)\w+_custom_properties")
"""Keys whose values are not what a broker gets: Compose's building blocks, and other services of Confluent's Ansible playbooks."""
_OF_CONTAINERS = (" env", " environment")
_MORE_THERE = {
    *("command", "args", "entrypoint", "entryPoint", "envFrom", "env_file"),
    *("environmentFiles", "secrets", "extends", "build"),
}
"""Beside the variables of a container: what may set more, in Kubernetes, Compose and Amazon ECS."""


class UnreadableYaml(ValueError):
    """Not YAML; the message has the line if it is known."""


def read(text: str) -> list[Settings]:
    """In the order of the file. A value that the file does not have (`valueFrom`, a variable of the shell) is SET. Raises UnreadableYaml."""
    if len(text) > LARGEST:
        raise UnreadableYaml(f"has more than {LARGEST:,} characters")
    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        return list(
            _with_own_names(
                each
                for root in yaml.compose_all(text, Loader=loader)
                for each in _walked(root, "", set(), set())
            )
        )
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        template = " (render a Helm template first: helm template)" if "{{" in text else ""
        raise UnreadableYaml(f"{line}not valid YAML: {error.problem or error.context}{template}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise UnreadableYaml(f"not valid YAML: {' '.join(str(error).split())}") from None


def _with_own_names(found: Iterable[Settings]) -> Iterator[Settings]:
    """Places of several documents or namespaces can have one name: the second one gets its number and line."""
    places: Counter[str] = Counter()
    for each in found:
        places[each.where] += 1
        line = each.settings[0].line
        name = f"{each.where} (no. {places[each.where]}, line {line})"
        yield each if places[each.where] == 1 else each._replace(where=name)


def _walked(node: yaml.Node | None, where: str, beside: set[str], done: set[int]) -> Iterator[Settings]:
    """`beside`: the keys of the mapping that has the node. `done`: ids of nodes of this document (those of another may be the same): an alias
    may name a node again."""
    if node is None or id(node) in done:
        return
    done.add(id(node))
    pairs = dict(_pairs(node))
    where = _title(pairs) or where
    settings, children = _read(node, where)
    if has_broker_keys(of_environment(each for each in settings if _KEY.fullmatch(each.key))):
        own = of_environment(each for each in settings if _is_setting(each))
        yield Settings(where, own, not (where.endswith(_OF_CONTAINERS) and beside.isdisjoint(_MORE_THERE)))
    for name, child in children:
        yield from _walked(child, name, {*pairs}, done)


def _is_setting(found: Setting) -> bool:
    """Not a file in a ConfigMap, and nothing else that stands beside the settings."""
    is_file = "\n" in found.value and not found.key.startswith("KAFKA_")
    is_known = found.key in broker_configuration.ever(broker_configuration.BROKER)
    return is_known or (bool(_KEY.fullmatch(found.key)) and not is_file)


def _read(node: yaml.Node, where: str) -> tuple[list[Setting], list[tuple[str, yaml.Node]]]:
    """What a node would set, and what is in it, with where that is."""
    if isinstance(node, yaml.ScalarNode):
        return _of_text(node), []
    if isinstance(node, yaml.SequenceNode):
        items = [
            (_joined(where, _name(each) or str(place)), each)
            for place, each in enumerate(node.value)
            if not (isinstance(each, yaml.ScalarNode) and _ONE_LINE.fullmatch(each.value))
        ]
        return [each for item in node.value for each in _of_item(item)], items
    pairs = dict(_pairs(node))
    if _is_of_another(pairs):
        return [], []
    ever = broker_configuration.ever(broker_configuration.BROKER)
    settings = [
        _setting(key, value, _line(value))
        for key, value in pairs.items()
        if isinstance(value, yaml.ScalarNode) or key in ever or key.startswith("KAFKA_")
    ]
    if zookeeper := _zookeeper(pairs):
        settings.append(Setting(_line(zookeeper), "zookeeper.connect", SET))
    children = [(_joined(where, key), each) for key, each in pairs.items() if not _OTHERS.fullmatch(key)]
    return settings, children


def _pairs(node: yaml.Node) -> Iterator[tuple[str, yaml.Node]]:
    """Of a mapping; what it merges (`<<`) comes first, so that its own values count."""
    own = []
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if key.tag == _MERGE:
            for merged in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                yield from _pairs(merged)
        elif isinstance(key, yaml.ScalarNode):
            own.append((key.value, value))
    yield from own


def _of_item(item: yaml.Node) -> Iterator[Setting]:
    """`name` and `value` of Kubernetes, or `KEY=value`; a key alone has the value of the shell."""
    if isinstance(item, yaml.ScalarNode):
        match = _ASSIGNED.fullmatch(item.value)
        if match:
            yield Setting(_line(item), match[1], SET if match[2] is None else match[2])
    elif name := _name(item):
        pairs = dict(_pairs(item))
        if pairs.keys() & {"value", "valueFrom"}:
            yield _setting(name, pairs.get("value"), _line(item))


def _of_text(node: yaml.ScalarNode) -> list[Setting]:
    """Of a text in several lines, of one with `key=value` alone, or of a command of kafka-server-start."""
    if overrides := _OVERRIDE.findall(node.value):
        return [Setting(_line(node), key, value) for key, value in overrides]
    if "\n" not in node.value and not _ONE_LINE.fullmatch(node.value):
        return []
    try:
        found = java_properties.parse(node.value)
    except UnreadableProperties:
        return []
    before = _line(node) if node.style in ("|", ">") else _line(node) - 1
    return [each._replace(line=each.line + before) for each in found]


def _setting(key: str, value: yaml.Node | None, line: int) -> Setting:
    """SET for `valueFrom`, an empty value, and a list or mapping, as which YAML reads `{{ .Values.a }}` of a template."""
    is_known = isinstance(value, yaml.ScalarNode) and value.tag != _NULL
    return Setting(line, key, value.value if is_known and value else SET)


def _line(node: yaml.Node) -> int:
    return node.start_mark.line + 1


def _name(node: yaml.Node) -> str:
    name = dict(_pairs(node)).get("name")
    return name.value if isinstance(name, yaml.ScalarNode) else ""


def _title(pairs: Mapping[str, yaml.Node]) -> str:
    """`StatefulSet kafka` of an object of Kubernetes."""
    kind = pairs.get("kind")
    name = _name(pairs["metadata"]) if "metadata" in pairs else ""
    return f"{kind.value} {name}" if isinstance(kind, yaml.ScalarNode) and name else ""


def _is_of_another(pairs: Mapping[str, yaml.Node]) -> bool:
    """Whether it is a resource of an operator that is no broker: a topic, a Connect cluster."""
    api, kind = (pairs[key].value if key in pairs else "" for key in ("apiVersion", "kind"))
    return str(api).startswith(_OF_OPERATORS) and kind not in _BROKERS


def _zookeeper(pairs: Mapping[str, yaml.Node]) -> yaml.Node | None:
    """What names ZooKeeper in a resource of brokers: its operator sets zookeeper.connect. Strimzi passes it over in KRaft mode."""
    api = pairs["apiVersion"].value if "apiVersion" in pairs else ""
    path = next((path for group, path in _ZOOKEEPER.items() if str(api).startswith(group)), ())
    annotations = _at(pairs, "metadata", "annotations")
    mode = dict(_pairs(annotations)).get("strimzi.io/kraft") if annotations else None
    return _at(pairs, *path) if path and not (mode and mode.value == "enabled") else None


def _at(pairs: Mapping[str, yaml.Node], first: str, *further: str) -> yaml.Node | None:
    node = pairs.get(first)
    return _at(dict(_pairs(node)), *further) if node and further else node


def _joined(where: str, key: str) -> str:
    return f"{where} {key}".strip()
