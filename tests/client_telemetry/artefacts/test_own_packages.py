"""A company's own packages and lists of versions, in its folder of knowledge: they extend what ships, and come before it."""

import pytest
from client_telemetry import knowledge
from client_telemetry.artefacts.scan import scan
from client_telemetry.cli import scan as command
from client_telemetry.compatibility.own_knowledge import overridden, use_folder
from client_telemetry.knowledge import DamagedKnowledge, carried_versions, known_packages

PACKAGES = "type,name,library,binding,contains,note,source\n"
CARRIED = "type,name,library,library_version,versions,source\n"
BOM = "maven,com.acme/platform-bom,kafka-clients,,manages,,platform team\n"
POM = """\
<project><modelVersion>4.0.0</modelVersion>
<parent><groupId>com.acme</groupId><artifactId>platform-bom</artifactId><version>2024.2</version></parent>
<artifactId>erp</artifactId>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId></dependency></dependencies>
</project>
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine").mkdir()
    yield tmp_path / "mine"
    knowledge.use(None)


def own(folder, packages: str = "", carried: str = ""):
    if packages:
        (folder / "artefact_packages.csv").write_text(PACKAGES + packages)
    if carried:
        (folder / "carried_versions.csv").write_text(CARRIED + carried)
    use_folder(folder)


def clients(path):
    return [(found.client.text, found.judged.verdict) for found in scan([path], "3.9.2", "4.3.1").found]


def test_a_list_of_versions_of_a_company_manages_the_client(tmp_path, folder):
    (tmp_path / "pom.xml").write_text(POM)
    assert clients(tmp_path / "pom.xml") == [("kafka-clients", "insufficient_evidence")]
    own(folder, BOM, "maven,com.acme/platform-bom,kafka-clients,0.10.2.2,2023.1 2024.2,platform team\n")
    assert clients(tmp_path / "pom.xml") == [
        ("kafka-clients 0.10.2.2 managed by platform-bom 2024.2", "breaks")
    ]
    (tmp_path / "pom.xml").write_text(POM.replace("2024.2", "2025.1"))
    assert clients(tmp_path / "pom.xml") == [("kafka-clients", "insufficient_evidence")]


def test_a_library_around_a_client_is_known_by_its_own_name(tmp_path, folder):
    (tmp_path / "requirements.txt").write_text("Acme_Bus==3.1\n")
    assert clients(tmp_path / "requirements.txt") == []
    own(
        folder,
        "pypi,Acme.Bus,kafka-python,,brings,,bus team\n",
        "pypi,Acme.Bus,kafka-python,1.3.5,3.0 3.1,bus team\n",
    )
    assert clients(tmp_path / "requirements.txt") == [
        ("kafka-python 1.3.5 brought by acme-bus 3.1", "breaks")
    ]


def test_an_own_row_comes_before_the_shipped_one_and_is_said_to(folder):
    shipped = known_packages.find("npm", "kafkajs")
    own(folder, "npm,kafkajs,,,is,our fork under the same name,web team\n")
    assert shipped.library == "kafkajs" and known_packages.find("npm", "kafkajs").library == ""
    assert list(overridden()) == ["artefact_packages.csv line 2: overrides the row of npm kafkajs"]


def test_an_own_version_comes_before_the_shipped_one(folder):
    boot = "org.springframework.boot/spring-boot-dependencies"
    own(folder, carried=f"maven,{boot},kafka-clients,3.9.1,3.1.0,patched by us\n")
    assert carried_versions.library_version("maven", boot, "3.1.0") == "3.9.1"
    assert carried_versions.library_version("maven", boot, "3.1.1") == "3.4.1"


@pytest.mark.parametrize(
    "packages, carried, mistake",
    [
        (BOM + BOM, "", "line 3: maven com.acme/platform-bom occurs twice"),
        (BOM.replace("maven", "mvn"), "", "line 2: type 'mvn' is none of"),
        (BOM.replace("/", ":"), "", "is not group/artifact"),
        (BOM.replace("manages", "has"), "", "contains 'has' is none of"),
        (BOM.replace("kafka-clients", "kafka-client"), "", "library kafka-client is not in"),
        ("npm,@acme/kafka,librdkafka,node-kafka,is,,web team\n", "", "binding node-kafka is none of"),
        ("", "maven,com.acme/bom,kafka-clients,3.9.1,1,us\n", "has no row in artefact_packages.csv"),
        (BOM, "maven,com.acme/platform-bom,librdkafka,3.9.1,1,us\n", "library librdkafka is 'kafka-clients'"),
        (BOM, "maven,com.acme/platform-bom,kafka-clients,new,1,us\n", "library_version"),
        (
            BOM,
            "".join(f"maven,com.acme/platform-bom,kafka-clients,{v},1,us\n" for v in ("3.9.1", "3.9.2")),
            "line 3: com.acme/platform-bom 1 occurs with two versions",
        ),
        (BOM.replace("platform team", ""), "", "source is required"),
    ],
)
def test_a_mistake_is_said_with_its_line(folder, packages, carried, mistake):
    with pytest.raises(DamagedKnowledge, match=mistake):
        own(folder, packages, carried)


def test_the_command_takes_the_folder_and_refuses_a_damaged_one(tmp_path, folder, capsys):
    (tmp_path / "pom.xml").write_text(POM)
    (folder / "artefact_packages.csv").write_text(PACKAGES + BOM)
    (folder / "carried_versions.csv").write_text(
        CARRIED + "maven,com.acme/platform-bom,kafka-clients,3.9.1,2024.2,platform team\n"
    )
    arguments = [str(tmp_path / "pom.xml"), "--to", "4.3.1", "--knowledge", str(folder)]
    assert command.main(arguments) == 0
    assert "kafka-clients 3.9.1 managed by platform-bom 2024.2" in capsys.readouterr().out
    (folder / "artefact_packages.csv").write_text("nonsense")
    assert command.main(arguments) == 2
    assert "line 1: columns are nonsense" in capsys.readouterr().err
