"""Go modules: go.mod, go.sum and vendor/modules.txt where they stand alone; the lock files of dep, glide and godep before them;
Bazel's build files.
"""

import re
from collections import defaultdict
from collections.abc import Iterator

from client_telemetry.artefacts.packages import Package, ReadOther, declared, only_version
from client_telemetry.artefacts.readers import toml_text
from client_telemetry.artefacts.readers.json_text import Lines, objects, parse_object, text_of
from client_telemetry.artefacts.readers.lines import matches, numbered
from client_telemetry.knowledge import known_packages
from client_telemetry.knowledge.known_packages import normal_name

_REQUIRE = re.compile(r"^\s*(?:require\s+)?\"?([\w.~/-]+\.[\w.~/-]+/[\w.~/-]+)\"?\s+(v[^\s/]+)\s*(//.*)?$")
_REPLACE = re.compile(
    r"^\s*(?:replace\s+)?\"?([\w.~/-]+)\"?(?:\s+(v\S+))?\s+=>\s+\"?([^\s\"]+)\"?(?:\s+(v\S+))?\s*(?://.*)?$"
)
_PSEUDO = re.compile(r"v\d+\.\d+\.\d+-(?:0\.|[\w.]+\.0\.)?\d{14}-[0-9a-f]{12}(?:\+incompatible)?")
_BLOCK = re.compile(r"^\s*(require|replace|exclude|retract|tool|godebug|ignore)\s*\(\s*(?://.*)?$")
_VENDORED = re.compile(r"^# ([\w.~/-]+\.[\w.~/-]+/[\w.~/-]+) (v\S+)$")
_GLIDE = re.compile(r"^(?:- name|  version): [\"']?([^\s\"']+)[\"']?$")
_DESCRIBED = re.compile(r"(v\d+\.\d+\.\d+)(?:-\d+-g[0-9a-f]+)?")
_BAZEL_CALL = re.compile(r"\b(go_repository|go_deps\.module|bazel_dep)\s*\(([^()]{0,2000})\)")
_BAZEL_ARGUMENT = re.compile(r"""\b(\w+)\s*=\s*["']([^"']*)["']""")
_BAZEL_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_BAZEL_RELEASE = re.compile(r"(\d+\.\d+\.\d+)(?:\.bcr\.\d+)?")
COMMIT = "a commit, not a release"
_HIGHEST = 4
"""Folders above a go.mod in which go.work is looked for."""


def read_mod(text: str, read_other: ReadOther = lambda path: None) -> Iterator[Package]:
    """Modules that go.mod requires, `replace` applied. Since Go 1.17 these are all that the build uses. What a go.work above it
    replaces counts only where the build uses that file, which `GOWORK` decides.
    """
    required, replaced = _written(text)
    of_workspace = _workspace(read_other)
    for module, (version, number) in required.items():
        only_for, other, other_version, other_line = replaced.get(module, ("never", "", None, 0))
        if module in of_workspace:
            why = f"go.mod has {version}, go.work {of_workspace[module]}: GOWORK decides which is built"
            yield Package("golang", normal_name("golang", module), None, number, why)
        elif module in replaced and only_for in (None, version):
            yield _replaced(module, other, other_version, other_line)
        else:
            yield _package(module, version, number)


def _workspace(read_other: ReadOther) -> dict[str, str]:
    """What the nearest go.work replaces, and by what."""
    for depth in range(1, _HIGHEST + 1):
        if text := read_other("../" * depth + "go.work"):
            _, replaced = _written(text)
            return {
                module: f"{other} {version or ''}".strip()
                for module, (_, other, version, _) in replaced.items()
            }
    return {}


_Required = dict[str, tuple[str, int]]
_Replacements = dict[str, tuple[str | None, str, str | None, int]]


def _written(text: str) -> tuple[_Required, _Replacements]:
    """Modules with version and line, and replacements: the version that they are for, by what, its version, line."""
    required: _Required = {}
    replaced: _Replacements = {}
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
    return required, replaced


def _replaced(module: str, other: str, version: str | None, line: int) -> Package:
    if version is None:
        return Package("golang", normal_name("golang", module), None, line, f"replaced by the folder {other}")
    if known_packages.find("golang", other):
        return _package(other, version, line)
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


def read_vendored(text: str) -> Iterator[Package]:
    """vendor/modules.txt: `# module version` of each module whose code is in the folder."""
    for number, match in matches(_VENDORED, text):
        yield _package(match[1], match[2], number)


def read_dep(text: str) -> Iterator[Package]:
    """Gopkg.lock of dep: `[[projects]]` with a version, or a revision alone."""
    content, lines = toml_text.parse(text), Lines(text)
    for entry in objects(content.get("projects")):
        name = text_of(entry.get("name"))
        version = text_of(entry.get("version")) or text_of(entry.get("revision")) or ""
        if name:
            line = lines.of(f'name = "{name}"')
            yield of_module(name, version, lines.of(f'= "{version}"') or line or 1)


def of_module(module: str, version: str, line: int) -> Package:
    """`version`: a tag, or a commit; empty if none is written."""
    if re.match(r"v?\d+\.\d+", version):
        return _package(module, f"v{version.removeprefix('v')}", line)
    why = f"{version} is {COMMIT}" if version else "no version is written"
    return Package("golang", normal_name("golang", module), None, line, why)


def read_glide(text: str) -> Iterator[Package]:
    """glide.lock: a name and, on the next line, a tag or a commit."""
    name = ""
    for number, line in numbered(text):
        match = _GLIDE.match(line)
        if match and line.startswith("- name"):
            name = match[1]
        elif match and name:
            yield of_module(name, match[1], number)
            name = ""


def read_godeps(text: str) -> Iterator[Package]:
    """Godeps.json: `Comment` is what `git describe` says: a tag, or one with the number of commits after it."""
    lines = Lines(text)
    for entry in objects(parse_object(text).get("Deps")):
        name, comment = text_of(entry.get("ImportPath")), text_of(entry.get("Comment")) or ""
        if name:
            version = comment if _DESCRIBED.fullmatch(comment) and "-g" not in comment else ""
            yield of_module(name, version or str(entry.get("Rev", "")), lines.of(f'"{name}"') or 1)


def read_bazel(text: str) -> Iterator[Package]:
    """Bazel's build files, beside the coordinates of Maven that gradle.py reads: Go modules (`go_repository`, `go_deps.module`) and
    modules of the Bazel Central Registry. Literals only; nothing is evaluated.
    """
    text = _BAZEL_COMMENT.sub("", text)
    for call in _BAZEL_CALL.finditer(text):
        arguments = dict(_BAZEL_ARGUMENT.findall(call[2]))
        version = arguments.get("version", "")
        written = call.start() + max(call[0].find(f'"{version}"'), 0) if version else call.start()
        line = text.count("\n", 0, written) + 1
        if call[1] == "bazel_dep":
            if arguments.get("name") == "librdkafka":
                exact = only_version(_BAZEL_RELEASE, version)
                yield declared("generic", "librdkafka", exact, version, line, declared_only=False)
        elif module := arguments.get("importpath") or arguments.get("path"):
            yield of_module(module, version or arguments.get("tag") or arguments.get("commit") or "", line)
