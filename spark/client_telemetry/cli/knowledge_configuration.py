"""Configuration keys of brokers and topics that differ between two releases, and what that means for a server.properties.

    client-telemetry knowledge configuration --from 3.9.1 --to 4.0.0 [--properties server.properties] [--format text|json|csv] [--all]

Keys and defaults are those that the code of the two releases defines (docs/knowledge.md). `--properties` may be repeated, as for
brokers and controllers; files of KAFKA_… variables of a container image are read too, and YAML: Kubernetes manifests, Compose files,
values of Helm charts, resources of operators.
Exit code 0; 3 if the target does not start with a file (it lacks a required key, has a value that is refused or names a class that is
gone), if its settings stop the upgrade, or if a broker loses something by a key that the target ignores; 4 if the configuration of a
release is not known; 2 for unusable arguments or files.
"""

import codecs
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from client_telemetry import Unusable
from client_telemetry.cli.compared_releases import print_rows
from client_telemetry.compatibility import configuration_changes, java_properties
from client_telemetry.compatibility.configuration_changes import (
    JMX_REPORTER,
    PROTOCOL,
    REPORTERS,
    IgnoredKey,
    OwnSettings,
    Settings,
)
from client_telemetry.compatibility.java_properties import Setting, UnreadableProperties
from client_telemetry.console.arguments import Arguments
from client_telemetry.console.counted import counted
from client_telemetry.knowledge import broker_configuration, releases
from client_telemetry.knowledge.broker_configuration import SCOPES, ChangedKey, Changes
from client_telemetry.knowledge_package import store

NO_GO, CANNOT_TELL = 3, 4
_COLUMNS = ("file", "line", "scope", "key", "change", "before", "after")
_YAML = (".yaml", ".yml", ".json")
_LOOKS_LIKE_YAML = re.compile(rb"^(?:---\s*$|apiVersion:|services:)", re.MULTILINE)
"""Of a pipe, which has no name that says so."""
_NO_FILES_OF_SETTINGS = {
    b" synonyms={": "what kafka-configs --describe prints",
    b"KafkaConfig values:": "the log of a broker",
}
_SPECIFY = "specify the server.properties of a broker"
_EMPTY = "empty"
_NOT_KNOWN = "not known"

Row = tuple[str, str, str, str, str, str, str]


class UnusableProperties(Unusable):
    """A file that cannot be read; the message has one line."""


def main(arguments: Sequence[str] | None) -> int:
    parser = Arguments("knowledge configuration", __doc__)
    parser.add_argument("--from", dest="from_release", required=True, metavar="RELEASE")
    parser.add_argument("--to", dest="to_release", required=True, metavar="RELEASE")
    parser.add_argument(
        "--properties",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="server.properties of a broker or controller; may be repeated",
    )
    parser.add_argument("--format", choices=("text", "json", "csv"), default="text")
    parser.add_argument("--all", action="store_true", help="list the keys that are new, too")
    args = parser.parse_args(arguments)
    store.activate()
    pair = releases.upgrade(args.from_release, args.to_release)
    own = {name: settings for path in args.properties for name, settings in _read(path)}
    if unknown := broker_configuration.not_known_for(*pair):
        print(
            f"client-telemetry knowledge configuration: the configuration of {' and '.join(unknown)} is not known: "
            "`knowledge build` reads it from the jars of a release (docs/knowledge.md)",
            file=sys.stderr,
        )
        return CANNOT_TELL
    changes = {scope: broker_configuration.changes(scope, *pair) for scope in SCOPES}
    settings = {
        name: configuration_changes.of_settings(each.settings, *pair, is_part=each.is_part)
        for name, each in own.items()
    }
    if args.format == "text":
        _print_text(pair, changes, settings, args.all)
    else:
        print_rows(args.format, pair, _COLUMNS, _rows(changes, settings, args.all))
    return NO_GO if any(each.must_change for each in settings.values()) else 0


def _read(path: Path) -> Iterator[tuple[str, Settings]]:
    """The settings of a file with its name; of YAML, which may have those of several brokers, also with where each is."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UnusableProperties(f"{path}: cannot be read: {error.strerror}") from error
    if b"\0" in content:
        raise UnusableProperties(
            f"{path}: not a properties file: it has NUL bytes (save it as UTF-8 or ASCII)"
        )
    if path.suffix.lower() in _YAML or _LOOKS_LIKE_YAML.search(content):
        for each in _read_yaml(path, content):
            yield f"{path}: {each.where}".removesuffix(": "), each
    else:
        yield str(path), Settings("", _read_properties(path, content), is_part=False)


def _read_yaml(path: Path, content: bytes) -> list[Settings]:
    from client_telemetry.compatibility import settings_in_yaml  # of an extra, which properties do not need

    try:
        found = settings_in_yaml.read(content.decode("utf-8-sig"))
    except (settings_in_yaml.UnreadableYaml, UnicodeDecodeError) as error:
        raise UnusableProperties(f"{path}: {error}") from error
    if not found:
        raise UnusableProperties(
            f"{path}: has no settings of a Kafka broker: specify YAML with KAFKA_… variables of a broker's container, keys such as "
            "log.dirs, or the text of a server.properties"
        )
    return found


def _read_properties(path: Path, content: bytes) -> list[java_properties.Setting]:
    """Kafka reads it as Latin-1. A byte order mark, which Kafka takes for a part of the first key, is passed over with a warning."""
    for sign, what in _NO_FILES_OF_SETTINGS.items():
        if sign in content:
            raise UnusableProperties(f"{path}: is {what}, with defaults among what is set: {_SPECIFY}")
    if content.startswith(codecs.BOM_UTF8):
        print(
            f"{path}: begins with a byte order mark, which Kafka takes for a part of the first key",
            file=sys.stderr,
        )
        content = content.removeprefix(codecs.BOM_UTF8)
    try:
        settings = java_properties.parse(content.decode("latin-1"))
    except UnreadableProperties as error:
        raise UnusableProperties(f"{path} {error}") from error
    if not settings:
        raise UnusableProperties(f"{path}: sets nothing: {_SPECIFY}")
    settings = configuration_changes.of_environment(settings)
    if not configuration_changes.has_broker_keys(settings):
        raise UnusableProperties(
            f"{path}: sets no key of a Kafka broker, or only such as clients have too: {_SPECIFY}, or a file with a line KAFKA_…=value for each variable of its container "
            "(ENV of a Dockerfile, Environment= of systemd and docker run -e are not read)"
        )
    return settings


def _print_text(
    pair: tuple[str, str], changes: Mapping[str, Changes], own: Mapping[str, OwnSettings], list_all: bool
) -> None:
    for name, settings in own.items():
        print(f"{name}, from {pair[0]} to {pair[1]}:")
        for line in _lines_of_file(settings, pair) or ("  nothing that it sets changes",):
            print(line)
        print()
    for scope, of_scope in changes.items():
        print(f"{scope.capitalize()} configuration, {pair[0]} to {pair[1]}:")
        for line in _lines_of_scope(
            of_scope, list_all, with_defaults=not (own and scope == broker_configuration.BROKER)
        ):
            print(line)


def _lines_of_file(settings: OwnSettings, pair: tuple[str, str]) -> list[str]:
    """What changes for one file, most urgent first."""
    to_release = pair[1]
    lines = [f"  {each.subject}: stops the upgrade: {each.what}" for each in settings.blockers]
    if settings.is_zookeeper and PROTOCOL in {each.key for each in settings.defaults}:
        lines += _protocol(*pair, is_whole=settings.is_whole)
    if not settings.is_whole:
        why = (
            "something beside it may set more (a command, an image, an operator)"
            if settings.has_mode
            else "sets neither process.roles nor zookeeper.connect, so something else does (an operator, an image, a managed service)"
        )
        lines.append(f"  {why}: whether all that {to_release} requires is set is not known")
    lines += [
        f"  required by {to_release} and not set, so the broker does not start: {key}"
        for key in settings.missing
    ]
    lines += [
        f"  line {each.setting.line}: {each.setting.key}={each.setting.value}: refused, so the broker does not start: valid is {each.valid_range}"
        for each in settings.refused
    ]
    lines += [
        f"  line {each.setting.line}: {each.setting.key}: names the class {each.name}, which {to_release} does not have, "
        f"so the broker does not start{_instead(each.instead)}"
        for each in settings.gone_classes
    ]
    lines += [
        f"  line {each.setting.line}: {each.setting.key}: does not exist in {to_release}, which ignores it: {_lost(each)}"
        for each in settings.gone
    ]
    if settings.loses_jmx:
        lines.append(
            f"  line {settings.loses_jmx.setting.line}: {REPORTERS}: without {JMX_REPORTER}, which {pair[0]} adds and {to_release} does not: "
            "the broker loses the metrics that it exports, such as socket-server-metrics; instead: name it too"
        )
    lines += [
        f"  line {each.setting.line}: {each.setting.key}: takes effect: it exists in {to_release} and not before"
        for each in settings.takes_effect
    ]
    lines += [
        f"  line {each.setting.line}: {each.setting.key}: exists in neither release, and is ignored"
        f"{_instead(each.removed.instead if each.removed else '')}"
        for each in settings.in_neither
    ]
    lines += [f"  not set, default changes: {_changed_default(each)}" for each in settings.defaults]
    if settings.values_not_known:
        names = ", ".join(each.setting.key for each in settings.values_not_known)
        lines.append(f"  values that are elsewhere (valueFrom, a variable), not judged: {names}")
    if settings.not_judged:
        names = ", ".join(each.setting.key for each in settings.not_judged)
        lines.append(
            f"  not defined by Apache Kafka's brokers (config providers, plugins, authorizers, products), not judged: {names}"
        )
    if settings.classes_not_judged:
        names = ", ".join(f"{each.name} ({each.setting.key})" for each in settings.classes_not_judged)
        lines.append(
            f"  classes that no release of Apache Kafka is known to have (plugins, products), not judged: {names}"
        )
    return lines


def _lost(key: IgnoredKey) -> str:
    if key.removed is None:
        return "what the broker loses is not known"
    return f"the broker loses {key.removed.lost or 'nothing'}{_instead(key.removed.instead)}"


def _instead(text: str) -> str:
    return f"; instead: {text}" if text else ""


def _protocol(from_release: str, to_release: str, *, is_whole: bool) -> Iterator[str]:
    """The first step of Kafka's notes on every upgrade of brokers on ZooKeeper."""
    if not releases.is_rollback(from_release, to_release):
        line = ".".join(map(str, releases.line(from_release)))
        so = "not set, so" if is_whole else "not set here; unless something else sets it,"
        yield (
            f"  {PROTOCOL}: {so} an upgraded broker speaks as {to_release} to those that are still on {from_release}: "
            f"set it to {line} on all brokers before the rolling upgrade, and raise it when all are upgraded"
        )


def _lines_of_scope(changes: Changes, list_all: bool, *, with_defaults: bool) -> Iterator[str]:
    """`with_defaults`: a file's part has them already."""
    yield f"  gone: {', '.join(key for key, _ in changes.gone) or 'none'}"
    if with_defaults:
        for each in changes.defaults:
            yield f"  default changes: {_changed_default(each)}"
    for each in changes.ranges:
        yield f"  valid range changes: {each.key} {each.before.valid_range or 'not a range'} -> {each.after.valid_range or 'not a range'}"
    names = ": " + ", ".join(key for key, _ in changes.new) if list_all and changes.new else ""
    yield f"  new: {counted(len(changes.new), 'key')}{names}{'' if list_all or not changes.new else ' (--all lists them)'}"


def _changed_default(each: ChangedKey) -> str:
    return f"{each.key} {each.before.default or _EMPTY} -> {each.after.default or _EMPTY}"


def _rows(changes: Mapping[str, Changes], own: Mapping[str, OwnSettings], list_all: bool) -> Iterator[Row]:
    for scope, of_scope in changes.items():
        for key, definition in of_scope.gone:
            yield "", "", scope, key, "gone", definition.default, ""
        for each in of_scope.defaults:
            yield "", "", scope, each.key, "default", each.before.default, each.after.default
        for each in of_scope.ranges:
            yield "", "", scope, each.key, "valid_range", each.before.valid_range, each.after.valid_range
        for key, definition in of_scope.new if list_all else ():
            yield "", "", scope, key, "new", "", definition.default
    for name, settings in own.items():
        yield from _rows_of_file(name, settings)


def _rows_of_file(name: str, settings: OwnSettings) -> Iterator[Row]:
    def row(change: str, key: str, before: str = "", after: str = "", line: int | None = None) -> Row:
        return name, str(line or ""), broker_configuration.BROKER, key, change, before, after

    for blocker in settings.blockers:
        yield row("set_blocker", blocker.subject, after=blocker.what)
    for key in settings.missing:
        yield row("set_missing", key)
    for changed in settings.defaults:
        yield row("unset_default", changed.key, changed.before.default, changed.after.default)
    for change, (line, key, value), before, after in _changes_of_settings(settings):
        yield row(change, key, value if before is None else before, after, line)


def _changes_of_settings(settings: OwnSettings) -> Iterator[tuple[str, Setting, str | None, str]]:
    """Change, setting, `before` (None: the value of the setting) and `after` of each setting that is judged, or is not."""
    for refused in settings.refused:
        yield "set_refused", refused.setting, None, refused.valid_range
    for named in settings.gone_classes:
        yield "set_class_gone", named.setting, named.name, named.instead
    for change, ignored in (("set_gone", settings.gone), ("set_in_neither", settings.in_neither)):
        for each in ignored:
            lost, instead = (each.removed.lost, each.removed.instead) if each.removed else (_NOT_KNOWN, "")
            yield change, each.setting, lost, instead
    if settings.loses_jmx:
        yield "set_loses_jmx", settings.loses_jmx.setting, None, JMX_REPORTER
    for found in settings.takes_effect:
        yield "set_takes_effect", found.setting, "", ""
    for named in settings.classes_not_judged:
        yield "set_class_not_judged", named.setting, named.name, ""
    for found in settings.values_not_known:
        yield "set_value_not_known", found.setting, "", ""
    for found in settings.not_judged:
        yield "set_not_judged", found.setting, "", ""
