"""Reading a kafka-clients jar: made-up ones, and the published one that `make test` fetches."""

import json
import os
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from zipfile import ZipFile

import pytest
from client_telemetry.knowledge import broker_release, releases
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


def test_an_api_that_is_not_known_is_asked_for(tmp_path):
    of_jar = broker_release.read_jar(
        make_jar(tmp_path / "k.jar", "4.9.0", [definition(999, "Levitate", "0")])
    )
    with pytest.raises(UnusableJar, match=r"apis\.csv lacks 999 Levitate: add a line"):
        broker_release.rewritten(of_jar)


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
        command = [sys.executable, "-m", f"client_telemetry.compatibility{module}", *map(str, arguments)]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)

    jar = with_version(kafka_clients_jar, release, tmp_path / "k.jar")
    added = run(".broker_release", "--jar", jar)
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
        asked = run("", "--from", source, "--to", target, "--input", clients, "--output", verdicts)
        assert asked.returncode == 0, asked.stderr
        assert "old,breaks," in verdicts.read_text() and "new,safe," in verdicts.read_text()
