"""What sources and configuration files say as literals: protocol versions that the code pins, and settings of clients.

A literal proves that something is written, with file and line. That none is written proves nothing, except for a pin:
where the code that uses the library was read, and pins nothing, the library speaks as it does by default.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from client_telemetry.artefacts.packages import Unreadable
from client_telemetry.artefacts.readers.json_text import Lines, mapping, objects, parse
from client_telemetry.artefacts.readers.lines import numbered

_CONFIGURATION = frozenset(
    (".properties", ".yml", ".yaml", ".env", ".conf", ".ini", ".toml", ".cfg", ".json")
)
_TEXTS = _CONFIGURATION | {".go", ".py"}
LARGEST_BYTES = 2**20
"""Larger ones are generated, or data."""

_SARAMA = re.compile(
    r'(?:^|[;(])\s*(?:import\s+)?(?:(?P<alias>[A-Za-z_]\w*)\s+)?"(?:github\.com/(?:IBM|Shopify)/sarama|gopkg\.in/Shopify/sarama\.v\d)"',
    re.MULTILINE,
)
_FRANZ = re.compile(r'"github\.com/twmb/franz-go/pkg/kgo"')
_FRANZ_LIMIT = re.compile(r"\bkgo\.MaxVersions\(\s*(?:kversion\.)?([\w.]+|FromString\(\"[^\"]*\"\))")
_SARAMA_VERSION = re.compile(
    r"(?:\.Version\s*=|\bVersion\s*:|\bversion\s*:?=)\s*sarama\.(V\d+(?:_\d+)+|MinVersion|MaxVersion|DefaultVersion)\b"
)
_SARAMA_PARSED = re.compile(r"sarama\.ParseKafkaVersion\(\s*(\"[^\"]*\"|[^)]*)\)")
_SARAMA_OTHER = re.compile(
    r"\b(?:config|cfg|conf|c|sc|saramaConfig|saramaCfg|kafkaConfig)\.Version\s*=\s*(?!sarama\.|=)([\w.\[\]\"()]+)"
)
_SARAMA_NAMED = re.compile(
    r"^\s*(?:var|const)?\s*(\w+)(?:\s+sarama\.KafkaVersion)?\s*:?=\s*sarama\.(V\d+(?:_\d+)+|MinVersion|MaxVersion)\b"
)
_PYTHON_NAMED = re.compile(r"^([A-Za-z_]\w*)\s*=\s*(\([\d,\s]*\)|\"[\d.]*\"|'[\d.]*')\s*(?:#.*)?$")
_PYTHON = re.compile(r"^\s*(?:from|import)\s+(kafka|aiokafka)\b", re.MULTILINE)
_API_VERSION = re.compile(r"[\"']?\bapi_version[\"']?\s*[=:]\s*(\([\d,\s]*\)|\"[^\"]*\"|'[^']*'|[\w.\[\]]+)")
_SETTING = re.compile(
    r"""^\s*(?:-\s+)?(?:export\s+|ENV\s+)?["']?([\w./-]*?)(client[.-]id|client_id|group[.-]id|group_id|application[.-]id|application_id|sasl[._-](?:plain[._-])?username|sasl[._-]mechanisms?|security[._-]protocol|group[._-]protocol|inter[._-]broker[._-]protocol[._-]version|log[._-]message[._-]format[._-]version|broker[._-]version[._-]fallback|api[._-]version[._-]request)["']?\s*[:=]\s*(?:"([^"]*)"|'([^']*)'|([^"'#,;\s]+))\s*,?\s*(?:\#.*)?$""",
    re.IGNORECASE,
)
_PROPERTY = re.compile(r"([^=:]*[=:]\s*)(\S.*?)\s*")
"""A line of a properties file: all behind the name is the value, # and spaces too (java.util.Properties)."""
_KAFKA = re.compile(r"kafka|bootstrap[._-]?servers|connector\.class", re.IGNORECASE)
_ALWAYS_KAFKA = frozenset(
    (
        "sasl.mechanism",
        "sasl.username",
        "security.protocol",
        "group.protocol",
        "inter.broker.protocol.version",
        "log.message.format.version",
        "broker.version.fallback",
        "api.version.request",
    )
)
"""Names that nothing else has."""
_VARIABLE_NAME = re.compile(r"""^\s*-\s*name\s*:\s*["']?([\w.-]+)["']?\s*$""")
_VARIABLE_VALUE = re.compile(r"^\s*value\s*:\s*(.*)$")
_VARIABLE_INLINE = re.compile(
    r"""^ *- *\{ *name *: *["']?([\w.-]+)["']? *, *value *:([^{}]*)\} *$""",
)
_JAAS = re.compile(
    r"""sasl[._-]jaas[._-]config["']?\s*[:=].*LoginModule\b.*?\busername\s*=\s*\\?["']([^"'\\]+)""",
    re.IGNORECASE,
)
_LITERAL = re.compile(r"[\w.:@/+-]{1,200}")
_SPACED = re.compile(r"[^\s${}<>%][^\x00-\x1f${}<>%]{0,199}")
"""Inside quotes, or in a properties file; what a template or an environment fills in is no literal."""
_JSON_NAMES: Final = {
    "clientid": "client.id",
    "groupid": "group.id",
    "applicationid": "application.id",
    "saslmechanism": "sasl.mechanism",
    "saslusername": "sasl.username",
    "securityprotocol": "security.protocol",
    "groupprotocol": "group.protocol",
}
_JSON_MECHANISMS: Final = {
    "scramsha256": "SCRAM-SHA-256",
    "scramsha512": "SCRAM-SHA-512",
    "oauthbearer": "OAUTHBEARER",
    "plain": "PLAIN",
    "gssapi": "GSSAPI",
}
"""SaslMechanism of Confluent.Kafka (Confluent.Kafka/Config_gen.cs)."""
_JSON_SERVERS: Final = frozenset(("bootstrapservers", "bootstrap.servers"))
_JSON_COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)


class Setting(NamedTuple):
    """A literal; `name` in Kafka's spelling (client.id), or the setting that pins a version (config.Version)."""

    name: str
    value: str
    file: str
    line: int


class Code(NamedTuple):
    """What one file says. `uses`: libraries that it imports and whose protocol version it could pin."""

    file: str
    uses: frozenset[str]
    pins: tuple[Setting, ...]
    settings: tuple[Setting, ...]


@dataclass(frozen=True)
class Pin:
    """A setting in code or configuration that pins the protocol version. `release` is None if the text is no release."""

    library: str
    text: str
    release: str | None
    where: str


@dataclass(frozen=True)
class CodeSeen:
    """What the sources beside a lock file say."""

    libraries: frozenset[str] = frozenset()
    """Libraries that sources which were read import: had they pinned a version there, it would be in `pins`."""
    pins: tuple[Pin, ...] = ()
    mechanisms: tuple[tuple[str, str], ...] = ()
    """SASL mechanisms that configuration files name, each with its place. Others may be used elsewhere."""


NO_CODE = CodeSeen()


def is_read(path: str) -> bool:
    """Whether a file of this name may have literals that count."""
    name = PurePosixPath(path)
    return name.suffix in _TEXTS or name.name.startswith(".env") or name.name.startswith("Dockerfile")


def read(path: str, shown: str, text: str) -> Code | None:
    """None if it says nothing about Kafka clients."""
    suffix = PurePosixPath(path).suffix
    if suffix == ".go":
        found = _go(shown, text)
    elif suffix == ".py":
        found = _python(shown, text)
    else:
        found = Code(shown, frozenset(), (), tuple(_settings(shown, text)))
    return found if found.uses or found.pins or found.settings else None


def _named_values(pattern: re.Pattern[str], text: str) -> dict[str, str]:
    """Names in a file that have one literal value, of those that the pattern finds."""
    values: dict[str, set[str]] = {}
    for _, line in numbered(text):
        if match := pattern.match(line):
            values.setdefault(match[1], set()).add(match[2].strip("\"'"))
    return {name: of_name.pop() for name, of_name in values.items() if len(of_name) == 1}


def _go(shown: str, text: str) -> Code:
    uses: set[str] = set()
    pins: list[Setting] = []
    if imported := _SARAMA.search(text):
        uses.add("sarama")
        alias = imported["alias"]
        # An alias that hides the name is read as the name; `import` itself is none.
        if alias and alias not in ("import", "sarama"):
            text = re.sub(rf"\b{alias}\.(?=[A-Z])", "sarama.", text)
        pins += _sarama(shown, text)
    if _FRANZ.search(text):
        uses.add("franz-go")
        pins += _franz(shown, text)
    return Code(shown, frozenset(uses), tuple(pins), ())


def _go_lines(text: str) -> Iterator[tuple[int, str]]:
    return (
        (number, line.partition("//")[0] if '"' not in line else line)
        for number, line in numbered(text)
        if not line.lstrip().startswith("//")
    )


def _sarama(shown: str, text: str) -> Iterator[Setting]:
    named = _named_values(_SARAMA_NAMED, text)
    for number, code in _go_lines(text):
        for pattern in (_SARAMA_VERSION, _SARAMA_PARSED, _SARAMA_OTHER):
            for match in pattern.finditer(code):
                value = match[1].strip('"')
                yield Setting("config.Version", named.get(value, value), shown, number)


def _franz(shown: str, text: str) -> Iterator[Setting]:
    """`kgo.MaxVersions` limits the versions of all requests (pkg/kgo/config.go)."""
    for number, code in _go_lines(text):
        for match in _FRANZ_LIMIT.finditer(code):
            value = re.sub(r'^FromString\("v?([^"]*)"\)$', r"\1", match[1])
            yield Setting("kgo.MaxVersions", value, shown, number)


def _python(shown: str, text: str) -> Code:
    modules = set(_PYTHON.findall(text))
    if not modules:
        return Code(shown, frozenset(), (), ())
    uses = frozenset("aiokafka" if module == "aiokafka" else "kafka-python" for module in modules)
    pins, named = [], _named_values(_PYTHON_NAMED, text)
    for number, line in numbered(text):
        for match in _API_VERSION.finditer(line.partition("#")[0]):
            value = match[1].strip("\"'")
            value = named.get(value, value)
            if value not in ("None", "auto", "str", "Optional"):
                pins.append(Setting("api_version", value, shown, number))
    return Code(shown, uses, tuple(pins), ())


def release_of(pin: Setting) -> str | None:
    """The release that a pin names, as numbers with dots; None if the text is no release.

    >>> release_of(Setting("config.Version", "V0_10_2_0", "main.go", 3)), release_of(Setting("api_version", "(0, 10)", "a.py", 1))
    ('0.10.2.0', '0.10')
    >>> release_of(Setting("config.Version", "MinVersion", "main.go", 3))
    '0.8.2.0'
    """
    if pin.value == "MinVersion":
        return "0.8.2.0"
    if pin.name == "api_version" and pin.value.startswith("("):
        numbers = re.findall(r"\d+", pin.value)
        return ".".join(numbers) if len(numbers) > 1 else None
    text = pin.value.removeprefix("V").replace("_", ".")
    return text if re.fullmatch(r"\d+(?:\.\d+){1,3}", text) else None


def pins_nothing(pin: Setting) -> bool:
    """Whether a setting leaves the version as it is by default, or at the newest that the library has."""
    return pin.value in ("MaxVersion", "DefaultVersion", "Stable", "Tip")


def _settings(shown: str, text: str) -> Iterator[Setting]:
    """Settings in files that mention Kafka. OAuth has client ids, too: those count with dots or with Kafka in the name."""
    if not _KAFKA.search(text) and not _KAFKA.search(shown):
        return
    if shown.endswith(".json"):
        for name, value, number in json_settings(text):
            if _SPACED.fullmatch(value):
                yield Setting(name, value, shown, number)
    is_properties = shown.endswith(".properties")
    lines = numbered(text)
    for number, line in _with_variables(lines) if shown.endswith((".yml", ".yaml")) else lines:
        if (jaas := _JAAS.search(line)) and _LITERAL.fullmatch(jaas[1]):
            yield Setting("sasl.username", jaas[1], shown, number)
        match = _SETTING.match(_quoted(line) if is_properties else line)
        value = _value(match) if match else ""
        if match is None or not value:
            continue
        name = re.sub(r"[_-]", ".", match[2].lower())
        name = "sasl.mechanism" if name.startswith("sasl.mech") else name
        name = "sasl.username" if name.startswith("sasl.") and name.endswith("username") else name
        is_kafka = _KAFKA.search(match[1]) or name in _ALWAYS_KAFKA
        if is_kafka or "." in match[2] or "-" in match[2]:
            yield Setting(name, value, shown, number)


def json_settings(text: str) -> Iterator[tuple[str, str, int]]:
    """Of clients in JSON as .NET binds it to its classes and Node.js to objects (`"GroupId"`, `"clientId"`): name, value
    and line, of objects below a key that names Kafka, or with bootstrap servers: client ids of OAuth look the same. Nothing of
    a file that is no JSON. Values are as they are written, so not all are literals.
    """
    try:
        content = parse(_JSON_COMMENT.sub("", text))
    except Unreadable:
        return
    yield from _of_value(content, Lines(text), is_kafka=False)


def _of_value(value: object, lines: Lines, *, is_kafka: bool) -> Iterator[tuple[str, str, int]]:
    for entry in objects(value) if isinstance(value, list) else [mapping(value)]:
        here = is_kafka or bool({key.lower() for key in entry} & _JSON_SERVERS)
        for key, below in entry.items():
            name = _JSON_NAMES.get(key.lower())
            if here and name and isinstance(below, str):
                yield _json_setting(name, key, below, lines)
            elif isinstance(below, dict | list):
                yield from _of_value(below, lines, is_kafka=here or "kafka" in key.lower())


def _json_setting(name: str, key: str, value: str, lines: Lines) -> tuple[str, str, int]:
    line = lines.of(f'"{key}": "{value}"', f'"{key}":"{value}"', f'"{key}"') or 1
    if name == "sasl.mechanism":
        value = _JSON_MECHANISMS.get(value.lower().replace("-", ""), value)
    return name, value, line


def _with_variables(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines of YAML; a variable of a container (`- name: KAFKA_GROUP_ID`, then `value: orders`) as one line."""
    name = ""
    for number, line in lines:
        if match := _VARIABLE_INLINE.match(line):
            yield number, f"{match[1]}: {match[2].strip()}"
        elif name and (match := _VARIABLE_VALUE.match(line)):
            yield number, f"{name}: {match[1]}"
        else:
            yield number, line
        named = _VARIABLE_NAME.match(line)
        name = named[1] if named else ""


def _value(match: re.Match[str]) -> str:
    """Empty if it is no literal."""
    if match[5] is not None:
        return match[5] if _LITERAL.fullmatch(match[5]) else ""
    quoted = match[3] if match[3] is not None else match[4]
    return quoted if _SPACED.fullmatch(quoted) else ""


def _quoted(line: str) -> str:
    """A line of a properties file as one of the others would be written."""
    match = _PROPERTY.fullmatch(line)
    return line if match is None or '"' in match[2] or "'" in match[2] else f'{match[1]}"{match[2]}"'
