"""pnpm-lock.yaml, in the spelling of every version of the file, and which of its packages only development needs."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from client_telemetry.artefacts.packages import Package
from client_telemetry.artefacts.readers import purposes
from client_telemetry.artefacts.readers.lines import numbered
from client_telemetry.artefacts.readers.node import locked

_NAME = r"@[\w.~-]+/[\w.~-]+|[\w.~-]+"
_KEY = re.compile(
    rf"^  '?/?(?:[a-z][\w-]*(?:\.[\w-]+)+/)?({_NAME})[@/](\d[\w.+-]*)(?:[(_][^']*)?'?:\s*(?:\{{.*)?$"
)
_REPOSITORY = re.compile(rf"^  '?({_NAME})@((?:https?|git)[^'()\s]+)(?:\([^']*)?'?:\s*(?:\{{.*)?$")
_ENTRY = re.compile(rf"^(?P<indent> +)'?(?P<name>{_NAME})'?:(?: '?(?P<value>[^\s']+))?")
_SNAPSHOT = re.compile(r"^  '?([^\s':]+(?::[^\s':]+)*)'?:")
_DEVELOPMENT = "devDependencies"
_NEEDS = ("dependencies", "optionalDependencies", _DEVELOPMENT)


def read(text: str) -> Iterator[Package]:
    """Keys of `packages:` (and `snapshots:`, which repeat them). `dev: true` in an entry, or else (version 9) what the importers need
    by `snapshots`, says what only development has.
    """
    packages = list(_packages(text))
    reached = _reached(text)
    for package in packages:
        key = f"{package.name}@{package.version}"
        if reached and not package.development and key in reached[True] and key not in reached[False]:
            package = replace(package, development=f'"{_DEVELOPMENT}"')
        yield package


def _packages(text: str) -> Iterator[Package]:
    seen, part = set(), ""
    here: Package | None = None
    for number, line in numbered(text):
        if line and not line.startswith((" ", "#")):
            part = line.partition(":")[0]
        if here and re.fullmatch(r"    dev: true\s*", line):
            here = replace(here, development="dev: true")
        if line[:3].strip() and here:
            yield here
            here = None
        match = _KEY.match(line) if part in ("packages", "snapshots") else None
        if match and match.groups() not in seen:
            seen.add(match.groups())
            here = Package("npm", match[1], match[2], number)
        elif part == "packages" and (match := _REPOSITORY.match(line)):
            here = locked(match[1], match[2], number)
    if here:
        yield here


def _reached(text: str) -> dict[bool, set[str]]:
    """What development (True) and the application (False) need, as `name@version` without peers; empty before version 9."""
    roots: dict[bool, set[str]] = {True: set(), False: set()}
    needs: dict[str, set[str]] = defaultdict(set)
    part = group = name = key = ""
    for _, line in numbered(text):
        if line and not line.startswith((" ", "#")):
            part = line.partition(":")[0]
        elif part == "snapshots" and (match := _SNAPSHOT.match(line)):
            key = match[1]
        elif match := _ENTRY.match(line):
            depth, value = len(match["indent"]), match["value"] or ""
            if depth == 4:
                group = match["name"]
            elif depth == 6:
                name = match["name"]
                if part == "snapshots" and group in _NEEDS:
                    needs[key].add(_target(name, value))
            elif depth == 8 and part == "importers" and group in _NEEDS and match["name"] == "version":
                roots[group == _DEVELOPMENT].add(_target(name, value))
    if not needs:
        return {}
    return {
        purpose: {key.partition("(")[0] for key in purposes.all_needed(of_it, needs)}
        for purpose, of_it in roots.items()
    }


def _target(name: str, version: str) -> str:
    """What an alias stands for has its own name in the version."""
    return version if re.match(rf"(?:{_NAME})@", version) else f"{name}@{version}"
