"""`client-telemetry scan`: exit codes, formats, and what it says of input that it cannot read."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import pytest
import yaml
from client_telemetry.cli import scan

BREAKS = "module x\n\nrequire github.com/Shopify/sarama v1.27.0\n"
SAFE = "module x\n\nrequire github.com/twmb/franz-go v1.18.0\n"


def run(capsys, *arguments: object) -> tuple[int, str, str]:
    try:
        code = scan.main([str(argument) for argument in arguments])
    except SystemExit as ended:
        code = ended.code
    printed = capsys.readouterr()
    return code, printed.out, printed.err


@pytest.mark.parametrize(
    ("files", "code", "decision"),
    [
        ({"go.mod": BREAKS}, 3, "no-go: 1 Kafka client with the verdict breaks"),
        ({"go.mod": SAFE}, 0, "go"),
        ({"package.json": '{"dependencies": {"kafkajs": "^2.0.0"}}'}, 4, "cannot tell: 1 Kafka client lacks"),
        ({"go.mod": SAFE, "bom.json": "{"}, 4, "cannot tell: 1 file could not be read"),
        ({"go.mod": "module x\n"}, 4, "cannot tell: no Kafka client is named in 1 file"),
        ({}, 4, "cannot tell: no Kafka client is named in 0 files"),
    ],
)
def test_the_exit_code_is_the_decision(tmp_path, capsys, files, code, decision):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    ended, _, errors = run(capsys, tmp_path, "--to", "4.3.1")
    assert (ended, errors.startswith(decision)) == (code, True), errors


def test_a_client_is_printed_with_file_line_and_fix(tmp_path, capsys, monkeypatch):
    (tmp_path / "go.mod").write_text(BREAKS)
    monkeypatch.chdir(tmp_path)
    _, printed, _ = run(capsys, ".", "--to", "4.3.1")
    assert "breaks                sarama 1.27.0  go.mod:3" in printed
    assert "fix: upgrade sarama to 1.41.0 or later" in printed
    _, document, _ = run(capsys, ".", "--to", "4.3.1", "--format", "json")
    (client,) = json.loads(document)["clients"]
    assert (client["file"], client["line"], client["library"]) == ("go.mod", 3, "sarama")
    _, document, _ = run(capsys, ".", "--to", "4.3.1", "--format", "sarif")
    (result,) = json.loads(document)["runs"][0]["results"]
    assert result["level"] == "error"
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "go.mod"},
        "region": {"startLine": 3},
    }
    _, markdown, _ = run(capsys, ".", "--to", "4.3.1", "--format", "markdown")
    assert "| breaks | `sarama 1.27.0` | `go.mod:3` |" in markdown


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--to", "4.0"), "4.0 is not an exact release: use one of 4.0.0, 4.0.1"),
        (("--to", "4.3.1", "--from", "4.3.1"), "the brokers already run 4.3.1"),
        (("--to", "4.3.1", "--fail-on", "bad"), "'bad' is not a list of verdicts"),
    ],
)
def test_bad_arguments_are_one_line(tmp_path, capsys, arguments, reason):
    code, _, errors = run(capsys, tmp_path, *arguments)
    assert code == 2 and reason in errors and errors.count("\n") == 1


def test_a_path_that_is_not_there(tmp_path, capsys):
    code, _, errors = run(capsys, tmp_path / "nowhere", "--to", "4.3.1")
    assert (code, errors) == (2, f"client-telemetry scan: {tmp_path}/nowhere: No such file or directory\n")


def test_links_out_of_the_tree_are_not_followed(tmp_path, capsys):
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "go.mod").write_text(BREAKS)
    (inside / "go.mod").symlink_to(outside / "go.mod")
    (inside / "folder").symlink_to(outside)
    os.mkfifo(inside / "go.sum")
    code, _, errors = run(capsys, inside, "--to", "4.3.1")
    assert (code, errors.startswith("cannot tell: no Kafka client")) == (4, True)


def test_a_parent_out_of_the_tree_is_not_read(tmp_path, capsys):
    (tmp_path / "pom.xml").write_text(
        "<project><groupId>g</groupId><artifactId>p</artifactId><version>1</version><dependencyManagement><dependencies><dependency>"
        "<groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId><version>0.10.0.0</version>"
        "</dependency></dependencies></dependencyManagement></project>"
    )
    child = tmp_path / "child"
    child.mkdir()
    (child / "pom.xml").write_text(
        "<project><parent><groupId>g</groupId><artifactId>p</artifactId><version>1</version></parent><dependencies><dependency>"
        "<groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId></dependency></dependencies></project>"
    )
    code, printed, _ = run(capsys, child, "--to", "4.3.1")
    assert code == 4 and "Declared in a parent that is not here (g:p:1)." in printed
    code, printed, _ = run(capsys, tmp_path, "--to", "4.3.1")
    assert code == 3 and "kafka-clients 0.10.0.0" in printed


def pom(artifact, parent="", body=""):
    above = (
        f"<parent><groupId>x</groupId><artifactId>{parent}</artifactId><version>1</version>"
        f"<relativePath>../{parent}/pom.xml</relativePath></parent>"
    )
    return (
        f"<project>{above if parent else ''}<groupId>x</groupId><artifactId>{artifact}</artifactId><version>1</version>"
        f"{body}</project>"
    )


def imported(artifact):
    return (
        f"<dependencyManagement><dependencies><dependency><groupId>x</groupId><artifactId>{artifact}</artifactId>"
        "<version>1</version><type>pom</type><scope>import</scope></dependency></dependencies></dependencyManagement>"
    )


CLIENTS = "<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId>{}</dependency></dependencies>"
ENTITIES = '<!DOCTYPE project [<!ENTITY v "3.9.1">]>'


@pytest.mark.parametrize(
    ("files", "code", "said"),
    [
        pytest.param(
            {"a": pom("a", "b", CLIENTS.format("")), "b": pom("b", "a")},
            4,
            "declared in a parent that is not here",
            id="parents in a circle",
        ),
        pytest.param(
            {"a": pom("a", "a", CLIENTS.format(""))},
            4,
            "declared in a parent that is not here",
            id="a parent of its own",
        ),
        pytest.param(
            {"a": pom("a", body=imported("b") + CLIENTS.format("")), "b": pom("b", body=imported("a"))},
            4,
            "managed by a list that is not here (x:b)",
            id="lists that import each other",
        ),
        pytest.param(
            {
                "a": pom("a", "b", CLIENTS.format("<version>${v}</version>")),
                "b": ENTITIES + pom("b", body="<properties><v>&v;</v></properties>"),
            },
            4,
            "refused: it has a DTD or entities",
            id="entities in a parent",
        ),
    ],
)
def test_poms_that_lead_nowhere_are_not_known_and_never_safe(tmp_path, capsys, files, code, said):
    for folder, text in files.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "pom.xml").write_text(text)
    ended, out, err = run(capsys, tmp_path, "--to", "4.0.1")
    shown = (out + err).lower()
    assert (ended, said.lower() in shown, "1 safe" in shown) == (code, True, False), shown


def test_a_lock_file_says_more_than_the_manifest_beside_it(tmp_path, capsys):
    (tmp_path / "package.json").write_text('{"dependencies": {"kafkajs": "^2.0.0"}}')
    (tmp_path / "package-lock.json").write_text(
        '{"lockfileVersion": 3, "packages": {"node_modules/kafkajs": {"version": "2.2.4"}}}'
    )
    code, printed, _ = run(capsys, tmp_path, "--to", "4.3.1")
    assert code == 0 and "safe                  kafkajs 2.2.4" in printed


def test_what_is_excluded_is_not_read(tmp_path, capsys):
    for folder, text in (("app", SAFE), ("tests/data", BREAKS), ("a/examples/b", BREAKS)):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "go.mod").write_text(text)
    assert run(capsys, tmp_path, "--to", "4.3.1")[0] == 3
    assert run(capsys, tmp_path, "--to", "4.3.1", "--exclude", "tests", "--exclude", "*/examples/*")[0] == 0


def test_names_with_scripts_and_control_characters_stay_text(tmp_path, capsys):
    purl = "pkg:npm/kafkajs@2.2.4"
    component = {
        "purl": purl,
        "properties": [{"name": "syft:location:0:path", "value": "<script>\u001b[2J|`"}],
    }
    (tmp_path / "bom.json").write_text(json.dumps({"bomFormat": "CycloneDX", "components": [component]}))
    _, printed, _ = run(capsys, tmp_path, "--to", "4.3.1")
    assert "\u001b" not in printed and "␛[2J" in printed
    _, printed, _ = run(capsys, tmp_path, "--to", "4.3.1", "--format", "markdown")
    assert "\u001b" not in printed and "``" in printed


def documented_commands() -> list[str]:
    """The commands with `client-telemetry scan` of the pipelines in docs/scan.md."""
    page = (Path(__file__).parents[3] / "docs/scan.md").read_text(encoding="utf-8")
    github, gitlab, hook = (
        yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    )
    commands = [step["run"] for step in github["jobs"]["scan"]["steps"] if "run" in step]
    commands += gitlab["kafka-clients"]["script"]
    commands.append(hook["repos"][0]["hooks"][0]["entry"])
    return [command for command in commands if "client-telemetry scan" in command]


@pytest.mark.parametrize("command", documented_commands())
@pytest.mark.parametrize(("text", "codes"), [(BREAKS, {1, 3}), (SAFE, {0}), ("module x\n", {0, 4})])
def test_the_documented_pipelines_run(tmp_path, command, text, codes):
    (tmp_path / "go.mod").write_text(text)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", command], cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True
    )
    assert done.returncode in codes
    if "sarif" in command:
        document = json.loads((tmp_path / "kafka-clients.sarif").read_text())
        assert len(document["runs"][0]["results"]) == (text == BREAKS)


def test_it_starts_without_spark_and_in_less_than_a_second(tmp_path):
    for number in range(200):
        (tmp_path / f"m{number}").mkdir()
        (tmp_path / f"m{number}/go.mod").write_text(SAFE)
    code = (
        "import sys\nfrom client_telemetry.cli.__main__ import main\n"
        "main(sys.argv[1:])\n"
        "print({'pyspark', 'airflow', 'pandas', 'pyiceberg', 'numba'} & set(sys.modules), file=sys.stderr)"
    )
    seconds = []
    for _ in range(3):
        before = getrusage(RUSAGE_CHILDREN)
        command = [sys.executable, "-c", code, "scan", tmp_path, "--to", "4.3.1"]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True)
        after = getrusage(RUSAGE_CHILDREN)
        seconds.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    assert done.stderr.endswith("go\nset()\n") and Path(tmp_path).exists()
    assert min(seconds) < 1
