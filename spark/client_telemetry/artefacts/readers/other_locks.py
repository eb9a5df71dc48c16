"""Lock files of Rust, Ruby, PHP, Elixir, Erlang, C++, Swift, Haskell and Perl, and the manifests beside them."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from client_telemetry.artefacts.packages import (
    Package,
    ReadOther,
    Unreadable,
    declared,
    locked_to,
    only_version,
)
from client_telemetry.artefacts.readers import purposes, toml_text
from client_telemetry.artefacts.readers.json_text import (
    Lines,
    elements,
    mapping,
    objects,
    parse_object,
    text_of,
)
from client_telemetry.artefacts.readers.lines import matches, numbered

_GEM_LOCKED = re.compile(r"^    ([\w.-]+) \((\d[\w.]*)(?:-[\w.-]+)?\)$")
_GEM = re.compile(r"""^\s*gem\s*\(?\s*["']([\w.-]+)["']\s*(?:,\s*["']([^"']+)["'])?""")
_GEMSPEC = re.compile(
    r"""\.add_(?:runtime_|development_)?dependency\s*\(?\s*["']([\w.-]+)["']\s*(?:,\s*["']([^"']+)["'])?"""
)
_HACKAGE = re.compile(r"(?:any\.|^\s*-\s+)([A-Za-z][\w-]*?)(?:\s*==\s*|-)(\d+(?:\.\d+)+)")
_CPAN = re.compile(r"^  ([A-Z][\w-]*)-v?(\d[\w.]*)$")
_MIX_LOCKED = re.compile(r"""^(?:%\{)?\s*"?([\w]+)"?:\s*\{:hex,\s*:"?(\w+)"?,\s*"([^"]+)\"""")
_MIX_REPOSITORY = re.compile(r"""^(?:%\{)?\s*"?([\w]+)"?:\s*\{:git,\s*"([^"]+)\"""")
_MIX = re.compile(r"""\{:(\w+),\s*"([^"]+)\"""")
_MIX_EXACT = re.compile(r"(?:==\s*)?(\d+\.\d+\.\d+\S*)")
_REBAR_LOCKED = re.compile(r"""\{\s*<<"(\w+)">>\s*,\s*\{pkg,\s*<<"(\w+)">>\s*,\s*<<"([^"]+)">>""")
_REBAR = re.compile(r"""\{\s*(\w+)\s*,\s*"([^"]+)"\s*\}""")
_REBAR_EXACT = re.compile(r"(\d+\.\d+\.\d+\S*)")
_CONAN = re.compile(r"(?:^|[\s\"'=])(librdkafka|cppkafka|modern-cpp-kafka)/(\d[\w.]*|[\[{][^\"']*|cci\.\w+)")
_CARGO_DEVELOPMENT = "dev-dependencies"
_GEM_NEEDED = re.compile(r"^      ([\w.-]+)")
_GEM_GROUP = re.compile(r"^\s*group\b(.*?)\bdo\b")
_GEM_GROUPS = re.compile(r"""\bgroups?(?::|\s*=>)\s*(\[[^\]]*\]|%i\[[^\]]*\]|:\w+)""")
_BLOCK = re.compile(
    r"^\s*(?:source|platforms?|path|git|group|install_if|if|unless|case)\b|\bdo\b(?:\s*\|[^|]*\|)?\s*$"
)
_WORD = re.compile(r"\w+")
_MIX_ONLY = re.compile(r"only:\s*(\[[^\]]*\]|:\w+)")
_EXACT = re.compile(r"=?\s*v?(\d+\.\d+\.\d+[\w.+-]*)")


def _by_manifest(
    locked: Iterable[Package],
    read_manifest: Callable[[str], Iterable[Package]],
    manifest: str | None,
    needed: set[str],
) -> Iterator[Package]:
    """`needed`: packages that others in the lock file need."""
    try:
        declared = list(read_manifest(manifest or ""))
    except Unreadable:
        declared = []
    development = {package.name: package.development for package in declared if package.development}
    application = {package.name for package in declared if not package.development}
    yield from purposes.by_manifest(list(locked), development, application, needed.__contains__)


def read_cargo_lock(text: str, read_other: ReadOther) -> Iterator[Package]:
    """What is for development only is known by the Cargo.toml beside it, unless that is of a workspace of several."""
    manifest = read_other("Cargo.toml") or ""
    entries = objects(toml_text.parse(text).get("package"))
    # Without a source, it is the project itself.
    needed = {
        str(each).partition(" ")[0]
        for entry in entries
        if entry.get("source")
        for each in elements(entry.get("dependencies"))
    }
    is_alone = sum("source" not in entry for entry in entries) == 1
    yield from _by_manifest(_cargo_locked(text), read_cargo, manifest if is_alone else None, needed)


def _cargo_locked(text: str) -> Iterator[Package]:
    content, lines = toml_text.parse(text), Lines(text)
    for entry in objects(content.get("package")):
        name, version = text_of(entry.get("name")), text_of(entry.get("version"))
        if name and version:
            source, line = text_of(entry.get("source")) or "", lines.of(f'name = "{name}"')
            why = locked_to(source) if source.startswith("git+") else ""
            yield Package("cargo", name, None if why else version, line, why)


def read_cargo(text: str) -> Iterator[Package]:
    """Cargo.toml: requirements, which Cargo.lock resolves; only `=1.2.3` is one version."""
    content, lines = toml_text.parse(text), Lines(text)
    parts = [
        content,
        mapping(content.get("workspace")),
        *map(mapping, mapping(content.get("target")).values()),
    ]
    groups = ("dependencies", "build-dependencies", _CARGO_DEVELOPMENT)
    for group, table in [(group, mapping(part.get(group))) for group in groups for part in parts]:
        for alias, entry in table.items():
            name = text_of(mapping(entry).get("package")) or alias
            wanted = text_of(entry) or text_of(mapping(entry).get("version"))
            exact = wanted.lstrip("= ") if wanted and wanted.startswith("=") else None
            line = lines.of(f"\n{alias} =", f"\n{alias}=", f"dependencies.{alias}]")
            development = f"[{group}]" if group == _CARGO_DEVELOPMENT else ""
            yield declared("cargo", name, exact, wanted, line + 1 if line else None, development)


def read_gemfile_lock(text: str, read_other: ReadOther) -> Iterator[Package]:
    """What is for development only is known by the Gemfile beside it."""
    manifest = read_other("Gemfile") or read_other("gems.rb")
    needed = {match[1] for line in text.splitlines() if (match := _GEM_NEEDED.match(line))}
    yield from _by_manifest(_gems_locked(text), read_gemfile, manifest, needed)


def _gems_locked(text: str) -> Iterator[Package]:
    part, remote = "", ""
    for number, line in numbered(text):
        if line and not line[0].isspace():
            part = line
        elif line.startswith("  remote: "):
            remote = line.removeprefix("  remote: ")
        elif match := _GEM_LOCKED.match(line):
            why = locked_to(remote) if part == "GIT" else ""
            yield Package("gem", match[1], None if why else match[2], number, why)


def read_gemfile(text: str) -> Iterator[Package]:
    """Gemfile: a program, of which literals are read, and the blocks of groups that they stand in."""
    blocks: list[list[str]] = []
    for number, line in numbered(text):
        code = line.partition("#")[0]
        if match := _GEM.match(line):
            own = _GEM_GROUPS.search(code)
            groups = _WORD.findall(own[1].removeprefix("%i")) if own else chain.from_iterable(blocks)
            exact, development = only_version(_EXACT, match[2]), purposes.of_groups(groups)
            yield declared("gem", match[1], exact, match[2], number, development)
        elif match := _GEM_GROUP.match(code):
            blocks.append(_WORD.findall(match[1]))
        elif _BLOCK.search(code):
            blocks.append([])
        elif re.match(r"\s*end\b", code) and blocks:
            blocks.pop()


def read_gemspec(text: str) -> Iterator[Package]:
    """*.gemspec: a program, of which literals are read: ranges nearly always."""
    for number, line in numbered(text):
        if match := _GEMSPEC.search(line.partition("#")[0]):
            development = "development dependency" if "add_development_dependency" in match[0] else ""
            yield declared("gem", match[1], None, match[2], number, development)


def read_composer_lock(text: str) -> Iterator[Package]:
    content, lines = parse_object(text), Lines(text)
    for group in ("packages", "packages-dev"):
        for entry in objects(content.get(group)):
            name, version = text_of(entry.get("name")), text_of(entry.get("version"))
            if not name:
                continue
            line = lines.of(f'"name": "{name}"', '"name": "{}"'.format(name.replace("/", "\\/")))
            exact = only_version(_EXACT, version)
            why = "" if exact else f"locked to {version}"
            development = f'"{group}"' if group == "packages-dev" else ""
            yield Package("composer", name.lower(), exact, line, why, development=development)
    for name in mapping(content.get("platform")):
        if name.startswith("ext-"):
            line = lines.of(f'"{name}"')
            yield Package("composer", name, None, line, "an extension of the system's PHP")


def read_composer(text: str) -> Iterator[Package]:
    content, lines = parse_object(text), Lines(text)
    for group in ("require", "require-dev"):
        for name, wanted in mapping(content.get(group)).items():
            exact = only_version(_EXACT, wanted if isinstance(wanted, str) else None)
            line = lines.of(f'"{name}"', '"{}"'.format(name.replace("/", "\\/")))
            is_development = group == "require-dev" and name not in mapping(content.get("require"))
            development = f'"{group}"' if is_development else ""
            yield declared("composer", name.lower(), exact, wanted, line, development)


def read_mix_lock(text: str, read_other: ReadOther) -> Iterator[Package]:
    """What is for development only is known by the mix.exs beside it."""
    needed = {name for line in text.splitlines() for name in re.findall(r"\{:(\w+), \"", line)}
    yield from _by_manifest(_mix_locked(text), read_mix, read_other("mix.exs"), needed)


def _mix_locked(text: str) -> Iterator[Package]:
    for number, line in numbered(text):
        if match := _MIX_LOCKED.match(line):
            yield Package("hex", match[2], match[3], number)
        elif match := _MIX_REPOSITORY.match(line):
            yield Package("hex", match[1], None, number, locked_to(match[2]))


def read_mix(text: str) -> Iterator[Package]:
    for number, line in numbered(text):
        for match in _MIX.finditer(line.partition("#")[0]):
            only = _MIX_ONLY.search(line, match.end())
            development = purposes.of_groups(_WORD.findall(only[1]) if only else [])
            exact = only_version(_MIX_EXACT, match[2])
            yield declared("hex", match[1], exact, match[2], number, development)


def read_rebar_lock(text: str) -> Iterator[Package]:
    for number, match in matches(_REBAR_LOCKED, text):
        yield Package("hex", match[2], match[3], number)


def read_rebar(text: str) -> Iterator[Package]:
    for number, match in matches(_REBAR, text, "%"):
        yield declared("hex", match[1], only_version(_REBAR_EXACT, match[2]), match[2], number)


def read_conan(text: str) -> Iterator[Package]:
    """conanfile.txt, conanfile.py and conan.lock: references `librdkafka/2.3.0`, or with a range or a variable."""
    for number, match in matches(_CONAN, text, " #"):
        exact = match[2] if match[2][0].isdigit() else None
        yield declared("conan", match[1], exact, match[2], number, declared_only=False)


def read_vcpkg(text: str) -> Iterator[Package]:
    """vcpkg.json: `overrides` are versions; otherwise the baseline, a commit of the registry, decides."""
    content, lines = parse_object(text), Lines(text)
    versions = {}
    for entry in objects(content.get("overrides")):
        written = (text_of(entry.get(key)) for key in ("version", "version-semver", "version-string"))
        versions[str(entry.get("name"))] = next(filter(None, written), None)
    for entry in elements(content.get("dependencies")):
        name = entry if isinstance(entry, str) else text_of(mapping(entry).get("name"))
        if name:
            version = (versions.get(name) or "").partition("#")[0] or None
            line, otherwise = lines.of(f'"{name}"'), "the registry's baseline decides"
            yield declared("vcpkg", name, version, otherwise, line, declared_only=False)


def read_swift(text: str) -> Iterator[Package]:
    """Package.resolved: `pins`, in version 1 of the file below `object`; named by where the repository is."""
    content, lines = parse_object(text), Lines(text)
    for entry in objects(content.get("pins")) + objects(mapping(content.get("object")).get("pins")):
        location = text_of(entry.get("location")) or text_of(entry.get("repositoryURL")) or ""
        name = re.sub(r"^(?:https?://|git@)", "", location).replace(":", "/").removesuffix(".git").lower()
        version = text_of(mapping(entry.get("state")).get("version"))
        why = "" if version else "a commit, not a release"
        yield Package("swift", name, version, lines.of(location), why)


def read_hackage(text: str) -> Iterator[Package]:
    """cabal.project.freeze (`any.NAME ==VERSION`) and `extra-deps` of stack.yaml (`- NAME-VERSION`)."""
    for number, match in matches(_HACKAGE, text):
        yield Package("hackage", match[1], match[2], number)


def read_cpan(text: str) -> Iterator[Package]:
    """cpanfile.snapshot of Carton: distributions, indented by two spaces."""
    for number, match in matches(_CPAN, text):
        yield Package("cpan", match[1], match[2], number)
