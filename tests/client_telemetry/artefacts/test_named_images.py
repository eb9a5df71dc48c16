"""Images that Compose files, values of charts and manifests name are leads: each once, with file and line, and never a client."""

import json

import pytest
from client_telemetry.artefacts.named_images import DEEPEST, read
from client_telemetry.artefacts.packages import Unreadable
from client_telemetry.artefacts.scan import scan


def images(path: str, text: str, env: str | None = None) -> list[tuple[str, int, str]]:
    found = read(path, path, text, lambda other: env if other == ".env" else None)
    return [(image.reference, image.line, image.why_unknown) for image in found]


COMPOSE = """\
x-worker: &worker
  image: acme/worker:1.2
  environment: {IMAGE: "not:one"}
services:
  kafka:
    image: "confluentinc/cp-kafka:${CP:-7.5.0}"
  worker:
    <<: *worker
    command: |
      image: in/a:text
  built:
    build: .
    image: acme/built:dev
  pinned:
    image: ghcr.io:443/Acme/x
  flow: {image: 'postgres@sha256:%s'}
  hook: {image: $HOOK}
volumes: {image: {name: x}}
""" % ("a" * 64)


def test_a_compose_file_names_what_it_pulls_not_what_it_builds():
    assert images("full-stack.yml", COMPOSE) == [
        ("acme/worker:1.2", 2, ""),
        ("confluentinc/cp-kafka:7.5.0", 6, ""),
        (f"postgres@sha256:{'a' * 64}", 16, ""),
    ]


def test_variables_of_a_compose_file_are_those_of_the_file_beside_it():
    named = images(
        "compose.yaml", "services: {a: {image: 'acme/a:${TAG}'}, b: {image: 'acme/b:$OTHER'}}", "TAG=4.1\n"
    )
    assert named == [("acme/a:4.1", 1, ""), ("acme/b", 1, "its tag is a variable (acme/b:$OTHER)")]


VALUES = """\
image:
  registry: docker.io
  repository: bitnami/kafka
  tag: 3.7.0-debian-12-r0
metrics:
  kafka:
    image: {repository: bitnami/kafka-exporter, tag: ""}
source:
  repository: https://github.com/acme/x
sidecar:
  image: acme/sidecar:2
"""


def test_values_of_a_chart_have_registry_repository_and_tag():
    expected = [
        ("docker.io/bitnami/kafka:3.7.0-debian-12-r0", 3, ""),
        ("bitnami/kafka-exporter", 7, "no tag is written"),
        ("acme/sidecar:2", 11, ""),
    ]
    assert images("chart/values.yaml", VALUES) == expected
    assert images("values-production.yml", VALUES) == expected
    assert images("settings.yaml", VALUES) == []


MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      initContainers:
        - image: acme/init:1
      containers:
        - name: a
          image: "acme/a:2"
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnect
metadata: {annotations: {image: "acme/no-container:1"}}
spec:
  image: quay.io/strimzi/kafka:0.45.0-kafka-3.9.0
"""


def test_a_manifest_names_the_images_of_its_containers_and_of_operators_resources():
    assert images("k8s/app.yml", MANIFEST) == [
        ("acme/init:1", 7, ""),
        ("acme/a:2", 10, ""),
        ("quay.io/strimzi/kafka:0.45.0-kafka-3.9.0", 16, ""),
    ]
    assert images("templates/app.yaml", f"{MANIFEST}# {{{{ .Values.image }}}}") == []


STRIMZI = """\
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnect
metadata: {name: legacy}
spec:
  version: 2.8.0
  bootstrapServers: kafka:9092
---
spec: {version: 3.9.0}
kind: KafkaMirrorMaker2
apiVersion: kafka.strimzi.io/v1
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaBridge
spec: {bootstrapServers: "kafka:9092"}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnect
spec:
  version: 3.9.0
  build: {output: {type: docker, image: "acme/connect:7"}}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
spec: {kafka: {version: 3.9.0}}
---
apiVersion: v1
kind: KafkaConnect
spec: {version: 3.9.0}
"""


def test_a_resource_of_strimzi_without_an_image_gets_one_of_its_operator():
    why = "of Strimzi: its operator chooses the image"
    assert images("connect.yaml", STRIMZI) == [
        ("quay.io/strimzi/kafka:*-kafka-2.8.0", 2, f"KafkaConnect {why}"),
        ("quay.io/strimzi/kafka:*-kafka-3.9.0", 9, f"KafkaMirrorMaker2 {why}"),
        ("quay.io/strimzi/kafka-bridge", 13, f"KafkaBridge {why}"),
        ("acme/connect:7", 20, ""),
    ]


def test_each_image_is_said_once_and_one_that_was_read_is_no_lead(tmp_path):
    (tmp_path / "compose.yml").write_text(
        "services: {a: {image: acme/erp:1}, b: {image: acme/other:2}, c: {image: acme/other:2}}"
    )
    sbom = {
        "bomFormat": "CycloneDX",
        "metadata": {"component": {"type": "container", "name": "docker.io/acme/erp:1"}},
        "components": [{"purl": "pkg:npm/kafkajs@2.2.4"}],
    }
    (tmp_path / "erp.cdx.json").write_text(json.dumps(sbom))
    result = scan([tmp_path], "3.9.2", "4.3.1")
    assert [image.reference for image in result.images] == ["acme/other:2"]
    assert [found.client.text for found in result.found] == ["kafkajs 2.2.4"]


def test_aliases_are_not_followed():
    bomb = "a0: &a0 {image: 'x/y:1'}\n" + "".join(
        f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 50)}]\n" for number in range(1, 500)
    )
    assert images("bomb.yml", f"services: {{a: {{image: 'acme/a:1'}}}}\n{bomb}") == [("acme/a:1", 1, "")]


@pytest.mark.parametrize(
    "text, reason",
    [
        ("services: {a: {image: b}}\nx: " + "[" * (DEEPEST + 1), "nested more than"),
        ("services:\n  a: {image: b}\n  - c", "not YAML in line 3"),
        ("services: {a: {image: b}}\n#" + "x" * 2**20, "more than 1 MiB"),
        ("services: {a: {image: b}}\nx: \x00", "not YAML"),
    ],
)
def test_what_cannot_be_read_is_said(text, reason):
    with pytest.raises(Unreadable, match=reason):
        images("compose.yml", text)


def test_a_name_with_markup_is_no_reference(tmp_path):
    (tmp_path / "compose.yml").write_text(
        "services: {a: {image: '<script>alert(1)</script>:1'}, b: {image: '../../x'}}"
    )
    assert scan([tmp_path], "3.9.2", "4.3.1").images == []


def test_a_compose_file_of_a_hundred_megabytes_is_refused_unread(tmp_path):
    with (tmp_path / "docker-compose.yml").open("wb") as opened:
        opened.truncate(100 * 2**20)
    with (tmp_path / "data.yml").open("wb") as opened:
        opened.truncate(100 * 2**20)
    (unread,) = scan([tmp_path], "3.9.2", "4.3.1").unread
    assert unread.file.endswith("docker-compose.yml") and "larger than 64 MiB" in unread.reason
