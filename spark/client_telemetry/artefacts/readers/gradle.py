"""Gradle: lock files, version catalogues, build scripts (literals only: they are programs), and sbt's build files.

Nothing is evaluated: a version that a script computes is not known.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from client_telemetry.artefacts.packages import Package, ReadOther, declared
from client_telemetry.artefacts.readers import purposes, toml_text
from client_telemetry.artefacts.readers.json_text import Lines, mapping, text_of
from client_telemetry.artefacts.readers.lines import numbered
from client_telemetry.knowledge import known_packages

_LOCKED = re.compile(r"^([\w.-]+):([\w.-]+):(\d[^=\s]*)(?:=(.*))?$")
_COORDINATES = re.compile(
    r"""["']([\w.-]+\.[\w.-]+):([\w.-]+)(?::(\$\{property\("[\w.]+"\)\}|[^"':@]+))?(?:[:@][^"']*)?["']"""
)
_GROUP_NAME = re.compile(
    r"""group\s*[:=]\s*["']([\w.-]+)["']\s*,\s*(?:name|artifact)\s*[:=]\s*["']([\w.-]+)["'](?:\s*,\s*version\s*[:=]\s*(["']?)([^"',)\s]+))?"""
)
_POSITIONAL = re.compile(
    r"""\(\s*["']([\w-]+(?:\.[\w-]+)+)["']\s*,\s*["']([\w.-]+)["']\s*,\s*["']([^"']+)["']"""
)
_SET = re.compile(
    r"""(?:^|[{;])\s*(?:(?:final\s+)?(?:def|val|var|String|ext\.|extra\[")\s*)?([\w.]+)(?:"\])?\s*(?:(?::\s*String\s*)?=|by\s+extra\()\s*["'](\d[\w.+-]*)["']"""
)
_MILL = re.compile(r"""\b(?:ivy|mvn)"([\w.-]+):{2,3}([\w.-]+):{1,2}([^"]+)\"""")
_SBT = re.compile(r""""([\w.-]+\.[\w.-]+)"\s*%{1,3}\s*"([\w.-]+)"\s*%\s*("?[\w.+-]+"?)""")
_VARIABLE = re.compile(
    r"""^\$\{?(?:rootProject\.|project\.)?(?:ext\.|libs\.versions\.)?(?:property\(")?([\w.]+?)(?:"\))?(?:\.get\(\))?\}?$"""
)
_EXACT = re.compile(r"\d[\w.-]*")
_BOOT_PLUGIN = re.compile(
    r"""\bid\s*\(?\s*["']org\.springframework\.boot["']\s*\)?\s*version\s*\(?\s*["']([^"']+)["']"""
)
_BOOT_CLASSPATH = "org.springframework.boot", "spring-boot-gradle-plugin"
_BOOT_LIST = "org.springframework.boot/spring-boot-dependencies"
_TAKES_BOOT_LIST = re.compile(r"io\.spring\.dependency-management")
_BOOT_LIST_BY_NAME = re.compile(r"\bBOM_COORDINATES\b")
_NOT_APPLIED = re.compile(r"\bapply\s*\(?\s*false\b")
_TAKES_LIST = re.compile(r"\b(?:mavenBom|platform|enforcedPlatform)\b")
_BOOT_KAFKA = re.compile(
    r"""(?:\b(?:ext|extra)\s*\[\s*["']kafka\.version["']\s*\]\s*=|["']kafka\.version["']\s*,)\s*["'](\d[\w.+-]*)["']"""
)
_CONFIGURATION = re.compile(r"""(?:add\(\s*)?["']?([a-z]\w*)\b["']?(?:\s*,?\s*[("']|\s+group\b)""")
_ONLY_COORDINATES = re.compile(r"""["'][\w.-]+:|group\b|\)|$""")
_SBT_SCOPE = re.compile(r"""%\s*"?\b((?:it,\s*)?[Tt]est|[Pp]rovided)\b[^"%]*"?\s*,?\s*\)?\s*,?$""")
_PROPERTY = re.compile(r"^[ \t]*([\w.]+)[ \t]*[=:][ \t]*(\d[\w.+-]*)[ \t]*$", re.MULTILINE)
_KAFKA_CLIENTS = "org.apache.kafka/kafka-clients"
_HIGHEST = 4
"""Folders above a script in which gradle.properties are looked for."""
_Values = dict[str, tuple[str, int | None]]
"""What a variable is set to, and on which line of the script."""


def read_lock(text: str) -> Iterator[Package]:
    """gradle.lockfile and the files of gradle/dependency-locks: one artefact a line, resolved."""
    for number, line in numbered(text):
        if match := _LOCKED.match(line.strip()):
            configurations = filter(None, (match[4] or "").split(","))
            development, doubt = purposes.of_configurations(configurations)
            name = f"{match[1]}/{match[2]}"
            yield Package("maven", name, match[3], number, development=development, doubt=doubt)


def read_catalogue(text: str) -> Iterator[Package]:
    """libs.versions.toml: libraries, whose versions may be references to `[versions]`."""
    content = toml_text.parse(text)
    versions, lines = mapping(content.get("versions")), Lines(text)
    for alias, entry in mapping(content.get("libraries")).items():
        parts = [*str(entry).split(":"), "", ""] if isinstance(entry, str) else []
        table = mapping(entry)
        group, _, artifact = (text_of(table.get("module")) or "").partition(":")
        group, artifact = group or str(table.get("group", "")), artifact or str(table.get("name", ""))
        if parts:
            group, artifact = parts[:2]
        reference = text_of(mapping(table.get("version")).get("ref")) or text_of(table.get("version.ref"))
        wanted: object = (
            versions.get(reference) if reference else table.get("version") or (parts[2] if parts else "")
        )
        version = _exact(wanted)
        if isinstance(wanted, dict):
            wanted = ", ".join(f"{key} {value}" for key, value in wanted.items())
        needles = (f"\n{reference} =", f"\n{reference}=", f'\n"{reference}"') if reference and version else ()
        line = Lines(text).of(*needles) if needles else lines.of(f"\n{alias} =", f"\n{alias}=")
        yield declared("maven", f"{group}/{artifact}", version, wanted, line + 1 if line else None)


def _exact(wanted: object) -> str | None:
    """A single version, also as `strictly` and `require` write it; a range or a `prefer` is none."""
    if isinstance(wanted, dict):
        wanted = wanted.get("strictly") or wanted.get("require")
    return wanted if isinstance(wanted, str) and _EXACT.fullmatch(wanted) else None


def read_script(text: str, read_other: ReadOther) -> Iterator[Package]:
    """build.gradle, build.gradle.kts and sbt: coordinates in quotation marks, and versions set in the same file or in the
    gradle.properties of its folder or the ones above it.
    """
    values: _Values = {}
    lines = list(numbered(text))
    for number, line in lines:
        for match in _SET.finditer(line):
            values.setdefault(match[1].rpartition(".")[2], (match[2], number))
    for name, value in _properties(read_other).items():
        values.setdefault(name, (value, None))
    read = [(number, re.sub(r"(^|\s)//.*$", "", line)) for number, line in lines]
    listed = _listed(read, values)
    for (number, code), configuration in zip(read, _configurations(read), strict=True):
        development, doubt = purposes.of_configurations([configuration] if configuration else [])
        for group, artifact, version in _named_in(code):
            if listed and not version and group == "org.apache.kafka":
                package = replace(
                    listed, name=f"{group}/{artifact}", line=listed.line or number, declared_only=True
                )
            else:
                package = _package(f"{group}/{artifact}", version, number, values)
            yield replace(package, development=development, doubt=doubt)
    if listed:
        yield replace(listed, managed=True)


def _configurations(code: Sequence[tuple[int, str]]) -> Iterator[str]:
    """The configuration that each line's dependencies are for, also where they follow on lines of their own; empty if the line names
    none.
    """
    here, goes_on = "", False
    for _, line in code:
        written = line.strip()
        if match := _SBT_SCOPE.search(written):
            yield "test" if "test" in match[1].lower() else "provided"
            continue
        if match := _CONFIGURATION.match(written):
            here = match[1]
        elif not (goes_on and _ONLY_COORDINATES.match(written)):
            here = ""
        goes_on = written.endswith(("(", ","))
        yield here


def _listed(code: Sequence[tuple[int, str]], values: _Values) -> Package | None:
    """kafka-clients as Spring Boot or another list (BOM) manages it, if all lists that are taken are known. A literal kafka.version
    changes it (docs of Spring's dependency management plugin).
    """
    lists: list[tuple[str, str | None, int]] = []
    boot, own = None, None
    is_applied = takes_boot = by_name = False
    for number, line in code:
        if match := _BOOT_PLUGIN.search(line):
            boot, is_applied = (_BOOT_LIST, _value(match[1], values), number), not _NOT_APPLIED.search(line)
        takes_boot = takes_boot or bool(_TAKES_BOOT_LIST.search(line) and not _NOT_APPLIED.search(line))
        by_name = by_name or bool(_BOOT_LIST_BY_NAME.search(line))
        own = own or (match and (match[1], number) if (match := _BOOT_KAFKA.search(line)) else None)
        for group, artifact, version in _named_in(line):
            if (group, artifact) == _BOOT_CLASSPATH:
                boot, is_applied = (_BOOT_LIST, _value(version, values), number), True
            elif _TAKES_LIST.search(line):
                lists.append((f"{group}/{artifact}", _value(version, values), number))
    if boot and (by_name or (takes_boot and is_applied)):
        lists.append(boot)
        if own:
            return Package("maven", _KAFKA_CLIENTS, own[0], own[1], editable=True)
    return _managed(lists)


def _managed(lists: Sequence[tuple[str, str | None, int]]) -> Package | None:
    """None if what one of the lists manages is not known, or several manage it."""
    known = [known_packages.managed_version("maven", name, version) for name, version, _ in lists]
    found = {
        managed: (name, version, line)
        for (name, version, line), (_, managed) in zip(lists, known, strict=True)
        if managed
    }
    if not all(is_known for is_known, _ in known) or len(found) != 1:
        return None
    ((managed, (name, version, line)),) = found.items()
    through = f"managed by {name.partition('/')[2]} {version}"
    return Package("maven", _KAFKA_CLIENTS, managed, line, through=through)


def _value(version: str | None, values: _Values) -> str | None:
    """A literal, or what a variable is set to."""
    if version and _EXACT.fullmatch(version):
        return version
    found = _variable(version, values)
    return found[0] if found else None


def _variable(version: str | None, values: _Values) -> tuple[str, int | None] | None:
    """What a variable is set to, and on which line of the script."""
    match = _VARIABLE.match(version or "")
    return values.get(match[1].rpartition(".")[2]) if match else None


def _properties(read_other: ReadOther) -> dict[str, str]:
    """The nearest counts where two have the same property."""
    values: dict[str, str] = {}
    for depth in range(_HIGHEST):
        text = read_other("../" * depth + "gradle.properties")
        for name, value in _PROPERTY.findall(text or ""):
            values.setdefault(name, value)
    return values


def _named_in(code: str) -> Iterator[tuple[str, str, str | None]]:
    for pattern in (_COORDINATES, _POSITIONAL, _MILL):
        for match in pattern.finditer(code):
            yield match[1], match[2], match[3]
    for match in _GROUP_NAME.finditer(code):
        version = match[4] if match[3] or not match[4] else f"${match[4]}"
        yield match[1], match[2], version
    for match in _SBT.finditer(code):
        version = match[3]
        yield match[1], match[2], version.strip('"') if version.startswith('"') else f"${version}"


def _package(name: str, version: str | None, line: int, values: _Values) -> Package:
    if version and _EXACT.fullmatch(version):
        return declared("maven", name, version, version, line)
    if found := _variable(version, values):
        value, number = found
        return Package("maven", name, value, number or line, editable=number is not None, declared_only=True)
    return declared("maven", name, None, version, line)
