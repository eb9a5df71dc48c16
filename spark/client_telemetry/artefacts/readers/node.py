"""Node.js: package-lock.json and npm-shrinkwrap.json, pnpm-lock.yaml, yarn.lock of both kinds, bun.lock, deno.lock, package.json."""

import re
from collections.abc import Iterator, Mapping

from client_telemetry.artefacts.packages import Package, declared
from client_telemetry.artefacts.readers.json_text import Lines, mapping, parse_object, text_of
from client_telemetry.artefacts.readers.lines import numbered

_EXACT = re.compile(r"v?\d+\.\d+\.\d+(?:[-+][\w.+-]+)?")
_PNPM_KEY = re.compile(r"^  '?/?(@[\w.~-]+/[\w.~-]+|[\w.~-]+)[@/](\d[\w.+-]*)(?:[(_][^']*)?'?:\s*(?:\{.*)?$")
_PNPM_REPOSITORY = re.compile(
    r"^  '?(@[\w.~-]+/[\w.~-]+|[\w.~-]+)@((?:https?|git)[^'()\s]+)(?:\([^']*)?'?:\s*(?:\{.*)?$"
)
_YARN_KEY = re.compile(r"^\"?(@[\w.~-]+/[\w.~-]+|[\w.~-]+)@([^\"]*)")
_BUN = re.compile(r'^\s+"[^"]+":\s*\["(@[\w.~-]+/[\w.~-]+|[\w.~-]+)@(\d[\w.+-]*)"')
_DENO_KEY = re.compile(r"(@?[^@]+)@([^_]+)")
_YARN_VERSION = re.compile(r"^  version:? \"?([^\"\s]+)\"?")
_YARN_SOURCE = re.compile(r"^  (?:resolved \"|resolution: \"@?[^@\"]+@)([^\"]+)\"")
_REPOSITORY = re.compile(r"git[+:@].*|.*#commit=.*|https://codeload\.github\.com/.*")
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
            yield _locked(text_of(entry.get("name")) or name, _of_release(version, entry), line)
    if not packages:
        yield from _dependencies(mapping(content.get("dependencies")), lines, 0)


def _dependencies(dependencies: Mapping[str, object], lines: Lines, depth: int) -> Iterator[Package]:
    for name, entry in dependencies.items():
        entry = mapping(entry)
        version = text_of(entry.get("version"))
        line = lines.of(f'"{name}": {{', f'"{name}":{{')
        if version and version.startswith("npm:"):
            name, _, version = version.removeprefix("npm:").rpartition("@")
        yield _locked(name, version, line)
        if depth < 50:
            yield from _dependencies(mapping(entry.get("dependencies")), lines, depth + 1)


def _of_release(version: str | None, entry: Mapping[str, object]) -> str | None:
    """The version, or the repository that is installed instead of a release."""
    resolved = text_of(entry.get("resolved")) or ""
    return resolved if _REPOSITORY.fullmatch(resolved) else version


def _locked(name: str, version: str | None, line: int | None) -> Package:
    if version and _EXACT.fullmatch(version):
        return Package("npm", name, version, line)
    return Package(
        "npm", name, None, line, f"locked to {version}" if version else "the lock file has no version"
    )


def read_pnpm(text: str) -> Iterator[Package]:
    """Keys of `packages:` (and `snapshots:`, which repeat them), in the spelling of every version of the file."""
    seen, part = set(), ""
    for number, line in numbered(text):
        if line and not line.startswith((" ", "#")):
            part = line.partition(":")[0]
            continue
        match = _PNPM_KEY.match(line) if part in ("packages", "snapshots") else None
        if match and match.groups() not in seen:
            seen.add(match.groups())
            yield Package("npm", match[1], match[2], number)
        elif part == "packages" and (match := _PNPM_REPOSITORY.match(line)):
            yield _locked(match[1], match[2], number)


def read_yarn(text: str) -> Iterator[Package]:
    """Version 1, and the later ones (Berry), whose `resolution` says what an alias stands for."""
    name, version, began = "", "", 0
    for number, line in [*numbered(text), (0, "end")]:
        if line[:1] not in (" ", "#", ""):
            if name and version:
                yield _locked(name, version, began)
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
    for group in ("dependencies", "optionalDependencies", "peerDependencies", "devDependencies"):
        for name, wanted in mapping(content.get(group)).items():
            wanted = text_of(wanted)
            if wanted and wanted.startswith("npm:"):
                name, _, wanted = wanted.removeprefix("npm:").rpartition("@")
            exact = wanted if wanted and _EXACT.fullmatch(wanted) else None
            yield declared("npm", name, exact, wanted, lines.of(f'"{name}":', f'"{name}" :'))


def read_bun(text: str) -> Iterator[Package]:
    """bun.lock: JSON with commas too many; an entry of `packages` begins with what is installed."""
    for number, line in numbered(text):
        if match := _BUN.match(line):
            yield Package("npm", match[1], match[2], number)


def read_deno(text: str) -> Iterator[Package]:
    """deno.lock: keys of `npm`, since version 4 of the file at the top and before below `packages`; peers follow a `_`."""
    content, lines = parse_object(text), Lines(text)
    for key in (*mapping(content.get("npm")), *mapping(mapping(content.get("packages")).get("npm"))):
        if match := _DENO_KEY.match(key):
            yield _locked(match[1], match[2], lines.of(f'"{key}"'))
