"""Every `client-telemetry …` that the README and the docs name, in an empty environment and in another folder."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from client_telemetry.cli.__main__ import SUBCOMMANDS

CHECKOUT = Path(__file__).parents[3]
COMMAND = Path(sys.executable).parent / "client-telemetry"
LOG = CHECKOUT / "include/sample/request_logs/kafka-2.7.2-text.request.log.zst"
RAW = CHECKOUT / "include/sample/fleet/raw"
OBJECT = min(RAW.glob("v1/dataset=connections/**/hour=*/broker=*/*")).relative_to(RAW)
PLACEHOLDERS = {
    # The table of sources abbreviates this as `convert`, and names the files after it.
    "--cluster ID --raw FOLDER": "--cluster <cluster id> --raw <folder> FILES",
    "DIR": "out",
    "FORMAT": "request_log",
    "FOLDER": "mine",
    "<cluster id>": "1o5EsAeXSL6vbIOiK644hw",
    "<id>": "1o5EsAeXSL6vbIOiK644hw",
    "<folder>": "raw",
    "include/": f"{CHECKOUT}/include/",
    "docs/": f"{CHECKOUT}/docs/",
    "LOGS": str(LOG),
    "FILES": f"--release=2.7.2 {LOG}",
    "OBJECT SEQUENCE": f"{OBJECT} all",
    "scan PATH": "scan .",
}
IN_CODE = re.compile(r"(?:^|`)(?:\.venv/bin/)?client-telemetry ([a-z][a-z-]*)((?: [^`\n…]+)?)", re.M)


def documented() -> list[str]:
    """Command lines without the command, each once; a mention without arguments asks for the help."""
    texts = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md"))]
    found = [match for text in texts for match in IN_CODE.findall(text.read_text(encoding="utf-8"))]
    lines = {f"{name}{arguments or ' --help'}" for name, arguments in found if name in SUBCOMMANDS}
    return sorted(lines | {f"{name} --help" for name in SUBCOMMANDS})


def filled_in(line: str) -> list[str]:
    for placeholder, value in PLACEHOLDERS.items():
        line = line.replace(placeholder, value)
    return shlex.split(line)


def run(line: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", **variables}
    return subprocess.run([COMMAND, *line], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With the files that the documented commands name."""
    examples = CHECKOUT / "docs/examples"
    shutil.copytree(examples / "knowledge", tmp_path / "mine")
    shutil.copy(examples / "clients.csv", tmp_path)
    shutil.copy(CHECKOUT / "tests/data/probe/apache-4.0.1.json", tmp_path / "target.json")
    shutil.copy(examples / "campaigns.yaml", tmp_path)
    (tmp_path / "server.properties").write_text("process.roles=broker\nnode.id=1\n")
    (tmp_path / "go.mod").write_text("module m\n\nrequire github.com/twmb/franz-go v1.18.0\n")
    (tmp_path / "var/published").mkdir(parents=True)
    (tmp_path / "subscriptions.json").write_text(
        '[{"name": "s", "metrics": ["org.apache.kafka."], "interval_ms": 60000, "match": {}}]'
    )
    return tmp_path


LAKES = ("lake-copy FROM", "lake-copy var/", "lake-copy /backup", "lake-copy s3:")
ELSEWHERE = (
    "report --from=3.9.1",
    "history --lake /srv",
    "probe kafka-1.example.com:9092 --output",
    "replay --lake",
    "join REPORT",
    "review --cluster",
    "review --from",
    "ask fleet",
    "ui --port",
    "gate REPORT",
    "rehearse REPORT",
    "rehearse var/",
    "compatibility --from 4.4.0 --to 4.5.0",
    "knowledge check: ",  # a message
    "knowledge update --from",
    "knowledge build --out",
    "knowledge newer",
    "knowledge measure",
    "tickets var/",
    "tickets --campaign",
    "notify --notices",
    "mcp --reports",
    *LAKES,
)
"""Beginnings of commands that other tests run: below, from a server (test_knowledge.py), with real brokers (test_probe.py), from registries (test_rehearse.py), with the sample's lake (test_replay.py), with a report (test_join.py, test_command.py, test_rehearse.py), with a real database (test_storage_recipe.py), with lakes (test_copying.py), with a tracker (test_tickets.py), with a mail server (test_notify.py), with a client of the protocol (test_mcp.py), with Airflow (tests/dags/test_commands.py), with the logs of an upgrade (review/test_log_evidence.py)."""


@pytest.mark.parametrize("line", [line for line in documented() if not line.startswith(ELSEWHERE)])
def test_a_documented_command_runs_in_an_empty_environment(folder, line):
    if line.startswith("subscription-check --c"):
        (folder / "clients.csv").write_text(
            "client_instance_id,client_id,software_name,software_version,source_address,source_port\n"
            "AAAAAAAAAAAAAAAAAAAAAQ,orders,apache-kafka-java,3.9.1,10.0.0.1,40000\n"
        )
    done = run(filled_in(line), folder)
    # Without reports the gate of a campaign cannot tell.
    code = 4 if line.startswith("gate --campaign") else 0
    assert (done.returncode, done.stderr.count("Traceback")) == (code, 0), done.stderr + done.stdout


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"JAVA_HOME": "/nowhere"},
        {
            "SPARK_HOME": "/nowhere",
            "SPARK_CONF_DIR": "/nowhere",
            "SPARK_REMOTE": "sc://127.0.0.1:1",
            "SPARK_MASTER": "spark://127.0.0.1:1",
            "PYSPARK_PYTHON": "/nowhere/python",
            "PYSPARK_SUBMIT_ARGS": "--master yarn pyspark-shell",
            "HADOOP_CONF_DIR": "/nowhere",
        },
    ],
    ids=["empty environment", "no Java", "variables of another Spark"],
)
def test_the_documented_report_runs_in_any_environment(folder, variables):
    (line,) = [line for line in documented() if line.startswith("report --from=3.9.1")]
    done = run(filled_in(line.replace("3.9.1", "2.7.2")), folder, **variables)
    assert done.returncode == 3, done.stderr + done.stdout
    reports = list(folder.glob("out/published/upgrade_impact/*/*/report.json"))
    assert len(reports) == 1
    assert run(["gate", str(reports[0])], folder).returncode == 3
    history = run(["history", "--lake", "out/lake"], folder)
    assert (history.returncode, history.stdout.count("\n") > 1) == (0, True), history.stderr
