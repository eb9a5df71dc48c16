"""Reading a kafka-clients jar: made-up ones, and the published one that `make test` fetches."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from zipfile import ZipFile

import pytest
from client_telemetry import knowledge
from client_telemetry.compatibility import ClientEvidence, cluster_notes, judge, mixed_window, parse_api_uses
from client_telemetry.knowledge import Package, apis, broker_release, features, known_issues, releases, served
from client_telemetry.knowledge.broker_release import Row, UnusableJar

LICENSE = "// Licensed to somebody\n\n"


def definition(
    key: int, name: str, versions: str, listeners: tuple[str, ...] = ("broker",), **more: object
) -> dict:
    return {
        "apiKey": key,
        "type": "request",
        "listeners": list(listeners),
        "name": f"{name}Request",
        "validVersions": versions,
        **more,
    }


def make_jar(path: Path, version: str, definitions: list[dict], api_keys: bytes = b"") -> Path:
    with ZipFile(path, "w") as jar:
        jar.writestr("kafka/kafka-version.properties", f"commitId=1\nversion={version}\n")
        jar.writestr("org/apache/kafka/common/protocol/ApiKeys.class", api_keys)
        for each in definitions:
            text = json.dumps(each, indent=1).replace('"type"', '// "type": of Kafka\n "type"')
            jar.writestr(f"common/message/{each['name']}.json", LICENSE + text)
        jar.writestr("common/message/ProduceResponse.json", "not read")
    return path


def read(tmp_path: Path, *definitions: dict, api_keys: bytes = b"") -> tuple[Row, ...]:
    return broker_release.read_jar(make_jar(tmp_path / "k.jar", "4.0.1", list(definitions), api_keys)).rows


def test_ranges_deprecations_and_today_s_name(tmp_path):
    rows = read(
        tmp_path,
        definition(11, "JoinGroup", "0-9", deprecatedVersions="0-1"),
        definition(74, "ListClientMetricsResources", "0"),
        definition(71, "GetTelemetrySubscriptions", "0"),
    )
    assert rows == (
        Row(11, "JoinGroup", 0, 9, 0, 9, "0-1", ""),
        Row(71, "GetTelemetrySubscriptions", 0, 0, 0, 0, "", "telemetry plugin"),
        Row(74, "ListConfigResources", 0, 0, 0, 0, "", ""),
    )


def test_what_a_broker_listener_does_not_serve(tmp_path):
    assert (
        read(
            tmp_path,
            definition(52, "Vote", "0-1", ("controller",)),
            definition(4, "LeaderAndIsr", "none"),
            definition(76, "ShareGroupHeartbeat", "0", latestVersionUnstable=True),
        )
        == ()
    )


def test_the_last_version_is_unstable(tmp_path):
    (row,) = read(tmp_path, definition(8, "OffsetCommit", "2-10", latestVersionUnstable=True))
    assert (row.served_min, row.served_max) == (2, 9)


def test_produce_is_advertised_from_0_where_the_release_says_so(tmp_path):
    produce = definition(0, "Produce", "3-12")
    assert read(tmp_path, produce)[0].advertised_min == 3
    assert (
        read(tmp_path, produce, api_keys=b"..PRODUCE_API_VERSIONS_RESPONSE_MIN_VERSION..")[0].advertised_min
        == 0
    )


def test_an_api_that_is_not_known_is_asked_for(tmp_path, capsys):
    jar = make_jar(tmp_path / "k.jar", "4.9.0", [definition(999, "Levitate", "0")])
    assert broker_release.main(["--jar", str(jar)]) == 2
    assert "apis.csv lacks 999 Levitate: add a line" in capsys.readouterr().err
    texts = broker_release.rewritten(broker_release.read_jar(jar))
    assert "4.9.0" not in texts["broker_api_versions.csv"]
    assert (
        '4.9.0,"feature levels, known issues, cluster notes, API 999 Levitate",'
        in texts["unreviewed_releases.csv"]
    )


def test_no_jar(tmp_path, capsys):
    (tmp_path / "text.jar").write_text("no zip")
    for path in (tmp_path / "none.jar", tmp_path / "text.jar"):
        assert broker_release.main(["--jar", str(path), "--check"]) == 2
        assert "not a kafka-clients jar" in capsys.readouterr().err


def test_a_difference_is_named(tmp_path, capsys):
    jar = make_jar(tmp_path / "k.jar", "4.0.1", [definition(11, "JoinGroup", "2-9")])
    assert broker_release.main(["--jar", str(jar), "--check"]) == 1
    printed = capsys.readouterr().out
    assert "4.0.1 JoinGroup: Row(api_key=11, api_name='JoinGroup', served_min=0" in printed
    assert "4.0.1 Fetch" in printed and "None in the jar" in printed


def test_a_new_release_is_written_in_its_place(tmp_path):
    jar = make_jar(tmp_path / "k.jar", "4.0.3", [definition(11, "JoinGroup", "0-9")])
    written = broker_release.rewritten(broker_release.read_jar(jar))
    lines = written["releases.csv"].splitlines()
    names = [line.partition(",")[0] for line in lines]
    assert names[names.index("4.0.3") - 1 : names.index("4.0.3") + 2] == ["4.0.2", "4.0.3", "4.1.0"]
    assert len(lines) == len(releases.known()) + 2
    (row,) = [line for line in written["broker_api_versions.csv"].splitlines() if line.startswith("4.0.3,")]
    assert row == "4.0.3,11,JoinGroup,0,9,0,9,,,org.apache.kafka:kafka-clients:4.0.3:JoinGroupRequest.json"


def test_shipped_rows_equal_those_of_the_published_jar(kafka_clients_jar):
    assert broker_release.differences(broker_release.read_jar(kafka_clients_jar)) == []


def test_a_release_that_equals_its_jar_ends_well(kafka_clients_jar, capsys):
    assert broker_release.main(["--jar", str(kafka_clients_jar), "--check"]) == 0
    assert capsys.readouterr().out.endswith(" APIs equal\n")


def test_a_shipped_release_is_written_to_the_same_bytes(kafka_clients_jar):
    for file, text in broker_release.rewritten(broker_release.read_jar(kafka_clients_jar)).items():
        assert text.encode() == (files("client_telemetry.knowledge") / file).read_bytes()


def test_a_jar_that_lacks_something_is_none(tmp_path):
    parts = {
        "kafka/kafka-version.properties": "version=4.0.1\n",
        "org/apache/kafka/common/protocol/ApiKeys.class": "",
        "common/message/FetchRequest.json": json.dumps(definition(1, "Fetch", "4-17")),
    }

    def said(changed: dict[str, str]) -> str:
        with ZipFile(tmp_path / "k.jar", "w") as jar:
            for name, text in changed.items():
                jar.writestr(name, text)
        try:
            return str(broker_release.read_jar(tmp_path / "k.jar").release)
        except UnusableJar as unusable:
            return str(unusable).partition(": ")[2]

    assert said(parts) == "4.0.1"
    for name in parts:
        without = said({other: text for other, text in parts.items() if other != name})
        nothing = "no version or no message definitions in it"
        assert without == nothing if "message" in name else without.startswith("not a kafka-clients jar: ")
    assert said(parts | {"kafka/kafka-version.properties": "commitId=1\n"}) == nothing
    assert said(parts | {"common/message/FetchRequest.json": "{"}).startswith("not a kafka-clients jar: ")


def test_a_range_without_versions_or_listener_is_no_row(tmp_path):
    assert not read(tmp_path, definition(1, "Fetch", "4-17", ("controller",)))
    assert not read(tmp_path, {"name": "FetchRequest", "validVersions": "0-1", "listeners": ["broker"]})
    (row,) = read(tmp_path, definition(1, "Fetch", "4-17", ("zkBroker", "controller")))
    assert row == Row(1, "Fetch", 4, 17, 4, 17, "", "")


def with_version(jar: Path, version: str, copy: Path) -> Path:
    """The published jar as if it were another release."""
    with ZipFile(jar) as published, ZipFile(copy, "w") as renamed:
        for name in published.namelist():
            if name == "kafka/kafka-version.properties":
                renamed.writestr(name, f"commitId=1\nversion={version}\n")
            elif name.endswith((".json", "ApiKeys.class")):
                renamed.writestr(name, published.read(name))
    return copy


def without(release: str) -> Package:
    """The knowledge base as it was before a release: its rows gone, and ranges that end at it ending before it."""
    line = [each for each in releases.known() if releases.line(each) == releases.line(release)]
    before = line[line.index(release) - 1] if line.index(release) else ""
    texts = knowledge.shipped_texts()
    for file, text in texts.items():
        header, *rows = csv.reader(io.StringIO(text, newline=""))
        kept = [
            [" ".join(before if word == release else word for word in cell.split(" ")) for cell in row]
            if file in broker_release._ENDS
            else row
            for row in rows
            if file not in RELEASE_FILES or row[0] != release
        ]
        texts[file] = broker_release.csv_text(header, kept)
    return Package.of_texts("a copy", knowledge.shipped_built_at(), texts)


RELEASE_FILES = ("releases.csv", "broker_api_versions.csv")
FEATURE_FILES = ("broker_features.csv", "feature_api_versions.csv")


def newest_patches() -> list[str]:
    """The newest patch of every line that has more than one, of those whose patch serves what the one before it does."""
    by_line = {releases.line(release): release for release in releases.known() if not release.endswith(".0")}
    return [
        release
        for release in by_line.values()
        if (before := broker_release._patch_before(release))
        and broker_release.shipped(before) == broker_release.shipped(release)
    ]


@pytest.fixture
def _shipped_again():
    yield
    knowledge.use(None)


@pytest.mark.parametrize("release", newest_patches())
def test_a_patch_release_that_was_removed_comes_back_as_it_was(release, _shipped_again):
    """Of every line: APIs, feature levels and their requests are those that the shipped files have."""
    of_jar = broker_release.Release(release, "2026-01-01", broker_release.shipped(release))
    levels, everything = features.supported().get(release), knowledge.shipped_texts()
    copy = without(release)
    knowledge.use_package(copy)
    assert release not in releases.known()
    if levels:
        other = {name: each._replace(max=each.max + 1) for name, each in levels.items()}
        knowledge.use_package(copy.extended(release, broker_release.rewritten(of_jar, other)))
        assert features.supported()[release] == other, "another jar shows them"
        knowledge.use_package(copy)
    knowledge.use_package(copy.extended(release, broker_release.rewritten(of_jar, levels)))
    assert release in releases.known() and features.supported().get(release) == levels
    assert features.are_known(release)
    for file in FEATURE_FILES:
        assert rows_without_source(knowledge.texts()[file]) == rows_without_source(everything[file])
    assert releases.what_is_not_known(release).startswith(f"not known for {release}: known issues")
    known_issues.known()
    cluster_notes.known()
    mixed_window.known()


def rows_without_source(text: str) -> list[list[str]]:
    return [row[:-1] for row in csv.reader(io.StringIO(text, newline=""))]


def test_a_release_of_a_new_line_has_at_least_the_levels_of_the_one_before(
    kafka_clients_jar, tmp_path, _shipped_again
):
    """What its jar cannot tell is a condition of every verdict, and open ranges are open."""
    jar = with_version(kafka_clients_jar, "4.9.0", tmp_path / "k.jar")
    package = Package.of_texts("a copy", knowledge.shipped_built_at(), knowledge.shipped_texts())
    knowledge.use_package(package.extended("4.9.0", broker_release.rewritten(broker_release.read_jar(jar))))
    newest = releases.known()[-2]
    assert features.newest("4.9.0") == features.newest(newest) and not features.are_known("4.9.0")
    member = ClientEvidence(
        api_uses=parse_api_uses("ConsumerGroupHeartbeat:0 Fetch:12 Metadata:12 OffsetFetch:9")
    )
    verdict = judge(member, newest, "4.9.0")
    assert "not known for 4.9.0: feature levels, known issues, cluster notes" in verdict.condition
    assert verdict.steps["rollback_after_finalization"].verdict == "insufficient_evidence"
    assert judge(member, "4.0.0", "3.9.1", features={}).condition == ""
    transactional = ClientEvidence(
        "apache-kafka-java", "4.0.1", api_uses=parse_api_uses("Produce:11 AddPartitionsToTxn:3")
    )
    levels = {"transaction.version": 0}
    for target in (newest, "4.9.0"):
        refused = served.with_levels(target, levels)[apis.find("AddPartitionsToTxn").key]
        assert refused.served.max == 3, "a range without an end holds for a release that is new"
    assert (
        judge(transactional, newest, "4.9.0", features=levels).verdict
        == judge(transactional, "4.0.1", newest, features=levels).verdict
    )


@pytest.mark.parametrize(
    ("release", "features_known"), [("4.0.9", True), ("4.9.0", False)], ids=["patch", "new line"]
)
def test_every_question_is_answered_after_a_release_was_added(
    tmp_path, kafka_clients_jar, release, features_known
):
    """In a copy of the package: the command that docs/knowledge-base.md has, then questions about old releases and this one."""
    package = tmp_path / "client_telemetry"
    shutil.copytree(
        Path(str(files("client_telemetry"))), package, ignore=shutil.ignore_patterns("__pycache__")
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}

    def run(module: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", f"client_telemetry.{module}", *map(str, arguments)]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)

    jar = with_version(kafka_clients_jar, release, tmp_path / "k.jar")
    added = run("knowledge.broker_release", "--jar", jar)
    assert added.returncode == 0, added.stderr
    assert ("its feature levels are not known" in added.stdout) is not features_known
    clients = tmp_path / "clients.csv"
    clients.write_text(
        "client,client_software_name,client_software_version,api_uses,security_protocol\n"
        "old,,,Produce:2 Metadata:1,PLAINTEXT\n"
        "new,,,Produce:9 Metadata:9,PLAINTEXT\n"
    )
    for source, target in (("3.9.1", "4.0.0"), ("3.9.1", release), ("4.0.0", release), (release, "4.0.0")):
        verdicts = tmp_path / "verdicts.csv"
        asked = run(
            "cli", "compatibility", "--from", source, "--to", target, "--input", clients, "--output", verdicts
        )
        assert asked.returncode == 0, asked.stderr
        assert "old,breaks," in verdicts.read_text() and "new,safe," in verdicts.read_text()
        not_known = (
            f"not known for {release}: {'feature levels, ' * (not features_known)}known issues, cluster notes"
        )
        assert verdicts.read_text().count(not_known) == 2 * (release in (source, target))
