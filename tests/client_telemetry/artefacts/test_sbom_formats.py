"""SBOMs that are not JSON, CycloneDX in XML and SPDX as tags and values, say the same as those in JSON."""

import pytest
from client_telemetry.artefacts.packages import Unreadable
from client_telemetry.artefacts.readers import sboms
from client_telemetry.artefacts.scan import scan
from client_telemetry.artefacts.subjects import of_sbom

DIGEST = "a" * 64
XML = f"""<?xml version="1.0" encoding="UTF-8"?>
<bom xmlns="http://cyclonedx.org/schema/bom/1.5" serialNumber="urn:uuid:1" version="1">
  <metadata>
    <component type="container" bom-ref="x">
      <name>registry.example.com/erp</name>
      <version>sha256:{DIGEST}</version>
      <externalReferences><reference type="vcs"><url>https://github.com/acme/erp.git</url></reference></externalReferences>
    </component>
  </metadata>
  <components>
    <component type="library">
      <group>org.apache.kafka</group>
      <name>kafka-clients</name>
      <version>2.0.0</version>
      <purl>pkg:maven/org.apache.kafka/kafka-clients@2.0.0?classifier=a&amp;type=jar</purl>
      <components><component type="library"><name>x</name><purl>pkg:npm/kafkajs@1.15.0</purl></component></components>
      <properties><property name="syft:location:0:path">/app/libs/kafka-clients-2.0.0.jar</property></properties>
    </component>
    <component type="library"><name>nameless</name><version>1</version></component>
  </components>
</bom>
"""
TAGS = f"""\
SPDXVersion: SPDX-2.3
DataLicense: CC0-1.0
SPDXID: SPDXRef-DOCUMENT
DocumentName: erp
## a comment
Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-image

PackageName: registry.example.com/erp
SPDXID: SPDXRef-image
PackageVersion: sha256:{DIGEST}
PrimaryPackagePurpose: CONTAINER
PackageDownloadLocation: git+https://github.com/acme/erp.git
PackageComment: <text>several lines
PackageName: not-one
</text>

PackageName: kafka-clients
SPDXID: SPDXRef-1
PackageVersion: 2.0.0
ExternalRef: SECURITY cpe23Type cpe:2.3:a:apache:kafka:2.0.0:*:*:*:*:*:*:*
ExternalRef: PACKAGE-MANAGER purl pkg:maven/org.apache.kafka/kafka-clients

PackageName: kafkajs
SPDXID: SPDXRef-2
PackageVersion: NOASSERTION
ExternalRef: PACKAGE_MANAGER purl pkg:npm/kafkajs@1.15.0
"""


@pytest.mark.parametrize(("text", "lines"), [(XML, (15, 16)), (TAGS, (21, 26))])
def test_packages_with_version_and_line(text, lines):
    found = [(each.name, each.version, each.line) for each in sboms.read(text)]
    assert found == [
        ("org.apache.kafka/kafka-clients", "2.0.0", lines[0]),
        ("kafkajs", "1.15.0", lines[1]),
    ]


@pytest.mark.parametrize("text", [XML, TAGS])
def test_what_it_is_about(text):
    subject = of_sbom(text)
    assert subject.digests == {f"sha256:{DIGEST}"}
    assert list(subject.repositories) == ["github.com/acme/erp"]


def test_the_place_in_the_image():
    assert [each.inside for each in sboms.read(XML)] == ["/app/libs/kafka-clients-2.0.0.jar", ""]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("target/bom.xml", XML),
        ("erp.cdx.xml", XML),
        ("anything.xml", XML),
        ("erp.spdx", TAGS),
        ("erp.spdx.txt", TAGS),
        ("sbom.tag", TAGS),
    ],
)
def test_scan_reads_it_by_its_name_or_how_it_begins(tmp_path, name, text):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    found = scan([tmp_path], "3.9.2", "4.3.1")
    assert sorted(each.client.library for each in found.found) == ["kafka-clients", "kafkajs"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('<!DOCTYPE bom [<!ENTITY a "b">]>' + XML.partition("?>")[2], "DTD"),
        ("<bom>" * 200, "nested"),
        ('<bom xmlns="http://cyclonedx.org/schema/bom/1.5">', "not XML"),
        ("<pom/>", "no element <bom>"),
        ("SPDXVersion: SPDX-2.3\nPackageComment: <text>never closed\n", "<text>"),
    ],
)
def test_a_damaged_one_is_refused(text, why):
    with pytest.raises(Unreadable, match=why):
        list(sboms.read(text))
