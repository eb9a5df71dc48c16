"""Node.js: package-lock.json and npm-shrinkwrap.json, yarn.lock of both kinds, bun.lock, deno.lock, package.json. That of pnpm:
pnpm.py.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from client_telemetry.artefacts.packages import Package, ReadOther, Unreadable, declared
from client_telemetry.artefacts.readers import purposes
from client_telemetry.artefacts.readers.json_text import Lines, mapping, parse_object, text_of
from client_telemetry.artefacts.readers.lines import numbered

_EXACT = re.compile(r"v?\d+\.\d+\.\d+(?:[-+][\w.+-]+)?")
_YARN_KEY = re.compile(r"^\"?(@[\w.~-]+/[\w.~-]+|[\w.~-]+)@([^\"]*)")
_BUN = re.compile(r'^\s+"[^"]+":\s*\["(@[\w.~-]+/[\w.~-]+|[\w.~-]+)@(\d[\w.+-]*)"')
_DENO_KEY = re.compile(r"(@?[^@]+)@([^_]+)")
_YARN_VERSION = re.compile(r"^  version:? \"?([^\"\s]+)\"?")
_YARN_SOURCE = re.compile(r"^  (?:resolved \"|resolution: \"@?[^@\"]+@)([^\"]+)\"")
_REPOSITORY = re.compile(r"git[+:@].*|.*#commit=.*|https://codeload\.github\.com/.*")
_YARN_NEEDS = re.compile(r"^    \"?(@[\w.~-]+/[\w.~-]+|[\w.~-]+)\"?:? \S")
_BUN_GROUP = re.compile(r'^      "(\w*[dD]ependencies)": \{')
_BUN_NEEDED = re.compile(r'^        "([^"]+)": "')
_QUOTED = re.compile(r'"(@?[\w./~-]+)":')
_APPLICATION = ("dependencies", "optionalDependencies", "peerDependencies")
_DEVELOPMENT = "devDependencies"
_YARN_RESOLUTION = re.compile(r"^  resolution: \"?(@[\w.~-]+/[\w.~-]+|[\w.~-]+)@npm:")


def read_package_lock(text: str) -> Iterator[Package]:
    """Versions 1 to 3 of the file; an alias counts as the package that it stands for."""
    content, lines = parse_object(text), Lines(text)
    packages = mapping(content.get("packages"))
    for path, entry in packages.items():
        _, found, name = path.rpartition("node_modules/")
        entry = mapping(entry)
        if found and not entry.get("link"):
            version = text_of(entry.get("version"))
            line = lines.of(f'"{path}"')
            package = locked(text_of(entry.get("name")) or name, _of_release(version, entry), line)
            yield _of_development(package, entry)
    if not packages:
        yield from _dependencies(mapping(content.get("dependencies")), lines, 0)


def _dependencies(dependencies: Mapping[str, object], lines: Lines, depth: int) -> Iterator[Package]:
    for name, entry in dependencies.items():
        entry = mapping(entry)
        version = text_of(entry.get("version"))
        line = lines.of(f'"{name}": {{', f'"{name}":{{')
        if version and version.startswith("npm:"):
            name, _, version = version.removeprefix("npm:").rpartition("@")
        yield _of_development(locked(name, version, line), entry)
        if depth < 50:
            yield from _dependencies(mapping(entry.get("dependencies")), lines, depth + 1)


def _of_development(package: Package, entry: Mapping[str, object]) -> Package:
    """`dev`: only development needs it. What is `devOptional` may be an optional dependency of the application, too."""
    return replace(package, development='"dev": true') if entry.get("dev") is True else package


def _of_release(version: str | None, entry: Mapping[str, object]) -> str | None:
    """The version, or the repository that is installed instead of a release."""
    resolved = text_of(entry.get("resolved")) or ""
    return resolved if _REPOSITORY.fullmatch(resolved) else version


def locked(name: str, version: str | None, line: int | None) -> Package:
    if version and _EXACT.fullmatch(version):
        return Package("npm", name, version, line)
    return Package(
        "npm", name, None, line, f"locked to {version}" if version else "the lock file has no version"
    )


def read_yarn(text: str, read_other: ReadOther) -> Iterator[Package]:
    """Version 1, and the later ones (Berry), whose `resolution` says what an alias stands for. What is for development only is
    known by the package.json beside it, unless that has workspaces with files of their own.
    """
    needed, is_workspace = set(), False
    for line in text.splitlines():
        if line[:1] not in (" ", "#", ""):
            is_workspace = "@workspace:" in line
        elif not is_workspace and (match := _YARN_NEEDS.match(line)):
            needed.add(match[1])
    development, application = _manifest(read_other("package.json"))
    yield from purposes.by_manifest(list(_yarn(text)), development, application, needed.__contains__)


def _manifest(text: str | None) -> tuple[dict[str, str], set[str]]:
    """Names with what says that they are for development, and those of the application; none of a manifest that is not alone."""
    try:
        content = parse_object(text) if text else {}
    except Unreadable:
        content = {}
    if content.get("workspaces"):
        return {}, set()
    return _groups(content)


def _groups(content: Mapping[str, object]) -> tuple[dict[str, str], set[str]]:
    development = dict.fromkeys(mapping(content.get(_DEVELOPMENT)), f'"{_DEVELOPMENT}" of package.json')
    return development, {name for group in _APPLICATION for name in mapping(content.get(group))}


def _yarn(text: str) -> Iterator[Package]:
    name, version, began = "", "", 0
    for number, line in [*numbered(text), (0, "end")]:
        if line[:1] not in (" ", "#", ""):
            if name and version:
                yield locked(name, version, began)
            match = _YARN_KEY.match(line)
            name, version, began = (match[1] if match else ""), "", number
            if match and match[2].startswith("npm:") and "@" in match[2].removeprefix("npm:@"):
                name = match[2].removeprefix("npm:").rpartition("@")[0]
            # Workspaces of the repository itself.
            if "@workspace:" in line:
                name = ""
        elif match := _YARN_VERSION.match(line):
            version, began = match[1], number
        elif match := _YARN_RESOLUTION.match(line):
            name = match[1]
        elif (match := _YARN_SOURCE.match(line)) and _REPOSITORY.fullmatch(match[1]):
            version = match[1]


def read_package_json(text: str) -> Iterator[Package]:
    """What people write: mostly ranges, which a lock file beside it resolves."""
    content, lines = parse_object(text), Lines(text)
    _, of_application = _groups(content)
    for group in (*_APPLICATION, _DEVELOPMENT):
        for name, wanted in mapping(content.get(group)).items():
            wanted = text_of(wanted)
            if wanted and wanted.startswith("npm:"):
                name, _, wanted = wanted.removeprefix("npm:").rpartition("@")
            exact = wanted if wanted and _EXACT.fullmatch(wanted) else None
            is_development = group == _DEVELOPMENT and name not in of_application
            development = f'"{group}"' if is_development else ""
            line = lines.of(f'"{name}":', f'"{name}" :')
            yield declared("npm", name, exact, wanted, line, development)


def read_bun(text: str) -> Iterator[Package]:
    """bun.lock: JSON with commas too many; an entry of `packages` begins with what is installed, and `workspaces` say what they need
    it for.
    """
    packages = []
    groups: dict[bool, set[str]] = {True: set(), False: set()}
    here, needed = groups[False], set[str]()
    for number, line in numbered(text):
        if match := _BUN.match(line):
            packages.append(Package("npm", match[1], match[2], number))
            needed.update(_QUOTED.findall(line[match.end() :]))
        elif match := _BUN_GROUP.match(line):
            here = groups[match[1] == _DEVELOPMENT]
        elif match := _BUN_NEEDED.match(line):
            here.add(match[1])
    development = dict.fromkeys(groups[True], f'"{_DEVELOPMENT}"')
    yield from purposes.by_manifest(packages, development, groups[False], needed.__contains__)


def read_deno(text: str) -> Iterator[Package]:
    """deno.lock: keys of `npm`, since version 4 of the file at the top and before below `packages`; peers follow a `_`."""
    content, lines = parse_object(text), Lines(text)
    for key in (*mapping(content.get("npm")), *mapping(mapping(content.get("packages")).get("npm"))):
        if match := _DENO_KEY.match(key):
            yield locked(match[1], match[2], lines.of(f'"{key}"'))
