"""A planned upgrade through its stage: real reports in, states in the table and the page out."""

import datetime as dt
import json
import re
from copy import deepcopy
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from client_telemetry.pipeline import target_folder
from client_telemetry.pipeline.stage import Stage
from client_telemetry.tables.campaign_states import CAMPAIGN_STATES

from tests.jobs.conftest import Pipeline

STAGE = "upgrade_campaign"
REPORT = json.loads((Path(__file__).parents[1] / "data/reports/whole/upgrade/report.json").read_text())
DAY = dt.date(2026, 11, 21)
CAMPAIGN = """campaigns:
  - name: fleet <4.0>
    clusters: [fleet, other]
    to: 4.0.0
    date: 2027-02-01
    contact: kafka@example.com
    statements: []
"""


@pytest.fixture
def pipeline(tmp_path) -> Pipeline:
    (tmp_path / "campaigns.yaml").write_text(CAMPAIGN)
    return Pipeline(tmp_path, None)


def publish(pipeline, day=DAY, report_id="r1", created="2026-11-22T02:00:00Z", verdict=None):
    """A report about that day; `verdict`: of the client `a`."""
    content = deepcopy(REPORT)
    content["question"] |= {"last_dt": str(day), "report_id": report_id, "created_at": created}
    for row in content["clients"]:
        if row["client_id"] == "a" and verdict:
            row["verdict"] = verdict
        row["last_seen_at"] = row["last_seen_at"].replace("2026-11-21", str(day))
    folder = pipeline.folder / "published/upgrade_impact/fleet" / report_id
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(json.dumps(content))


def run(pipeline, day=DAY, **arguments):
    given = {
        "cluster_name": "fleet",
        "campaigns": pipeline.folder / "campaigns.yaml",
        "campaign": "fleet <4.0>",
        "publish": pipeline.folder / "published",
        "day": day,
    }
    return pipeline.run(STAGE, **given | arguments)


def promise(pipeline, on):
    """By the owner of the client `a`."""
    (application,) = {row["application"] for row in REPORT["clients"] if row["client_id"] == "a"}
    statement = f"{{kind: promise, application: {application}, by: ann, on: {on}, until: 2026-12-05}}"
    (pipeline.folder / "campaigns.yaml").write_text(CAMPAIGN.replace("[]\n", f"\n      - {statement}\n"))


def rows(pipeline):
    found = pipeline.lake.rows(CAMPAIGN_STATES)
    return sorted(found, key=lambda row: (row["day"], row["application"], row["revision"]))


def test_states_are_recorded_once_and_the_page_is_published(pipeline):
    publish(pipeline)
    code, result = run(pipeline)
    assert code == 0, result["message"]
    first = rows(pipeline)
    assert {row["state"] for row in first} == {"open"}
    assert result["counts"] == {"changes": len(first), "corrections": 0, "open": len(first)}
    assert result["decision"] == "no-go" and result["code"] == 3
    page = Path(result["report"])
    assert page.parent.parent == pipeline.folder / "published/upgrade_campaign"
    assert "fleet &lt;4.0&gt;" in page.read_text()
    assert json.loads((page.parent / "gate.json").read_text())["code"] == 3
    _, again = run(pipeline)
    assert again["counts"]["changes"] == 0 and rows(pipeline) == first


def test_a_later_day_adds_and_an_old_day_made_again_is_a_further_revision(pipeline):
    next_day = DAY + dt.timedelta(days=1)
    publish(pipeline)
    run(pipeline)
    before = rows(pipeline)
    promise(pipeline, next_day)
    _, result = run(pipeline, next_day)
    assert result["counts"]["changes"] >= 1
    now = rows(pipeline)
    assert all(row in now for row in before)
    assert {row["by"] for row in now if row["state"] == "promised"} == {"ann"}
    (pipeline.folder / "campaigns.yaml").write_text(CAMPAIGN)
    _, result = run(pipeline, next_day)
    assert (result["counts"]["changes"], result["counts"]["corrections"] >= 1) == (0, True)
    corrected = rows(pipeline)
    assert all(row in corrected for row in now)
    assert {row["state"] for row in corrected if row["revision"] == 2} == {"withdrawn"}


def test_the_documented_query_shows_what_stands(pipeline):
    publish(pipeline)
    run(pipeline)
    page = (Path(__file__).parents[2] / "docs/campaigns.md").read_text()
    (query,) = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    states = pa.Table.from_pylist(pipeline.lake.rows(CAMPAIGN_STATES), CAMPAIGN_STATES.arrow_schema)
    connection = duckdb.connect()
    connection.register("states", states)
    text = query.replace("client_telemetry.campaign_states", "states").replace("orders-4.0", "fleet <4.0>")
    found = connection.execute(text).fetchall()
    assert len(found) == states.num_rows and {row[2] for row in found} == {"open"}


def test_without_any_report_it_cannot_tell(pipeline):
    code, result = run(pipeline)
    assert (code, result["decision"], rows(pipeline)) == (0, "cannot tell", [])


def test_rows_that_would_lose_recorded_ones_reach_no_reader(pipeline, monkeypatch):
    publish(pipeline)
    run(pipeline)
    before = rows(pipeline)
    whole = Stage.publish

    def publish_more(self, branch, slices, days):
        slices[0].facts["recorded"] += 100
        return whole(self, branch, slices, days)

    monkeypatch.setattr(Stage, "publish", publish_more)
    promise(pipeline, DAY)
    code, result = run(pipeline)
    assert (code, "campaign_states.nothing_recorded_is_lost" in result["message"]) == (3, True)
    assert rows(pipeline) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"campaign": "other"}, "there is no campaign 'other': the file has fleet <4.0>"),
        ({"cluster_name": "north"}, "campaign 'fleet <4.0>' is not about cluster 'north'"),
        ({"campaigns": "/nowhere.yaml"}, "there is no file of planned upgrades at /nowhere.yaml"),
    ],
)
def test_what_cannot_be_used_is_one_line(pipeline, arguments, message):
    code, result = run(pipeline, **arguments)
    assert (code, message in result["message"], result["message"].count("\n")) == (2, True, 0), result


def test_a_mistake_in_the_file_names_its_line(pipeline):
    (pipeline.folder / "campaigns.yaml").write_text(CAMPAIGN.replace("4.0.0", "4.0"))
    code, result = run(pipeline)
    assert (
        code == 2
        and "campaigns.yaml: line 4: campaign 'fleet <4.0>': to: 4.0 is not an exact" in result["message"]
    )


def test_a_measured_target_is_named_as_questions_name_it(pipeline):
    """A file in the cluster's folder of targets, by its name."""
    folder = pipeline.folder / "targets"
    folder.mkdir()
    probed = Path(__file__).parents[1] / "data/probe/apache-4.0.1.json"
    (folder / "next.json").write_text(probed.read_text())
    publish(pipeline)
    file = pipeline.folder / "published/upgrade_impact/fleet/r1/report.json"
    report = json.loads(file.read_text())
    report["question"]["to_release"] = target_folder.named("next", str(folder))
    file.write_text(json.dumps(report))
    (pipeline.folder / "campaigns.yaml").write_text(CAMPAIGN.replace("4.0.0", "next"))
    code, result = run(pipeline, targets=folder)
    assert (code, result["decision"]) == (0, "no-go"), result["message"]
    (folder / "next.json").unlink()
    code, result = run(pipeline, targets=folder)
    assert (code, "neither a Kafka release nor a measured target" in result["message"]) == (2, True)
