"""Every block of the README and the docs is run here, run by another test that is named, or has the reason why it is not.

A block that is new, or whose first line changed, is in no class and fails `test_every_block_has_a_class`.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
BLOCK = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^ *```$", re.M | re.S)
TYPED = re.compile(r"^\$ (?:.*\\\n)*.*$", re.M)
"""A command after the prompt, with the lines on which it goes on."""
FLEET = "fL33tG0ldTruth000000-w"
LOG = "include/sample/request_logs/kafka-2.7.2-text.request.log.zst"


@dataclass(frozen=True)
class Block:
    page: str
    language: str
    text: str

    @property
    def first_line(self) -> str:
        return self.text.split("\n")[0]

    def commands(self) -> str:
        """Its text; of a block that shows what is printed, only what follows `$`."""
        typed = [command.removeprefix("$ ") for command in TYPED.findall(self.text)]
        return "\n".join(typed) or self.text

    def printed(self) -> str:
        return "".join(f"{line}\n" for line in TYPED.sub("", self.text).split("\n") if line)


def blocks() -> list[Block]:
    pages = [CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", *sorted((CHECKOUT / "docs").rglob("*.md"))]
    found = []
    for page in pages:
        for match in BLOCK.finditer(page.read_text(encoding="utf-8")):
            text = re.sub(rf"^{match['indent']}", "", match["text"], flags=re.M).rstrip("\n")
            found.append(Block(str(page.relative_to(CHECKOUT)), match["language"], text))
    return found


@dataclass(frozen=True)
class Run:
    """Run with bash in the checkout, with these replacements. `{tmp}`: the test's folder, `{lake}`: a copy of the sample's lake,
    `{sample}`: the folder of the sample run. `before`: commands that the page expects to have been run."""

    replacements: Mapping[str, str] = field(default_factory=dict)
    code: int = 0
    before: str = ""
    printed: bool = False
    """Whether it prints what the block shows."""
    in_part: bool = False
    """Whether each line of the block, up to a `…`, is part of what is printed, wherever lines end."""


@dataclass(frozen=True)
class RunBy:
    """Another test runs it: a file below tests/, with what it is there."""

    test: str


@dataclass(frozen=True)
class NotRun:
    """It is no command, or cannot run here."""

    reason: str


@dataclass(frozen=True)
class Python:
    """Run by this project's Python with these replacements."""

    replacements: Mapping[str, str]


COMMANDS = RunBy("client_telemetry/cli/test_documented_commands.py")
EXTEND = RunBy("test_extend.py")
GATE = RunBy("test_gate_recipes.py")
RECIPES = RunBy("end_to_end/real_kafka/test_recipes.py")
IMAGES = RunBy("end_to_end/test_images.py")
LOGGERS = NotRun(
    "needs the scripts of a Kafka that is installed; tests/end_to_end/real_kafka sets the same loggers"
)
PIPX = NotRun("needs a released wheel; tests/test_wheel.py installs this project's and reports from it")
MAKE = NotRun("is what .ci/run does")
LAYOUT = NotRun("shows folders")
QUESTIONS = RunBy("jobs/test_questions_to_tables.py")
DATABASE = "include/airflow.sh airflow db migrate >/dev/null 2>&1"
FIRST_REPORT = Run(
    {"--out=DIR": "--out={tmp}/out", "client-telemetry report": ".venv/bin/client-telemetry report"},
    code=3,
    in_part=True,
)

CLASSES: dict[tuple[str, str], Run | RunBy | NotRun | Python] = {
    ("README.md", "$ client-telemetry report --from=2.7.2"): FIRST_REPORT,
    ("README.md", "kafka-configs.sh"): LOGGERS,
    ("README.md", "pipx install"): PIPX,
    ("README.md", "make run"): MAKE,
    ("CONTRIBUTING.md", "make check"): MAKE,
    ("docs/airflow.md", "include/airflow.sh airflow dags test client_telemetry_daily"): RunBy("dags/test_run_on_sample.py"),
    ("docs/airflow.md", "POST /api/v2/dags/broker_upgrade_impact"): NotRun("shows requests, not commands; tests/dags/test_runs.py has what they end with"),
    ("docs/airflow.md", "include/airflow.sh airflow backfill create"): Run(
        {"--max-active-runs 1": "--max-active-runs 1 --dry-run"}, before=f"{DATABASE}\ninclude/airflow.sh airflow dags reserialize >/dev/null 2>&1"
    ),
    ("docs/airflow.md", "include/airflow.sh airflow dags test lake_maintenance"): Run(before=DATABASE),
    ("docs/airflow.md", "export AIRFLOW__CORE__MULTI_TEAM=True"): Run(before=DATABASE),
    ("docs/airflow.md", "include/airflow.sh airflow db clean"): Run(before=DATABASE),
    ("docs/system.md", "docker compose up"): NotRun("needs Docker; test_compose.py holds the file against its specification"),
    ("docs/broker-plugin.md", "metric.reporters="): RECIPES,
    ("docs/broker-plugin.md", "java -cp kafka-client-telemetry-dump"): NotRun("needs the built plugin and a Kafka; IdentifiersTest (broker-plugin) calls it"),
    ("docs/broker-plugin.md", "- hosts: brokers"): RECIPES,
    ("docs/broker-plugin.md", "FROM quay.io/strimzi"): NotRun("needs Strimzi's image; test_recipes.py reads the recipe"),
    ("docs/broker-plugin.md", "spec:"): RECIPES,
    ("docs/campaigns.md", "client-telemetry campaign"): COMMANDS,
    ("docs/clients.md", "$ .venv/bin/python -m client_telemetry.identity.client_families"): Run(printed=True),
    ("docs/clients.md", "make owners"): Run({"make owners": "make owners LAKE={lake}"}),
    ("docs/clients.md", "make history"): Run({"make history": "make history LAKE={lake}"}),
    ("docs/clients.md", "select cluster_id, principal"): NotRun("is a query; test_the_documented_query_runs runs it"),
    ("docs/deployment.md", "docker network create"): NotRun("needs Docker; test_images.py builds the images and runs their commands"),
    ("docs/deployment.md", "apt-get install -y buildah"): NotRun("takes minutes and 15 GB; test_images.py runs the script, in e2e-long"),
    ("docs/extend.md", '"""'): EXTEND,
    ("docs/extend.md", "    "): EXTEND,
    ("docs/extend.md", " from client_telemetry"): EXTEND,
    ("docs/extend.md", "example"): EXTEND,
    ("docs/extend.md", "upgrade example-kafka"): EXTEND,
    ("docs/extend.md", "Example shop"): EXTEND,
    ("docs/extend.md", " {%- if"): EXTEND,
    ("docs/fleet-page.md", "<publish>/fleet"): LAYOUT,
    ("docs/gate.md", "client-telemetry gate"): COMMANDS,
    ("docs/gate.md", "jobs:"): GATE,
    ("docs/gate.md", "upgrade-gate:"): GATE,
    ("docs/gate.md", "apiVersion: batch/v1"): GATE,
    ("docs/gate.md", "- hosts: localhost"): GATE,
    ("docs/gate.md", "set -e"): GATE,
    ("docs/index.md", "$ client-telemetry report --from=2.7.2"): NotRun("is the README's"),
    ("docs/index.md", "kafka-configs.sh"): LOGGERS,
    ("docs/index.md", "pipx install"): PIPX,
    ("docs/index.md", "make run"): MAKE,
    ("docs/knowledge.md", "client-telemetry compatibility"): RunBy("client_telemetry/cli/test_knowledge.py"),
    ("docs/knowledge.md", "pip install"): RunBy("client_telemetry/cli/test_knowledge.py"),
    ("docs/knowledge.md", "client-telemetry knowledge configuration"): RunBy("client_telemetry/cli/test_knowledge_configuration.py"),
    ("docs/knowledge.md", "client-telemetry knowledge metrics"): RunBy("client_telemetry/cli/test_knowledge_metrics.py"),
    ("docs/knowledge.md", "client-telemetry knowledge build"): RunBy("client_telemetry/cli/test_knowledge.py"),
    ("docs/knowledge-base.md", "make knowledge"): NotRun("changes the knowledge base; client_telemetry/knowledge/test_broker_release.py reads a jar"),
    ("docs/knowledge-base.md", "client_id_pattern,"): COMMANDS,
    ("docs/knowledge-base.md", "product,"): COMMANDS,
    ("docs/knowledge-base.md", "library,"): COMMANDS,
    ("docs/knowledge-base.md", "software_name,"): COMMANDS,
    ("docs/knowledge-base.md", "rule_id,"): COMMANDS,
    ("docs/knowledge-base.md", "client,"): COMMANDS,
    ("docs/knowledge-base.md", "type,name,library,binding,"): RunBy("client_telemetry/artefacts/test_own_packages.py"),
    ("docs/knowledge-base.md", "type,name,library,library_version,"): RunBy("client_telemetry/artefacts/test_own_packages.py"),
    ("docs/knowledge-base.md", "client-telemetry knowledge check"): COMMANDS,
    ("docs/knowledge-base.md", "client-telemetry compatibility"): COMMANDS,
    ("docs/probe.md", "client-telemetry probe kafka-1.example.com:9092 --output"): NotRun("needs brokers; end_to_end/real_kafka/test_probe.py asks real ones"),
    ("docs/probe.md", "client-telemetry probe kafka-1.example.com:9092 --dry-run"): COMMANDS,
    ("docs/probe.md", "client-telemetry compatibility"): COMMANDS,
    ("docs/probe.md", "client-telemetry replay --lake var/lake --target target.json >"): RunBy("client_telemetry/cli/test_replay.py"),
    ("docs/probe.md", "client-telemetry replay --lake var/lake --target target.json --report"): RunBy("client_telemetry/cli/test_replay.py"),
    ("docs/raw-dump-contract.md", "from datetime import"): Python(
        {'Path("raw")': 'Path("{tmp}/raw")', "received_at_nanos=..., client_instance_id=..., payload=...": "received_at_nanos=1795262400 * 10**9, client_instance_id=uuid4().bytes, payload=b''"}
    ),
    ("docs/raw-dump-contract.md", "<raw>/v1/dataset"): LAYOUT,
    ("docs/report-format.md", "<publish>/upgrade_impact"): LAYOUT,
    ("docs/report-format.md", ".venv/bin/client-telemetry show-record"): COMMANDS,
    ("docs/report-format.md", "By 2026-12-20"): NotRun("shows a message; client_telemetry/reports/upgrade/test_owner_message.py has one whole"),
    ("docs/rest.md", "GET /client-telemetry/api"): RunBy("plugins/test_rest.py"),
    ("docs/live-numbers.md", "scrape_configs:"): NotRun("is for a Prometheus; tests/plugins/test_numbers.py reads the endpoint, promtool the text"),
    ("docs/mcp.md", "pip install"): RunBy("client_telemetry/answers/test_mcp.py"),
    ("docs/mcp.md", '{"mcpServers"'): NotRun("is the configuration of other programs; client_telemetry/answers/test_mcp.py starts the same command"),
    ("docs/questions.md", "SELECT"): QUESTIONS,
    ("docs/questions.md", "from pyiceberg"): QUESTIONS,
    ("docs/notices.md", "mail:"): RunBy("client_telemetry/cli/test_notify.py"),
    ("docs/notices.md", "client-telemetry notify"): RunBy("client_telemetry/cli/test_notify.py"),
    ("docs/tickets.md", "client-telemetry tickets var/"): RunBy("client_telemetry/cli/test_tickets.py"),
    ("docs/tickets.md", "client-telemetry tickets --campaign"): RunBy("client_telemetry/cli/test_tickets.py"),
    ("docs/review.md", "client-telemetry review"): RunBy("dags/test_commands.py"),
    ("docs/sources.md", "  - name: east"): RunBy("include/test_clusters.py"),
    ("docs/sources.md", ".venv/bin/client-telemetry convert"): COMMANDS,
    ("docs/storage.md", "export CLIENT_TELEMETRY_CLUSTERS"): RunBy("end_to_end/lake/test_storage_recipe.py"),
    ("docs/storage.md", "export PYICEBERG_CATALOG__LAKE__TYPE=rest"): NotRun("sets variables of a server that is not here; end_to_end/lake uses them with real ones"),
    ("docs/storage.md", "export AWS_ACCESS_KEY_ID"): NotRun("sets variables of a store that is not here; end_to_end/lake uses them with a real one"),
    ("docs/storage.md", "include/airflow.sh airflow connections add"): Run(before=DATABASE),
    ("docs/storage.md", "include/airflow.sh python spark/run_stage.py lake_maintenance"): Run(
        {"--lake URL": "--lake {lake}", "--publish URL": "--publish {tmp}/published", "--cluster C": f"--cluster {FLEET}", "NAME": "fleet"}
    ),
    ("docs/subscriptions.md", "include/airflow.sh airflow dags test telemetry_subscription_check"): Run(before=DATABASE),
    ("docs/subscriptions.md", "client-telemetry subscription-check"): COMMANDS,
    ("docs/campaigns.md", "from airflow.sdk"): RunBy("dags/test_upgrade_campaign.py"),
    ("docs/campaigns.md", "SELECT application"): RunBy("jobs/test_upgrade_campaign.py"),
    ("docs/join.md", "client-telemetry join"): RunBy("client_telemetry/cli/test_join.py"),
    ("docs/join.md", "fixed in the repository"): RunBy("client_telemetry/cli/test_join.py"),
    ("docs/join.md", "    artefacts:"): RunBy("include/test_clusters.py"),
    ("docs/probe.md", "clusters:"): RunBy("jobs/test_measured_target.py"),
    ("docs/join.md", "SELECT library"): RunBy("jobs/test_artefact_inventory.py"),
    ("docs/knowledge.md", "client-telemetry knowledge newer"): NotRun("asks registries and executes what they have; client_telemetry/rehearsal/test_measured.py has what follows from the requests"),
    ("docs/knowledge.md", "client-telemetry knowledge measure"): NotRun("installs libraries and executes them; end_to_end/test_knowledge_rebuilt.py does, and client_telemetry/rehearsal/test_compared_with_table.py has what follows"),
    ("docs/knowledge.md", "client-telemetry knowledge changelogs"): NotRun("asks registries; client_telemetry/rehearsal/test_changelogs.py has what is said of two changelogs"),
    ("docs/rehearse.md", "client-telemetry rehearse"): NotRun("executes what registries have; end_to_end/test_rehearse.py rehearses a small report"),
    ("docs/rehearse.md", "CONTRADICTS"): NotRun("is what it prints; client_telemetry/cli/test_rehearse.py has its lines"),
    ("docs/scan.md", "pip install"): RunBy("client_telemetry/cli/test_scan.py"),
    ("docs/scan.md", "breaks "): RunBy("client_telemetry/cli/test_scan.py"),
    ("docs/scan.md", "name: Kafka clients"): RunBy("client_telemetry/cli/test_scan.py"),
    ("docs/scan.md", "kafka-clients:"): RunBy("client_telemetry/cli/test_scan.py"),
    ("docs/scan.md", "repos:"): RunBy("client_telemetry/cli/test_scan.py"),
    ("docs/system.md", " Kafka brokers"): NotRun("is a drawing"),
    ("docs/system.md", "from pyiceberg.catalog.sql"): Python({"var/lake/catalog.db": "{lake}/catalog.db", "file:///…/var/lake": "file://{lake}"}),
    ("docs/try.md", "kafka-configs.sh"): LOGGERS,
    ("docs/try.md", "make report"): Run({"LOGS=<files or a folder>": f"LOGS={LOG} OUT={{tmp}}/out"}),
    ("docs/upgrading.md", "include/airflow.sh airflow dags pause"): Run(before=f"{DATABASE}\ninclude/airflow.sh airflow dags reserialize >/dev/null 2>&1"),
    ("docs/upgrading.md", "client-telemetry lake-copy var/lake"): Run(
        {"client-telemetry lake-copy": ".venv/bin/client-telemetry lake-copy", "var/lake": "{lake}", "/backup": "{tmp}/backup", "/srv/telemetry": "{tmp}"}
    ),
    ("docs/upgrading.md", "export PYICEBERG_CATALOG__COPY"): NotRun("needs S3 and PostgreSQL; client_telemetry/lake has lake-copy's own tests"),
}  # fmt: skip
"""By page and the beginning of the first line."""


def key_of(block: Block) -> tuple[str, str]:
    keys = [key for key in CLASSES if block.page == key[0] and block.first_line.startswith(key[1])]
    return max(keys, key=lambda key: len(key[1]), default=(block.page, ""))


def test_every_block_has_a_class():
    assert [(block.page, block.first_line) for block in blocks() if key_of(block) not in CLASSES] == []


def test_every_class_has_a_block():
    assert set(CLASSES) == {key_of(block) for block in blocks()}


def test_tests_that_are_named_are_there():
    named = {each.test for each in CLASSES.values() if isinstance(each, RunBy)}
    reasons = " ".join(each.reason for each in CLASSES.values() if isinstance(each, NotRun))
    named |= {name.removeprefix("tests/") for name in re.findall(r"[\w/]+/test_\w+\.py", reasons)}
    assert [name for name in named if not (CHECKOUT / "tests" / name).exists()] == []


def test_airflow_and_spark_are_called_by_the_wrapper():
    """Without it, `airflow` has another database and `spark-submit` neither jars nor settings."""
    bare = [
        (block.page, line)
        for block in blocks()
        for line in block.text.split("\n")
        if re.match(r"\s*(airflow|spark-submit) ", line)
    ]
    assert bare == []


def filled_in(text: str, replacements: Mapping[str, str], folder: Path) -> str:
    """The block with what the page leaves open."""
    for documented, here in replacements.items():
        assert documented in text, documented
        text = text.replace(documented, here)
    return text.replace("{tmp}", str(folder)).replace("{lake}", str(folder / "lake"))


def copied_lake(sample: Path, folder: Path) -> None:
    """With a clusters file that names it."""
    command = [sys.executable, "-m", "client_telemetry.cli", "lake-copy", sample / "lake", folder / "lake"]
    subprocess.run([str(part) for part in command], check=True, capture_output=True)
    text = (CHECKOUT / "include/clusters.yaml").read_text(encoding="utf-8")
    (folder / "clusters.yaml").write_text(re.sub(r": var/(\w+)", rf": {folder}/\1", text), encoding="utf-8")


def needs_the_sample(block: Block, how: Run | Python) -> bool:
    return "dags test" in block.text or any("{lake}" in here for here in how.replacements.values())


def starts_airflow_or_spark(block: Block) -> bool:
    return bool(re.search(r"airflow\.sh|make report|client-telemetry report", block.text))


def of_class(kind: type, *, on_the_sample: bool) -> list[object]:
    """Parameters of a test: blocks of that class, and how they are run. What starts Airflow or Spark is run by `make e2e-long`."""
    return [
        pytest.param(
            block,
            how,
            id=f"{block.page}-{block.first_line[:40]}",
            marks=[pytest.mark.end_to_end, pytest.mark.long] if starts_airflow_or_spark(block) else [],
        )
        for block in blocks()
        if isinstance(how := CLASSES.get(key_of(block)), kind)
        and needs_the_sample(block, how) == on_the_sample
    ]


def run(block: Block, how: Run, folder: Path, **variables: str) -> None:
    commands = filled_in(block.commands(), how.replacements, folder)
    environment = os.environ | {"AIRFLOW_HOME": str(folder / "airflow")} | variables
    done = subprocess.run(
        ["bash", "-e", "-c", f"{how.before}\n{commands}"],
        cwd=CHECKOUT,
        # `make test ARGS=…` hands its variable on to every make below it.
        env={name: value for name, value in environment.items() if not name.startswith(("MAKE", "ARGS"))},
        capture_output=True,
        text=True,
    )
    assert done.returncode == how.code, (done.stdout + done.stderr)[-3000:]
    if how.printed:
        assert done.stdout == block.printed()
    if how.in_part:
        printed = _words(f"{done.stdout} {done.stderr}".replace(str(folder / "out"), "DIR"))
        lines = [_words(line.partition("…")[0]) for line in block.printed().splitlines()]
        assert [line for line in lines if line not in printed] == [], done.stdout


def _words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(("block", "how"), of_class(Run, on_the_sample=False))
def test_the_commands_of_a_block_run(block: Block, how: Run, tmp_path):
    run(block, how, tmp_path)


@pytest.mark.parametrize(("block", "how"), of_class(Run, on_the_sample=True))
def test_the_commands_of_a_block_run_on_the_sample(block: Block, how: Run, tmp_path, sample_run):
    copied_lake(sample_run.folder, tmp_path)
    run(block, how, tmp_path, CLIENT_TELEMETRY_CLUSTERS=str(tmp_path / "clusters.yaml"))


def run_python(block: Block, how: Python, folder: Path) -> None:
    program = filled_in(block.text, how.replacements, folder)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("block", "how"), of_class(Python, on_the_sample=False))
def test_the_python_of_a_block_runs(block: Block, how: Python, tmp_path):
    run_python(block, how, tmp_path)


@pytest.mark.parametrize(("block", "how"), of_class(Python, on_the_sample=True))
def test_the_python_of_a_block_runs_on_the_sample(block: Block, how: Python, tmp_path, sample_run):
    copied_lake(sample_run.folder, tmp_path)
    run_python(block, how, tmp_path)


def test_the_documented_query_runs(sample_run):
    import duckdb
    from client_telemetry.lake.lake import Lake
    from client_telemetry.tables.clients import CLIENTS

    (query,) = [
        block.text for block in blocks() if block.language == "sql" and block.page == "docs/clients.md"
    ]
    clients = Lake(None, str(sample_run.folder / "lake")).tables()[CLIENTS.name].scan().to_arrow()
    with duckdb.connect() as database:
        database.register("rows", clients)
        database.execute(
            "create schema client_telemetry; create view client_telemetry.clients as select * from rows"
        )
        assert len(database.execute(query).fetchall()) > 10
