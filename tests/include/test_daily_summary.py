import logging

import pytest
from telemetry_pages.run_notes import note

from include.clusters import ClustersFileError
from include.daily_summary import ClustersFailed, chosen_clusters, conclude, daily_summary, summary_lines
from include.spark_stage import FAILURE_KEY

STAGES = ("collect", "decode", "sessionize", "profile", "publish")


class TaskInstance:
    """Takes the place of the running task instance: XComs by (task, map index, key)."""

    def __init__(self, xcoms):
        self.xcoms, self.pushed = xcoms, {}

    def xcom_pull(self, task_ids, map_indexes=None, key="return_value"):
        return self.xcoms.get((task_ids, map_indexes, key))

    def xcom_push(self, key, value):
        self.pushed[key] = value


def _reports(index, stages=STAGES):
    return {
        (f"cluster.{stage}", index, "return_value"): {
            "counts": {"rows_read": number},
            "warnings": [f"{stage}!"],
        }
        for number, stage in enumerate(stages)
    }


def _ti(*parts):
    return TaskInstance(
        {("clusters", None, "return_value"): ["east", "west"]} | {k: v for p in parts for k, v in p.items()}
    )


def test_every_cluster_shows_the_counts_and_warnings_of_its_stages():
    summary = conclude(_ti(_reports(0), _reports(1)), "2026-11-21", STAGES)
    assert summary["day"] == "2026-11-21"
    assert summary["clusters"]["west"] == {
        "status": "ok",
        "counts": {stage: {"rows_read": number} for number, stage in enumerate(STAGES)},
        "warnings": [f"{stage}!" for stage in STAGES],
        "page": None,
        "sentence": None,
        "reviews": [],
        "lost": "",
    }
    lines = {line: level for level, line in summary_lines(summary)}
    assert lines["    decode: rows read 1"] == logging.INFO
    assert lines["    warning: decode!"] == logging.WARNING


def test_a_failed_cluster_fails_the_run_with_its_reason_and_keeps_the_summary():
    failure = {("cluster.decode", 1, "failure"): "west: decode: no space left. Free some."}
    ti = _ti(_reports(0), _reports(1, ["collect"]), failure)
    with pytest.raises(ClustersFailed, match=r"no space left.*log of the task cluster\.decode \[west\]"):
        conclude(ti, "2026-11-21", STAGES)
    west = ti.pushed["return_value"]["clusters"]["west"]
    assert (west["status"], west["failed_stage"], west["counts"]) == (
        "failed",
        "decode",
        {"collect": {"rows_read": 0}},
    )
    assert ti.pushed["return_value"]["clusters"]["east"]["status"] == "ok"


def test_lost_data_has_a_rank_of_its_own():
    lost = "2026-11-21: 3 of 14 objects damaged, 714 of 3,163 pushes not read"
    reports = _reports(0)
    reports["cluster.decode", 0, "return_value"]["lost"] = lost
    summary = conclude(_ti(reports, _reports(1)), "2026-11-21", STAGES)
    assert {name: (c["status"], c["lost"]) for name, c in summary["clusters"].items()} == {
        "east": ("lost_data", lost),
        "west": ("ok", ""),
    }
    assert (logging.WARNING, f"    data lost: {lost}") in summary_lines(summary)
    summary["clusters"]["north"] = {"status": "failed", "message": "north: decode: no space left."}
    assert note([summary], {}).split("\n\n") == [
        "2026-11-21",
        "FAILED north: decode: no space left.",
        f"east: DATA LOST: {lost}. nothing to do",
        "west: nothing to do",
    ]


def test_a_run_that_fails_before_its_first_stage_says_why_in_its_note(clusters_file):
    clusters_file("lake: [")
    ti = TaskInstance({})
    with pytest.raises(ClustersFileError):
        chosen_clusters(ti, [])
    summary = TaskInstance({("clusters", None, FAILURE_KEY): ti.pushed[FAILURE_KEY]})
    with pytest.raises(ClustersFailed, match="cannot be read as YAML"):
        conclude(summary, "2026-11-21", STAGES)
    assert "cannot be read as YAML" in note([summary.pushed["return_value"]], {})


def test_a_task_that_was_killed_is_a_failure_too():
    ti = _ti(_reports(0), _reports(1, STAGES[:-1]))
    summary = daily_summary(ti, "2026-11-21", ["east", "west"], STAGES)
    assert summary["clusters"]["west"]["message"] == "west: publish was stopped before it could say why."
    assert summary_lines(summary)[-1][1].startswith("FAILED west: publish was stopped")


def test_no_cluster_at_all_is_a_failure():
    with pytest.raises(ClustersFailed, match="log of the task clusters"):
        conclude(TaskInstance({}), "2026-11-21", STAGES)


def test_the_note_says_of_a_team_s_cluster_only_where_to_look():
    east = {"status": "lost_data", "lost": "3 of 14 objects damaged", "sentence": "12 applications"}
    west = {"status": "failed", "message": "west: decode: a reason"}
    north = {"status": "ok", "sentence": "3 applications"}
    summary = {"day": "2026-11-21", "clusters": {"north": north, "east": east, "west": west}}
    assert note([summary], {"east": "platform", "west": "orders"}).split("\n\n")[1:] == [
        "FAILED west: for the team orders, see its pages",
        "east: DATA LOST: for the team platform, see its pages",
        "north: 3 applications",
    ]
    refused = [{"failure": "east: impact: nothing is known of orders."}]
    assert note(refused, {"east": "platform"}, "north") == refused[0]["failure"]
    assert (
        note(refused, {"east": "platform"}, "east")
        == "FAILED: the reason is for the team platform of east: see the task's log."
    )
