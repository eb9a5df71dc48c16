"""NuGet: packages.lock.json, project files (*.csproj and its kind), Directory.Packages.props, packages.config,
`project.assets.json` or `*.deps.json` of a build, and Paket's files.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from client_telemetry.artefacts.packages import NOT_LOCKED, Package, declared, locked, only_version
from client_telemetry.artefacts.readers.json_text import Lines, mapping, parse_object, text_of
from client_telemetry.artefacts.readers.lines import matches
from client_telemetry.artefacts.readers.xml_text import Element, parse

_PAKET_LOCKED = re.compile(r"^    ([\w.-]+) \((\d[\w.-]*)\)")
_PAKET = re.compile(r"^\s*nuget\s+([\w.-]+)(?:\s+(.+?))?\s*$", re.IGNORECASE)
_PAKET_EXACT = re.compile(r"(?:==?\s*)?(\d+(?:\.\d+){1,3}(?:-[\w.-]+)?)")
_TEST_SDK = "microsoft.net.test.sdk"
_TEST_PROJECT = "a project of tests: it has Microsoft.NET.Test.Sdk, or IsTestProject"
_EXACT = re.compile(r"\[?(\d+(?:\.\d+){1,3}(?:-[\w.-]+)?)\]?")


def read_lock(text: str) -> Iterator[Package]:
    content, lines = parse_object(text), Lines(text)
    seen = set()
    for packages in mapping(content.get("dependencies")).values():
        names = {name.lower() for name, entry in mapping(packages).items() if _is_direct(entry)}
        development = _TEST_PROJECT if _TEST_SDK in names else ""
        for name, entry in mapping(packages).items():
            version = text_of(mapping(entry).get("resolved"))
            if (name, version) not in seen and mapping(entry).get("type") != "Project":
                seen.add((name, version))
                yield locked("nuget", name.lower(), version, lines.of(f'"{name}": {{'), development)


def _is_direct(entry: object) -> bool:
    return mapping(entry).get("type") == "Direct"


def read_deps(text: str) -> Iterator[Package]:
    """`libraries` of *.deps.json and project.assets.json: what the build put together, `Name/1.2.3`."""
    content, lines = parse_object(text), Lines(text)
    is_test = any(key.lower().startswith(f"{_TEST_SDK}/") for key in mapping(content.get("libraries")))
    development = _TEST_PROJECT if is_test else ""
    for key, entry in mapping(content.get("libraries")).items():
        name, slash, version = key.partition("/")
        if slash and mapping(entry).get("type") == "package":
            line = lines.of(f'"{key}"')
            yield Package("nuget", name.lower(), version or None, line, development=development)


def read_project(text: str) -> Iterator[Package]:
    """*.csproj, *.fsproj, *.vbproj and Directory.Packages.props. A version without brackets is a minimum, and NuGet takes
    the lowest version that satisfies all: the written one, unless another package needs a higher one.
    """
    root = parse(text, "Project")
    development = _TEST_PROJECT if _is_test_project(root) else ""
    properties = {element.name: element for group in root.all("PropertyGroup") for element in group.children}
    for kind in ("PackageReference", "PackageVersion", "GlobalPackageReference"):
        for element in root.everywhere(kind):
            name = element.attributes.get("Include") or element.attributes.get("Update") or ""
            package = replace(_package(name, element, properties), development=development)
            yield package if kind == "PackageReference" else replace(package, declared_only=False)


def _is_test_project(root: Element) -> bool:
    """By the SDK that runs tests, without which `dotnet test` finds none, or the property that it sets."""
    if any(element.text.strip().lower() == "true" for element in root.everywhere("IsTestProject")):
        return True
    references = root.everywhere("PackageReference")
    return any(element.attributes.get("Include", "").lower() == _TEST_SDK for element in references)


def _package(name: str, element: Element, properties: dict[str, Element]) -> Package:
    child = element.first("Version") or element.first("VersionOverride")
    wanted = (
        element.attributes.get("VersionOverride")
        or element.attributes.get("Version")
        or (child.text.strip() if child else "")
    )
    line = (child.text_line or child.line) if child else element.line
    if match := re.fullmatch(r"\$\((\w+)\)", wanted):
        value = properties.get(match[1])
        wanted = value.text.strip() if value else wanted
        line = (value.text_line or value.line) if value else line
    return declared("nuget", name.lower(), only_version(_EXACT, wanted), wanted, line)


def read_packages_config(text: str) -> Iterator[Package]:
    for element in parse(text, "packages").all("package"):
        name, version = element.attributes.get("id", ""), element.attributes.get("version")
        is_development = element.attributes.get("developmentDependency", "").lower() == "true"
        development = "developmentDependency" if is_development else ""
        why = "" if version else NOT_LOCKED
        yield Package(
            "nuget", name.lower(), version, element.line, why, editable=True, development=development
        )


def read_paket_lock(text: str) -> Iterator[Package]:
    """paket.lock: what is installed is indented by four spaces, what it needs by six."""
    for number, match in matches(_PAKET_LOCKED, text):
        yield Package("nuget", match[1].lower(), match[2], number)


def read_paket(text: str) -> Iterator[Package]:
    """paket.dependencies: `nuget NAME 1.2.3` (also `= 1.2.3`, `== 1.2.3`) is one version, anything else is not."""
    for number, match in matches(_PAKET, text):
        yield declared("nuget", match[1].lower(), only_version(_PAKET_EXACT, match[2]), match[2], number)
