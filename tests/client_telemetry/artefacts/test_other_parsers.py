"""What scan reads in files, against plain parsers of their formats, and what tools of package managers really write.

`tests/data/artefacts/by_tools` has lock files and SBOMs by the tools that its README names, of three small projects whose
packages are listed here.
"""

import csv
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from client_telemetry.artefacts import tree
from client_telemetry.artefacts.scan import named_in
from client_telemetry.knowledge import known_packages
from client_telemetry.knowledge.known_packages import IS, normal_name
from packageurl import PackageURL

ARTEFACTS = Path(__file__).parents[2] / "data/artefacts"
NPM = {
    "kafkajs 1.15.0",
    "kafkajs 1.16.0",
    "kafkajs 2.2.4",
    "kafka-node 5.0.0",
    "librdkafka 2.6.1 in node-rdkafka 3.2.1",
    "librdkafka 2.10.0 in confluent-kafka-javascript 1.3.0",
}
PYTHON = {"aiokafka 0.8.1", "kafka-python 2.0.2", "librdkafka 2.16.0 in confluent-kafka-python 2.16.1"}
MARKED = {
    "aiokafka 0.8.1",
    "kafka-python 2.0.2",
    "kafka-python 3.0.12",
    "kafka-python-ng 2.2.3",
    "librdkafka 2.6.1 in confluent-kafka-python 2.6.1",
}
"""Python packages whose markers take another version for Python 3.12."""
UNDECLARED = {
    "longlang/phpkafka 1.2.5",
    "mateusjunges/laravel-kafka 2.4.0",
    "enqueue/rdkafka 0.10.19",
    "ext-rdkafka",
}
"""Packages of PHP: the library that they bring along is not in the lock file."""
WRITTEN = {
    **dict.fromkeys(("pnpm-7", "pnpm-8", "pnpm-10", "npm-8", "npm-11", "yarn-1", "yarn-4"), NPM),
    **dict.fromkeys(("npm-sbom", "cyclonedx-npm", "cdxgen"), NPM),
    "npm-6": {"kafkajs 2.2.4"},
    **dict.fromkeys(("poetry-1.8", "poetry-2.1", "pipenv", "cyclonedx-py"), PYTHON),
    **dict.fromkeys(("uv", "uv-export"), MARKED),
    "uv-compile": {
        "aiokafka 0.8.1",
        "kafka-python 2.0.2",
        "librdkafka 2.6.1 in confluent-kafka-python 2.6.1",
    },
    "syft": NPM | PYTHON,
    "pip-lock": PYTHON,
    "pdm": PYTHON | {"kafka-python-ng 2.2.3"},
    **dict.fromkeys(("bun", "deno"), NPM - {"kafkajs 1.15.0"} | {"no-kafka 3.4.3"}),
    "composer": UNDECLARED,
    "conan": {"librdkafka 2.3.0"},
    "go-mod-tidy": {"sarama 1.43.3", "kafka-go 0.4.38", "franz-go 1.16.1"},
}
TOOLS = {file.path: file for file in tree.files(ARTEFACTS / "by_tools") if not file.path.endswith(".md")}


@pytest.mark.parametrize("path", sorted(TOOLS))
def test_a_file_of_a_tool_names_what_the_tool_installs(path):
    found = named_in(TOOLS[path]) or []
    assert sorted(client.text for _, client in found) == sorted(WRITTEN[path.partition("/")[0]])


def test_every_tool_has_its_files():
    assert {path.partition("/")[0] for path in TOOLS} == set(WRITTEN)


Package = tuple[str, str, str]


def _purls(node: object) -> Iterator[Package]:
    """Of all package URLs that stand anywhere in a document."""
    if isinstance(node, dict):
        for value in node.values():
            yield from _purls(value)
    elif isinstance(node, list):
        for value in node:
            yield from _purls(value)
    elif isinstance(node, str) and re.match(r"pkg:\w+/", node):
        url = PackageURL.from_string(node)
        yield url.type, "/".join(filter(None, (url.namespace, url.name))), url.version or ""


def _npm(text: str) -> Iterator[Package]:
    document = json.loads(text)
    for path, entry in document.get("packages", {}).items():
        if "node_modules/" in path and "version" in entry:
            yield "npm", entry.get("name") or path.rpartition("node_modules/")[2], entry["version"]
    if "packages" not in document:
        for name, entry in document["dependencies"].items():
            yield "npm", name, entry["version"]


def _pnpm(text: str) -> Iterator[Package]:
    for key in yaml.safe_load(text)["packages"]:
        name, _, version = key.strip("/").partition("(")[0].rpartition("@" if "@" in key[2:] else "/")
        yield "npm", name, version


def _toml(kind: str, text: str) -> Iterator[Package]:
    document = tomllib.loads(text)
    for entry in [*document.get("package", []), *document.get("packages", [])]:
        if "version" in entry and "git" not in str(entry.get("source", "")).partition("//")[0]:
            yield kind, entry["name"], entry["version"]


def _pipenv(text: str) -> Iterator[Package]:
    document = json.loads(text)
    for name, entry in {**document["default"], **document["develop"]}.items():
        yield "pypi", name, entry["version"].removeprefix("==")


def _bun(text: str) -> Iterator[Package]:
    """JSON with commas after the last member."""
    for name_and_version, *_ in json.loads(re.sub(r",(?=\s*[}\]])", "", text))["packages"].values():
        name, _, version = name_and_version.rpartition("@")
        yield "npm", name, version


def _deno(text: str) -> Iterator[Package]:
    for key in json.loads(text)["npm"]:
        name, _, version = key.partition("_")[0].rpartition("@")
        yield "npm", name, version


def _composer(text: str) -> Iterator[Package]:
    document = json.loads(text)
    for entry in [*document["packages"], *document["packages-dev"]]:
        yield "composer", entry["name"], entry["version"].removeprefix("v")


def _conan(text: str) -> Iterator[Package]:
    for reference in json.loads(text)["requires"]:
        name, _, version = reference.partition("#")[0].partition("/")
        yield "conan", name, version


PARSERS = {
    "bun.lock": _bun,
    "deno.lock": _deno,
    "composer.lock": _composer,
    "conan.lock": _conan,
    "package-lock.json": _npm,
    "pnpm-lock.yaml": _pnpm,
    "Cargo.lock": lambda text: _toml("cargo", text),
    "Pipfile.lock": _pipenv,
    **dict.fromkeys(("poetry.lock", "uv.lock", "pylock.toml", "pdm.lock"), lambda text: _toml("pypi", text)),
}
SBOM = re.compile(r".*(?:bom|cyclonedx|spdx|cdx|syft)\.json")


def _parsed(path: str, text: str) -> set[Package] | None:
    """Kafka client libraries themselves in a file, or None where there is no other parser for its kind."""
    name = path.rpartition("/")[2]
    if SBOM.fullmatch(name):
        packages = _purls(json.loads(text))
    elif name in PARSERS:
        packages = PARSERS[name](text)
    else:
        return None
    found = set()
    for kind, package, version in packages:
        known = known_packages.find(kind, normal_name(kind, package))
        if known and known.contains == IS and known.library:
            found.add((kind, normal_name(kind, package), version))
    return found


FILES = TOOLS | {file.path: file for file in tree.files(ARTEFACTS / "public")}
PARSED = {
    path: packages for path, file in FILES.items() if (packages := _parsed(path, file.text())) is not None
}


def test_many_files_have_another_parser():
    assert len(PARSED) >= 40


@pytest.mark.parametrize("path", sorted(PARSED))
def test_another_parser_finds_the_same_libraries_and_versions(path):
    found = {
        (package.type, package.name, package.version)
        for package, client in named_in(FILES[path]) or []
        if client.itself and client.library and package.version
    }
    if not path.endswith("Cargo.lock"):
        assert found == PARSED[path]
        return
    # rdkafka and the crate of librdkafka's sources are one client.
    assert found <= PARSED[path]
    assert _libraries(found) == _libraries(PARSED[path])


def _libraries(packages: set[Package]) -> set[str]:
    return {known.library for kind, name, _ in packages if (known := known_packages.find(kind, name))}


def test_where_an_answer_points_the_package_or_its_version_stands():
    with (ARTEFACTS / "public/answers.csv").open(encoding="utf-8", newline="") as opened:
        rows = [row for row in csv.DictReader(opened) if row["line"]]
    wrong = []
    for row in rows:
        text = (ARTEFACTS / "public" / row["file"]).read_text(encoding="utf-8")
        # An element of a POM without a version begins before its name.
        line = " ".join(text.split("\n")[int(row["line"]) - 1 :][:3]).lower()
        words = re.findall(r"\d+(?:\.\d+)+|[a-z]{5,}", row["client"].lower())
        if not any(word in line for word in [*words, "kafka"]):
            wrong.append((row["file"], row["line"], row["client"], line.strip()))
    assert not wrong
