"""`client-telemetry knowledge`: packages are built, signed, fetched, compared and refused, on real files and a real server."""

import csv
import datetime as dt
import io
import json
import os
import re
import threading
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from client_telemetry import knowledge
from client_telemetry.cli import __main__ as command
from client_telemetry.cli import knowledge as command_knowledge
from client_telemetry.knowledge import Package, UnusablePackage, broker_metrics, checked, releases
from client_telemetry.knowledge.broker_release import csv_text
from client_telemetry.knowledge_package import package_files, signatures, store

TODAY = "2026-12-01T04:00:00Z"


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch) -> Iterator[Path]:
    """The file where a package is kept, in a folder of the test."""
    monkeypatch.setenv(store.ENVIRONMENT, str(tmp_path / "kept"))
    yield tmp_path / "kept" / store.FILE
    knowledge.use(None)


@pytest.fixture
def run(capsys) -> Callable[..., tuple[int, str, str]]:
    """Exit code, standard output and standard error of a command."""

    def run(*arguments: object) -> tuple[int, str, str]:
        knowledge.use(None)
        capsys.readouterr()
        code = command.main([*map(str, arguments)])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def key(tmp_path) -> Path:
    file = tmp_path / "signing.pem"
    (tmp_path / "key.pub").write_text(signatures.new_key(file) + " a test\n")
    return file


@pytest.fixture
def package(tmp_path, run, key) -> Path:
    """A signed package with what the checkout knows, built later than that."""
    out = tmp_path / "package.zip"
    code, _, error = run("knowledge", "build", "--offline", "--out", out, "--key", key, "--built-at", TODAY)
    assert (code, error) == (0, "")
    return out


@pytest.fixture
def update(run, tmp_path) -> Callable[..., tuple[int, str, str]]:
    def update(source: object, *more: object) -> tuple[int, str, str]:
        return run("knowledge", "update", "--from", source, "--trust", tmp_path / "key.pub", *more)

    return update


def changed(package: Path, out: Path, **contents: bytes | None) -> Path:
    """A copy with other contents of files (their dots written as `__`); None: without the file."""
    with zipfile.ZipFile(package) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    for name, content in contents.items():
        name = name.replace("__", ".")
        files = {each: old for each, old in files.items() if each != name}
        if content is not None:
            files[name] = content
    out.write_bytes(package_files.zip_content(files))
    return out


def signed(texts: dict[str, str], built_at: str, key: Path, out: Path, schema: int = 2) -> Path:
    """A package of these texts, as build writes it."""
    manifest = json.loads(
        package_files.manifest_of(texts, knowledge.shipped_built_at(), ["a test"]).content()
    )
    content = json.dumps(manifest | {"built_at": built_at, "schema": schema}).encode()
    signer = signatures.signing_key(key)
    assert signer is not None
    files = {name: text.encode() for name, text in texts.items()}
    files |= {"manifest.json": content, "manifest.sig": signatures.sign(content, signer)}
    out.write_bytes(package_files.zip_content(files))
    return out


def test_the_same_inputs_give_the_same_bytes(run, tmp_path, key, package):
    run("knowledge", "build", "--offline", "--out", tmp_path / "again.zip", "--key", key, "--built-at", TODAY)
    assert (tmp_path / "again.zip").read_bytes() == package.read_bytes()


def test_an_update_is_kept_and_in_use_from_then_on(update, run, package, kept):
    code, printed, _ = update(package)
    assert code == 0 and kept.read_bytes() == package.read_bytes()
    assert "of 2026-12-01" in printed and str(kept) in printed
    assert "of 2026-12-01" in run("--version")[1]
    assert run("knowledge", "verify")[0] == 0, "the key is remembered"
    code, printed, _ = update(package)
    assert code == 0 and printed.endswith("already in use\n")


@pytest.mark.parametrize("form", ["folder", "file URL", "http"])
def test_a_package_comes_from_a_folder_or_an_address(form, update, package, kept, tmp_path, served):
    folder = tmp_path / "unpacked"
    zipfile.ZipFile(package).extractall(folder)
    source = {"folder": str(folder), "file URL": package.as_uri(), "http": f"{served(tmp_path)}/package.zip"}[
        form
    ]
    code, _, error = update(source)
    assert (code, error) == (0, "") and kept.exists()


def test_offline_opens_no_connection(update, kept):
    code, _, error = update("http://127.0.0.1:9/package.zip", "--offline")
    assert code == 2 and "--offline" in error and not kept.exists()


BAD = {
    "half a download": (
        lambda package, out, key: out.write_bytes(package.read_bytes()[:5000]),
        "damaged: not a zip file",
    ),
    "not a package": (
        lambda package, out, key: out.write_text("<html>404</html>"),
        "damaged: not a zip file",
    ),
    "a changed file": (
        lambda package, out, key: changed(package, out, apis__csv=b"api_key\n"),
        "apis.csv has another SHA-256 than manifest.json says",
    ),
    "a missing file": (lambda package, out, key: changed(package, out, apis__csv=None), "it lacks apis.csv"),
    "no signature": (lambda package, out, key: changed(package, out, manifest__sig=None), "not signed"),
    "no manifest": (
        lambda package, out, key: changed(package, out, manifest__json=None),
        "has no manifest.json",
    ),
    "a manifest that is no object": (
        lambda package, out, key: changed(package, out, manifest__json=b"[]"),
        "manifest.json cannot be read",
    ),
    "a damaged signature": (
        lambda package, out, key: changed(package, out, manifest__sig=b"x"),
        "manifest.sig is not a key id and a signature",
    ),
    "a later manifest": (
        lambda package, out, key: changed(
            package, out, manifest__json=_read(package, "manifest.json").replace(b"2026-12-01", b"2026-12-02")
        ),
        "its signature does not fit its manifest.json",
    ),
    "a newer schema": (
        lambda package, out, key: signed(knowledge.shipped_texts(), TODAY, key, out, schema=3),
        "made for a newer client-telemetry (schema 3",
    ),
    "an older one": (
        lambda package, out, key: signed(knowledge.shipped_texts(), "2026-01-01T00:00:00Z", key, out),
        "older than the one in use",
    ),
    "a contradiction in it": (
        lambda package, out, key: signed(
            knowledge.shipped_texts() | {"roles.csv": "role\n"}, TODAY, key, out
        ),
        "roles.csv line 1: columns are role, expected",
    ),
    "no roles": (
        lambda package, out, key: signed(
            {name: text for name, text in knowledge.shipped_texts().items() if name != "roles.csv"},
            TODAY,
            key,
            out,
        ),
        "roles.csv: is not in the package",
    ),
}


def _read(package: Path, name: str) -> bytes:
    return zipfile.ZipFile(package).read(name)


@pytest.mark.parametrize("bad", BAD)
def test_what_cannot_be_used_is_one_line_and_the_old_one_stays(
    bad, update, run, package, kept, tmp_path, key
):
    update(package)
    make, why = BAD[bad]
    make(package, tmp_path / "bad.zip", key)
    code, printed, error = update(tmp_path / "bad.zip")
    assert (code, printed) == (2, "")
    assert why in error and error.startswith("client-telemetry knowledge update: ") and error.count("\n") == 1
    assert kept.read_bytes() == package.read_bytes() and "of 2026-12-01" in run("--version")[1]
    assert {path.name for path in kept.parent.iterdir()} == {store.FILE, store.KEYS}


def test_another_key_is_refused_by_its_id(run, package, kept, tmp_path):
    code, _, error = run("knowledge", "update", "--from", package)
    assert code == 2 and "signed by another key (" in error and error.count("\n") == 1 and not kept.exists()
    code, _, error = run("knowledge", "update", "--from", package, "--trust", "abc")
    assert code == 2 and "'abc' is not a public key" in error and error.count("\n") == 1


def test_a_kept_package_that_is_damaged_is_one_line_and_an_update_mends_it(update, run, package, kept):
    update(package)
    kept.write_bytes(package.read_bytes()[:100])
    code, _, error = run("gate", "x")
    assert code == 2 and error.count("\n") == 1 and "damaged" in error
    assert update(package)[0] == 0 and run("--version")[0] == 0


def test_a_package_older_than_what_ships_is_not_used_but_one_that_is_named_is(
    key, tmp_path, monkeypatch, kept
):
    old = signed(knowledge.shipped_texts(), "2026-01-01T00:00:00Z", key, tmp_path / "old.zip")
    monkeypatch.setenv(signatures.TRUSTED, str(tmp_path / "key.pub"))
    store.activate(old)
    assert knowledge.built_at().year == 2026 and knowledge.built_at().month == 1
    monkeypatch.delenv(store.ENVIRONMENT)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    place = store.location()
    assert place == tmp_path / "home/client-telemetry/knowledge.zip"
    place.parent.mkdir(parents=True)
    old.rename(place)
    store.activate()
    assert knowledge.in_use().package is None
    monkeypatch.setenv(store.ENVIRONMENT, str(tmp_path / "none.zip"))
    with pytest.raises(UnusablePackage, match="there is no such file"):
        store.activate()


def test_a_registry_has_a_release_that_nobody_knows(
    run, update, tmp_path, key, served, kafka_clients_jar, monkeypatch
):
    """From the registry into a package, from the package into answers; a second release whose jar is damaged is reported."""
    maven = tmp_path / "maven/org/apache/kafka/kafka-clients"
    renamed(kafka_clients_jar, "4.9.0", maven / "4.9.0/kafka-clients-4.9.0.jar")
    damaged = maven / "4.9.1/kafka-clients-4.9.1.jar"
    damaged.parent.mkdir()
    damaged.write_bytes(b"half")
    digest(damaged)
    (maven / "maven-metadata.xml").write_text(
        "".join(f"<version>{each}</version>" for each in (*releases.known(), "4.9.0", "4.9.1", "5.0.0-rc1"))
    )
    monkeypatch.setenv("CLIENT_TELEMETRY_REGISTRY_MAVEN", served(tmp_path / "maven"))
    without_maven(tmp_path / "bin", monkeypatch)
    out, cache = tmp_path / "new.zip", tmp_path / "cache"
    build = ("knowledge", "build", "--out", out, "--key", key, "--cache", cache, "--built-at", TODAY)
    code, printed, _ = run(*build)
    assert code == 1 and "not done: 4.9.1" in printed and "not a kafka-clients jar" in printed
    assert "4.9.0: " in printed and "not known for 4.9.0: feature levels" in printed
    assert "broker configuration not known: " in printed
    assert "not done: 4.9.0 metrics not known: the repository is closed" in printed
    (_, changes, _) = run("knowledge", "diff", "shipped", out)
    assert "Kafka 4.9.0 is new: " in changes and "Not known for 4.9.0: feature levels, " in changes
    assert update(out)[0] == 0
    clients, verdicts = tmp_path / "clients.csv", tmp_path / "verdicts.csv"
    clients.write_text(
        "client,client_software_name,client_software_version,api_uses\nold,,,Produce:2 Metadata:1\n"
    )
    ask = ("compatibility", "--from", "3.9.1", "--to", "4.9.0", "--input", clients, "--output", verdicts)
    assert run(*ask)[0] == 0
    (row,) = csv.DictReader(io.StringIO(verdicts.read_text()))
    assert row["verdict"] == "breaks" and "not known for 4.9.0: feature levels" in row["condition"]
    monkeypatch.setenv("CLIENT_TELEMETRY_REGISTRY_MAVEN", served(None))
    code, printed, _ = run(*build)
    assert code == 1 and "the server answered 500" in printed, "what is in use is written all the same"


def without_maven(folder: Path, monkeypatch) -> None:
    """No jars of a broker that is to be run."""
    folder.mkdir()
    (folder / "mvn").write_text("#!/bin/sh\necho the repository is closed\nexit 1\n")
    (folder / "mvn").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_a_release_is_added_with_the_metrics_that_its_broker_showed(
    run, tmp_path, key, served, kafka_clients_jar, monkeypatch
):
    """The newest release under another number, as a run left its metrics in the cache: with one more, and one less that its jars lack."""
    newest, kept_metrics = releases.known()[-1], tmp_path / "cache" / "metrics" / "4.9.0.txt"
    group = tmp_path / "maven/org/apache/kafka"
    renamed(kafka_clients_jar, "4.9.0", group / "kafka-clients/4.9.0/kafka-clients-4.9.0.jar")
    (group / "kafka-clients/maven-metadata.xml").write_text("<version>4.9.0</version>")
    shown = sorted(broker_metrics.seen(newest))
    gone = shown.pop(next(place for place, metric in enumerate(shown) if metric.name == "BytesOutPerSec"))
    beans = [metric.text() for metric in shown]
    core = group / "kafka_2.13/4.9.0/kafka_2.13-4.9.0.jar"
    core.parent.mkdir(parents=True)
    core.with_suffix(".pom").write_text("<project></project>")
    with zipfile.ZipFile(core, "w") as archive:
        in_jars = filter(broker_metrics.ever_in_jars, shown)
        constants = {metric.constant.encode() for metric in in_jars} - {gone.constant.encode()}
        utf8 = [b"\x01\x00" + bytes([len(each)]) + each + b"\x07" for each in sorted(constants)]
        archive.writestr("A.class", b"".join(utf8))
    digest(core)
    kept_metrics.parent.mkdir(parents=True)
    kept_metrics.write_text("\n".join(beans))
    monkeypatch.setenv("CLIENT_TELEMETRY_REGISTRY_MAVEN", served(tmp_path / "maven"))
    without_maven(tmp_path / "bin", monkeypatch)
    out = tmp_path / "new.zip"
    build = ("knowledge", "build", "--out", out, "--key", key, "--cache", tmp_path / "cache")
    code, printed, _ = run(*build, "--built-at", TODAY)
    assert f"4.9.0: {len(shown)} metrics\n" in printed and code == 0, printed
    (_, changes, _) = run("knowledge", "diff", "shipped", out)
    assert (
        f"The metrics of brokers of Kafka 4.9.0 are new: {len(shown)} metrics; against {newest}: 1 gone ({gone.text()})."
        in changes
    )


POMS = {
    "org/springframework/kafka/spring-kafka/99.0.0": """<project><parent><groupId>com.acme</groupId>
<artifactId>parent</artifactId><version>7</version></parent><artifactId>spring-kafka</artifactId><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId><version>${kafkaVersion}</version></dependency>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-streams</artifactId><optional>true</optional></dependency>
</dependencies></project>""",
    "com/acme/parent/7": "<project><properties><kafkaVersion>4.1.1</kafkaVersion></properties></project>",
    "org/springframework/boot/spring-boot-starter-parent/99.0.0": """<project><parent><groupId>org.springframework.boot</groupId>
<artifactId>spring-boot-dependencies</artifactId><version>99.0.0</version></parent></project>""",
    "org/springframework/boot/spring-boot-dependencies/99.0.0": """<project><dependencyManagement><dependencies><dependency>
<groupId>com.acme</groupId><artifactId>kafka-bom</artifactId><version>3</version><type>pom</type><scope>import</scope></dependency>
</dependencies></dependencyManagement></project>""",
    "com/acme/kafka-bom/3": """<project><dependencyManagement><dependencies><dependency><groupId>org.apache.kafka</groupId>
<artifactId>kafka-clients</artifactId><version>4.2.0</version></dependency></dependencies></dependencyManagement></project>""",
}


def _published(maven: Path, poms: dict[str, str]) -> None:
    for path, text in poms.items():
        _, artefact, version = path.rsplit("/", 2)
        (maven / path).mkdir(parents=True)
        (maven / path / f"{artefact}-{version}.pom").write_text(text)
        (maven / path).with_name("maven-metadata.xml").write_text(
            f"<version>1.0.0-M1</version><version>{version}</version>"
        )


def test_releases_of_frameworks_are_added_from_their_poms(run, update, tmp_path, key, served, monkeypatch):
    """By property of a parent, and by a list that a list imports; a snapshot is none, and what cannot be read is said."""
    maven, out = tmp_path / "maven", tmp_path / "new.zip"
    _published(maven, POMS)
    _published(maven, {"io/quarkus/quarkus-bom/99.0.0": "<project><parent>"})
    clients = maven / "org/apache/kafka/kafka-clients"
    clients.mkdir(parents=True)
    (clients / "maven-metadata.xml").write_text(
        "".join(f"<version>{each}</version>" for each in releases.known())
    )
    monkeypatch.setenv("CLIENT_TELEMETRY_REGISTRY_MAVEN", served(maven))
    build = ("knowledge", "build", "--frameworks", "--out", out, "--key", key, "--cache", tmp_path / "cache")
    code, printed, _ = run(*build, "--built-at", TODAY)
    assert code == 1 and "not done: io.quarkus:quarkus-bom:99.0.0 not XML" in printed
    assert "not done: io.micronaut:micronaut-bom " in printed and "404" in printed
    assert "org.springframework.kafka:spring-kafka: kafka-clients of 1 release\n" in printed
    assert "1.0.0-M1" not in printed
    assert update(out)[0] == 0
    (tmp_path / "app").mkdir()
    pom = "<project><parent><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-parent</artifactId><version>99.0.0</version></parent><dependencies><dependency><groupId>org.springframework.kafka</groupId><artifactId>spring-kafka</artifactId></dependency></dependencies></project>"
    (tmp_path / "app/pom.xml").write_text(pom)
    assert (
        "kafka-clients 4.2.0 managed by spring-boot-starter-parent 99.0.0"
        in run("scan", tmp_path / "app", "--to", "4.3.1")[1]
    )
    (tmp_path / "app/pom.xml").rename(tmp_path / "app/gradle.lockfile")
    (tmp_path / "app/gradle.lockfile").write_text(
        "org.springframework.kafka:spring-kafka:99.0.0=compileClasspath\n"
    )
    assert (
        "kafka-clients 4.1.1 brought by spring-kafka 99.0.0"
        in run("scan", tmp_path / "app", "--to", "4.3.1")[1]
    )


MAVEN = """#!/bin/sh
# Of Maven what a list of versions needs, in the folder in which it is started.
for each in "$@"; do
    case $each in
    -Dmaven.repo.local=*) kept=${each#*=}/org/apache/kafka/kafka-clients ;;
    *pom.xml) test -f "$each" || { echo "[ERROR] no $each"; exit 1; } ;;
    esac
done
mkdir -p "$kept" && echo "<version>4.0.0</version>" >"$kept/maven-metadata-central.xml"
"""


def test_maven_finds_a_cache_that_is_named_from_here(run, tmp_path, monkeypatch):
    (tmp_path / "mvn").write_text(MAVEN)
    (tmp_path / "mvn").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("CLIENT_TELEMETRY_REGISTRY_MAVEN", raising=False)
    monkeypatch.chdir(tmp_path)
    code, printed, error = run("knowledge", "build", "--out", "new", "--cache", "cache", "--built-at", TODAY)
    assert code == 0 and "not done" not in printed + error
    assert (tmp_path / "cache" / "m2").is_dir()


def test_a_release_is_added_from_its_jar_for_one_question(run, tmp_path, kafka_clients_jar):
    jar = tmp_path / "any name.jar"
    renamed(kafka_clients_jar, "4.5.0", jar)
    clients, verdicts = tmp_path / "clients.csv", tmp_path / "verdicts.csv"
    clients.write_text(
        "client,client_software_name,client_software_version,api_uses\nold,,,Produce:2 Metadata:1\nnew,,,Produce:9 Metadata:9\n"
    )
    ask = ("compatibility", "--from", "3.9.1", "--to", "4.5.0", "--input", clients, "--output", verdicts)
    code, _, error = run(*ask)
    assert code == 2 and error.count("\n") == 1 and "its kafka-clients jar after --jar" in error
    code, _, error = run(*ask, "--jar", jar)
    assert (
        code == 0
        and "Kafka 4.5.0 was added from any name.jar, for this run alone; not known for 4.5.0" in error
    )
    rows = list(csv.DictReader(io.StringIO(verdicts.read_text())))
    assert [row["verdict"] for row in rows] == ["breaks", "safe"]
    assert all(
        "not known for 4.5.0: feature levels, known issues, cluster notes" in row["condition"] for row in rows
    )
    assert run(*ask)[0] == 2, "for that run alone"
    clients.write_text("no jar")
    code, _, error = run(*ask, "--jar", clients)
    assert code == 2 and error.count("\n") == 1 and "not a kafka-clients jar" in error
    code, _, error = run(*ask, "--jar", tmp_path / "none.jar")
    assert code == 2 and error.count("\n") == 1 and "none.jar" in error


def renamed(jar: Path, release: str, copy: Path) -> None:
    copy.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(jar) as published, zipfile.ZipFile(copy, "w") as archive:
        for name in published.namelist():
            if name == "kafka/kafka-version.properties":
                archive.writestr(name, f"version={release}\n")
            elif name.endswith((".json", "ApiKeys.class")):
                archive.writestr(name, published.read(name))
    digest(copy)


def digest(jar: Path) -> None:
    import hashlib

    jar.with_name(f"{jar.name}.sha1").write_text(hashlib.sha1(jar.read_bytes()).hexdigest())


def test_diff_says_what_changed_in_sentences(run, tmp_path, key):
    texts = knowledge.shipped_texts()
    header, *rows = csv.reader(io.StringIO(texts["known_issues.csv"], newline=""))
    rows[0][header.index("workaround")] = "none that helps"
    changed, gone = rows[0][0], rows.pop()[0]
    new = texts | {
        "known_issues.csv": csv_text(header, rows),
        "version_aliases.csv": texts["version_aliases.csv"] + "kgo,0.2.0,1.1.0,a test,2026-11-30\n",
    }
    out = signed(new, TODAY, key, tmp_path / "new.zip")
    code, printed, _ = run("knowledge", "diff", "shipped", out)
    assert code == 0 and "version alias kgo 0.2.0 is new." in printed.splitlines()
    assert f"known issue {gone} is gone." in printed.splitlines()
    assert f"known issue {changed} changed: workaround none that helps (was empty)." in printed.splitlines()
    assert run("knowledge", "diff", "shipped", "shipped")[1] == "Nothing changed.\n"


def test_show_names_what_is_newest(run):
    code, printed, _ = run("knowledge", "show")
    assert code == 0 and printed.startswith(f"Knowledge base {knowledge.version()} of ")
    assert f"to {releases.known()[-1]}; newest of each line: {releases.known()[-1]}, " in printed
    assert "  librdkafka 2." in printed
    assert "  kafka-python 3." in printed, "its rows are in two files"
    assert "  confluent-kafka-python (binding) 2." in printed


def test_check_says_what_a_folder_of_ones_own_overrides_and_adds(run, tmp_path):
    aliases = knowledge.shipped_texts()["version_aliases.csv"].splitlines()[:2]
    (tmp_path / "version_aliases.csv").write_text("\n".join(aliases) + "\n")
    (tmp_path / "releases.csv").write_text(
        "release,committed_on,source\n4.4.7,2026-11-30,a build of our own\n"
    )
    code, printed, error = run("knowledge", "check", tmp_path)
    assert code == 2 and error.count("\n") == 1 and "release 4.4.7 has no APIs" in error
    rows = [
        line
        for line in knowledge.shipped_texts()["broker_api_versions.csv"].splitlines()
        if line.startswith("4.4.0,")
    ]
    header = knowledge.shipped_texts()["broker_api_versions.csv"].splitlines()[0]
    (tmp_path / "broker_api_versions.csv").write_text(
        "\n".join([header, *rows]).replace("\n4.4.0,", "\n4.4.7,") + "\n"
    )
    code, printed, error = run("knowledge", "check", tmp_path)
    assert (code, error) == (0, "")
    assert "releases.csv: 1 row\n" in printed
    assert "version_aliases.csv line 2: overrides the row of kgo 0.1.0\n" in printed


def test_what_ships_is_as_its_manifest_says(run):
    assert run("knowledge", "verify")[:2][0] == 0


def test_an_unknown_command_and_none_are_one_line(capsys):
    for arguments in (["knowledge", "shwo"], ["knowledge"]):
        with pytest.raises(SystemExit) as ended:
            command.main(arguments)
        assert ended.value.code == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("client-telemetry knowledge: ")
    with pytest.raises(SystemExit):
        command.main(["knowledge", "--help"])
    assert re.search(r"  update +use a newer package", capsys.readouterr().out)


def test_workers_get_the_package_of_the_driver(package):
    import pickle

    files = package_files.load(package_files.read(package))
    knowledge.use_package(files)
    sent = pickle.dumps(knowledge.in_use())
    assert len(sent) < 150_000
    version = knowledge.version()
    knowledge.use(None)
    knowledge.use(pickle.loads(sent))
    assert knowledge.version() == version and isinstance(knowledge.in_use().package, Package)


def test_names_in_a_package_lead_nowhere(package, tmp_path):
    evil = json.loads(_read(package, "manifest.json"))
    evil["files"]["../apis.csv"] = "0"
    changed(package, tmp_path / "evil.zip", manifest__json=json.dumps(evil).encode())
    with pytest.raises(UnusablePackage, match="no list of CSV files"):
        package_files.read(tmp_path / "evil.zip")
    assert command_knowledge.COMMANDS


@pytest.fixture
def served() -> Iterator[Callable[[Path | None], str]]:
    """The address of a server of a folder; of None: one that answers 500 to everything."""
    servers = []

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    class Failing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(500)

        def log_message(self, *_: object) -> None:
            pass

    def serve(folder: Path | None) -> str:
        handler = Failing if folder is None else partial(Quiet, directory=str(folder))
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


NEXT_YEAR = "2027-11-30T04:00:00Z"


def test_a_build_lists_the_rows_that_people_last_checked_more_than_a_year_before(run, tmp_path):
    """With a clock of next year; the package is the same as of texts that say so today."""
    build = ("knowledge", "build", "--offline", "--out", tmp_path / "new.zip")
    rows = checked.shipped()
    older = [row for row in rows if row.checked_on and row.checked_on < dt.date(2026, 11, 30)]
    code, printed, _ = run(*build, "--built-at", NEXT_YEAR, "--stale", tmp_path / "stale.csv")
    oldest = min(row.checked_on for row in older if row.checked_on)
    sentence = (
        f"Rows written by people: {len(rows):,}; last checked on {oldest} or later, {len(older):,} of them "
    )
    assert code == 0 and f"{sentence}more than 365 days before 2027-11-30\n" in printed
    assert printed.endswith(f"\n  and {len(older) - 10:,} more: {tmp_path}/stale.csv has all\n")
    listed = list(csv.DictReader(io.StringIO((tmp_path / "stale.csv").read_text(encoding="utf-8"))))
    assert [tuple(row.values()) for row in listed] == [
        (row.file, row.key, str(row.checked_on), row.source)
        for row in sorted(older, key=lambda row: (row.checked_on, row))
    ]
    assert (
        _read(tmp_path / "new.zip", "known_issues.csv").decode()
        == knowledge.shipped_texts()["known_issues.csv"]
    )
    code, printed, _ = run(*build, "--built-at", TODAY, "--stale", tmp_path / "stale.csv")
    assert code == 0 and printed.endswith(" or later, 0 of them more than 365 days before 2026-12-01\n")
    assert (tmp_path / "stale.csv").read_text() == "file,key,checked_on,source\n"


def test_show_says_how_old_the_last_checks_are(run):
    assert checked.sentence(checked.shipped(), dt.datetime.now(dt.UTC).date()) in run("knowledge", "show")[1]


def test_a_package_from_before_there_was_a_day_is_read_and_says_nothing_of_it(run, update, key, tmp_path):
    texts = {file: without_days(file, text) for file, text in knowledge.shipped_texts().items()}
    old = signed(texts, TODAY, key, tmp_path / "old.zip", schema=1)
    assert update(old)[0] == 0
    code, printed, _ = run("knowledge", "show")
    assert code == 0 and "; when they were last checked is not known\n" in printed
    assert run("knowledge", "diff", old, "shipped")[1] == "Nothing changed.\n", "a day is no fact of a row"
    code, printed, _ = run(
        "knowledge", "build", "--offline", "--out", tmp_path / "new.zip", "--built-at", TODAY
    )
    assert code == 0 and printed.endswith("when they were last checked is not known\n")
    assert json.loads(_read(tmp_path / "new.zip", "manifest.json"))["schema"] == package_files.SCHEMA


def without_days(file: str, text: str) -> str:
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    if file not in knowledge.CHECKED_FILES:
        return text
    assert header[-1] == knowledge.CHECKED_ON
    return csv_text(header[:-1], [cells[:-1] for cells in rows])


def test_a_build_refuses_a_day_in_the_future(run, update, key, tmp_path):
    text = knowledge.shipped_texts()["version_aliases.csv"] + "kgo,0.2.0,1.1.0,a test,2999-01-01\n"
    texts = knowledge.shipped_texts() | {"version_aliases.csv": text}
    assert update(signed(texts, TODAY, key, tmp_path / "future.zip"))[0] == 0, "a clock that is behind"
    code, printed, error = run("knowledge", "build", "--offline", "--out", tmp_path / "new.zip")
    assert (code, printed) == (2, "") and not (tmp_path / "new.zip").exists()
    assert error == (
        "client-telemetry knowledge build: version_aliases.csv line 3: checked_on 2999-01-01 is in the future\n"
    )
