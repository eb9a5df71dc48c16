"""What an SBOM or an image is about: the digests and names of the image, and the repository that it was built from.

A digest is taken from where the formats name that of the image itself. Digests of layers and of base images stand in
the same documents; other images share them, so they name nothing here.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from client_telemetry.artefacts.binaries import images
from client_telemetry.artefacts.readers.json_text import elements, mapping, objects, text_of
from client_telemetry.artefacts.readers.sbom_texts import document
from client_telemetry.artefacts.readers.sboms import unwrapped

_HEX = re.compile(r"[0-9a-f]{64}")
_DIGEST = re.compile(r"sha256[:_-]([0-9a-f]{64})(?![0-9a-f])")
_IMAGE_PROPERTIES = (
    "aquasecurity:trivy:ImageID",
    "aquasecurity:trivy:RepoDigest",
    "aquasecurity:trivy:Reference",
)
_SOURCE_LABELS = (
    "org.opencontainers.image.source",
    "io.openshift.build.source-location",
    "org.label-schema.vcs-url",
)
_LABELS = ("syft:image:labels:", "aquasecurity:trivy:Labels:")
_SCP = re.compile(r"(?:[\w.-]+@)?([\w.-]+):(?!//)(?!\d+/)(.+)")
_URL = re.compile(r"(?:[a-z][a-z0-9+.-]*:)*//(?:[^@/]*@)?([\w.-]+)(?::\d+)?/(.+)", re.IGNORECASE)


class Subject(NamedTuple):
    """`digests`: "sha256:…" of manifests and of configurations (image ids); Kubernetes and Docker show either."""

    digests: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    repositories: frozenset[str] = frozenset()
    """As `repository` writes them."""


NOTHING = Subject()


def repository(address: str) -> str:
    """A repository's address as `host/path`, however it is written; empty if the text is none.

    >>> repository("git@GitHub.com:Acme/erp.git"), repository("https://token@github.com/acme/erp/tree/main/app")
    ('github.com/acme/erp', 'github.com/acme/erp')
    """
    text = address.strip().removeprefix("scm:git:").removeprefix("git+").partition("#")[0].partition("?")[0]
    match = _URL.fullmatch(text) or _SCP.fullmatch(text)
    if match is None:
        match = re.fullmatch(r"((?:[\w-]+\.)+[a-z]{2,})/([\w./~-]+)", text, re.IGNORECASE)
    if match is None:
        return ""
    path = re.split(r"/(?:-/)?(?:tree|blob|src/branch)/", match[2])[0]
    return f"{match[1]}/{path.strip('/').removesuffix('.git')}".lower()


def digests(*texts: str | None) -> frozenset[str]:
    """Digests that texts name: in image references, package URLs and file names.

    >>> sorted(digests("erp@sha256:" + "a" * 64, None, "sha256-" + "b" * 64 + ".json"))[1][:10]
    'sha256:bbb'
    """
    return frozenset(
        f"sha256:{found}" for text in texts if text for found in _DIGEST.findall(unquote(text).lower())
    )


def of_sbom(text: str) -> Subject:
    """Raises Unreadable."""
    content, attested = unwrapped(document(text))
    found = _of_document(content)
    return found._replace(digests=found.digests | digests(*attested))


def _of_document(content: Mapping[str, object]) -> Subject:
    if content.get("bomFormat") == "CycloneDX":
        return _cyclonedx(mapping(content.get("metadata")))
    if "spdxVersion" in content:
        return _spdx_2(content)
    if "artifacts" in content:
        return _syft(mapping(content.get("source")))
    if content.get("ArtifactType") == "container_image":
        return _trivy(content)
    return NOTHING


def _labels(entries: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """Repositories that labels of an image name, of properties as syft and trivy write them."""
    for entry in entries:
        name = str(entry.get("name"))
        for prefix in _LABELS:
            if name.removeprefix(prefix) in _SOURCE_LABELS:
                yield repository(text_of(entry.get("value")) or "")


def _cyclonedx(metadata: Mapping[str, object]) -> Subject:
    component = mapping(metadata.get("component"))
    properties = [*objects(component.get("properties")), *objects(metadata.get("properties"))]
    name, version = text_of(component.get("name")), text_of(component.get("version"))
    texts = [name, version, text_of(component.get("purl")), text_of(component.get("bom-ref"))]
    texts += [text_of(entry.get("value")) for entry in properties if entry.get("name") in _IMAGE_PROPERTIES]
    if name == "sha256" and version and _HEX.fullmatch(version):
        texts.append(f"sha256:{version}")
    links = [
        repository(text_of(link.get("url")) or "")
        for link in objects(component.get("externalReferences"))
        if link.get("type") == "vcs"
    ]
    return _subject(
        texts, [name] if component.get("type") == "container" else [], [*links, *_labels(properties)]
    )


def _spdx_2(content: Mapping[str, Any]) -> Subject:
    """The package that the document describes: by `documentDescribes`, a DESCRIBES relationship, or its purpose."""
    described = {str(each) for each in content.get("documentDescribes") or () if isinstance(each, str)}
    described |= {
        str(each.get("relatedSpdxElement"))
        for each in objects(content.get("relationships"))
        if each.get("relationshipType") == "DESCRIBES"
    }
    texts: list[str | None] = []
    links: list[str] = []
    names: list[str | None] = []
    for package in objects(content.get("packages")):
        if package.get("SPDXID") not in described:
            continue
        purls = [text_of(each.get("referenceLocator")) for each in objects(package.get("externalRefs"))]
        is_image = any(purl and purl.startswith(("pkg:oci/", "pkg:docker/")) for purl in purls)
        is_image |= package.get("primaryPackagePurpose") == "CONTAINER"
        texts += purls
        if is_image:
            names.append(text_of(package.get("name")))
            texts += [text_of(package.get("name")), text_of(package.get("versionInfo"))]
        links += [_repository_of_purl(purl) for purl in purls if purl]
        links.append(repository(text_of(package.get("downloadLocation")) or ""))
    return _subject(texts, names, links)


def _repository_of_purl(purl: str) -> str:
    match = re.match(r"pkg:(github|bitbucket|gitlab)/([^@?#]+)", purl)
    hosts = {"github": "github.com", "bitbucket": "bitbucket.org", "gitlab": "gitlab.com"}
    return f"{hosts[match[1]]}/{unquote(match[2])}".lower() if match else ""


def _syft(source: Mapping[str, object]) -> Subject:
    image = mapping(source.get("metadata")) or mapping(source.get("target"))
    if not (image.get("imageID") or image.get("manifestDigest")):
        return NOTHING
    tags, references = (map(text_of, elements(image.get(key))) for key in ("tags", "repoDigests"))
    return _subject(
        [text_of(image.get("imageID")), text_of(image.get("manifestDigest")), *references],
        [*tags, text_of(image.get("userInput"))],
        _sources(mapping(image.get("labels"))),
    )


def _trivy(content: Mapping[str, object]) -> Subject:
    image = mapping(content.get("Metadata"))
    named = [
        each
        for key in ("RepoTags", "RepoDigests")
        for each in elements(image.get(key))
        if isinstance(each, str)
    ]
    labels = mapping(mapping(mapping(image.get("ImageConfig")).get("config")).get("Labels"))
    return _subject(
        [text_of(image.get("ImageID")), *named],
        [text_of(content.get("ArtifactName")), *(name for name in named if "@" not in name)],
        _sources(labels),
    )


def of_image(open_file: images.Open) -> Subject:
    """Of `docker save` files and OCI layouts: digests of manifests and configurations, tags, and the label of the source."""
    texts: list[str | None] = []
    names: list[str | None] = []
    links: list[str] = []
    for described in images.described(open_file):
        texts += described.digests
        names += described.names
        links += _sources(described.labels)
    return _subject(texts, names, links)


def _sources(labels: Mapping[str, object]) -> list[str]:
    """Repositories that labels of an image name."""
    return [repository(str(labels.get(name, ""))) for name in _SOURCE_LABELS]


def _subject(texts: Iterable[str | None], names: Iterable[str | None], links: Iterable[str]) -> Subject:
    return Subject(
        digests(*texts),
        frozenset(name for name in names if name),
        frozenset(link for link in links if link),
    )
