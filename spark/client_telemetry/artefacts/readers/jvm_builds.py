"""Builds of the JVM beside Maven, Gradle and sbt: Nebula's and Bazel's lock files, Leiningen, Clojure's deps.edn, Ivy."""

import re
from collections import defaultdict
from collections.abc import Iterator

from client_telemetry.artefacts.packages import Package, declared, only_version
from client_telemetry.artefacts.readers import purposes
from client_telemetry.artefacts.readers.json_text import Lines, mapping, objects, parse_object, text_of
from client_telemetry.artefacts.readers.lines import numbered
from client_telemetry.artefacts.readers.xml_text import parse

_COORDINATES = re.compile(r"([\w.-]+):([\w.-]+)(?::(?:jar|aar|bundle)(?::[\w.-]+)?)?(?::(\d[\w.+-]*))?")
_LEIN = re.compile(r'(?<!#_)\[([\w.-]+(?:/[\w.-]+)?)\s+"([^"]+)"')
_DEPS = re.compile(r'([\w.-]+/[\w.-]+)\s+\{[^{}]*:mvn/version\s+"([^"]+)"')
_EXACT = re.compile(r"(\d[\w.-]*)")


def read_nebula(text: str) -> Iterator[Package]:
    """dependencies.lock: `"group:artifact": {"locked": version}` of each configuration, in older files without configurations."""
    content, lines = parse_object(text), Lines(text)
    configurations: dict[tuple[str, str], list[str]] = defaultdict(list)
    for configuration, entries in (("", content), *content.items()):
        for key, entry in mapping(entries).items():
            version = text_of(mapping(entry).get("locked"))
            if _COORDINATES.fullmatch(key) and version:
                configurations[key, version].append(configuration)
    for (key, version), names in configurations.items():
        group, _, artifact = key.partition(":")
        development, doubt = purposes.of_configurations(names)
        line = lines.of(f'"{key}"')
        yield Package("maven", f"{group}/{artifact}", version, line, development=development, doubt=doubt)


def read_maven_install(text: str) -> Iterator[Package]:
    """maven_install.json of rules_jvm_external: `artifacts` with a version; before version 2 a list of coordinates."""
    content, lines = parse_object(text), Lines(text)
    for key, entry in mapping(content.get("artifacts")).items():
        match, version = _COORDINATES.fullmatch(key), text_of(mapping(entry).get("version"))
        if match and version:
            yield Package("maven", f"{match[1]}/{match[2]}", version, lines.of(f'"{key}"'))
    for entry in objects(mapping(content.get("dependency_tree")).get("dependencies")):
        coordinates = text_of(entry.get("coord")) or ""
        if (match := _COORDINATES.fullmatch(coordinates)) and match[3]:
            yield Package("maven", f"{match[1]}/{match[2]}", match[3], lines.of(f'"{coordinates}"'))


def read_clojure(text: str) -> Iterator[Package]:
    """project.clj and deps.edn: literals; a name without a group is its own group."""
    for number, line in numbered(text):
        code = line.partition(";")[0]
        for match in (*_LEIN.finditer(code), *_DEPS.finditer(code)):
            name = match[1] if "/" in match[1] else f"{match[1]}/{match[1]}"
            yield _written(name, match[2], number)


def read_ivy(text: str) -> Iterator[Package]:
    """ivy.xml: `rev` of each dependency; a range or `latest.release` is no version."""
    for element in parse(text, "ivy-module").everywhere("dependency"):
        name = f"{element.attributes.get('org', '')}/{element.attributes.get('name', '')}"
        # `test->default;runtime->…`: the configurations of this project before the arrows.
        own = [
            part.partition("->")[0].strip()
            for part in re.split(r"[;,]", element.attributes.get("conf", ""))
            if part
        ]
        yield _written(name, element.attributes.get("rev", ""), element.line, purposes.of_groups(own))


def _written(name: str, version: str, line: int, development: str = "") -> Package:
    return declared("maven", name, only_version(_EXACT, version), version, line, development)
