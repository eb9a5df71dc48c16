"""SBOMs: CycloneDX, SPDX 2 and 3, and syft's own."""

import base64
import binascii
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from client_telemetry.artefacts.packages import Package, Unreadable
from client_telemetry.artefacts.readers import package_urls, purposes, sbom_texts
from client_telemetry.artefacts.readers.json_text import (
    Lines,
    elements,
    mapping,
    objects,
    parse_object,
    text_of,
)

MARKS = (
    '"bomFormat"',
    '"spdxVersion"',
    "spdx.org/rdf/3.",
    '"anchore/syft',
    "in-toto.io/Statement",
    "application/vnd.in-toto+json",
    "raw.githubusercontent.com/anchore/syft",
    *sbom_texts.MARKS,
)
"""What the beginning of a file has if it is an SBOM, whatever its name."""
_REPORT = re.compile(
    r'\{\s*"SchemaVersion":[^{\[]*"ArtifactName":|\s*\{\s*"matches":\s*\[\s*(?:\]|\{\s*"vulnerability":)',
    re.DOTALL,
)
"""How reports of trivy and grype begin."""
_DEEPEST = 50
_NOT_AN_SBOM = "not an SBOM: neither CycloneDX nor SPDX, nor a report of syft or trivy"
_NO_PACKAGES = "a report of trivy without its packages: have it list them (--list-all-pkgs), or write an SBOM (--format cyclonedx)"
_OF_GRYPE = (
    "a report of grype, which has packages with known vulnerabilities only: scan the SBOM (syft -o json)"
)
_NO_VERSION = "the SBOM names no version"


def begins(beginning: str) -> bool:
    """Whether a file is an SBOM or a report with packages, by how it begins."""
    return any(mark in beginning for mark in MARKS) or bool(_REPORT.match(beginning))


def read(text: str) -> Iterator[Package]:
    """Packages with a package URL; others cannot be told from one another by name. Raises Unreadable."""
    content, _ = unwrapped(sbom_texts.document(text))
    lines = Lines(text)
    if content.get("bomFormat") == "CycloneDX":
        found = _cyclonedx(content)
    elif "spdxVersion" in content:
        found = _spdx_2(content)
    elif "@graph" in content:
        found = _spdx_3(content)
    elif "artifacts" in content:
        found = _syft(content)
    elif "ArtifactName" in content:
        found = _trivy(content)
    elif mapping(content.get("descriptor")).get("name") == "grype":
        raise Unreadable(_OF_GRYPE)
    else:
        raise Unreadable(_NOT_AN_SBOM)
    for each in found:
        purl = each.purl
        named = package_urls.parse(purl)
        if named is None:
            continue
        version = named.version or each.version
        line = lines.of(f'"{purl}"', purl.replace("/", "\\/"), f">{escape(purl)}<", f" {purl}\n")
        why = "" if version else _NO_VERSION
        yield Package(
            named.type,
            named.name,
            version,
            line,
            why,
            inside=each.where or "",
            development=each.development,
        )


def unwrapped(content: Mapping[str, object]) -> tuple[Mapping[str, object], tuple[str, ...]]:
    """The SBOM of an attestation, and the digests that it is about (in-toto Statement, in an envelope of DSSE or by itself: `docker
    buildx`, `cosign attest`); any other document as it is. Signatures are not checked. Raises Unreadable.
    """
    if content.get("payloadType") == "application/vnd.in-toto+json":
        try:
            payload = base64.b64decode(str(content.get("payload")), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            raise Unreadable("the payload of the attestation is not base64 of UTF-8") from None
        content = parse_object(payload)
    if "in-toto.io/Statement" not in str(content.get("_type")):
        return content, ()
    subjects = [mapping(subject.get("digest")) for subject in objects(content.get("subject"))]
    digests = tuple(f"sha256:{each['sha256']}" for each in subjects if isinstance(each.get("sha256"), str))
    predicate = mapping(content.get("predicate"))
    data = predicate.get("Data")  # cosign before 2.0
    if isinstance(data, str):
        return parse_object(data), digests
    return mapping(data) or predicate, digests


@dataclass(frozen=True)
class _Found:
    """`where`: the path in an image. `development`: what says that only development has it."""

    purl: str
    version: str | None
    where: str | None = None
    development: str = ""


def _cyclonedx(content: Mapping[str, object]) -> Iterator[_Found]:
    yield from _components(objects(content.get("components")), 0)
    described = mapping(mapping(content.get("metadata")).get("component"))
    yield from _components([dict(described)] if described else [], 0)


def _components(components: Iterable[Mapping[str, object]], depth: int) -> Iterator[_Found]:
    if depth > _DEEPEST:
        raise Unreadable(f"components are nested more than {_DEEPEST} deep")
    for component in components:
        if purl := text_of(component.get("purl")):
            version = text_of(component.get("version"))
            yield _Found(purl, version, _location(component), _development(component))
        yield from _components(objects(component.get("components")), depth + 1)


_DEVELOPMENT_PROPERTIES = (
    ("cdx:npm:package:development", "true"),
    ("cdx:nuget:development", "true"),
    ("cdx:composer:package:isDevRequirement", "true"),
    ("cdx:maven:component_scope", "test"),
)


def _development(component: Mapping[str, object]) -> str:
    """By the scope `excluded` of the standard, "for test and other non-runtime purposes", or what generators write beside. The scope
    `optional` is also that of what applications have and generators did not see used.
    """
    for entry in objects(component.get("properties")):
        name, value = text_of(entry.get("name")), text_of(entry.get("value"))
        if (name, value) in _DEVELOPMENT_PROPERTIES:
            return f"{name} {value}"
    return "scope excluded" if component.get("scope") == "excluded" else ""


def _location(component: Mapping[str, object]) -> str | None:
    """The path of the component in an image, as syft (properties) and others (evidence) write it."""
    for entry in objects(component.get("properties")):
        name = str(entry.get("name", ""))
        if name.startswith("syft:location:") and name.endswith(":path"):
            return text_of(entry.get("value"))
    evidence = mapping(component.get("evidence"))
    return next((text_of(place.get("location")) for place in objects(evidence.get("occurrences"))), None)


_FOR_DEVELOPMENT: Final = {
    "DEV_DEPENDENCY_OF",
    "DEV_TOOL_OF",
    "TEST_DEPENDENCY_OF",
    "TEST_TOOL_OF",
    "TEST_OF",
}
_FOR_APPLICATION: Final = {
    "DEPENDENCY_OF",
    "RUNTIME_DEPENDENCY_OF",
    "OPTIONAL_DEPENDENCY_OF",
    "PROVIDED_DEPENDENCY_OF",
    "BUILD_DEPENDENCY_OF",
    "PREREQUISITE_FOR",
}
_TURNED: Final = {"DEPENDS_ON", "DYNAMIC_LINK", "STATIC_LINK", "HAS_PREREQUISITE"}
"""Those that name what needs something before what is needed. CONTAINS says nothing of what it is for."""
_LIFECYCLE: Final = {"development", "test"}

_Need = tuple[str, str, str]
"""What is needed, what needs it, and what says that it is for development; empty if nothing does."""


def _of_relationships(relationships: Iterable[Mapping[str, object]]) -> dict[str, str]:
    """Of SPDX 2: ids of packages that development alone needs, also through others, with the relationship that says so."""
    return _only_development(_needs(relationships))


def _needs(relationships: Iterable[Mapping[str, object]]) -> Iterator[_Need]:
    for each in relationships:
        kind = str(each.get("relationshipType"))
        one, other = str(each.get("spdxElementId")), str(each.get("relatedSpdxElement"))
        if kind in _FOR_DEVELOPMENT:
            yield one, other, kind
        elif kind in _FOR_APPLICATION:
            yield one, other, ""
        elif kind in _TURNED:
            yield other, one, ""


def _of_elements(graph: Iterable[Mapping[str, object]]) -> dict[str, str]:
    """Of SPDX 3: the same by `dependsOn` with a lifecycle scope."""
    return _only_development(
        (str(needed), str(element.get("from")), _lifecycle(element))
        for element in graph
        if element.get("relationshipType") == "dependsOn"
        for needed in elements(element.get("to"))
    )


def _lifecycle(element: Mapping[str, object]) -> str:
    scope = str(element.get("scope"))
    return f"scope {scope}" if scope in _LIFECYCLE else ""


def _only_development(needs: Iterable[_Need]) -> dict[str, str]:
    by_application: dict[str, set[str]] = defaultdict(set)
    by_any: dict[str, set[str]] = defaultdict(set)
    said: dict[str, str] = {}
    for needed, by, why in needs:
        by_any[by].add(needed)
        if why:
            said.setdefault(needed, why)
        else:
            by_application[by].add(needed)
    if not said:
        return {}
    everything = set().union(*by_any.values())
    tops = (set(by_any) - everything) or {by for by in by_any if by not in said}
    application = purposes.all_needed(tops, by_application)
    # What stands in circles that nothing leads into is left as the application's.
    development = purposes.all_needed(set(said), by_any) - application
    return {key: said.get(key, "needed by what is for development only") for key in development}


def _spdx_2(content: Mapping[str, object]) -> Iterator[_Found]:
    development = _of_relationships(objects(content.get("relationships")))
    for package in objects(content.get("packages")):
        for reference in objects(package.get("externalRefs")):
            if reference.get("referenceType") == "purl" and (
                purl := text_of(reference.get("referenceLocator"))
            ):
                version = text_of(package.get("versionInfo"))
                version = None if version == "NOASSERTION" else version
                yield _Found(purl, version, development=development.get(str(package.get("SPDXID")), ""))


def _spdx_3(content: Mapping[str, object]) -> Iterator[_Found]:
    development = _of_elements(objects(content.get("@graph")))
    for element in objects(content.get("@graph")):
        version = text_of(element.get("software_packageVersion"))
        why = development.get(str(element.get("spdxId")), "")
        if purl := text_of(element.get("software_packageUrl")):
            yield _Found(purl, version, development=why)
            continue
        for identifier in objects(element.get("externalIdentifier")):
            if identifier.get("externalIdentifierType") in ("packageUrl", "packageURL") and (
                purl := text_of(identifier.get("identifier"))
            ):
                yield _Found(purl, version, development=why)


def _syft(content: Mapping[str, object]) -> Iterator[_Found]:
    for artifact in objects(content.get("artifacts")):
        if purl := text_of(artifact.get("purl")):
            place = next((text_of(entry.get("path")) for entry in objects(artifact.get("locations"))), None)
            yield _Found(purl, text_of(artifact.get("version")), place)


def _trivy(content: Mapping[str, object]) -> Iterator[_Found]:
    """`trivy … --format json`. Raises Unreadable for one with vulnerabilities alone."""
    results = objects(content.get("Results"))
    if results and not any("Packages" in each for each in results):
        raise Unreadable(_NO_PACKAGES)
    for result in results:
        for package in objects(result.get("Packages")):
            if purl := text_of(mapping(package.get("Identifier")).get("PURL")):
                place = text_of(package.get("FilePath")) or text_of(result.get("Target"))
                development = "Dev" if package.get("Dev") is True else ""
                yield _Found(purl, text_of(package.get("Version")), place, development)
