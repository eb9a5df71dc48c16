"""Both DAGs with real jobs and real Spark over the shipped sample, as `make run` does it."""

import csv
import json
from collections import Counter
from pathlib import Path

from client_telemetry.tables.stages import DAILY, UPGRADE_REVIEW

CHECKOUT = Path(__file__).parents[2]
REPORT_FILES = {"index.html", "report.json", "clients.csv", "findings.csv", "report.md"}
EXPLAINED = CHECKOUT / "tests" / "data" / "compatibility" / "fleet_3.9.1_to_4.0.0.csv"


def _results(folder: Path, dag_id: str) -> dict[tuple[str, str], dict]:
    """(cluster, stage) -> what the stage reported."""
    files = (folder / "results" / dag_id).glob("*/*/*.json")
    return {(file.parent.name, file.stem): json.loads(file.read_text(encoding="utf-8")) for file in files}


def _report(sample_run) -> Path:
    return Path(sample_run.printed.splitlines()[-1].removeprefix("Report: "))


def test_every_stage_of_every_cluster_reported(sample_run):
    results = _results(sample_run.folder, "client_telemetry_daily")
    stages = [stage.name for stage in (*DAILY, *UPGRADE_REVIEW)]
    reported = sorted((cluster, result["stage"]) for (cluster, _), result in results.items())
    assert reported == sorted((name, stage) for name in ("telemetry_cluster", "fleet") for stage in stages)
    assert {result["status"] for result in results.values()} == {"ok"}


def test_the_records_of_the_captures_are_all_accounted_for(sample_run):
    """Numbers of records from include/sample/*/README.md; points as the official protobuf classes count them."""
    results = _results(sample_run.folder, "client_telemetry_daily")
    decoded = {name: results[name, "decode"]["counts"] for name in ("telemetry_cluster", "fleet")}
    assert (decoded["telemetry_cluster"]["push_rows"], decoded["fleet"]["push_rows"]) == (3163, 1725)
    assert (decoded["telemetry_cluster"]["points"], decoded["fleet"]["points"]) == (225275, 149480)
    for counts in decoded.values():
        found = counts["push_rows"] + counts["event_rows"] + counts["duplicates"] + counts["undecodable"]
        assert found == counts["records"]
    assert results["fleet", "sessionize"]["counts"]["connections"] == 75416


def test_what_is_printed_ends_with_the_answer_and_the_path_of_the_report(sample_run):
    *_, sentence, report = sample_run.printed.splitlines()
    assert "from 3.9.1 to 4.0.0" in sentence
    assert Path(report.removeprefix("Report: ")).is_file()


def test_the_report_has_all_its_files_and_one_count_of_each_verdict(sample_run):
    page = _report(sample_run)
    assert page.is_relative_to(sample_run.folder / "published" / "upgrade_impact" / "fleet")
    assert {file.name for file in page.parent.iterdir()} >= REPORT_FILES
    verdicts = _results(sample_run.folder, "broker_upgrade_impact")["fleet", "publish"]["verdicts"]
    with (page.parent / "clients.csv").open(encoding="utf-8", newline="") as file:
        in_csv = Counter(row["verdict"] for row in csv.DictReader(file))
    report = json.loads((page.parent / "report.json").read_text())
    assert in_csv == Counter(client["verdict"] for client in report["clients"])
    assert +Counter(verdicts) == Counter(application["outcome"] for application in report["applications"])
    assert verdicts == report["counts"]


def test_the_verdicts_are_what_became_of_the_applications(sample_run):
    """Every client of the report against what really happened on 4.0.0 (include/sample/fleet/outcomes.csv); where
    the two differ, the test's data says why."""
    with (CHECKOUT / "include" / "sample" / "fleet" / "outcomes.csv").open(newline="") as file:
        happened = {row["app"]: row["verdict"] for row in csv.DictReader(file) if row["phase"] == "4.0.0"}
    with EXPLAINED.open(newline="") as file:
        expected = list(csv.DictReader(file))
    clients = json.loads((_report(sample_run).parent / "report.json").read_text())["clients"]
    found = {
        (client["client_id"] or "", client["client_software_name"], client["client_software_version"]): client
        for client in clients
    }
    compared, unexplained = set(), []
    for row in expected:
        key = (row["client_id"], row["client_software_name"], row["client_software_version"])
        client = found[key]
        compared.add(key)
        assert (client["verdict"], client["when"] or "") == (row["predicted"], row["when"]), row["case"]
        broke = happened.get(row["application"], "not seen") in ("broken", "degraded")
        if (row["predicted"] == "breaks") != broke and not row["explained"]:
            unexplained.append(row["case"])
    assert unexplained == []
    # What is judged beside the applications: clients that only refused or unnamed connections make up.
    beside = {key: found[key]["verdict"] for key in found.keys() - compared}
    assert "breaks" not in beside.values()


def test_each_cluster_has_its_fleet_page(sample_run):
    results = _results(sample_run.folder, "client_telemetry_daily")
    page = Path(results["fleet", "publish"]["page"])
    assert page == sample_run.folder / "published" / "fleet" / "fleet" / "2026-11-21" / "index.html"
    fleet = json.loads(page.with_name("fleet.json").read_text())
    assert (fleet["counts"]["clients"], fleet["counts"]["unidentified_connections"]) == (50, 55007)
    assert fleet["counts"]["clients"] == sum(software["clients"] for software in fleet["software"])
    delivered = {
        (m["client_software_name"], m["client_type"]): m["state"]
        for m in fleet["metrics"]
        if m["metric"].endswith("consumer.poll.idle.ratio.avg")
    }
    # franz-go leaves this one out on purpose (pkg/kgo/metrics.go), the Java client has it.
    assert delivered["apache-kafka-java", "consumer"] == "delivered"
    assert delivered["kgo", "consumer"] == "missing"


def test_the_day_is_summed_up_in_one_line(sample_run):
    (line,) = [line for line in sample_run.printed.splitlines() if line.startswith("2 clusters, 2026-11-21")]
    assert "4888 pushes, 374755 points, 75655 connections, 41 sessions" in line
    assert "0 quarantined records" in line
    assert "10 of the 10 broker hours" in line


def test_nobody_but_user_and_group_may_read_what_was_written(sample_run):
    """Tables, pages, results, Airflow's database and logs name clients."""
    # The sockets and caches of programs that have ended are nobody's data.
    places = [sample_run.folder / name for name in ("lake", "published", "results", "airflow")]
    files = [file for place in places for file in (place, *place.rglob("*")) if not file.is_symlink()]
    assert len(files) > 500
    assert [str(file) for file in files if file.stat().st_mode & 0o007] == []
