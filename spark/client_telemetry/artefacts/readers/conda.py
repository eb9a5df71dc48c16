"""Conda: environment files, conda-lock's and pixi's lock files, and explicit lists of packages by their URLs."""

import re
from collections.abc import Iterator

from client_telemetry.artefacts.packages import Package, declared, locked
from client_telemetry.artefacts.readers import purposes
from client_telemetry.artefacts.readers.lines import numbered
from client_telemetry.artefacts.readers.python import requirement
from client_telemetry.knowledge.known_packages import normal_name

_CONDA = re.compile(
    r"^\s*-\s+[\"']?(?:[\w.-]+::)?([\w.-]+)\s*(=+|[<>!~]=?)?\s*([\w.*+!-]*)[^\"'#]*[\"']?\s*(?:#.*)?$"
)
_FILE = re.compile(r"/([A-Za-z0-9_][\w.-]*)-(\d[\w.!+]*)-[\w.]+\.(?:tar\.bz2|conda)\b")
"""name-version-build of a package's URL."""
_ENTRY = re.compile(r"^(?:- |  )(?:- )?(name|version|manager|kind|pypi|conda|category): *[\"']?([^\s\"']+)")


def read_conda(text: str) -> Iterator[Package]:
    """environment.yml: conda's packages, and those of pip below `- pip:`."""
    in_pip = None
    for number, line in numbered(text):
        indent = len(line) - len(line.lstrip())
        if re.match(r"^\s*-\s+pip:\s*$", line):
            in_pip = indent
            continue
        if in_pip is not None and line.strip() and indent <= in_pip:
            in_pip = None
        if in_pip is not None:
            entry = line.strip().removeprefix("-").strip().strip("\"'")
            if package := requirement(entry, number):
                yield package
        elif match := _CONDA.match(line):
            exact = (
                match[3] if (match[2] or "").startswith("=") and match[3] and "*" not in match[3] else None
            )
            if match[2] == "=" and exact and exact.count(".") < 2:
                exact = None  # conda's 2.0 is any 2.0.x
            wanted = (match[2] or "") + match[3]
            yield declared("conda", match[1].lower(), exact, wanted, number, declared_only=False)


def read_lock(text: str) -> Iterator[Package]:
    """conda-lock.yml (`name`, `version` and `manager` of each entry) and pixi.lock (`conda: URL`, or `pypi: URL` with `name` and
    `version`), of every platform; one package once.
    """
    entry: dict[str, str] = {}
    begun, seen = 0, set()
    for number, line in [*numbered(text), (0, "- name: end")]:
        if line.startswith("- "):
            for package in _locked(entry, begun):
                if (package.type, package.name, package.version) not in seen:
                    seen.add((package.type, package.name, package.version))
                    yield package
            entry, begun = {}, number
        if match := _ENTRY.match(line):
            entry.setdefault(match[1], match[2])


def _locked(entry: dict[str, str], line: int) -> Iterator[Package]:
    is_pypi = "pypi" in entry or entry.get("manager") == "pip" or entry.get("kind") == "pypi"
    name, version = entry.get("name"), entry.get("version")
    if match := _FILE.search(entry.get("conda", "")):
        name, version = match[1], match[2]
    if name:
        kind = "pypi" if is_pypi else "conda"
        development = purposes.of_groups([entry["category"]] if "category" in entry else [])
        yield locked(kind, normal_name(kind, name.lower()), version, line, development)


def read_explicit(text: str) -> Iterator[Package]:
    """`conda list --explicit`: a URL a line, after `@EXPLICIT`."""
    for number, line in numbered(text):
        if match := _FILE.search(line):
            yield Package("conda", match[1].lower(), match[2], number)
