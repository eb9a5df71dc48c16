"""Versions that a list (BOM), a parent or a framework decides: known where what it says is known, and never guessed."""

import pytest
from client_telemetry.artefacts import files, scan
from client_telemetry.artefacts.code import CodeSeen
from client_telemetry.artefacts.judged import of


def found(name: str, text: str, **others: str) -> list[tuple[str, str, int | None]]:
    """Text or reason, verdict for 3.9.2 to 4.3.1, and line of each client."""
    packages = files.by_name(name)(text, others.get)
    return [
        (
            client.text if client.written else client.why_unknown,
            of(client, "3.9.2", "4.3.1", CodeSeen()).verdict,
            package.line,
        )
        for package, client in scan._of_file(packages)
    ]


def pom(*dependencies: str, parent: str = "", imported: tuple[str, ...] = (), properties: str = "") -> str:
    def element(coordinates: str, more: str = "") -> str:
        group, artifact, *version = coordinates.split(":")
        number = f"<version>{version[0]}</version>" if version else ""
        return f"<groupId>{group}</groupId><artifactId>{artifact}</artifactId>{number}{more}"

    lists = "".join(
        f"<dependency>{element(each, '<type>pom</type><scope>import</scope>')}</dependency>\n"
        for each in imported
    )
    wanted = "".join(f"<dependency>{element(each)}</dependency>\n" for each in dependencies)
    return (
        "<project>\n"
        + (f"<parent>{element(parent, '<relativePath/>')}</parent>\n" if parent else "\n")
        + f"<properties>{properties}</properties>\n"
        + f"<dependencyManagement><dependencies>{lists}</dependencies></dependencyManagement>\n"
        + f"<dependencies>\n{wanted}</dependencies></project>"
    )


BOOT = "org.springframework.boot:spring-boot-starter-parent"
BOOT_LIST = "org.springframework.boot:spring-boot-dependencies"
CLOUD = "org.springframework.cloud:spring-cloud-dependencies"
SPRING_KAFKA = "org.springframework.kafka:spring-kafka"
OVERRIDE = "<kafka.version>2.0.1</kafka.version>"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            pom(SPRING_KAFKA, parent=f"{BOOT}:2.7.18"),
            ("kafka-clients 3.1.2 managed by spring-boot-starter-parent 2.7.18", "safe", 2),
        ),
        (
            pom("org.apache.kafka:kafka-streams", imported=(f"{BOOT_LIST}:2.7.18",)),
            ("kafka-clients 3.1.2 managed by spring-boot-dependencies 2.7.18", "safe", 4),
        ),
        (
            pom(SPRING_KAFKA, parent=f"{BOOT}:2.0.5.RELEASE"),
            ("kafka-clients 1.0.2 managed by spring-boot-starter-parent 2.0.5.RELEASE", "unsupported", 2),
        ),
        (
            pom(SPRING_KAFKA, parent=f"{BOOT}:2.7.18", properties=OVERRIDE),
            ("kafka-clients 2.0.1", "unsupported", 3),
        ),
        (  # a property does not change what an imported list says
            pom(SPRING_KAFKA, imported=(f"{BOOT_LIST}:2.7.18",), properties=OVERRIDE),
            ("kafka-clients 3.1.2 managed by spring-boot-dependencies 2.7.18", "safe", 4),
        ),
        (
            pom(SPRING_KAFKA, parent=f"{BOOT}:2.7.18", imported=(f"{CLOUD}:2021.0.9",)),
            ("kafka-clients 3.1.2 managed by spring-boot-starter-parent 2.7.18", "safe", 2),
        ),
        (
            pom("io.quarkus:quarkus-kafka-client", imported=("io.quarkus:quarkus-bom:2.16.12.Final",)),
            ("kafka-clients 3.3.2 managed by quarkus-bom 2.16.12.Final", "safe", 4),
        ),
        (  # as Quarkus' own generator of projects writes it
            pom(
                "io.quarkus:quarkus-messaging-kafka",
                imported=(
                    "${quarkus.platform.group-id}:${quarkus.platform.artifact-id}:${quarkus.platform.version}",
                ),
                properties="<quarkus.platform.group-id>io.quarkus.platform</quarkus.platform.group-id>"
                "<quarkus.platform.artifact-id>quarkus-bom</quarkus.platform.artifact-id>"
                "<quarkus.platform.version>3.8.6</quarkus.platform.version>",
            ),
            ("kafka-clients 3.7.0 managed by quarkus-bom 3.8.6", "safe", 3),
        ),
    ],
)
def test_a_list_or_parent_that_is_known_decides(text, expected):
    assert found("pom.xml", text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        pom(SPRING_KAFKA, parent="com.acme:parent:7"),
        # A list of one's own may manage Kafka too, as logbook's did, and comes before the parent.
        pom(SPRING_KAFKA, parent=f"{BOOT}:2.7.18", imported=("com.acme:platform-bom:3",)),
        pom(SPRING_KAFKA, parent=f"{BOOT}:2.7.999"),
        pom(SPRING_KAFKA, imported=(f"{BOOT_LIST}:${{boot.version}}",)),
    ],
)
def test_a_list_or_parent_that_is_not_known_leaves_it_unknown(text):
    ((reason, verdict, _),) = found("pom.xml", text)
    assert verdict == "insufficient_evidence"
    assert "whose version is not written here" in reason


def test_what_a_framework_brings_is_told_and_never_called_safe():
    ((text, verdict, line),) = found("pom.xml", pom(f"{SPRING_KAFKA}:3.0.9"))
    assert text == "kafka-clients 3.3.2 brought by spring-kafka 3.0.9"
    assert verdict == "insufficient_evidence"
    assert line == 6
    ((text, verdict, _),) = found(
        "gradle.lockfile", "org.springframework.kafka:spring-kafka:1.1.1.RELEASE=runtimeClasspath\n"
    )
    assert text == "kafka-clients 0.10.0.1 brought by spring-kafka 1.1.1.RELEASE"
    assert verdict == "breaks"


@pytest.mark.parametrize(
    ("package", "version", "text", "verdict"),
    [
        (
            "org.apache.flink:flink-connector-kafka-0.10_2.11",
            "1.9.1",
            "kafka-clients 0.10.2.1 brought by",
            "breaks",
        ),
        (
            "org.apache.flume.flume-ng-sinks:flume-ng-kafka-sink",
            "1.8.0",
            "kafka-clients 0.9.0.1 brought by",
            "breaks",
        ),
        # Its consumer is that of kafka_2.11 0.8, of which POMs say nothing.
        (
            "org.apache.flink:flink-connector-kafka-0.8_2.11",
            "1.9.1",
            "version is not written here",
            "insufficient_evidence",
        ),
    ],
)
def test_old_connectors_have_the_protocol_in_their_name(package, version, text, verdict):
    ((said, judged, _),) = found("pom.xml", pom(f"{package}:{version}"))
    assert text in said and judged == verdict


def test_what_is_named_itself_comes_before_what_is_brought():
    text = pom(f"{SPRING_KAFKA}:3.0.9", "org.apache.kafka:kafka-clients:3.7.1")
    assert found("pom.xml", text) == [("kafka-clients 3.7.1", "safe", 7)]


GRADLE = """
plugins {
    id 'org.springframework.boot' version '2.7.18'
    id 'io.spring.dependency-management' version '1.1.4'
}
%s
dependencies { implementation 'org.springframework.kafka:spring-kafka' }
"""


def test_spring_boot_s_plugin_of_gradle_decides():
    managed = ("kafka-clients 3.1.2 managed by spring-boot-dependencies 2.7.18", "safe", 3)
    assert found("build.gradle", GRADLE % "") == [managed]
    assert found("build.gradle", GRADLE % "ext['kafka.version'] = '2.0.1'") == [
        ("kafka-clients 2.0.1", "unsupported", 6)
    ]
    cloud = 'dependencyManagement { imports { mavenBom "org.springframework.cloud:spring-cloud-dependencies:2021.0.9" } }'
    assert found("build.gradle", GRADLE % cloud) == [managed]
    by_name = "dependencyManagement { imports { mavenBom(SpringBootPlugin.BOM_COORDINATES) } }"
    not_applied = (GRADLE % by_name).replace("'2.7.18'", "'2.7.18' apply false")
    assert found("build.gradle", not_applied) == [managed]


def test_gradle_without_the_list_or_with_one_that_is_not_known_leaves_it_unknown():
    unknown = 'dependencyManagement { imports { mavenBom "com.acme:platform-bom:3" } }'
    for text in (
        GRADLE % unknown,
        (GRADLE % "").replace("io.spring.dependency-management", "com.acme.other"),
    ):
        ((reason, verdict, _),) = found("build.gradle", text)
        assert verdict == "insufficient_evidence" and "whose version is not written here" in reason


def test_a_platform_in_kotlin_decides():
    text = """
val bootVersion = "3.1.0"
dependencies {
    implementation(platform("org.springframework.boot:spring-boot-dependencies:$bootVersion"))
    implementation("org.apache.kafka:kafka-clients")
}
"""
    assert found("build.gradle.kts", text) == [
        ("kafka-clients 3.4.0 managed by spring-boot-dependencies 3.1.0", "safe", 4)
    ]
