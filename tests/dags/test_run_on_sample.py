"""Both DAGs with real jobs and real Spark over the shipped sample, as `make run` does it."""

import csv
import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
REPORT_FILES = {"index.html", "report.json", "clients.csv", "findings.csv", "report.md"}


@pytest.fixture(scope="module")
def made(database, tmp_path_factory):
    """What the sample run printed, and the folder in which tables, reports and results lie."""
    folder = tmp_path_factory.mktemp("sample")
    clusters = (CHECKOUT / "include" / "clusters.yaml").read_text(encoding="utf-8")
    (folder / "clusters.yaml").write_text(clusters.replace(": var/", f": {folder}/"), encoding="utf-8")
    run = subprocess.run(
        ["include/airflow.sh", "include/spark_connect.sh", "python", "-m", "include.sample_run"],
        cwd=CHECKOUT,
        env={**os.environ, "CLIENT_TELEMETRY_CLUSTERS": str(folder / "clusters.yaml")},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout, folder


def _results(folder: Path, dag_id: str) -> dict[tuple[str, str], dict]:
    """(cluster, stage) -> what the stage reported."""
    files = (folder / "results" / dag_id).glob("*/*/*.json")
    return {(file.parent.name, file.stem): json.loads(file.read_text(encoding="utf-8")) for file in files}


def test_every_stage_of_every_cluster_reported(made):
    _, folder = made
    results = _results(folder, "client_telemetry_daily")
    stages = ("collect", "decode", "sessionize", "profile")
    assert set(results) == {(name, stage) for name in ("telemetry_cluster", "fleet") for stage in stages}
    assert {result["status"] for result in results.values()} == {"ok"}


def test_the_records_of_the_captures_are_all_accounted_for(made):
    """Numbers of records from include/sample/*/README.md."""
    _, folder = made
    results = _results(folder, "client_telemetry_daily")
    decoded = {name: results[name, "decode"]["counts"] for name in ("telemetry_cluster", "fleet")}
    assert (decoded["telemetry_cluster"]["push_rows"], decoded["fleet"]["push_rows"]) == (3163, 1725)
    for counts in decoded.values():
        found = counts["push_rows"] + counts["event_rows"] + counts["duplicates"] + counts["undecodable"]
        assert found == counts["records"]
    assert results["fleet", "sessionize"]["counts"]["connections"] == 75416


def test_what_is_printed_ends_with_the_answer_and_the_path_of_the_report(made):
    printed, _ = made
    *_, sentence, report = printed.splitlines()
    assert "from 3.9.1 to 4.0.0" in sentence
    assert Path(report.removeprefix("Report: ")).is_file()


def test_the_report_has_all_its_files_and_one_count_of_each_verdict(made):
    printed, folder = made
    page = Path(printed.splitlines()[-1].removeprefix("Report: "))
    assert page.is_relative_to(folder / "published" / "upgrade_impact" / "fleet")
    assert {file.name for file in page.parent.iterdir()} >= REPORT_FILES
    told = _results(folder, "broker_upgrade_impact")["fleet", "publish"]["verdicts"]
    with (page.parent / "clients.csv").open(encoding="utf-8", newline="") as file:
        in_csv = Counter(row["verdict"] for row in csv.DictReader(file))
    in_json = Counter(
        client["verdict"] for client in json.loads((page.parent / "report.json").read_text())["clients"]
    )
    counted = Counter()
    for verdict, number in told.items():
        counted["breaks" if verdict.startswith("breaks_") else verdict] += number
    assert in_csv == in_json == +counted
