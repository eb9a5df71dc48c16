"""What readers make of files as tools write them: excerpts in the spelling of each version of the format."""

import json
from random import Random

import pytest
from client_telemetry.artefacts import files, libraries
from client_telemetry.artefacts.packages import Unreadable


def clients(name: str, text: str, others: dict[str, str] | None = None) -> list[tuple]:
    """(line, client as shown, why its version is unknown) of each Kafka client in a file of this name."""
    reader = files.by_name(name)
    assert reader is not None, name
    found = []
    for package in reader(text, (others or {}).get):
        if client := libraries.of(package):
            found.append((package.line, client.text, client.why_unknown))
    return found


GO_MOD = """module example.com/orders

go 1.21

require (
\tgithub.com/IBM/sarama v1.41.2
\tgithub.com/twmb/franz-go v1.15.0 // indirect
\tgithub.com/twmb/franz-go/pkg/kmsg v1.6.1 // indirect
\tgithub.com/segmentio/kafka-go v0.0.0-20200101000000-abcdefabcdef
)

require github.com/confluentinc/confluent-kafka-go/v2 v2.3.0

replace github.com/IBM/sarama => github.com/Shopify/sarama v1.38.1
"""

POM = """<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <parent>
    <groupId>com.example</groupId><artifactId>parent</artifactId><version>1</version>
  </parent>
  <artifactId>child</artifactId>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka-clients</artifactId>
    </dependency>
  </dependencies>
</project>
"""
PARENT = """<project>
  <groupId>com.example</groupId><artifactId>parent</artifactId><version>1</version>
  <properties><kafka.version>2.8.1</kafka.version></properties>
  <dependencyManagement><dependencies><dependency>
    <groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId><version>${kafka.version}</version>
  </dependency></dependencies></dependencyManagement>
</project>
"""


def test_go_modules_with_a_replacement_a_commit_and_a_binding():
    assert clients("go.mod", GO_MOD) == [
        (14, "sarama 1.38.1", ""),
        (7, "franz-go 1.15.0", ""),
        (
            9,
            "github.com/segmentio/kafka-go",
            "v0.0.0-20200101000000-abcdefabcdef is a commit, not a release",
        ),
        (12, "librdkafka 2.3.0 in confluent-kafka-go 2.3.0", ""),
    ]


def test_go_sum_is_read_only_where_it_stands_alone_and_names_one_version():
    one = "github.com/IBM/sarama v1.41.2 h1:abc=\ngithub.com/IBM/sarama v1.41.2/go.mod h1:abc=\n"
    assert clients("go.sum", one) == [(1, "sarama 1.41.2", "")]
    assert clients("go.sum", one, {"go.mod": GO_MOD}) == []
    two = one + "github.com/IBM/sarama v1.43.0 h1:abc=\n"
    ((_, _, why),) = clients("go.sum", two)
    assert why == "go.sum has v1.41.2, v1.43.0, and no go.mod says which is used"


def test_a_pom_takes_versions_from_its_parent_in_the_tree_only():
    assert clients("pom.xml", POM, {"../pom.xml": PARENT}) == [(8, "kafka-clients 2.8.1", "")]
    assert clients("pom.xml", POM) == [
        (8, "kafka-clients", "declared in a parent that is not here (com.example:parent:1)")
    ]
    other = PARENT.replace("<artifactId>parent<", "<artifactId>another<")
    assert clients("pom.xml", POM, {"../pom.xml": other}) == clients("pom.xml", POM)


def test_parents_in_a_circle_end():
    circle = PARENT.replace(
        "<properties>",
        "<parent><groupId>com.example</groupId><artifactId>parent</artifactId><version>1</version></parent><properties>",
    )

    class Everywhere(dict):
        def get(self, path):
            return circle

    reader = files.by_name("pom.xml")
    (package,) = reader(POM, Everywhere().get)
    assert package.version == "2.8.1"


def test_xml_with_entities_is_refused():
    bomb = '<!DOCTYPE project [<!ENTITY a "aaaa"><!ENTITY b SYSTEM "file:///etc/passwd">]><project>&a;&b;</project>'
    with pytest.raises(Unreadable, match="refused: it has a DTD or entities"):
        clients("pom.xml", bomb)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "package-lock.json",
            '{"lockfileVersion": 3, "packages": {"": {"dependencies": {"kafkajs": "^2.0.0"}},\n'
            '"node_modules/kafkajs": {"version": "2.2.4"},\n'
            '"node_modules/a/node_modules/kafkajs": {"version": "1.16.0"}}}',
            [(2, "kafkajs 2.2.4", ""), (3, "kafkajs 1.16.0", "")],
        ),
        (
            "package-lock.json",
            '{"lockfileVersion": 1, "dependencies": {\n"kafkajs": {"version": "1.15.0"}}}',
            [(2, "kafkajs 1.15.0", "")],
        ),
        (
            "pnpm-lock.yaml",
            "lockfileVersion: '9.0'\npackages:\n\n  kafkajs@2.2.4:\n    resolution: {}\n\n"
            "  '@confluentinc/kafka-javascript@1.0.0':\n    resolution: {}\n\nsnapshots:\n\n  kafkajs@2.2.4: {}\n",
            [
                (4, "kafkajs 2.2.4", ""),
                (7, "librdkafka 2.6.1 in confluent-kafka-javascript 1.0.0", ""),
            ],
        ),
        (
            "pnpm-lock.yaml",
            "lockfileVersion: 5.4\npackages:\n\n  /kafkajs/1.16.0:\n    resolution: {}\n",
            [(4, "kafkajs 1.16.0", "")],
        ),
        (
            "yarn.lock",
            '# yarn lockfile v1\n\n\nkafkajs@^2.0.0, kafkajs@^2.1.0:\n  version "2.2.4"\n  resolved "x"\n',
            [(5, "kafkajs 2.2.4", "")],
        ),
        (
            "yarn.lock",
            '"kafkajs@npm:^2.0.0":\n  version: 2.2.4\n  resolution: "kafkajs@npm:2.2.4"\n',
            [(2, "kafkajs 2.2.4", "")],
        ),
        (
            "requirements.txt",
            "# pinned\nkafka-python==2.0.2 ; python_version > '3' \\\n    --hash=sha256:00\nConfluent_Kafka[avro]==2.3.0\naiokafka>=0.8\n-r other.txt\n",
            [
                (2, "kafka-python 2.0.2", ""),
                (4, "librdkafka 2.3.0 in confluent-kafka-python 2.3.0", ""),
                (5, "aiokafka", "version not locked (>=0.8)"),
            ],
        ),
        (
            "setup.py",
            'setup(name="aiokafka", keywords=["kafka"], install_requires=[\n  "kafka-python==1.4.6",\n  # "aiokafka==0.1",\n  "confluent-kafka[avro]>=1.0"])\n',
            [
                (2, "kafka-python 1.4.6", ""),
                (4, "confluent-kafka", "version not locked (>=1.0)"),
            ],
        ),
        (
            "setup.cfg",
            "[metadata]\nname = aiokafka\n[options]\ninstall_requires =\n    kafka-python==1.4.6\n    aiokafka\n",
            [(5, "kafka-python 1.4.6", ""), (6, "aiokafka", "version not locked (no version)")],
        ),
        (
            "setup.py",
            "\n\n# a comment\nneeded = ['aiokafka']\nsetup(install_requires=['kafka-python', \"confluent-kafka\"],\n  extras_require={'aiokafka': ['pykafka']})\n",
            [
                (5, "kafka-python", "version not locked (no version)"),
                (5, "confluent-kafka", "version not locked (no version)"),
                (6, "pykafka", "version not locked (no version)"),
            ],
        ),
        (
            "setup.py",
            "print 'Python 2'\n\n# aiokafka==0.1\nsetup(install_requires=['kafka-python>=1.4,<2'])\n",
            [(4, "kafka-python", "version not locked (<2,>=1.4)")],
        ),
        (
            "setup.cfg",
            "[metadata]\nkeywords =\n    aiokafka\n[options]\ninstall_requires = kafka-python\n[options.extras_require]\nfast =\n    # confluent-kafka\n    pykafka>=2; python_version > '3'\n",
            [
                (5, "kafka-python", "version not locked (no version)"),
                (9, "pykafka", "version not locked (>=2)"),
            ],
        ),
        (
            "pyproject.toml",
            '[project]\ndependencies = ["faststream[kafka]>=0.5", "faststream[rabbit]"]\n[tool.poetry.dependencies]\nfaststream = {version = "0.5.1", extras = ["nats", "confluent"]}\n',
            [
                (2, "faststream[kafka]", "brings aiokafka, whose version is not written here"),
                (4, "faststream[confluent] 0.5.1", "brings librdkafka, whose version is not written here"),
            ],
        ),
        (
            "mix.lock",
            '%{"brod": {:hex, :brod, "3.2.0", "64f0", [:make, :rebar], [], "hexpm"},\n  "earmark": {:hex, :earmark, "1.2.2", "f718", [:mix], []}}\n',
            [(1, "brod 3.2.0", "")],
        ),
        (
            "uv.lock",
            '[[package]]\nname = "aiokafka"\nversion = "0.12.0"\nsource = { git = "https://example.com/aiokafka#1b59" }\n',
            [(2, "aiokafka", "locked to https://example.com/aiokafka#1b59, not a release")],
        ),
        (
            "poetry.lock",
            '[[package]]\nname = "aiokafka"\nversion = "0.12.0"\n[package.source]\ntype = "git"\nurl = "https://example.com/aiokafka"\n',
            [(2, "aiokafka", "locked to https://example.com/aiokafka, not a release")],
        ),
        (
            "pdm.lock",
            '[[package]]\nname = "aiokafka"\nversion = "0.12.0"\ngit = "https://example.com/aiokafka"\n',
            [(2, "aiokafka", "locked to https://example.com/aiokafka, not a release")],
        ),
        (
            "Cargo.lock",
            '[[package]]\nname = "rdkafka"\nversion = "0.29.0"\nsource = "git+https://example.com/rust-rdkafka#4f3a"\n',
            [(2, "rdkafka", "locked to git+https://example.com/rust-rdkafka#4f3a, not a release")],
        ),
        (
            "Gemfile.lock",
            "GIT\n  remote: https://example.com/rdkafka-ruby\n  revision: 4f3a\n  specs:\n    rdkafka (0.12.0)\n\nGEM\n  remote: https://example.com/\n  specs:\n    ruby-kafka (1.5.0)\n",
            [
                (5, "rdkafka", "locked to https://example.com/rdkafka-ruby, not a release"),
                (10, "ruby-kafka 1.5.0", ""),
            ],
        ),
        (
            "package-lock.json",
            '{"packages": {"node_modules/kafkajs": {"version": "2.2.4", "resolved": "git+ssh://git@example.com/kafkajs.git#4f3a"}}}',
            [(1, "kafkajs", "locked to git+ssh://git@example.com/kafkajs.git#4f3a")],
        ),
        (
            "yarn.lock",
            '"kafkajs@git+https://example.com/kafkajs.git":\n  version "2.2.4"\n  resolved "git+https://example.com/kafkajs.git#4f3a"\n\n"kafkajs@https://example.com/kafkajs.git#fix":\n  version: 2.2.4\n  resolution: "kafkajs@https://example.com/kafkajs.git#commit=4f3a"\n',
            [
                (2, "kafkajs", "locked to git+https://example.com/kafkajs.git#4f3a"),
                (6, "kafkajs", "locked to https://example.com/kafkajs.git#commit=4f3a"),
            ],
        ),
        (
            "requirements.txt",
            "-e git+https://example.com/x#egg=kafka-python\n--index-url https://example.com/kafka-python==1\nkafka-python @ git+https://example.com/fork@v1.0\nkafka-python==2.0.*\n",
            [
                (1, "kafka-python", "installed from git+https://example.com/x#egg=kafka-python"),
                (3, "kafka-python", "installed from git+https://example.com/fork@v1.0"),
                (4, "kafka-python", "version not locked (==2.0.*)"),
            ],
        ),
        (
            "pnpm-lock.yaml",
            "lockfileVersion: '6.0'\npackages:\n\n  /kafkajs@2.2.4(encoding@0.1.13):\n    resolution: {}\n\n  /@platformatic/kafka@1.0.0:\n    dev: false\n",
            [(4, "kafkajs 2.2.4", ""), (7, "platformatic-kafka 1.0.0", "")],
        ),
        (
            "yarn.lock",
            '"app@workspace:.":\n  version: 0.0.0-use.local\n\n"queue@npm:kafkajs@^2.0.0":\n  version: 2.2.3\n  resolution: "kafkajs@npm:2.2.3"\n',
            [(5, "kafkajs 2.2.3", "")],
        ),
        (
            "package-lock.json",
            '{"packages": {"node_modules/queue": {"name": "kafkajs", "version": "2.2.3"},\n"node_modules/kafkajs": {"link": true}}}',
            [(1, "kafkajs 2.2.3", "")],
        ),
        (
            "poetry.lock",
            '[[package]]\nname = "aiokafka"\nversion = "0.12.0"\n',
            [(2, "aiokafka 0.12.0", "")],
        ),
        (
            "Pipfile.lock",
            '{"default": {"kafka-python": {"version": "==1.4.7"}}}',
            [(1, "kafka-python 1.4.7", "")],
        ),
        (
            "environment.yml",
            "dependencies:\n  - librdkafka=2.3.0\n  - python=3.11\n  - pip:\n    - kafka-python==2.0.2\n",
            [(2, "librdkafka 2.3.0", ""), (5, "kafka-python 2.0.2", "")],
        ),
        (
            "Cargo.lock",
            '[[package]]\nname = "rdkafka-sys"\nversion = "4.7.0+2.3.0"\n',
            [(2, "librdkafka 2.3.0", "")],
        ),
        ("Gemfile.lock", "GEM\n  specs:\n    ruby-kafka (1.5.0)\n", [(3, "ruby-kafka 1.5.0", "")]),
        (
            "composer.lock",
            '{"packages": [], "platform": {"ext-rdkafka": "*"}}',
            [
                (
                    1,
                    "ext-rdkafka",
                    "brings librdkafka, whose version is not written here (PHP's extension uses the librdkafka of the system)",
                )
            ],
        ),
        (
            "packages.lock.json",
            '{"dependencies": {"net8.0": {"Confluent.Kafka": {"type": "Direct", "resolved": "2.3.0"},\n"librdkafka.redist": {"type": "Transitive", "resolved": "2.3.0"}}}}',
            [
                (1, "librdkafka 2.3.0 in confluent-kafka-dotnet 2.3.0", ""),
                (2, "librdkafka 2.3.0", ""),
            ],
        ),
        (
            "Orders.csproj",
            '<Project Sdk="Microsoft.NET.Sdk">\n<ItemGroup>\n<PackageReference Include="Confluent.Kafka" Version="1.8.2" />\n</ItemGroup></Project>',
            [(3, "librdkafka 1.8.2 in confluent-kafka-dotnet 1.8.2", "")],
        ),
        (
            "mix.lock",
            '%{\n  "brod": {:hex, :brod, "3.16.8", "abc", [:rebar3], [], "hexpm", "def"},\n}\n',
            [(2, "brod 3.16.8", "")],
        ),
        (
            "gradle.lockfile",
            "# locked\norg.apache.kafka:kafka-clients:3.4.0=compileClasspath\nempty=\n",
            [(2, "kafka-clients 3.4.0", "")],
        ),
        (
            "libs.versions.toml",
            '[versions]\nkafka = "3.6.1"\n\n[libraries]\nkafka-clients = { module = "org.apache.kafka:kafka-clients", version.ref = "kafka" }\n',
            [(2, "kafka-clients 3.6.1", "")],
        ),
        (
            "Dockerfile",
            "FROM python:3.11\nRUN apt-get update && apt-get install -y --no-install-recommends \\\n"
            "    librdkafka-dev=2.0.2-1 \\\n    # not kcat\n    gcc \\\n && pip install --no-cache-dir 'kafka-python==1.4.7' aiokafka\n"
            "RUN npm install -g kafkajs@$VERSION\nENV X kafka-python==1\n# RUN pip install kafka-python==1.3.5\n",
            [
                (3, "librdkafka 2.0.2", ""),
                (6, "kafka-python 1.4.7", ""),
                (6, "aiokafka", "version not locked (aiokafka)"),
                (7, "kafkajs", "version not locked (kafkajs@$VERSION)"),
            ],
        ),
        (
            "build.gradle.kts",
            'val kafkaVersion = "2.0.1"\ndependencies {\n  implementation("org.apache.kafka:kafka-clients:$kafkaVersion")\n}\n',
            [(1, "kafka-clients 2.0.1", "")],
        ),
    ],
)
def test_a_lock_file_or_manifest(name, text, expected):
    assert clients(name, text) == expected


CYCLONEDX = """{"bomFormat": "CycloneDX", "specVersion": "1.5", "components": [
 {"type": "library", "name": "kafka-clients", "purl": "pkg:maven/org.apache.kafka/kafka-clients@3.9.0?type=jar",
  "properties": [{"name": "syft:location:0:path", "value": "/app/orders.jar"}]},
 {"type": "application", "name": "app", "components": [
  {"name": "librdkafka1", "version": "2.0.2-1", "purl": "pkg:deb/debian/librdkafka1@2.0.2-1?arch=amd64&distro=debian-12"}]},
 {"name": "sarama", "purl": "pkg:golang/github.com/IBM/sarama@v1.43.1"},
 {"name": "no purl", "version": "1"}]}
"""
SPDX = """{"spdxVersion": "SPDX-2.3", "packages": [{"name": "kafkajs", "versionInfo": "2.2.4", "externalRefs": [
 {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:npm/kafkajs@2.2.4"}]}]}
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CYCLONEDX, [(2, "kafka-clients 3.9.0", ""), (5, "librdkafka 2.0.2", ""), (6, "sarama 1.43.1", "")]),
        (SPDX, [(2, "kafkajs 2.2.4", "")]),
    ],
)
def test_an_sbom(text, expected):
    assert clients("sbom.json", text) == expected
    assert files.by_beginning("sbom.json", text) is not None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not JSON: .* at line 1"),
        ("[" * 100_000, "not JSON: nested too deeply"),
        ("{}", "not an SBOM: neither CycloneDX nor SPDX"),
        ("[]", "not a JSON object"),
    ],
)
def test_an_sbom_that_cannot_be_read_says_why(text, reason):
    with pytest.raises(Unreadable, match=reason):
        clients("bom.json", text)


@pytest.mark.parametrize(
    "name",
    [
        "go.mod",
        "build.gradle",
        "pnpm-lock.yaml",
        "yarn.lock",
        "requirements.txt",
        "Gemfile",
        "environment.yml",
    ],
)
def test_a_line_of_a_million_characters_takes_no_time(name):
    for piece in ("a.", "a/", "'a.b:", '"a" % ', "@a", "- "):
        clients(name, "require " + piece * 500_000 + "\n" + piece * 500_000)


def test_mutated_json_and_toml_is_read_or_refused():
    random = Random(1)
    values = [None, 1, [], {}, "x", [1], {"a": None}, True, "pkg:npm/%zz@", "\x00"]

    def mutated(value):
        if random.random() < 0.1:
            return random.choice(values)
        if isinstance(value, dict):
            return {name: mutated(entry) for name, entry in value.items()}
        return [mutated(entry) for entry in value] if isinstance(value, list) else value

    seeds = {
        "bom.json": CYCLONEDX,
        "x.spdx.json": SPDX,
        "package-lock.json": '{"packages": {"node_modules/kafkajs": {"version": "2.2.4"}}}',
        "Pipfile.lock": '{"default": {"kafka-python": {"version": "==1.4.7"}}}',
        "composer.lock": '{"packages": [{"name": "a/b", "version": "1"}], "platform": {"ext-rdkafka": "*"}}',
        "packages.lock.json": '{"dependencies": {"net8.0": {"Confluent.Kafka": {"resolved": "2.3.0"}}}}',
        "vcpkg.json": '{"dependencies": ["librdkafka"], "overrides": [{"name": "librdkafka", "version": "2.3.0"}]}',
    }
    for name, text in seeds.items():
        for _ in range(300):
            try:
                clients(name, json.dumps(mutated(json.loads(text))))
            except Unreadable as refused:
                assert str(refused)


def test_a_module_replaced_by_one_that_nobody_knows_has_no_version():
    text = "require github.com/IBM/sarama v1.41.2\nreplace github.com/IBM/sarama => github.com/elastic/sarama v1.19.1\n"
    ((line, client, why),) = clients("go.mod", text)
    assert (line, client) == (2, "github.com/ibm/sarama")
    assert why == "replaced by github.com/elastic/sarama v1.19.1, another module"


COMMIT = "ec843464b50d4c8b56403ec9d589cf41ea30e722"
LESS_COMMON = {
    "vendor/modules.txt": (
        "# github.com/Shopify/sarama v1.27.0\n## explicit\ngithub.com/Shopify/sarama\n",
        [(1, "sarama 1.27.0", "")],
    ),
    "Gopkg.lock": (
        f"""[[projects]]
  digest = "1:a"
  name = "github.com/Shopify/sarama"
  packages = ["."]
  revision = "{COMMIT}"
  version = "v1.19.0"

[[projects]]
  name = "github.com/segmentio/kafka-go"
  revision = "{COMMIT}"
""",
        [
            (6, "sarama 1.19.0", ""),
            (10, "github.com/segmentio/kafka-go", f"{COMMIT} is a commit, not a release"),
        ],
    ),
    "glide.lock": (
        "imports:\n- name: github.com/Shopify/sarama\n  version: v1.14.0\n  subpackages:\n  - mocks\n",
        [(3, "sarama 1.14.0", "")],
    ),
    "Godeps/Godeps.json": (
        '{"Deps": [{"ImportPath": "github.com/Shopify/sarama", "Comment": "v1.8.0-12-gdead", "Rev": "dead"}]}',
        [(1, "github.com/shopify/sarama", "dead is a commit, not a release")],
    ),
    "bun.lock": (
        """{
  "lockfileVersion": 1,
  "packages": {
    "kafkajs": ["kafkajs@1.15.0", "", {}, "sha512-x=="],
    "old": ["node-rdkafka@2.9.1", "", { "dependencies": { "bindings": "^1.3.1" } }, "sha512-"],
  }
}
""",
        [(4, "kafkajs 1.15.0", ""), (5, "librdkafka 1.4.2 in node-rdkafka 2.9.1", "")],
    ),
    "deno.lock": (
        '{"version": "3", "packages": {"npm": {"kafkajs@2.2.4_react@18.0.0": {"integrity": "x"}}}}',
        [(1, "kafkajs 2.2.4", "")],
    ),
    "conda-lock.yml": (
        """package:
- name: librdkafka
  version: 1.9.2
  manager: conda
  platform: linux-64
- name: librdkafka
  version: 1.9.2
  manager: conda
  platform: osx-64
- name: kafka_python
  version: 2.0.1
  manager: pip
""",
        [(2, "librdkafka 1.9.2", ""), (10, "kafka-python 2.0.1", "")],
    ),
    "pixi.lock": (
        """version: 6
packages:
- conda: https://conda.example/conda-forge/linux-64/librdkafka-1.9.2-ha5a0de0_2.tar.bz2
  sha256: a
- pypi: https://files.example/packages/x/kafka_python-2.0.2-py2.py3-none-any.whl
  name: kafka-python
  version: 2.0.2
""",
        [(3, "librdkafka 1.9.2", ""), (5, "kafka-python 2.0.2", "")],
    ),
    "conda-linux-64.lock": (
        "@EXPLICIT\nhttps://conda.example/conda-forge/linux-64/librdkafka-1.9.2-ha5a0de0_2.conda#abc\n",
        [(2, "librdkafka 1.9.2", "")],
    ),
    "dependencies.lock": (
        '{"runtimeClasspath": {"org.apache.kafka:kafka-clients": {"locked": "0.10.2.2", "transitive": ["x:y"]}}}',
        [(1, "kafka-clients 0.10.2.2", "")],
    ),
    "third_party/maven_install.json": (
        '{"artifacts": {"org.apache.kafka:kafka-clients": {"shasums": {}, "version": "0.10.2.1"}}}',
        [(1, "kafka-clients 0.10.2.1", "")],
    ),
    "maven_install.json": (
        '{"dependency_tree": {"dependencies": [{"coord": "org.apache.kafka:kafka-clients:jar:sources:2.8.0"}]}}',
        [(1, "kafka-clients 2.8.0", "")],
    ),
    "WORKSPACE": (
        'artifacts = [maven.artifact(group = "org.apache.kafka", artifact = "kafka-clients", version = "0.11.0.0")]',
        [(1, "kafka-clients 0.11.0.0", "")],
    ),
    "build.sc": (
        'def ivyDeps = Agg(ivy"org.apache.kafka:kafka-clients:0.10.2.0", ivy"com.github.fd4s::fs2-kafka:3.0.0")',
        [
            (1, "kafka-clients 0.10.2.0", ""),
            (1, "fs2-kafka 3.0.0", "brings kafka-clients, whose version is not written here"),
        ],
    ),
    "project.clj": (
        '(defproject x "1" :dependencies [[org.apache.kafka/kafka-clients "0.10.2.1"]]) ; [org.apache.kafka/kafka-clients "1"]',
        [(1, "kafka-clients 0.10.2.1", "")],
    ),
    "deps.edn": (
        '{:deps {org.apache.kafka/kafka-clients {:mvn/version "2.0.0"}}}',
        [(1, "kafka-clients 2.0.0", "")],
    ),
    "ivy.xml": (
        '<ivy-module version="2.0"><dependencies><dependency org="org.apache.kafka" name="kafka-clients" rev="latest.release"/></dependencies></ivy-module>',
        [(1, "kafka-clients", "version not locked (latest.release)")],
    ),
    "paket.lock": (
        "NUGET\n  remote: https://x\n    Confluent.Kafka (1.5.3)\n      librdkafka.redist (>= 1.5.3)\n",
        [(3, "librdkafka 1.5.3 in confluent-kafka-dotnet 1.5.3", "")],
    ),
    "paket.dependencies": (
        "source https://x\nnuget Confluent.Kafka 0.11.6\n",
        [(2, "librdkafka 0.11.6 in confluent-kafka-dotnet 0.11.6", "")],
    ),
    "Package.resolved": (
        '{"pins": [{"location": "https://github.com/swift-server/swift-kafka-client.git", "state": {"revision": "x"}}]}',
        [
            (
                1,
                "github.com/swift-server/swift-kafka-client",
                "brings librdkafka, whose version is not written here (builds librdkafka from a submodule)",
            )
        ],
    ),
    "cabal.project.freeze": (
        "constraints: any.hw-kafka-client ==4.0.3,\n             any.milena ==0.5.4.0\n",
        [
            (
                1,
                "hw-kafka-client 4.0.3",
                "brings librdkafka, whose version is not written here (links the librdkafka of the system)",
            ),
            (2, "milena 0.5.4.0", "nothing is known about what it sends"),
        ],
    ),
    "cpanfile.snapshot": (
        "DISTRIBUTIONS\n  Kafka-1.08\n    pathname: S/SG/Kafka-1.08.tar.gz\n",
        [(2, "Kafka 1.08", "nothing is known about what it sends")],
    ),
    "app.gemspec": (
        'spec.add_runtime_dependency "ruby-kafka", "~> 0.7"\n',
        [(1, "ruby-kafka", "version not locked (~> 0.7)")],
    ),
    "CMakeLists.txt": (
        """FetchContent_Declare(librdkafka
  GIT_REPOSITORY https://github.com/confluentinc/librdkafka.git
  GIT_TAG v1.4.2)
""",
        [(2, "librdkafka 1.4.2", "")],
    ),
    "build-deps.sh": (
        'VERSION="v1.5.0"\ncurl -L https://github.com/edenhill/librdkafka/archive/${VERSION}.tar.gz | tar xz\n',
        [(1, "librdkafka 1.5.0", "")],
    ),
    ".gitmodules": (
        "[submodule]\n\turl = https://github.com/confluentinc/librdkafka.git\n",
        [(2, "librdkafka", "a submodule of git: its commit is not in a file")],
    ),
}


@pytest.mark.parametrize("name", LESS_COMMON)
def test_a_less_common_format(name):
    text, expected = LESS_COMMON[name]
    assert clients(name, text) == expected


def test_files_of_requirements_under_any_name_count_where_they_are_included():
    others = {
        "base.txt": "kafka-python==2.0.1\n-r deps/more.txt\n",
        "deps/more.txt": "pykafka==2.8.0\n-r ../base.txt\n",
    }
    assert clients("requirements.txt", "-r base.txt\naiokafka==0.7.0\n", others) == [
        (2, "aiokafka 0.7.0", ""),
        (1, "kafka-python 2.0.1", ""),
        (1, "pykafka 2.8.0", ""),
    ]


def test_a_fork_of_librdkafka_is_not_the_release_that_its_tag_names():
    text = "RUN git clone -b v1.6.1 https://github.com/ClickHouse/librdkafka && pecl install rdkafka-4.0.3"
    assert clients("Dockerfile", text) == [
        (1, "librdkafka", "from github.com/clickhouse/librdkafka, a repository of its own"),
        (
            1,
            "rdkafka 4.0.3",
            "brings librdkafka, whose version is not written here (PHP's extension uses the librdkafka of the system)",
        ),
    ]


def test_versions_of_a_gradle_script_that_stand_on_the_same_line_or_in_kotlin():
    groovy = "ext { kafkaVersion = '0.10.2.1' }\ncompile group: 'org.apache.kafka', name: 'kafka-clients', version: kafkaVersion\n"
    assert clients("build.gradle", groovy) == [(1, "kafka-clients 0.10.2.1", "")]
    kotlin = 'val kafka by extra("1.0.0")\nimplementation("org.apache.kafka", "kafka-clients", "0.10.0.0")\n'
    kotlin += 'api("org.apache.kafka:kafka-streams:${property("kafka")}")\n'
    assert clients("build.gradle.kts", kotlin) == [
        (2, "kafka-clients 0.10.0.0", ""),
        (1, "kafka-clients 1.0.0", ""),
    ]


def test_a_profile_of_maven_with_another_version_is_another_client():
    def dependency(version: str) -> str:
        return f"<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId><version>{version}</version></dependency></dependencies>"

    pom = f"<project>{dependency('3.6.0')}<profiles><profile>{dependency('0.9.0.1')}</profile><profile>{dependency('3.6.0')}</profile></profiles></project>"
    assert [client for _, client, _ in clients("pom.xml", pom)] == [
        "kafka-clients 3.6.0",
        "kafka-clients 0.9.0.1",
    ]
