"""What a script of one file says that it needs: Groovy's `@Grab`, `//DEPS` of JBang, and comments of Python (PEP 723). Literals only.

Groovy and JBang resolve when the script starts, so an exact version is what runs.
"""

import re
from collections.abc import Iterator
from typing import Final

from client_telemetry.artefacts.packages import Package, declared
from client_telemetry.artefacts.readers import python, toml_text
from client_telemetry.artefacts.readers.json_text import Lines, elements
from client_telemetry.artefacts.readers.lines import numbered

_BEGINS: Final = re.compile(r"^\s*(?:@Grab\b|@Grapes\b|//DEPS\s|# /// script\s*$)", re.MULTILINE)
_GRAB = re.compile(r"@Grab\s*\(([^()]{1,1000})\)")
_NAMED = re.compile(r"\b(group|module|version)\s*=\s*[\"']([^\"']*)[\"']")
_COORDINATES = re.compile(r"[\"']([\w.-]+)[:#]([\w.-]+)(?:[:;]([^\"':;@]+))?")
_DEPENDENCY = re.compile(r"([\w.-]+):([\w.-]+)(?::([^:@]+))?(?:[:@]\S*)?")
_DEFAULT = re.compile(r"\$\{[\w.-]+:([^}]+)\}")
_COMMENT = re.compile(r"^[ \t]*(?://|\*|/\*).*$", re.MULTILINE)
_EXACT = re.compile(r"\d[\w.-]*")
_BLOCK, _BLOCK_ENDS = "# /// script", "# ///"


def begins(beginning: str) -> bool:
    """Whether the first kilobytes of a source file name what it needs."""
    return bool(_BEGINS.search(beginning))


def read(text: str) -> Iterator[Package]:
    """Raises Unreadable for a block of Python that is not TOML."""
    yield from _grabbed(text)
    yield from _of_jbang(text)
    yield from _of_python(text)


def _grabbed(text: str) -> Iterator[Package]:
    """`@Grab(group=…, module=…, version=…)`, `@Grab('group:module:version')` and Ivy's `group#module;version`."""
    code = _COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    for match in _GRAB.finditer(code):
        named = dict(_NAMED.findall(match[1]))
        short = _COORDINATES.search(match[1])
        group, module, version = (
            short.groups() if short else [named.get(name) for name in ("group", "module", "version")]
        )
        if group and module:
            yield _package(f"{group}/{module}", version, code.count("\n", 0, match.start()) + 1)


def _of_jbang(text: str) -> Iterator[Package]:
    """Each line begins so, with dependencies apart by blanks or commas; `${name:default}` may be a version."""
    for number, line in numbered(text):
        if not line.startswith("//DEPS"):
            continue
        for word in re.split(r"[\s,;]+", _DEFAULT.sub(r"\1", line.removeprefix("//DEPS"))):
            if match := _DEPENDENCY.fullmatch(word):
                yield _package(f"{match[1]}/{match[2]}", match[3], number)


def _package(name: str, version: str | None, line: int) -> Package:
    exact = version if version and _EXACT.fullmatch(version) and not version.endswith(".") else None
    return declared("maven", name, exact, version, line)


def _of_python(text: str) -> Iterator[Package]:
    """Comments between `# /// script` and the last `# ///` below it that follow each other without a gap are TOML (PyPA: inline script
    metadata).
    """
    begun, block = 0, list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip()
        if begun and not (line == "#" or line.startswith("# ")):
            break
        if begun:
            block.append(line)
        elif line == _BLOCK:
            begun = number
    while block and block[-1] != _BLOCK_ENDS:
        block.pop()
    content = "\n".join(line[2:] for line in block[:-1])
    lines = Lines(content)
    for entry in elements(toml_text.parse(content).get("dependencies")):
        line_number = lines.of(entry) if isinstance(entry, str) else None
        if line_number and (package := python.requirement(entry, begun + line_number)):
            yield package
