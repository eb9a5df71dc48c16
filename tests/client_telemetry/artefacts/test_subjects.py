"""What SBOMs and images are about: digests, names and repositories, as the tools write them."""

import base64
import io
import json
import tarfile

import pytest
from client_telemetry.artefacts import subjects
from client_telemetry.artefacts.binaries import images
from client_telemetry.inventory import written

from tests import image_files

DIGEST, OTHER, LAYER = "sha256:" + "1a" * 32, "sha256:" + "2b" * 32, "sha256:" + "3c" * 32

SYFT_CYCLONEDX = {
    "bomFormat": "CycloneDX",
    "metadata": {
        "component": {"type": "container", "name": "ghcr.io/acme/erp:1.2", "version": DIGEST},
        "properties": [
            {
                "name": "syft:image:labels:org.opencontainers.image.source",
                "value": "https://github.com/Acme/erp",
            },
            {"name": "syft:image:labels:org.opencontainers.image.base.digest", "value": LAYER},
        ],
    },
}
TRIVY_CYCLONEDX = {
    "bomFormat": "CycloneDX",
    "metadata": {
        "component": {
            "type": "container",
            "name": "ghcr.io/acme/erp:1.2",
            "purl": f"pkg:oci/erp@{DIGEST.replace(':', '%3A')}?repository_url=ghcr.io%2Facme%2Ferp",
            "properties": [
                {"name": "aquasecurity:trivy:DiffID", "value": LAYER},
                {"name": "aquasecurity:trivy:ImageID", "value": OTHER},
                {"name": "aquasecurity:trivy:RepoDigest", "value": f"ghcr.io/acme/erp@{DIGEST}"},
                {
                    "name": "aquasecurity:trivy:Labels:org.opencontainers.image.source",
                    "value": "git@github.com:acme/erp.git",
                },
            ],
        }
    },
}
SYFT_JSON = {
    "artifacts": [],
    "source": {
        "type": "image",
        "metadata": {
            "userInput": "ghcr.io/acme/erp:1.2",
            "imageID": OTHER,
            "manifestDigest": DIGEST,
            "layers": [{"digest": LAYER}],
            "repoDigests": [f"ghcr.io/acme/erp@{DIGEST}"],
            "labels": {"org.opencontainers.image.source": "https://github.com/acme/erp/tree/main/app"},
        },
    },
}
SYFT_SPDX = {
    "spdxVersion": "SPDX-2.3",
    "relationships": [
        {
            "spdxElementId": "SPDXRef-DOCUMENT",
            "relatedSpdxElement": "SPDXRef-Root",
            "relationshipType": "DESCRIBES",
        }
    ],
    "packages": [
        {
            "SPDXID": "SPDXRef-Root",
            "name": "ghcr.io/acme/erp:1.2",
            "versionInfo": DIGEST,
            "primaryPackagePurpose": "CONTAINER",
            "externalRefs": [
                {"referenceType": "purl", "referenceLocator": f"pkg:oci/erp@{DIGEST}?arch=amd64"}
            ],
        },
        {
            "SPDXID": "SPDXRef-other",
            "name": "base",
            "versionInfo": LAYER,
            "primaryPackagePurpose": "CONTAINER",
        },
    ],
}


@pytest.mark.parametrize("sbom", [SYFT_CYCLONEDX, TRIVY_CYCLONEDX, SYFT_JSON, SYFT_SPDX])
def test_the_digest_of_the_image_and_not_of_layers_or_bases(sbom):
    found = subjects.of_sbom(json.dumps(sbom))
    assert DIGEST in found.digests and LAYER not in found.digests
    assert "ghcr.io/acme/erp:1.2" in found.names
    if sbom is not SYFT_SPDX:
        assert found.repositories == {"github.com/acme/erp"}


def attested(predicate):
    return {
        "_type": "https://in-toto.io/Statement/v0.1",
        "predicateType": "https://spdx.dev/Document",
        "subject": [{"name": "pkg:docker/acme/erp@1.2", "digest": {"sha256": OTHER.removeprefix("sha256:")}}],
        "predicate": predicate,
    }


def enveloped(statement):
    payload = base64.b64encode(json.dumps(statement).encode()).decode()
    return {"payloadType": "application/vnd.in-toto+json", "payload": payload, "signatures": []}


KAFKA = {"bomFormat": "CycloneDX", "components": [{"purl": "pkg:pypi/kafka-python@1.3.5"}]}


@pytest.mark.parametrize(
    "document",
    [
        attested(KAFKA),
        attested({"Data": KAFKA}),
        attested({"Data": json.dumps(KAFKA)}),
        enveloped(attested(KAFKA)),
    ],
)
def test_an_attestation_is_an_sbom_about_its_subject(tmp_path, document):
    (tmp_path / "attestation.json").write_text(json.dumps(document))
    (found,) = written.collect([tmp_path], "3.9.1", "4.0.0").artefacts
    assert found.subject.digests == {OTHER}
    assert [each.client.text for each in found.clients] == ["kafka-python 1.3.5"]


@pytest.mark.parametrize(
    "payload", ["%%%", base64.b64encode(b"\xff").decode(), base64.b64encode(b"{").decode(), None]
)
def test_a_damaged_attestation_is_said(tmp_path, payload):
    document = {"payloadType": "application/vnd.in-toto+json", "payload": payload}
    (tmp_path / "attestation.json").write_text(json.dumps(document))
    (unread,) = written.collect([tmp_path], "3.9.1", "4.0.0").unread
    assert "\n" not in unread.reason


def test_the_repository_of_an_sbom_about_sources():
    github = {
        "spdxVersion": "SPDX-2.3",
        "documentDescribes": ["SPDXRef-r"],
        "packages": [
            {
                "SPDXID": "SPDXRef-r",
                "name": "com.github.acme/erp",
                "externalRefs": [{"referenceType": "purl", "referenceLocator": "pkg:github/Acme/erp@main"}],
            }
        ],
    }
    links = [{"type": "vcs", "url": "git+https://github.com/acme/erp.git#main"}]
    maven = {
        "bomFormat": "CycloneDX",
        "metadata": {"component": {"type": "library", "externalReferences": links}},
    }
    for sbom in (github, maven):
        found = subjects.of_sbom(json.dumps(sbom))
        assert (found.repositories, found.digests, found.names) == (
            {"github.com/acme/erp"},
            frozenset(),
            frozenset(),
        )


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://github.com/acme/erp", "github.com/acme/erp"),
        ("https://user:secret@gitlab.example.com/Acme/Sub/erp.git", "gitlab.example.com/acme/sub/erp"),
        ("ssh://git@git.example.com:7999/acme/erp.git", "git.example.com/acme/erp"),
        ("git@github.com:acme/erp.git", "github.com/acme/erp"),
        ("scm:git:git://github.com/acme/erp.git", "github.com/acme/erp"),
        ("https://gitlab.com/acme/erp/-/tree/main/app", "gitlab.com/acme/erp"),
        ("github.com/acme/erp", "github.com/acme/erp"),
        ("NOASSERTION", ""),
        ("unknown", ""),
        ("<script>alert(1)</script>", ""),
        ("", ""),
    ],
)
def test_addresses_of_repositories(address, expected):
    assert subjects.repository(address) == expected


def tar(members):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    return io.BytesIO(content.getvalue())


def test_a_saved_image_has_its_image_id_its_tags_and_its_labels():
    config = {"config": {"Labels": {"org.opencontainers.image.source": "https://github.com/acme/erp"}}}
    hexadecimal = OTHER.removeprefix("sha256:")
    members = {
        "manifest.json": json.dumps(
            [{"Config": f"{hexadecimal}.json", "RepoTags": ["erp:1.2"], "Layers": []}]
        ).encode(),
        f"{hexadecimal}.json": json.dumps(config).encode(),
    }
    with images.opened_tar(tar(members)) as open_member:
        found = subjects.of_image(open_member)
    assert found == ({OTHER}, {"erp:1.2"}, {"github.com/acme/erp"})


def test_an_oci_layout_has_the_digests_of_indexes_and_manifests():
    index, manifest, config = DIGEST, OTHER, LAYER
    blob = "blobs/sha256/{}".format
    members = {
        "index.json": json.dumps(
            {
                "manifests": [
                    {"digest": index, "annotations": {"io.containerd.image.name": "ghcr.io/acme/erp:1.2"}}
                ]
            }
        ).encode(),
        blob(index[7:]): json.dumps({"manifests": [{"digest": manifest}]}).encode(),
        blob(manifest[7:]): json.dumps({"layers": [], "config": {"digest": config}}).encode(),
        blob(config[7:]): b'{"config": {"Labels": null}}',
    }
    with images.opened_tar(tar(members)) as open_member:
        found = subjects.of_image(open_member)
    assert found == ({index, manifest, config}, {"ghcr.io/acme/erp:1.2"}, frozenset())


def test_an_image_that_docker_25_saves_has_the_digest_that_kubernetes_shows():
    """An OCI layout, and a manifest.json of the old form beside it, which has no digest of the manifest."""
    made = image_files.image([image_files.layer(files={"app": ""})])
    files, known_as = image_files.saved_with_layout(made, "ghcr.io/acme/erp:1.2")
    subject = subjects.of_image(lambda path: io.BytesIO(files[path]) if path in files else None)
    assert subject.digests == {known_as, made.config} and known_as == made.manifest
    assert subject.names == {"ghcr.io/acme/erp:1.2"}
