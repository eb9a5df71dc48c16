"""Builds of the JVM beside Maven, Gradle and sbt: Nebula's and Bazel's lock files, Leiningen, Clojure's deps.edn, Ivy."""

import re
from collections.abc import Iterator

from client_telemetry.artefacts.packages import Package, declared
from client_telemetry.artefacts.readers.json_text import Lines, mapping, objects, parse_object, text_of
from client_telemetry.artefacts.readers.lines import numbered
from client_telemetry.artefacts.readers.xml_text import parse

_COORDINATES = re.compile(r"([\w.-]+):([\w.-]+)(?::(?:jar|aar|bundle)(?::[\w.-]+)?)?(?::(\d[\w.+-]*))?")
_LEIN = re.compile(r'(?<!#_)\[([\w.-]+(?:/[\w.-]+)?)\s+"([^"]+)"')
_DEPS = re.compile(r'([\w.-]+/[\w.-]+)\s+\{[^{}]*:mvn/version\s+"([^"]+)"')
_EXACT = re.compile(r"\d[\w.-]*")


def read_nebula(text: str) -> Iterator[Package]:
    """dependencies.lock: `"group:artifact": {"locked": version}` of each configuration, in older files without configurations."""
    content, lines = parse_object(text), Lines(text)
    seen: set[tuple[str, str | None]] = set()
    for entries in (content, *(mapping(value) for value in content.values())):
        for key, entry in entries.items():
            match = _COORDINATES.fullmatch(key)
            version = text_of(mapping(entry).get("locked"))
            if match and version and (key, version) not in seen:
                seen.add((key, version))
                yield Package("maven", f"{match[1]}/{match[2]}", version, lines.of(f'"{key}"'))


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
        yield _written(name, element.attributes.get("rev", ""), element.line)


def _written(name: str, version: str, line: int) -> Package:
    return declared("maven", name, version if _EXACT.fullmatch(version) else None, version, line)
