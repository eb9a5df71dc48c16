"""SBOMs that are written in other ways than JSON, as the JSON of the same standard has them: CycloneDX in XML, SPDX 2 as tags and
values. Only what is read of them is carried over.
"""

import re
from collections.abc import Iterator, Mapping

from client_telemetry.artefacts.packages import Unreadable
from client_telemetry.artefacts.readers import xml_text
from client_telemetry.artefacts.readers.json_text import parse_object
from client_telemetry.artefacts.readers.xml_text import Element

MARKS = ("cyclonedx.org/schema/bom", "SPDXVersion:")
"""What the beginning of such a file has, whatever its name."""
_TAG = re.compile(r"(?P<tag>[A-Za-z]+):[ \t]*(?P<value>.*)")
_OPEN, _CLOSE = "<text>", "</text>"


def document(text: str) -> Mapping[str, object]:
    """The object of an SBOM in any of its forms. Raises Unreadable."""
    beginning = text.lstrip("\ufeff \t\r\n")[:1]
    if beginning == "<":
        return _of_xml(xml_text.parse(text, "bom"))
    if beginning != "{" and "SPDXVersion:" in text:
        return _of_tags(text)
    return parse_object(text)


def _of_xml(bom: Element) -> Mapping[str, object]:
    metadata, described = bom.first("metadata"), bom.first("metadata", "component")
    return {
        "bomFormat": "CycloneDX",
        "metadata": {
            "component": _component(described) if described else {},
            "properties": _properties(metadata) if metadata else [],
        },
        "components": _components(bom),
    }


def _components(holder: Element) -> list[Mapping[str, object]]:
    components = holder.first("components")
    return [_component(each) for each in components.all("component")] if components else []


def _component(element: Element) -> Mapping[str, object]:
    references = element.first("externalReferences")
    occurrences = element.first("evidence", "occurrences")
    return {
        **{key: element.attributes.get(key) for key in ("type", "bom-ref")},
        **{key: element.value(key) or None for key in ("name", "version", "purl", "scope")},
        "properties": _properties(element),
        "externalReferences": [
            {"type": each.attributes.get("type"), "url": each.value("url")}
            for each in (references.all("reference") if references else ())
        ],
        "evidence": {
            "occurrences": [
                {"location": each.value("location")}
                for each in (occurrences.all("occurrence") if occurrences else ())
            ]
        },
        "components": _components(element),
    }


def _properties(holder: Element) -> list[Mapping[str, object]]:
    properties = holder.first("properties")
    return [
        {"name": each.attributes.get("name"), "value": each.text.strip()}
        for each in (properties.all("property") if properties else ())
    ]


_OF_PACKAGE = {
    "SPDXID": "SPDXID",
    "PackageVersion": "versionInfo",
    "PackageDownloadLocation": "downloadLocation",
    "PrimaryPackagePurpose": "primaryPackagePurpose",
}


def _of_tags(text: str) -> Mapping[str, object]:
    packages: list[dict[str, object]] = []
    relationships: list[Mapping[str, object]] = []
    here: dict[str, object] | None = None
    for tag, value in _tags(text):
        if tag == "PackageName":
            references: list[Mapping[str, object]] = []
            here = {"name": value, "externalRefs": references}
            packages.append(here)
        elif tag in ("FileName", "SnippetSPDXID", "LicenseID"):
            here = None
        elif tag == "Relationship" and len(words := value.split()) == 3:
            relationships.append(
                {"spdxElementId": words[0], "relationshipType": words[1], "relatedSpdxElement": words[2]}
            )
        elif here is not None and tag == "ExternalRef" and len(words := value.split(maxsplit=2)) == 3:
            references.append({"referenceType": words[1], "referenceLocator": words[2]})
        elif here is not None and tag in _OF_PACKAGE:
            here.setdefault(_OF_PACKAGE[tag], value)
    return {"spdxVersion": "SPDX-2", "packages": packages, "relationships": relationships}


def _tags(text: str) -> Iterator[tuple[str, str]]:
    """Tags and their values; a value in `<text>` goes over several lines."""
    lines = iter(text.splitlines())
    for line in lines:
        match = _TAG.match(line)
        if match is None:
            continue
        value = match["value"].strip()
        if value.startswith(_OPEN) and _CLOSE not in value:
            for line in lines:
                value += f"\n{line}"
                if _CLOSE in line:
                    break
            else:
                raise Unreadable(f"{match['tag']}: {_OPEN} is not closed")
        yield match["tag"], value.removeprefix(_OPEN).removesuffix(_CLOSE)
