"""The inventory of artefacts as Airflow runs it: a folder of SBOMs and checkouts, to rows that passed their gate."""

import datetime as dt
import json
import re
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from client_telemetry.inventory import written
from client_telemetry.pipeline.stage import Stage
from client_telemetry.reports.names import folder_name
from client_telemetry.tables.artefacts import ARTEFACTS
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.quality_results import QUALITY_RESULTS

from tests.client_telemetry.cli.test_join import DIGEST, OTHER, pod, report, sbom, write
from tests.jobs.conftest import CLUSTER, DAY, Pipeline

STAGE = "artefact_inventory"


@pytest.fixture
def pipeline(tmp_path) -> Pipeline:
    return Pipeline(tmp_path, None)


def inventory(pipeline, day=DAY, **arguments):
    return pipeline.done(STAGE, day=day, artefacts=pipeline.folder / "w", **arguments)


def filled(pipeline):
    write(
        pipeline.folder / "w",
        sboms__erp_dot_json=sbom("1.3.5", source="https://github.com/acme/erp"),
        sboms__proxy_dot_json=sbom(digest=OTHER),
        sboms__broken_dot_cdx_dot_json="{",
        monthly__go_dot_mod="module x\n\nrequire github.com/Shopify/sarama v1.27.0\n",
        monthly__app_dot_properties="kafka.group.id=monthly\nkafka.client.id=m\nkafka.sasl.username=batch\n",
        monthly__CODEOWNERS="* @batch\n",
    )
    (pipeline.folder / "pods.json").write_text(
        json.dumps({"kind": "List", "items": [pod(), pod(name="erp-1")]})
    )


def test_rows_say_library_place_digest_repository_names_and_where_it_runs(pipeline):
    filled(pipeline)
    done = inventory(pipeline, workloads=pipeline.folder / "pods.json")
    assert done["counts"] == {
        "artefacts": 3,
        "artefacts_with_clients": 2,
        "images": 2,
        "files_read": 3,
        "files_not_read": 1,
    }
    assert done["warnings"][0].startswith("not read: sboms/broken.cdx.json: not JSON")
    by_name = {row["artefact"]: row for row in pipeline.lake.rows(ARTEFACTS, cluster_id=CLUSTER)}
    assert sorted(by_name) == ["monthly", "sboms/erp.json", "sboms/proxy.json"]
    erp, proxy, monthly = (by_name[name] for name in ("sboms/erp.json", "sboms/proxy.json", "monthly"))
    assert (erp["library"], erp["library_version"], erp["purl"]) == (
        "kafka-python",
        "1.3.5",
        "pkg:pypi/kafka-python@1.3.5",
    )
    assert (erp["kind"], erp["digests"], erp["repository"]) == ("image", [DIGEST], "github.com/acme/erp")
    assert erp["seen_on"] == ["erp/Pod/erp-0", "erp/Pod/erp-1"]
    assert (proxy["purl"], proxy["library"], proxy["seen_on"]) == (None, None, [])
    assert (monthly["file"], monthly["line"], monthly["seen_on"]) == ("monthly/go.mod", 3, None)
    assert (monthly["group_ids"], monthly["client_ids"], monthly["principals"]) == (
        ["monthly"],
        ["m"],
        ["batch"],
    )


def test_a_day_is_replaced_whole_and_other_days_stay(pipeline):
    filled(pipeline)
    before = DAY - dt.timedelta(days=1)
    inventory(pipeline, before)
    inventory(pipeline)
    (pipeline.folder / "w/sboms/erp.json").unlink()
    inventory(pipeline)
    inventory(pipeline)
    names = {
        day: sorted(row["artefact"] for row in pipeline.lake.rows(ARTEFACTS, dt=day)) for day in (before, DAY)
    }
    assert names == {
        before: ["monthly", "sboms/erp.json", "sboms/proxy.json"],
        DAY: ["monthly", "sboms/proxy.json"],
    }
    assert {row["stage"] for row in pipeline.lake.rows(PUBLICATIONS)} == {STAGE}


def test_the_documented_query_runs(pipeline):
    filled(pipeline)
    inventory(pipeline)
    page = (Path(__file__).parents[2] / "docs/join.md").read_text()
    (query,) = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    artefacts = pa.Table.from_pylist(pipeline.lake.rows(ARTEFACTS), ARTEFACTS.arrow_schema)
    connection = duckdb.connect()
    connection.register("found", artefacts)
    found = connection.execute(query.replace("client_telemetry.artefacts", "found")).fetchall()
    assert sorted(row[:2] for row in found) == [("kafka-python", "1.3.5"), ("sarama", "1.27.0")]


def test_rows_that_break_a_rule_reach_no_reader(pipeline, monkeypatch):
    filled(pipeline)
    inventory(pipeline)
    publish = Stage.publish

    def publish_with_another_count(self, branch, slices, days):
        slices[0].facts["artefacts"] += 1
        return publish(self, branch, slices, days)

    monkeypatch.setattr(Stage, "publish", publish_with_another_count)
    (pipeline.folder / "w/sboms/erp.json").unlink()
    code, result = pipeline.run(STAGE, day=DAY, artefacts=pipeline.folder / "w", run_id="bad")
    assert (code, "artefacts.every_artefact_is_here" in result["message"]) == (3, True)
    assert len(pipeline.lake.rows(ARTEFACTS)) == 3
    judged = {row["expectation"]: row["success"] for row in pipeline.lake.rows(QUALITY_RESULTS, run_id="bad")}
    assert (judged["every_artefact_is_here"], judged["all_files_were_read"]) == (False, False)


def test_the_newest_report_of_the_cluster_is_joined(pipeline):
    filled(pipeline)
    published = pipeline.folder / "published"
    file = report(pipeline.folder, erp={}, other={"client_id": "m", "principal": None, "address_sample": []})
    name = folder_name(json.loads(file.read_text())["question"]["report_id"])
    folder = published / "upgrade_impact/east" / name
    folder.mkdir(parents=True)
    file.rename(folder / "report.json")
    (folder.parent / "latest.json").write_text(json.dumps({"path": f"{name}/index.html"}))
    places = {"publish": published, "cluster_name": "east", "workloads": pipeline.folder / "pods.json"}
    page = folder / "index.html"
    slots = ("written-sentence", "written-lists")
    page.write_text("".join(f"<!--{slot}--><!--/{slot}-->" for slot in slots))
    (pipeline.folder / "pods.json").write_text(json.dumps({"kind": "List", "items": [pod()]}))
    done = inventory(pipeline, **places)
    assert "images prove that of 1, and that of 1 is likely" in done["sentence"]
    joined = json.loads((published / "artefacts/east/joined.json").read_text())
    erp = next(each for each in joined["clients"] if each["client_id"] == "erp")
    assert [(each["artefact"], each["certainty"]) for each in erp["artefacts"]] == [
        ("sboms/erp.json", "certain")
    ]
    assert str(pipeline.folder) not in json.dumps(joined) + Path(done["joined"]).read_text()
    assert "library proved" in page.read_text()
    assert (page.parent / "written.json").is_file()
    assert len(pipeline.lake.rows(ARTEFACTS)) == 3
    (folder / "report.json").write_text("{}")
    code, result = pipeline.run(STAGE, day=DAY, artefacts=pipeline.folder / "w", **places)
    assert (code, "the newest report of cluster east cannot be read" in result["message"]) == (2, True)


def test_without_a_report_there_is_an_inventory_alone(pipeline):
    filled(pipeline)
    done = inventory(pipeline, publish=pipeline.folder / "published", cluster_name="east")
    assert "joined" not in done and not (pipeline.folder / "published").exists()


def test_hostile_names_are_kept_and_lead_nowhere(pipeline):
    evil = "<script>alert(1)</script>"
    write(pipeline.folder / "w", sboms__a_dot_json=sbom("1.3.5"))
    (pipeline.folder / "secret").write_text("kafka-python==1.3.5\n")
    (pipeline.folder / "w/requirements.txt").symlink_to(pipeline.folder / "secret")
    (pipeline.folder / "w/sboms/a.json").rename(pipeline.folder / f"w/sboms/{evil.replace('/', '_')}.json")
    inventory(pipeline)
    (row,) = pipeline.lake.rows(ARTEFACTS)
    assert row["artefact"] == f"sboms/{evil.replace('/', '_')}.json"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ({}, 0, "the cluster names no `artefacts`"),
        ({"artefacts": "{tmp}/nowhere"}, 2, "there is no folder of artefacts at"),
        ({"artefacts": "{tmp}/w", "workloads": "{tmp}/nowhere.json"}, 2, "there is no file of workloads at"),
        ({"artefacts": "{tmp}/w", "workloads": "{tmp}/w/sboms/erp.json"}, 2, "erp.json: no pods in it"),
        ({"artefacts": "{tmp}/w", "owners": "{tmp}/w/monthly/go.mod"}, 2, "owner rules"),
    ],
)
def test_what_cannot_be_used_is_one_line(pipeline, arguments, code, message):
    filled(pipeline)
    given = {name: value.format(tmp=pipeline.folder) for name, value in arguments.items()}
    ended, result = pipeline.run(STAGE, day=DAY, **given)
    assert (ended, message in result["message"], result["message"].count("\n")) == (code, True, 0), result


def test_units_are_folders_and_sboms(tmp_path):
    write(
        tmp_path, a__requirements_dot_txt="kafka-python==1.3.5\n", a__bom_dot_json=sbom("1.3.5", digest="1.0")
    )
    found = written.collect([tmp_path], "3.9.1", "4.0.0")
    assert sorted((each.name.removeprefix(f"{tmp_path}/"), each.kind) for each in found.artefacts) == [
        ("a", "repository"),
        ("a/bom.json", "repository"),
    ]
