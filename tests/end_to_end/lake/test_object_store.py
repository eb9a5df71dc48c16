"""Everything in an object store: dumps, request logs, owners, tables, results, reports; and pages of Airflow from there."""

import csv
import datetime as dt
import io
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import fsspec
import pytest
import yaml
from client_telemetry.campaign.gate import Knowledge, decide
from client_telemetry.campaign.plan_file import beside, read_campaigns
from client_telemetry.cli.gate import main as gate
from client_telemetry.cli.lake_copy import main
from client_telemetry.cli.notify import main as notify
from client_telemetry.formats.raw.file_system import file_system, forget_file_systems
from client_telemetry.jobs import artefact_inventory
from client_telemetry.jobs.campaign_pages import publish_page, standing_of
from client_telemetry.lake.lake import Lake
from client_telemetry.pipeline.published_folder import StoredFolder
from client_telemetry.tables.artefacts import ARTEFACTS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.table import Table
from fastapi.testclient import TestClient
from pyarrow import fs

from tests.chat import listening
from tests.client_telemetry.cli.test_notify import of_day, seen_on
from tests.client_telemetry.cli.test_tickets import BROKEN, CAMPAIGNS
from tests.client_telemetry.lake.conftest import created, publish_new
from tests.client_telemetry.reports import conftest as made

from .conftest import POSTGRES_IN_SHORT
from .servers import CHECKOUT, s3, s3_server

BUCKETS = ("raw", "logs", "conf", "lake", "published", "results")
SAMPLE = CHECKOUT / "include" / "sample"
LOG = SAMPLE / "request_logs" / "kafka-2.7.2-text.request.log.zst"
DAY = "2026-11-21"
FLEET, LEGACY = "fL33tG0ldTruth000000-w", "1o5EsAeXSL6vbIOiK644hw"
CLUSTERS = {
    "lake": "s3://lake/warehouse",
    "publish": "s3://published/reports",
    "results": "s3://results/stages",
    "clusters": [
        {
            "name": "fleet",
            "cluster_id": FLEET,
            "raw": "s3://raw/fleet",
            "owners": "s3://conf/owners.yaml",
        },
        {
            "name": "legacy",
            "cluster_id": LEGACY,
            "raw": "s3://raw/legacy",
            "source": {"format": "request_log", "files": "s3://logs/legacy", "release": "2.7.2"},
        },
    ],
}


def upload(path: Path, url: str, below: str = "") -> None:
    """A file, or those of a folder that have `below` in their path."""
    files, root = file_system(url)
    inside = [each for each in sorted(path.rglob("*")) if each.is_file() and below in str(each)]
    for each in [path] if path.is_file() else inside:
        to = root if path.is_file() else f"{root}/{each.relative_to(path).as_posix()}"
        with files.open_output_stream(to, compression=None) as out:
            out.write(each.read_bytes())


def listed(url: str) -> set[str]:
    files, root = file_system(url)
    found = files.get_file_info(fs.FileSelector(root, recursive=True, allow_not_found=True))
    return {info.path.removeprefix(f"{root}/") for info in found if info.type == fs.FileType.File}


@pytest.fixture
def store(tmp_path, monkeypatch) -> Iterator[dict[str, str]]:
    if s3_server() is None:
        pytest.skip("no S3 server: make e2e installs one")
    with s3(tmp_path, BUCKETS) as environment:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        yield environment
        # Both keep the address of the server, which the next test has another of.
        forget_file_systems()
        fsspec.get_filesystem_class("s3").clear_instance_cache()


@pytest.fixture
def warehouse(store) -> str:
    return CLUSTERS["lake"]


@pytest.fixture
def web(monkeypatch) -> TestClient:
    from airflow.api_fastapi.core_api.security import get_user
    from telemetry_pages import access, answering
    from telemetry_pages import app as module

    class Manager:
        def is_authorized_dag(self, *, method, user, details) -> bool:
            return True

    monkeypatch.setattr(access, "get_auth_manager", Manager)
    # The database of this process has no tables.
    monkeypatch.setattr(access.audit_log, "record", lambda *_, **__: None)
    answering._take_credentials.cache_clear()
    monkeypatch.setitem(module.app.dependency_overrides, get_user, lambda: "user")
    return TestClient(module.app)


@pytest.mark.parametrize("catalog", POSTGRES_IN_SHORT, indirect=True)
def test_both_dags_with_everything_in_an_object_store(store, catalog, web, tmp_path, monkeypatch):
    upload(SAMPLE / "fleet" / "raw", "s3://raw/fleet", "/hour=05/")
    upload(SAMPLE / "owners.yaml", "s3://conf/owners.yaml")
    upload(LOG, f"s3://logs/legacy/{LOG.name}")
    clusters = tmp_path / "clusters.yaml"
    clusters.write_text(yaml.safe_dump(CLUSTERS))
    monkeypatch.setenv("CLIENT_TELEMETRY_CLUSTERS", str(clusters))
    home = tmp_path / "airflow"
    run = "airflow db migrate >/dev/null 2>&1 && include/warm.sh python -m include.sample_run"
    done = subprocess.run(
        [CHECKOUT / "include" / "airflow.sh", "bash", "-c", run],
        cwd=CHECKOUT,
        env={**os.environ, "AIRFLOW_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    log = (home / "sample_run.log").read_text()
    assert done.returncode == 0, done.stdout + done.stderr + log[-5000:]
    assert store["AWS_SECRET_ACCESS_KEY"] not in done.stdout + done.stderr + log

    lake = Lake(None, CLUSTERS["lake"])
    assert lake.table(CLIENT_CONNECTIONS).location().startswith("s3://lake/warehouse")
    rows = {name: len(lake.rows(CLIENT_CONNECTIONS, cluster_id=name)) for name in (FLEET, LEGACY)}
    assert rows[FLEET] > 30_000 and rows[LEGACY] > 0
    stages = {name.split("/")[0] for name in listed(CLUSTERS["results"])}
    assert stages == {"client_telemetry_daily", "broker_upgrade_impact"}
    assert "fleet/legacy/latest.json" in listed(CLUSTERS["publish"])

    assert "legacy" in web.get("/").text
    assert web.get(f"/fleet/fleet/{DAY}").status_code == 200
    page = web.get(f"/files/fleet/fleet/{DAY}/index.html")
    assert page.status_code == 200 and "<html" in page.text
    clients = csv.DictReader(io.StringIO(web.get(f"/files/fleet/fleet/{DAY}/clients.csv").text))
    assert "billing" in {client["owner"] for client in clients}
    assert web.get("/search", params={"q": "orders", "days": 1}).status_code == 200
    report = done.stdout.splitlines()[-1].removeprefix("Report: s3://published/reports/upgrade_impact/")
    assert "from 3.9.1 to 4.0.0" in web.get(f"/files/upgrade_impact/{report}").text
    assert "owners/erp/report.md" in web.get(f"/reports/{report.removesuffix('/index.html')}").text

    own = {"profile": ["--owners=s3://conf/owners.yaml"]}
    for table, stage in (
        (CONNECTION_EVENTS, "decode"),
        (CLIENT_CONNECTIONS, "sessionize"),
        (CLIENTS, "profile"),
    ):
        before = rows_of(lake, table)
        with_spark(stage, *own.get(stage, ["--raw=s3://raw/fleet"] if stage == "decode" else []))
        assert rows_of(lake, table) == before != []


def rows_of(lake: Lake, table: Table) -> list[str]:
    return sorted(
        repr({name: row[name] for name in table.data_columns}) for row in lake.rows(table, cluster_id=FLEET)
    )


def with_spark(stage: str, *options: str) -> None:
    """The stage for the fleet's day, made to use Spark, which it does for much data."""
    command = [
        "python",
        CHECKOUT / "spark/run_stage.py",
        stage,
        f"--cluster={FLEET}",
        "--cluster-name=fleet",
        f"--days={DAY}",
    ]
    options = (*options, f"--lake={CLUSTERS['lake']}", f"--run-id=spark-{stage}", "--without-spark-up-to=0")
    done = subprocess.run(
        [CHECKOUT / "include/airflow.sh", *command, *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "jdk.incubator.vector" in done.stderr, "no JVM said that it starts"


@pytest.mark.parametrize("catalog", POSTGRES_IN_SHORT, indirect=True)
def test_credentials_come_from_an_airflow_connection(store, catalog, web, tmp_path, monkeypatch):
    """Without any in the environment: a job that reads dumps and writes tables and its result, and the pages."""
    from include import credentials
    from include.spark_stage import SparkStage

    upload(SAMPLE / "fleet" / "raw", "s3://raw/fleet", "/hour=05/")
    with monkeypatch.context() as without:
        extra = {"region_name": store["AWS_REGION"], "endpoint_url": store["AWS_ENDPOINT_URL"]}
        keys = {"login": store["AWS_ACCESS_KEY_ID"], "password": store["AWS_SECRET_ACCESS_KEY"]}
        connection = json.dumps({"conn_type": "aws", **keys, "extra": extra})
        without.setenv(f"AIRFLOW_CONN_{credentials.STORE.upper()}", connection)
        for name in store.keys() - {"AWS_EC2_METADATA_DISABLED"}:
            without.delenv(name)
        clusters = tmp_path / "clusters.yaml"
        clusters.write_text(yaml.safe_dump(CLUSTERS))
        without.setenv("CLIENT_TELEMETRY_CLUSTERS", str(clusters))
        context = {
            "ti": SimpleNamespace(xcom_push=lambda key, value: None),
            "run_id": "manual__1",
            "dag": SimpleNamespace(dag_id="client_telemetry_daily"),
        }
        for task_id, locations, arguments in (
            ("collect", ["raw"], {"day": DAY}),
            ("decode", ["raw"], {"days": [DAY]}),
        ):
            stage = SparkStage(task_id=task_id, cluster="fleet", locations=locations, arguments=arguments)
            assert stage.execute(context)["status"] == "ok"
        assert web.get("/").status_code == 200
    assert Lake(None, CLUSTERS["lake"]).rows(CLIENT_PUSHES, cluster_id=FLEET)


@pytest.mark.parametrize("catalog", POSTGRES_IN_SHORT, indirect=True)
def test_an_inventory_of_a_bucket(store, catalog, tmp_path):
    """SBOMs, a checkout and a file that nobody reads; keys of strangers lead nowhere."""
    purl = "pkg:pypi/kafka-python@1.3.5"
    digest = "sha256:" + "1a" * 32
    subject = {"type": "container", "name": "erp:1", "version": digest}
    sbom = {"bomFormat": "CycloneDX", "metadata": {"component": subject}, "components": [{"purl": purl}]}
    folder = tmp_path / "artefacts"
    for name, text in (
        ("sboms/erp <b>.json", json.dumps(sbom)),
        (f"{'x' * 200}/{'y' * 200}.cdx.json", json.dumps(sbom)),
        ("repositories/monthly/go.mod", "module x\n\nrequire github.com/Shopify/sarama v1.27.0\n"),
        ("repositories/monthly/app.properties", "kafka.group.id=monthly\n"),
        ("videos/large.mp4", "0"),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    upload(folder, "s3://raw/artefacts")
    options = {"cluster": FLEET, "lake": CLUSTERS["lake"], "day": DAY, "result": tmp_path / "result.json"}
    options |= {"artefacts": "s3://raw/artefacts"}
    assert artefact_inventory.main([f"--{name}={value}" for name, value in options.items()]) == 0
    rows = {row["artefact"]: row for row in Lake(None, CLUSTERS["lake"]).rows(ARTEFACTS)}
    assert sorted(rows)[:2] == ["repositories/monthly", "sboms/erp <b>.json"] and len(rows) == 3
    assert rows["sboms/erp <b>.json"]["digests"] == [digest]
    monthly = rows["repositories/monthly"]
    assert (monthly["library_version"], monthly["group_ids"]) == ("1.27.0", ["monthly"])
    assert json.loads((tmp_path / "result.json").read_text())["counts"]["files_not_read"] == 0


@pytest.mark.parametrize("catalog", POSTGRES_IN_SHORT, indirect=True)
def test_a_copy_in_another_bucket_answers_when_the_original_is_gone(store, catalog, tmp_path, monkeypatch):
    """Also a copy in a folder, as for a rehearsal."""
    lake = created(CLUSTERS["lake"])
    publish_new(lake)
    rows = lake.rows(BROKERS)
    monkeypatch.setenv("PYICEBERG_CATALOG__COPY__TYPE", "sql")
    monkeypatch.setenv("PYICEBERG_CATALOG__COPY__URI", f"sqlite:///{tmp_path}/copy.db")
    assert main([CLUSTERS["lake"], "s3://results/copy"]) == 0
    for name in ("TYPE", "URI"):
        monkeypatch.delenv(f"PYICEBERG_CATALOG__COPY__{name}")
    assert main([CLUSTERS["lake"], str(tmp_path / "folder")]) == 0

    files, root = file_system(CLUSTERS["lake"])
    for name in listed(CLUSTERS["lake"]):
        files.delete_file(f"{root}/{name}")
    for name in [name for name in os.environ if name.startswith("PYICEBERG_CATALOG__")]:
        monkeypatch.delenv(name)
    assert Lake(None, str(tmp_path / "folder")).rows(BROKERS) == rows
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__TYPE", "sql")
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", f"sqlite:///{tmp_path}/copy.db")
    copy = Lake(None, "s3://results/copy")
    assert copy.rows(BROKERS) == rows
    publish_new(copy, "b")
    assert len(copy.rows(BROKERS)) == 2 * len(rows)


def test_a_campaign_and_its_notices(store, tmp_path, monkeypatch, capsys):
    """Reports, kept states, the page and what was sent are in the bucket; a run reads the report that is new."""
    published = tmp_path / "published"
    for number in (21, 22):
        of_day(published, number, made.verdict("a", "breaks", **BROKEN, **seen_on(number)))
    upload(published, CLUSTERS["publish"])
    (tmp_path / "campaigns.yaml").write_text(CAMPAIGNS)
    (tmp_path / "notices.yaml").write_text("published_by: '06:00'\n")
    [campaign] = read_campaigns(CAMPAIGNS, beside("."))
    until = dt.date(2026, 11, 24)
    reads: list[str] = []
    read = StoredFolder.read
    monkeypatch.setattr(StoredFolder, "read", lambda self, name: reads.append(name) or read(self, name))
    for expected in ([21, 22], []):
        reads.clear()
        standing = standing_of(CLUSTERS["publish"], campaign, until)
        assert [name for name in reads if name.endswith("answer.json")] == [
            f"upgrade_impact/fleet/r{number}/answer.json" for number in expected
        ]
        decision = decide(campaign, standing.changes, standing.reports, Knowledge("k1", until), until)
        page, _ = publish_page(CLUSTERS["publish"], campaign, standing, decision, until)
        assert page == "s3://published/reports/upgrade_campaign/orders/index.html"
    files = ["--notices", str(tmp_path / "notices.yaml"), "--campaigns", str(tmp_path / "campaigns.yaml")]
    fleet = {"cluster_name": "fleet", "day": "2026-11-22"}
    (tmp_path / "latest.json").write_text(json.dumps(fleet))
    upload(tmp_path / "latest.json", f"{CLUSTERS['publish']}/fleet/fleet/latest.json")
    with listening() as (address, texts):
        monkeypatch.setenv("CLIENT_TELEMETRY_CHAT_WEBHOOK", address)
        for _ in range(2):
            assert notify([*files, "--reports", CLUSTERS["publish"], "--send"]) == 0
    assert len(texts) == 1 and "the newest published day of cluster fleet is 2026-11-22" in texts[0].lower()
    assert "notices_sent.json" in listed(CLUSTERS["publish"])
    assert gate(["--campaign", "orders", *files[2:], "--reports", CLUSTERS["publish"]]) == 3
    assert capsys.readouterr().out.splitlines()[-1].startswith("no-go: 1 application left")
