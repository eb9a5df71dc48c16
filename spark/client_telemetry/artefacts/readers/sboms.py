"""SBOMs in JSON: CycloneDX, SPDX 2 and 3, and syft's own."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from client_telemetry.artefacts.packages import Package, Unreadable
from client_telemetry.artefacts.readers import package_urls
from client_telemetry.artefacts.readers.json_text import Lines, mapping, objects, parse_object, text_of

MARKS = (
    '"bomFormat"',
    '"spdxVersion"',
    "spdx.org/rdf/3.",
    '"anchore/syft',
    "raw.githubusercontent.com/anchore/syft",
)
"""What the beginning of a JSON file has if it is an SBOM, whatever its name."""
_DEEPEST = 50
_NO_VERSION = "the SBOM names no version"


def read(text: str) -> Iterator[Package]:
    """Packages with a package URL; others cannot be told from one another by name. Raises Unreadable."""
    content = parse_object(text)
    lines = Lines(text)
    if content.get("bomFormat") == "CycloneDX":
        found = _cyclonedx(content)
    elif "spdxVersion" in content:
        found = _spdx_2(content)
    elif "@graph" in content:
        found = _spdx_3(content)
    elif "artifacts" in content:
        found = _syft(content)
    else:
        raise Unreadable("not an SBOM: neither CycloneDX nor SPDX")
    for purl, version, where in found:
        named = package_urls.parse(purl)
        if named is None:
            continue
        version = named.version or version
        line = lines.of(f'"{purl}"', purl.replace("/", "\\/"))
        yield Package(
            named.type, named.name, version, line, "" if version else _NO_VERSION, inside=where or ""
        )


_Found = tuple[str, str | None, str | None]


def _cyclonedx(content: Mapping[str, Any]) -> Iterator[_Found]:
    yield from _components(objects(content.get("components")), 0)
    described = mapping(mapping(content.get("metadata")).get("component"))
    yield from _components([dict(described)] if described else [], 0)


def _components(components: Iterable[Mapping[str, Any]], depth: int) -> Iterator[_Found]:
    if depth > _DEEPEST:
        raise Unreadable(f"components are nested more than {_DEEPEST} deep")
    for component in components:
        if purl := text_of(component.get("purl")):
            yield purl, text_of(component.get("version")), _location(component)
        yield from _components(objects(component.get("components")), depth + 1)


def _location(component: Mapping[str, Any]) -> str | None:
    """The path of the component in an image, as syft (properties) and others (evidence) write it."""
    for entry in objects(component.get("properties")):
        name = str(entry.get("name", ""))
        if name.startswith("syft:location:") and name.endswith(":path"):
            return text_of(entry.get("value"))
    evidence = mapping(component.get("evidence"))
    return next((text_of(place.get("location")) for place in objects(evidence.get("occurrences"))), None)


def _spdx_2(content: Mapping[str, Any]) -> Iterator[_Found]:
    for package in objects(content.get("packages")):
        for reference in objects(package.get("externalRefs")):
            if reference.get("referenceType") == "purl" and (
                purl := text_of(reference.get("referenceLocator"))
            ):
                version = text_of(package.get("versionInfo"))
                yield purl, None if version == "NOASSERTION" else version, None


def _spdx_3(content: Mapping[str, Any]) -> Iterator[_Found]:
    for element in objects(content.get("@graph")):
        version = text_of(element.get("software_packageVersion"))
        if purl := text_of(element.get("software_packageUrl")):
            yield purl, version, None
            continue
        for identifier in objects(element.get("externalIdentifier")):
            if identifier.get("externalIdentifierType") in ("packageUrl", "packageURL") and (
                purl := text_of(identifier.get("identifier"))
            ):
                yield purl, version, None


def _syft(content: Mapping[str, Any]) -> Iterator[_Found]:
    for artifact in objects(content.get("artifacts")):
        if purl := text_of(artifact.get("purl")):
            place = next((text_of(entry.get("path")) for entry in objects(artifact.get("locations"))), None)
            yield purl, text_of(artifact.get("version")), place
