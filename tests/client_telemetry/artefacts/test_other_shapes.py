"""Shapes of files that people have beside the plain ones: what scan must neither pass over nor take for something else."""

import json

import pytest
from client_telemetry.artefacts import code, files, libraries, named_images
from client_telemetry.artefacts.scan import scan
from client_telemetry.inventory.written import collect


def clients(name: str, text: str, others: dict[str, str] | None = None) -> list[tuple]:
    """(line, client as shown, why its version is unknown) of each Kafka client in a file of this name."""
    reader = files.by_name(name)
    assert reader is not None, name
    named = [(package, libraries.of(package)) for package in reader(text, (others or {}).get)]
    return [(package.line, client.text, client.why_unknown) for package, client in named if client]


def test_lines_of_strangers_take_no_time_that_grows_with_a_power_of_their_length():
    """It does not end otherwise."""
    lines = "\n".join(("- {name: a, value: " + " " * 4000, "-" + " " * 4000, "- name:" + " " * 4000) * 20)
    assert code.read("kafka.yaml", "kafka.yaml", lines) is None
    assert clients("a.sh", ("a/" * 2000 + ".jar\n") * 20) == []
    assert clients("requirements.txt", "git+" + "a/b@" * 1000 + "\n") == []


def test_a_jar_whose_version_is_a_variable_is_not_locked():
    text = "curl -O https://example.org/org/apache/kafka/kafka-clients/$V/kafka-clients-$V.jar\n"
    assert clients("get.sh", text) == [(1, "kafka-clients", "version not locked ($V)")]


GO_REPOSITORY = """# go_repository(importpath = "github.com/twmb/franz-go", version = "v1.0.0")
go_repository(
    name = "com_github_shopify_sarama",
    importpath = "github.com/Shopify/sarama",
    version = "v1.20.0",
)
go_repository(
    name = "kafka_go",
    commit = "0123abc",
    importpath = "github.com/segmentio/kafka-go",
)
bazel_dep(name = "librdkafka", version = "2.3.0.bcr.1")
"""
DOCKERFILE = """FROM python:3.12
ENV KAFKA=2.0.2
RUN ["pip", "install", "kafka-python==1.4.7"]
RUN <<EOF
pip install aiokafka==0.8.1
EOF
RUN conda install -y -c conda-forge kafka-python=2.0.2
RUN gem install ruby-kafka -v 1.5.0
RUN uv add pykafka==2.8.0
RUN curl -O https://example.org/artifactory/libs/org/apache/kafka/kafka-clients/2.3.1/kafka-clients-2.3.1.jar
# RUN curl -O https://example.org/org/apache/kafka/kafka-clients/1.0.0/kafka-clients-1.0.0.jar
ADD https://example.org/dist/kafka/2.4.0/kafka_2.12-2.4.0.tgz /opt/
RUN spark-submit --packages org.apache.kafka:kafka-clients:2.6.0,com.acme:other:1.0 job.py
"""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "requirements.txt",
            "https://example.org/kafka_python-1.3.5-py2.py3-none-any.whl\n./libs/aiokafka-0.8.1.tar.gz\n",
            [(1, "kafka-python 1.3.5", ""), (2, "aiokafka 0.8.1", "")],
        ),
        (
            "requirements.txt",
            "confluent-kafka @ https://example.org/confluent_kafka-2.3.0-cp312-cp312-macosx_10_9_x86_64.whl\n",
            [(1, "librdkafka 2.3.0 in confluent-kafka-python 2.3.0", "")],
        ),
        (
            "requirements.txt",
            "https://github.com/dpkp/kafka-python/archive/refs/tags/2.0.2.tar.gz\n./kafka\n",
            [
                (
                    1,
                    "kafka-python",
                    "installed from https://github.com/dpkp/kafka-python/archive/refs/tags/2.0.2.tar.gz",
                )
            ],
        ),
        (
            "deps.bzl",
            GO_REPOSITORY,
            [
                (5, "sarama 1.20.0", ""),
                (7, "github.com/segmentio/kafka-go", "0123abc is a commit, not a release"),
                (12, "librdkafka 2.3.0", ""),
            ],
        ),
        (
            "conanfile.py",
            'self.requires(f"librdkafka/{self.v}")\nself.requires("librdkafka/[>=1.9 <2]")\n',
            [
                (1, "librdkafka", "version not locked ({self.v})"),
                (2, "librdkafka", "version not locked ([>=1.9 <2])"),
            ],
        ),
        (
            "vcpkg.json",
            '{"dependencies": ["librdkafka"],\n"overrides": [{"name": "librdkafka", "version-string": "2.3.0"}]}',
            [(1, "librdkafka 2.3.0", "")],
        ),
        (
            "pnpm-lock.yaml",
            "packages:\n\n  kafkajs@https://codeload.github.com/acme/kafkajs/tar.gz/abc:\n    resolution: {}\n",
            [(3, "kafkajs", "locked to https://codeload.github.com/acme/kafkajs/tar.gz/abc")],
        ),
        (
            "Dockerfile",
            DOCKERFILE,
            [
                (3, "kafka-python 1.4.7", ""),
                (5, "aiokafka 0.8.1", ""),
                (7, "kafka-python 2.0.2", ""),
                (8, "ruby-kafka 1.5.0", ""),
                (9, "pykafka 2.8.0", ""),
                (10, "kafka-clients 2.3.1", ""),
                (12, "kafka-clients 2.4.0", ""),
                (13, "kafka-clients 2.6.0", ""),
            ],
        ),
    ],
)
def test_a_shape_that_people_have(name, text, expected):
    assert sorted(clients(name, text)) == expected


def test_a_workspace_of_go_may_replace_what_a_module_requires():
    module = "module acme/svc\n\nrequire (\n\tgithub.com/IBM/sarama v1.43.0\n\tgithub.com/twmb/franz-go v1.15.0\n)\n"
    workspace = "go 1.22\nuse ./svc\nreplace github.com/IBM/sarama => github.com/IBM/sarama v1.30.0\n"
    why = "go.mod has v1.43.0, go.work github.com/IBM/sarama v1.30.0: GOWORK decides which is built"
    assert clients("svc/go.mod", module, {"../go.work": workspace}) == [
        (4, "github.com/ibm/sarama", why),
        (5, "franz-go 1.15.0", ""),
    ]


def test_a_kustomization_says_what_images_become():
    text = "kind: Kustomization\nimages:\n  - name: acme/orders\n    newName: registry.example.org/orders\n    newTag: 1.2.3\n  - name: same\n"
    found = list(named_images.read("kustomization.yaml", "kustomization.yaml", text, lambda path: None))
    assert [(image.reference, image.line) for image in found] == [("registry.example.org/orders:1.2.3", 4)]


def scanned(tmp_path, files_: dict[str, str]):
    for name, text in files_.items():
        (tmp_path / name).write_text(text)
    return scan([tmp_path], "3.9.2", "4.3.1")


def test_settings_of_dotnet_stand_below_a_key_that_names_kafka():
    text = """{
  // a comment of .NET
  "AzureAd": {"ClientId": "oauth"},
  "Kafka": {
    "Consumer": {"GroupId": "billing"},
    "SaslMechanism": "ScramSha512",
    "ClientId": "${CLIENT}"
  },
  "Bus": {"BootstrapServers": "a:9092", "ClientId": "bus"}
}"""
    assert list(code.json_settings(text)) == [
        ("group.id", "billing", 5),
        ("sasl.mechanism", "SCRAM-SHA-512", 6),
        ("client.id", "${CLIENT}", 7),
        ("client.id", "bus", 9),
    ]


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"Kafka": ', '"Kafka"', '{"Kafka": {"GroupId": 7, "ClientId": null}}']
)
def test_other_json_says_nothing(text):
    assert list(code.json_settings(text)) == []


def test_a_mechanism_of_dotnet_decides_a_verdict(tmp_path):
    project = '<Project><ItemGroup><PackageReference Include="Confluent.Kafka" Version="2.3.0" /></ItemGroup></Project>'
    settings = '{"Kafka": {"SaslMechanism": "ScramSha512"}}'
    (found,) = scanned(tmp_path, {"a.csproj": project, "appsettings.json": settings}).found
    assert found.judged.verdict == "breaks"
    assert "sasl.mechanism is SCRAM-SHA-512 in " in found.judged.explanation


def test_variables_of_a_container_and_settings_of_brokers_are_settings(tmp_path):
    manifest = """kind: Deployment
env:
  - name: KAFKA_GROUP_ID
    value: "orders"
  - name: KAFKA_CLIENT_ID
    valueFrom: {fieldRef: {fieldPath: metadata.name}}
  - {name: KAFKA_SASL_MECHANISM, value: PLAIN}
"""
    broker = "inter.broker.protocol.version=2.8\nbootstrap.servers=a:9092\n"
    settings = scanned(tmp_path, {"deploy.yaml": manifest, "server.properties": broker}).settings
    assert [(each.name, each.value, each.line) for each in settings] == [
        ("group.id", "orders", 4),
        ("sasl.mechanism", "PLAIN", 7),
        ("inter.broker.protocol.version", "2.8", 1),
    ]


ALIASED = 'package main\n\nimport (\n\tkafka "github.com/IBM/sarama"\n)\n\nvar v, _ = kafka.ParseKafkaVersion("0.10.2.0")\n'
LIMITED = (
    'package main\n\nimport "github.com/twmb/franz-go/pkg/kgo"\n\nvar o = kgo.MaxVersions(kversion.%s())\n'
)


def test_a_pin_of_sarama_under_another_name_counts(tmp_path):
    module = "module x\n\nrequire github.com/IBM/sarama v1.43.1\n"
    (found,) = scanned(tmp_path, {"go.mod": module, "main.go": ALIASED}).found
    assert found.judged.verdict == "breaks"
    assert "config.Version is 0.10.2.0 in " in found.judged.explanation


@pytest.mark.parametrize(
    ("limit", "verdict"), [("V0_10_2", "insufficient_evidence"), ("V2_8_0", "safe"), ("Stable", "safe")]
)
def test_a_limit_of_franz_go_counts(tmp_path, limit, verdict):
    module = "module x\n\nrequire github.com/twmb/franz-go v1.15.0\n"
    (found,) = scanned(tmp_path, {"go.mod": module, "main.go": LIMITED % limit}).found
    assert found.judged.verdict == verdict
    assert ("limited to V0_10_2 in " in found.judged.explanation) == (verdict != "safe")


def test_a_pin_above_the_default_is_not_described_as_the_default(tmp_path):
    module = "module x\n\nrequire github.com/Shopify/sarama v1.27.2\n"
    pinned = 'package main\n\nimport "github.com/Shopify/sarama"\n\nvar c = sarama.Config{Version: sarama.V2_1_0_0}\n'
    (found,) = scanned(tmp_path, {"go.mod": module, "main.go": pinned}).found
    assert (found.judged.verdict, found.judged.confidence) == ("breaks", "inferred")
    assert (
        "By default (config.Version 0.8.2) this holds, and what of it is left at V2_1_0_0 is not known"
        in (found.judged.explanation)
    )


CARGO = """[[package]]
name = "rdkafka"
version = "0.37.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
dependencies = ["rdkafka-sys"]

[[package]]
name = "rdkafka-sys"
version = "4.9.0+2.10.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
"""
NUGET = {
    "version": 1,
    "dependencies": {
        "net8.0": {
            "Confluent.Kafka": {"type": "Direct", "requested": "[2.3.0, )", "resolved": "2.3.0"},
            "librdkafka.redist": {"type": "Direct", "requested": "[2.10.0, )", "resolved": "2.10.0"},
        }
    },
}


@pytest.mark.parametrize(
    ("name", "text", "binding"),
    [
        ("Cargo.lock", CARGO, "rust-rdkafka 0.37.0"),
        ("packages.lock.json", json.dumps(NUGET), "confluent-kafka-dotnet 2.3.0"),
    ],
)
def test_a_binding_has_the_librdkafka_that_is_locked_beside_it(tmp_path, name, text, binding):
    """getsentry/snuba locks rdkafka 0.37.0, released with librdkafka 2.3.0, and rdkafka-sys of librdkafka 2.10.0."""
    (found,) = scanned(tmp_path, {name: text}).found
    assert found.client.text == f"librdkafka 2.10.0 in {binding}"


def test_a_lock_file_says_what_a_framework_of_one_of_several_libraries_brings(tmp_path):
    """karafka 2 brings librdkafka, karafka 1 ruby-kafka: Gemfile and gemspec leave open what Gemfile.lock says."""
    lock = "GEM\n  specs:\n    karafka (2.5.0)\n      karafka-rdkafka (>= 0.19.2)\n    karafka-rdkafka (0.24.0)\n"
    result = scanned(
        tmp_path,
        {
            "Gemfile.lock": lock,
            "Gemfile": 'gem "karafka"\n',
            "x.gemspec": 'spec.add_dependency "waterdrop", ">= 2.8"\n',
        },
    )
    assert [found.client.text for found in result.found] == ["librdkafka 2.13.0 in karafka-rdkafka 0.24.0"]


def test_pnpm_names_other_registries_before_the_package():
    text = "lockfileVersion: 5.3\n\npackages:\n\n  npm.example.com/kafkajs/2.2.4:\n    dev: false\n"
    assert clients("pnpm-lock.yaml", text) == [(5, "kafkajs 2.2.4", "")]


def test_mix_locks_repositories():
    text = '%{\n  "brod": {:git, "https://example.com/brod.git", "0abc", []},\n}\n'
    assert clients("mix.lock", text) == [(2, "brod", "locked to https://example.com/brod.git, not a release")]


def test_a_range_of_a_version_catalogue_is_shown_as_words():
    text = '[versions]\nkafka = { strictly = "[3.0, 4.0[", prefer = "3.7.0" }\n[libraries]\n'
    text += 'a = { module = "org.apache.kafka:kafka-clients", version.ref = "kafka" }\n'
    ((_, _, why),) = clients("libs.versions.toml", text)
    assert why == "version not locked (strictly [3.0, 4.0[, prefer 3.7.0)"


def test_an_explicit_list_of_conda_may_have_any_name(tmp_path):
    list_ = tmp_path / "env.txt"
    list_.write_text(
        "# platform: linux-64\n@EXPLICIT\n"
        "https://conda.example.com/conda-forge/linux-64/librdkafka-2.5.0-h3b3aa1d_0.conda#0123\n"
    )
    assert [found.client.text for found in scan([list_], "3.9.1", "4.3.1").found] == ["librdkafka 2.5.0"]


TRIVY = {
    "SchemaVersion": 2,
    "ArtifactName": "registry.example.com/erp:1",
    "ArtifactType": "container_image",
    "Metadata": {
        "ImageID": "sha256:" + "a" * 64,
        "RepoDigests": ["registry.example.com/erp@sha256:" + "b" * 64],
    },
    "Results": [
        {"Target": "registry.example.com/erp:1 (debian 12.5)", "Class": "os-pkgs", "Packages": []},
        {
            "Target": "Java",
            "Class": "lang-pkgs",
            "Packages": [
                {
                    "Name": "org.apache.kafka:kafka-clients",
                    "Identifier": {"PURL": "pkg:maven/org.apache.kafka/kafka-clients@2.8.0"},
                    "Version": "2.8.0",
                    "FilePath": "app/app.jar",
                },
                {
                    "Name": "kafkajs",
                    "Identifier": {"PURL": "pkg:npm/kafkajs@1.12.0"},
                    "Version": "1.12.0",
                    "Dev": True,
                },
            ],
        },
    ],
}


def test_a_report_of_trivy_is_read_like_an_sbom(tmp_path):
    (artefact,) = scanned_artefacts(tmp_path, {"trivy.json": json.dumps(TRIVY, indent=2)})
    (found,) = artefact.clients
    assert (found.client.text, found.place.inside) == ("kafka-clients 2.8.0", "app/app.jar")
    assert artefact.kind == "image"
    assert artefact.subject.digests == {"sha256:" + "a" * 64, "sha256:" + "b" * 64}
    assert "registry.example.com/erp:1" in artefact.subject.names


def scanned_artefacts(tmp_path, texts):
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return collect([tmp_path], "3.9.1", "4.3.1").artefacts


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (TRIVY | {"Results": [{"Target": "Java", "Vulnerabilities": []}]}, "--list-all-pkgs"),
        ({"matches": [], "descriptor": {"name": "grype", "version": "0.79.0"}}, "syft -o json"),
    ],
)
def test_a_report_of_vulnerabilities_alone_says_what_to_pass_instead(tmp_path, document, reason):
    (unread,) = scanned(tmp_path, {"report.json": json.dumps(document)}).unread
    assert reason in unread.reason


def test_json_of_something_else_with_matches_is_passed_over(tmp_path):
    result = scanned(tmp_path, {"x.json": '{"matches": [1]}'})
    assert not result.unread and not result.found
