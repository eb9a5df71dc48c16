"""What only tests or development use makes no application break or safe, and hides nothing that the application has."""

import json

import pytest
from client_telemetry.artefacts.scan import scan

KAFKA, SPRING = ("org.apache.kafka", "kafka-clients"), ("org.springframework.kafka", "spring-kafka")


def dependency(coordinates, version="", scope="", further=""):
    group, artifact = coordinates
    written = f"<version>{version}</version>" if version else ""
    written += f"<scope>{scope}</scope>" if scope else ""
    return f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>{written}{further}</dependency>"


def pom(*dependencies, managed=()):
    listed = "\n".join(managed)
    return (
        f"<project>\n<dependencyManagement><dependencies>\n{listed}\n</dependencies></dependencyManagement>\n"
        "<dependencies>\n" + "\n".join(dependencies) + "\n</dependencies>\n</project>\n"
    )


def scanned(tmp_path, files, target="4.3.1"):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return scan([tmp_path], "3.9.1", target)


def application(result):
    return [(found.client.text, found.place.line, found.judged.verdict) for found in result.found]


def development(result):
    return [(each.client.text, each.place.line, each.said_by) for each in result.development]


OLD_IN_TESTS = dependency(KAFKA, "0.10.0.0", "test")
SAFE, BREAKS, UNKNOWN = "safe", "breaks", "insufficient_evidence"


def test_a_library_of_tests_has_a_place_and_no_verdict(tmp_path):
    result = scanned(tmp_path, {"pom.xml": pom(dependency(KAFKA, "3.9.0"), OLD_IN_TESTS)})
    assert application(result) == [("kafka-clients 3.9.0", 6, SAFE)]
    assert development(result) == [("kafka-clients 0.10.0.0", 7, "scope test")]


def test_maven_leaves_out_of_the_runtime_what_is_declared_or_managed_with_scope_test(tmp_path):
    """As `mvn dependency:tree` of Maven 3 shows: kafka-clients is there with scope test alone, whatever spring-kafka needs."""
    declared = scanned(tmp_path / "a", {"pom.xml": pom(OLD_IN_TESTS, dependency(SPRING, "3.1.2"))})
    managed = scanned(tmp_path / "b", {"pom.xml": pom(dependency(SPRING, "3.1.2"), managed=[OLD_IN_TESTS])})
    tree = (
        "[INFO] x:a:jar:1\n[INFO] +- org.apache.kafka:kafka-clients:jar:0.10.0.0:test\n"
        "[INFO] \\- org.springframework.kafka:spring-kafka:jar:3.1.2:compile\n"
    )
    resolved = scanned(tmp_path / "c", {"dependency-tree.txt": tree})
    for result in (declared, managed, resolved):
        (found,) = result.found
        assert (found.client.text, found.judged.verdict) == ("spring-kafka 3.1.2", UNKNOWN)
        assert "scope test" in found.judged.explanation and "leaves it out" in found.judged.explanation
    assert development(managed) == []
    assert [text for text, *_ in development(declared)] == ["kafka-clients 0.10.0.0"]


def test_the_jar_with_the_tests_of_kafka_is_another_one_than_kafka_clients(tmp_path):
    """Spring's documentation has people declare it; `mvn dependency:tree` then has kafka-clients with scope compile, too."""
    tests = dependency(KAFKA, "2.8.0", "test", "<classifier>test</classifier>")
    result = scanned(tmp_path, {"pom.xml": pom(tests, dependency(SPRING, "3.1.2"))})
    assert [text for text, *_ in application(result)] == ["kafka-clients 3.6.1 brought by spring-kafka 3.1.2"]
    assert development(result) == [("kafka-clients 2.8.0", 6, "the jar of its tests")]


def test_a_scope_is_that_of_the_management_unless_it_is_written(tmp_path):
    managed = [dependency(KAFKA, "0.10.0.0", "test")]
    by_management = scanned(tmp_path / "a", {"pom.xml": pom(dependency(KAFKA), managed=managed)})
    assert application(by_management) == []
    own = dependency(KAFKA, scope="compile")
    written = scanned(tmp_path / "b", {"pom.xml": pom(own, managed=managed)})
    assert [(text, verdict) for text, _, verdict in application(written)] == [
        ("kafka-clients 0.10.0.0", BREAKS)
    ]
    parent = "<project><groupId>x</groupId><artifactId>p</artifactId><version>1</version>" + pom(
        managed=managed
    ).removeprefix("<project>")
    of_parent = "<parent><groupId>x</groupId><artifactId>p</artifactId><version>1</version></parent>"
    child = pom(dependency(KAFKA)).replace("<project>", f"<project>{of_parent}")
    inherited = scanned(tmp_path / "c", {"pom.xml": parent, "app/pom.xml": child})
    assert application(inherited) == [] and len(inherited.development) == 1


@pytest.mark.parametrize("scope", ["provided", "system"])
def test_what_the_platform_brings_is_never_safe_by_the_version_to_compile_with(tmp_path, scope):
    new = scanned(tmp_path / "a", {"pom.xml": pom(dependency(KAFKA, "3.9.0", scope))})
    assert [verdict for *_, verdict in application(new)] == [UNKNOWN]
    assert f"scope {scope} leaves it to the platform" in new.found[0].judged.explanation
    old = scanned(tmp_path / "b", {"pom.xml": pom(dependency(KAFKA, "0.10.0.0", scope))})
    assert [(found.judged.verdict, found.judged.confidence) for found in old.found] == [(BREAKS, "inferred")]
    assert "it runs with" in old.found[0].judged.condition


GRADLE_LOCK = """org.apache.kafka:kafka-clients:0.10.0.0=testCompileClasspath,integrationTestRuntimeClasspath
org.apache.kafka:kafka-clients:3.9.0=compileClasspath,runtimeClasspath,testFixturesRuntimeClasspath
"""
GRADLE = """dependencies {
    implementation 'org.apache.kafka:kafka-clients:3.9.0'
    testImplementation(
        "org.apache.kafka:kafka-clients:0.10.0.0",
    )
    integrationTestImplementation group: 'org.apache.kafka', name: 'kafka-clients', version: '0.10.0.1'
}
"""
SBT = """libraryDependencies ++= Seq(
  "org.apache.kafka" % "kafka-clients" % "3.9.0",
  "org.apache.kafka" % "kafka-clients" % "0.10.0.0" % Test,
  "org.apache.kafka" % "kafka-clients" % "0.10.0.1" % "it,test"
)
"""


@pytest.mark.parametrize(
    ("name", "text", "of_development"),
    [
        ("gradle.lockfile", GRADLE_LOCK, ["0.10.0.0"]),
        ("build.gradle", GRADLE, ["0.10.0.0", "0.10.0.1"]),
        ("build.sbt", SBT, ["0.10.0.0", "0.10.0.1"]),
    ],
)
def test_configurations_of_builds(tmp_path, name, text, of_development):
    result = scanned(tmp_path, {name: text})
    assert [text for text, *_ in application(result)] == ["kafka-clients 3.9.0"]
    assert [text for text, *_ in development(result)] == [f"kafka-clients {each}" for each in of_development]


def test_what_is_there_to_compile_with_only_is_the_platforms(tmp_path):
    result = scanned(tmp_path, {"gradle.lockfile": "org.apache.kafka:kafka-clients:3.9.0=compileClasspath\n"})
    assert [verdict for *_, verdict in application(result)] == [UNKNOWN]


def npm(version, **further):
    return {"version": version, "resolved": f"https://example.com/{version}.tgz", **further}


PACKAGE_LOCK_1 = {
    "lockfileVersion": 1,
    "dependencies": {
        "kafkajs": npm("1.12.0", dev=True),
        "x": npm("1.0.0", dependencies={"kafkajs": npm("2.2.4")}),
    },
}
PACKAGE_LOCK_3 = {
    "lockfileVersion": 3,
    "packages": {
        "": {"devDependencies": {"kafkajs": "1.12.0"}},
        "node_modules/kafkajs": npm("1.12.0", dev=True),
        "node_modules/x/node_modules/kafkajs": npm("2.2.4", devOptional=True),
    },
}
PNPM_5 = """lockfileVersion: 5.4

packages:

  /kafkajs/1.12.0:
    resolution: {integrity: sha512-a}
    engines: {node: '>=10'}
    dev: true

  /kafkajs/2.2.4:
    resolution: {integrity: sha512-b}
    dev: false
"""
PNPM_9 = """lockfileVersion: '9.0'

importers:

  .:
    dependencies:
      broker:
        specifier: ^1.0.0
        version: 1.0.0(peer@2.0.0)
    devDependencies:
      kafkajs:
        specifier: 1.12.0
        version: 1.12.0

packages:

  broker@1.0.0:
    resolution: {integrity: sha512-c}
    peerDependencies:
      peer: '*'

  kafkajs@1.12.0:
    resolution: {integrity: sha512-a}

  kafkajs@2.2.4:
    resolution: {integrity: sha512-b}

snapshots:

  broker@1.0.0(peer@2.0.0):
    dependencies:
      kafkajs: 2.2.4

  kafkajs@1.12.0: {}

  kafkajs@2.2.4: {}
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("package-lock.json", json.dumps(PACKAGE_LOCK_1)),
        ("package-lock.json", json.dumps(PACKAGE_LOCK_3)),
        ("pnpm-lock.yaml", PNPM_5),
        ("pnpm-lock.yaml", PNPM_9),
    ],
)
def test_lock_files_of_node_say_what_development_alone_needs(tmp_path, name, text):
    result = scanned(tmp_path, {name: text})
    assert [text for text, *_ in application(result)] == ["kafkajs 2.2.4"]
    assert [text for text, *_ in development(result)] == ["kafkajs 1.12.0"]


YARN = """# yarn lockfile v1


kafkajs@^1.12.0:
  version "1.12.0"
  resolved "https://registry.yarnpkg.com/kafkajs/-/kafkajs-1.12.0.tgz#a"

other@^1.0.0:
  version "1.0.0"
  dependencies:
    NEEDED "^1.12.0"
"""
BERRY = """__metadata:
  version: 8

"app@workspace:.":
  version: 0.0.0-use.local
  resolution: "app@workspace:."
  dependencies:
    kafkajs: "npm:^1.12.0"
  languageName: unknown
  linkType: soft

"kafkajs@npm:^1.12.0":
  version: 1.12.0
  resolution: "kafkajs@npm:1.12.0"
  languageName: node
"""
CARGO_LOCK = """[[package]]
name = "app"
version = "0.1.0"
dependencies = ["rdkafka", "other"]

[[package]]
name = "other"
version = "1.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
dependencies = ["NEEDED"]

[[package]]
name = "rdkafka"
version = "0.36.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
"""
GEMFILE_LOCK = """GEM
  remote: https://rubygems.org/
  specs:
    other (1.0.0)
      NEEDED (~> 0.12)
    rdkafka (0.12.0)
      ffi (~> 1.15)
"""
MIX_LOCK = """%{
  "brod": {:hex, :brod, "3.16.0", "a", [:rebar3], [{:kafka_protocol, "4.0.1", [hex: :kafka_protocol, optional: false]}], "hexpm", "b"},
  "other": {:hex, :other, "1.0.0", "a", [:mix], [{:NEEDED, "~> 3.0", [hex: :x, optional: false]}], "hexpm", "b"},
}
"""
POETRY_1_5 = """[[package]]
name = "kafka-python"
version = "1.4.7"
optional = false

[[package]]
name = "other"
version = "1.0.0"
[package.dependencies]
NEEDED = "*"
"""
PYPROJECT = """[tool.poetry.dependencies]
python = "^3.11"
[tool.poetry.group.test.dependencies]
kafka-python = "^1.4"
"""
BY_MANIFEST = [
    ("yarn.lock", YARN, "kafkajs", {"package.json": '{"devDependencies": {"kafkajs": "^1.12.0"}}'}),
    ("Cargo.lock", CARGO_LOCK, "rdkafka", {"Cargo.toml": '[dev-dependencies]\nrdkafka = "0.36"\n'}),
    ("Gemfile.lock", GEMFILE_LOCK, "rdkafka", {"Gemfile": 'group :test do\n  gem "rdkafka"\nend\n'}),
    ("mix.lock", MIX_LOCK, "brod", {"mix.exs": 'defp deps do\n[{:brod, "~> 3.16", only: [:dev, :test]}]\n'}),
    ("poetry.lock", POETRY_1_5, "kafka-python", {"pyproject.toml": PYPROJECT}),
]


@pytest.mark.parametrize(("name", "lock", "package", "manifest"), BY_MANIFEST)
def test_a_lock_file_that_cannot_tell_is_read_with_its_manifest(tmp_path, name, lock, package, manifest):
    apart = scanned(tmp_path / "a", {name: lock, **manifest})
    assert application(apart) == [] and len(apart.development) == 1
    needed = scanned(tmp_path / "b", {name: lock.replace("NEEDED", package), **manifest})
    assert [verdict for *_, verdict in application(needed)] and not needed.development
    alone = scanned(tmp_path / "c", {name: lock})
    assert len(alone.found) == 1 and not alone.development


def test_a_workspace_of_yarn_needs_nothing_that_its_manifest_has_for_development(tmp_path):
    manifest = '{"devDependencies": {"kafkajs": "^1.12.0"}}'
    assert application(scanned(tmp_path / "a", {"yarn.lock": BERRY, "package.json": manifest})) == []
    both = '{"devDependencies": {"kafkajs": "^1.12.0"}, "dependencies": {"kafkajs": "^1.12.0"}}'
    assert len(scanned(tmp_path / "b", {"yarn.lock": BERRY, "package.json": both}).found) == 1
    several = '{"workspaces": ["a"], "devDependencies": {"kafkajs": "^1.12.0"}}'
    assert len(scanned(tmp_path / "c", {"yarn.lock": BERRY, "package.json": several}).found) == 1


def poetry(groups):
    return f'[[package]]\nname = "kafka-python"\nversion = "1.4.7"\n{groups}\n'


UV = """[[package]]
name = "app"
version = "0.1.0"
source = { virtual = "." }
dependencies = [{ name = "faust-streaming" }]

[package.dev-dependencies]
dev = [{ name = "pytest-kafka" }]
worker = [{ name = "confluent-kafka" }]

[[package]]
name = "faust-streaming"
version = "0.11.3"
source = { registry = "https://pypi.org/simple" }
dependencies = [{ name = "aiokafka" }]

[[package]]
name = "aiokafka"
version = "0.12.0"
source = { registry = "https://pypi.org/simple" }

[[package]]
name = "confluent-kafka"
version = "2.3.0"
source = { registry = "https://pypi.org/simple" }

[[package]]
name = "pytest-kafka"
version = "0.6.0"
source = { registry = "https://pypi.org/simple" }
dependencies = [{ name = "kafka-python" }]

[[package]]
name = "kafka-python"
version = "1.4.7"
source = { registry = "https://pypi.org/simple" }
"""


@pytest.mark.parametrize(
    ("name", "text", "is_development"),
    [
        ("poetry.lock", poetry('category = "dev"'), True),
        ("poetry.lock", poetry('category = "main"'), False),
        ("poetry.lock", poetry('groups = ["test"]'), True),
        ("poetry.lock", poetry('groups = ["main", "test"]'), False),
        # What installs `worker` is not written: groups of other names may be the application's.
        ("pdm.lock", poetry('groups = ["worker"]'), False),
        ("pdm.lock", poetry('groups = ["dev", "lint"]'), True),
        (
            "pylock.toml",
            poetry("marker = \"'dev' in dependency_groups\"").replace("package", "packages"),
            True,
        ),
        (
            "pylock.toml",
            poetry("marker = \"'default' in dependency_groups or 'dev' in dependency_groups\"").replace(
                "package", "packages"
            ),
            False,
        ),
        (
            "Pipfile.lock",
            json.dumps({"default": {}, "develop": {"kafka-python": {"version": "==1.4.7"}}}),
            True,
        ),
        (
            "Pipfile.lock",
            json.dumps({group: {"kafka-python": {"version": "==1.4.7"}} for group in ("default", "develop")}),
            False,
        ),
        ("pyproject.toml", '[dependency-groups]\ntest = ["kafka-python==1.4.7"]\n', True),
        ("pyproject.toml", '[dependency-groups]\nworker = ["kafka-python==1.4.7"]\n', False),
        ("pyproject.toml", '[project.optional-dependencies]\nkafka = ["kafka-python==1.4.7"]\n', False),
        ("pyproject.toml", '[tool.uv]\ndev-dependencies = ["kafka-python==1.4.7"]\n', True),
        ("pyproject.toml", '[tool.poetry.dev-dependencies]\nkafka-python = "1.4.7"\n', True),
        ("Pipfile", '[dev-packages]\nkafka-python = "==1.4.7"\n', True),
        (
            "conda-lock.yml",
            "package:\n- name: kafka-python\n  version: 1.4.7\n  manager: conda\n  category: dev\n",
            True,
        ),
    ],
)
def test_groups_of_python(tmp_path, name, text, is_development):
    result = scanned(tmp_path, {name: text})
    assert ([each[0] for each in application(result)], [each[0] for each in development(result)]) == (
        ([], ["kafka-python 1.4.7"]) if is_development else (["kafka-python 1.4.7"], [])
    )


def test_uv_says_what_each_group_needs_through_others(tmp_path):
    result = scanned(tmp_path, {"uv.lock": UV})
    assert sorted(text for text, *_ in application(result)) == [
        "aiokafka 0.12.0",
        "librdkafka 2.3.0 in confluent-kafka-python 2.3.0",
    ]
    assert [text for text, _, said_by in development(result)] == ["kafka-python 1.4.7"]


def test_the_name_of_a_file_is_a_hint_and_no_proof(tmp_path):
    alone = scanned(tmp_path / "a", {"requirements-dev.txt": "kafka-python==2.2.0\n"})
    ((_, _, verdict),) = application(alone)
    assert verdict == UNKNOWN and "requirements-dev.txt is not known" in alone.found[0].judged.explanation
    old = scanned(tmp_path / "b", {"requirements-dev.txt": "kafka-python==1.3.5\n"})
    assert [(found.judged.verdict, found.judged.confidence) for found in old.found] == [(BREAKS, "inferred")]
    both = scanned(
        tmp_path / "c",
        {"requirements/dev.txt": "kafka-python==1.3.5\n", "requirements/base.txt": "kafka-python==2.2.0\n"},
    )
    assert [text for text, *_ in application(both)] == ["kafka-python 2.2.0"]
    assert [text for text, *_ in development(both)] == ["kafka-python 1.3.5"]


def composer(name, version):
    return {"name": name, "version": version}


COMPOSER = {
    "packages": [composer("longlang/phpkafka", "v1.2.5")],
    "packages-dev": [composer("nmred/kafka-php", "0.2.0.8")],
}
CSPROJ = """<Project Sdk="Microsoft.NET.Sdk">
  <ItemGroup>
    <PackageReference Include="Microsoft.NET.Test.Sdk" Version="17.8.0" />
    <PackageReference Include="Confluent.Kafka" Version="2.3.0" />
  </ItemGroup>
</Project>
"""
NUGET_LOCK = {
    "version": 1,
    "dependencies": {
        "net8.0": {
            "Confluent.Kafka": {"type": "Direct", "resolved": "2.3.0"},
            "Microsoft.NET.Test.Sdk": {"type": "Direct", "resolved": "17.8.0"},
        }
    },
}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("app.Tests.csproj", CSPROJ),
        ("packages.lock.json", json.dumps(NUGET_LOCK)),
        ("Gemfile", "gem 'ruby-kafka', '1.5.0', group: [:development, :test]\n"),
        ("x.gemspec", "spec.add_development_dependency 'ruby-kafka', '1.5.0'\n"),
        ("Cargo.toml", '[dev-dependencies]\nrdkafka = "=0.36.0"\n'),
        ("composer.json", '{"require-dev": {"longlang/phpkafka": "1.2.5"}}'),
        ("package.json", '{"devDependencies": {"kafkajs": "1.12.0"}}'),
        (
            "ivy.xml",
            '<ivy-module><dependency org="org.apache.kafka" name="kafka-clients" rev="0.10.0.0" conf="test->default"/></ivy-module>',
        ),
        (
            "dependencies.lock",
            '{"testRuntimeClasspath": {"org.apache.kafka:kafka-clients": {"locked": "0.10.0.0"}}}',
        ),
    ],
)
def test_manifests_and_projects_of_tests(tmp_path, name, text):
    result = scanned(tmp_path, {name: text})
    assert application(result) == [] and len(result.development) == 1


def test_a_block_of_a_gemfile_ends(tmp_path):
    text = 'group :test do\n  source "https://example.com" do\n    gem "a"\n  end\nend\ngem "ruby-kafka", "1.5.0"\n'
    assert len(scanned(tmp_path, {"Gemfile": text}).found) == 1


def test_composer_has_two_lists(tmp_path):
    result = scanned(tmp_path, {"composer.lock": json.dumps(COMPOSER)})
    assert [text for text, *_ in application(result)] == ["longlang/phpkafka 1.2.5"]
    assert [said_by for *_, said_by in development(result)] == ['"packages-dev"']


def cyclonedx(**further):
    component = {"type": "library", "name": "kafkajs", "purl": "pkg:npm/kafkajs@1.12.0", **further}
    return {"bomFormat": "CycloneDX", "components": [component]}


@pytest.mark.parametrize(
    ("further", "is_development"),
    [
        ({"scope": "excluded"}, True),
        (
            {"scope": "optional", "properties": [{"name": "cdx:npm:package:development", "value": "true"}]},
            True,
        ),
        # Generators write it for what they did not see used, too.
        ({"scope": "optional"}, False),
        ({"scope": "required"}, False),
    ],
)
def test_scopes_of_cyclonedx(tmp_path, further, is_development):
    result = scanned(tmp_path, {"bom.json": json.dumps(cyclonedx(**further))})
    assert (len(result.found), len(result.development)) == ((0, 1) if is_development else (1, 0))


def spdx(*relationships):
    packages = [
        {
            "SPDXID": f"SPDXRef-{name}",
            "name": name,
            "versionInfo": "1.12.0",
            "externalRefs": [{"referenceType": "purl", "referenceLocator": f"pkg:npm/{name}@1.12.0"}],
        }
        for name in ("app", "tool", "kafkajs")
    ]
    written = [
        {
            "spdxElementId": f"SPDXRef-{one}",
            "relationshipType": kind,
            "relatedSpdxElement": f"SPDXRef-{other}",
        }
        for one, kind, other in relationships
    ]
    return json.dumps({"spdxVersion": "SPDX-2.3", "packages": packages, "relationships": written})


@pytest.mark.parametrize(
    ("relationships", "is_development"),
    [
        ([("kafkajs", "DEV_DEPENDENCY_OF", "app")], True),
        ([("kafkajs", "TEST_DEPENDENCY_OF", "app"), ("app", "CONTAINS", "kafkajs")], True),
        ([("tool", "DEV_DEPENDENCY_OF", "app"), ("tool", "DEPENDS_ON", "kafkajs")], True),
        ([("kafkajs", "DEV_DEPENDENCY_OF", "app"), ("app", "DEPENDS_ON", "kafkajs")], False),
        (
            [
                ("tool", "DEV_DEPENDENCY_OF", "app"),
                ("kafkajs", "DEPENDENCY_OF", "tool"),
                ("kafkajs", "RUNTIME_DEPENDENCY_OF", "app"),
            ],
            False,
        ),
        ([("app", "DEPENDS_ON", "kafkajs")], False),
    ],
)
def test_relationships_of_spdx(tmp_path, relationships, is_development):
    result = scanned(tmp_path, {"bom.spdx.json": spdx(*relationships)})
    assert (len(result.found), len(result.development)) == ((0, 1) if is_development else (1, 0))


@pytest.mark.parametrize("scope", ["test", "development", "runtime"])
def test_scopes_of_spdx_3(tmp_path, scope):
    package = {
        "type": "software_Package",
        "spdxId": "urn:k",
        "software_packageVersion": "1.12.0",
        "software_packageUrl": "pkg:npm/kafkajs@1.12.0",
    }
    need = {
        "type": "LifecycleScopedRelationship",
        "from": "urn:app",
        "to": ["urn:k"],
        "relationshipType": "dependsOn",
        "scope": scope,
    }
    document = {"@context": "https://spdx.org/rdf/3.0.1/spdx-context.jsonld", "@graph": [package, need]}
    result = scanned(tmp_path, {"x.spdx.json": json.dumps(document)})
    assert len(result.development) == (scope != "runtime")
