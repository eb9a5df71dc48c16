"""Go modules: go.mod, and go.sum where it stands alone."""

import re
from collections import defaultdict
from collections.abc import Iterator

from client_telemetry.artefacts.known_packages import normal_name
from client_telemetry.artefacts.packages import Package
from client_telemetry.artefacts.readers.lines import numbered

_REQUIRE = re.compile(r"^\s*(?:require\s+)?\"?([\w.~/-]+\.[\w.~/-]+/[\w.~/-]+)\"?\s+(v[^\s/]+)\s*(//.*)?$")
_REPLACE = re.compile(
    r"^\s*(?:replace\s+)?\"?([\w.~/-]+)\"?(?:\s+(v\S+))?\s+=>\s+\"?([^\s\"]+)\"?(?:\s+(v\S+))?\s*(?://.*)?$"
)
_PSEUDO = re.compile(r"v\d+\.\d+\.\d+-(?:0\.|[\w.]+\.0\.)?\d{14}-[0-9a-f]{12}(?:\+incompatible)?")
_BLOCK = re.compile(r"^\s*(require|replace|exclude|retract|tool|godebug|ignore)\s*\(\s*(?://.*)?$")
COMMIT = "a commit, not a release"


def read_mod(text: str) -> Iterator[Package]:
    """Modules that go.mod requires, `replace` applied. Since Go 1.17 these are all that the build uses."""
    required: dict[str, tuple[str, int]] = {}
    replaced: dict[str, tuple[str | None, str, str | None, int]] = {}
    block = ""
    for number, line in numbered(text):
        if opened := _BLOCK.match(line):
            block = opened[1]
        elif block and line.strip().startswith(")"):
            block = ""
        elif (block == "replace" or line.lstrip().startswith("replace")) and (match := _REPLACE.match(line)):
            replaced[match[1]] = match[2], match[3], match[4], number
        elif (block == "require" or line.lstrip().startswith("require")) and (match := _REQUIRE.match(line)):
            required[match[1]] = match[2], number
    for module, (version, number) in required.items():
        only_for, other, other_version, other_line = replaced.get(module, ("never", "", None, 0))
        if module in replaced and only_for in (None, version):
            yield _replaced(module, other, other_version, other_line)
        else:
            yield _package(module, version, number)


def _replaced(module: str, other: str, version: str | None, line: int) -> Package:
    if version is None:
        return Package("golang", normal_name("golang", module), None, line, f"replaced by the folder {other}")
    if normal_name("golang", other) == normal_name("golang", module):
        return _package(module, version, line)
    # A fork keeps the numbers of the release that it was made from, if it has releases at all.
    why = f"replaced by {other} {version}, another module"
    return Package("golang", normal_name("golang", module), None, line, why)


def _package(module: str, version: str, line: int) -> Package:
    name = normal_name("golang", module)
    if _PSEUDO.fullmatch(version):
        return Package("golang", name, None, line, f"{version} is {COMMIT}", editable=True)
    return Package("golang", name, version.removesuffix("+incompatible"), line, editable=True)


def read_sum(text: str) -> Iterator[Package]:
    """go.sum without a go.mod: modules of which the code, not just the go.mod, was fetched. It keeps old versions, so
    of two versions neither is known to be the one in use.
    """
    versions: dict[str, dict[str, int]] = defaultdict(dict)
    for number, line in numbered(text):
        words = line.split()
        if len(words) == 3 and not words[1].endswith("/go.mod"):
            versions[words[0]].setdefault(words[1], number)
    for module, lines in versions.items():
        if len(lines) == 1:
            yield _package(module, *next(iter(lines.items())))
        else:
            why = f"go.sum has {', '.join(lines)}, and no go.mod says which is used"
            yield Package("golang", normal_name("golang", module), None, next(iter(lines.values())), why)
