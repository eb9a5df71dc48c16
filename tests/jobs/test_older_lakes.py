"""Lakes that earlier versions of this program wrote: today's stages publish their reports, answer every question about them, process
their days again and maintain them. tests/data/lakes/README.md says how they were made."""

import csv
import io
import json
import tarfile
from pathlib import Path

import pytest
from client_telemetry.cli import gate, history, owners
from client_telemetry.knowledge import apis
from client_telemetry.lake.copying import copy_lake
from client_telemetry.subscriptions.instances import kafka_uuid
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.upgrade_reports import UPGRADE_REPORTS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS

CHECKOUT = Path(__file__).parents[2]
LAKES = sorted((CHECKOUT / "tests/data/lakes").glob("*.tar.xz"))
CLUSTER, DAY = "fL33tG0ldTruth000000-w", "2026-11-21"
OWNERS = CHECKOUT / "include/sample/owners.yaml"


@pytest.fixture(params=LAKES, ids=lambda path: path.name.removesuffix(".tar.xz"))
def old(request, pipeline):
    """The jobs with a lake of that version, moved to a folder of its own."""
    with tarfile.open(request.param) as archive:
        archive.extractall(pipeline.folder / "backup", filter="data")
    (backup,) = (pipeline.folder / "backup").iterdir()
    copy_lake(str(backup), str(pipeline.folder / "lake"))
    pipeline.version = request.param.name.removesuffix(".tar.xz")
    return pipeline


def _published(old, stage: str, **arguments: object) -> dict:
    """report.json of what the stage published."""
    done = old.done(stage, CLUSTER, publish=old.folder / "published", cluster_name="fleet", **arguments)
    return json.loads(Path(done["report"]).with_name("report.json").read_text(encoding="utf-8"))


def _named(uses: list[dict]) -> list[str]:
    return [f"{apis.name(use['api_key'])} v{use['version']}" for use in uses]


def _history(old, capsys, *arguments: str) -> list[dict[str, str]]:
    capsys.readouterr()
    assert history.main(["--lake", str(old.folder / "lake"), *arguments]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def test_an_answered_report_is_published_with_its_clients_and_names(old):
    stored = old.lake.rows(UPGRADE_VERDICTS, cluster_id=CLUSTER)
    report = _published(old, "publish", report_id="question")
    ids = [client["client_id"] for client in report["clients"]]
    assert sorted(ids, key=str) == sorted((row["client_id"] for row in stored), key=str)
    assert sum(len(application["clients"]) for application in report["applications"]) == len(ids) == 48
    assert len(report["applications"]) == (44 if old.version == "0.1.0" else 45)
    assert [each for each in report["applications"] if not each["name"]] == []
    again = _published(old, "publish", report_id="question")
    assert again["applications"] == report["applications"]


def test_every_question_is_answered_as_of_a_lake_of_today(old, capsys):
    _ask_upgrade(old)
    clients = {row["client_id"] for row in old.lake.rows(CLIENTS)}
    assert len(clients) > 40
    by_client = _history(old, capsys, "--clients")
    assert sum(int(row["client_ids"]) for row in by_client) == len(old.lake.rows(CLIENTS))
    assert len(_history(old, capsys)) > 40
    assert owners.main(["--lake", str(old.folder / "lake"), "--owners", str(OWNERS)]) == 0
    checked = _published(
        old, "subscription_check", report_id="check", action="add", name="s", metrics="org.apache.kafka."
    )
    assert checked["clients"]
    page = old.done(
        "publish_fleet", CLUSTER, days=DAY, publish=old.folder / "published", cluster_name="fleet"
    )
    assert "applications with 50 clients" in page["message"]
    # The brokers ran one release all day.
    reviewed = old.done(
        "review", CLUSTER, changed_on=DAY, publish=old.folder / "published", cluster_name="fleet"
    )
    assert reviewed["status"] == "ok"


def _ask_upgrade(old) -> None:
    question = {"to": "4.0.0", "from": "3.9.1", "day": DAY}
    old.done("impact", CLUSTER, run_id="now", report_id="now", **question)
    report = _published(old, "publish", report_id="now")
    assert len(report["clients"]) == 48
    marks = {row["report_id"]: row["is_latest"] for row in old.lake.rows(UPGRADE_REPORTS)}
    assert marks == {"question": False, "now": True}
    path = next((old.folder / "published").glob("upgrade_impact/*/now/report.json"))
    assert gate.main([str(path)]) in (3, 4)


def test_its_days_are_processed_again_and_its_tables_maintained(old):
    before = {row["client_id"] for row in old.lake.rows(CLIENTS)}
    for stage, more in (("sessionize", {}), ("profile", {"owners": OWNERS})):
        old.done(stage, CLUSTER, run_id="again", days=DAY, cluster_name="fleet", **more)
    rows = old.lake.rows(CLIENTS)
    assert {row["cluster_name"] for row in rows} == {"fleet"}
    assert all(row["request_versions"] == _named(row["api_uses"]) for row in rows)
    for row in old.lake.rows(CLIENT_SESSIONS):
        assert row["instance_id"] == kafka_uuid(row["client_instance_id"])
    assert {row["client_id"] for row in rows} == before
    assert all(row["application"] for row in rows if row["client_id"])
    assert old.run("lake_maintenance", CLUSTER)[0] == 0
    assert {row["client_id"] for row in old.lake.rows(CLIENTS)} == before
