"""The stages of a day, and the review of its upgrades, stay within a budget of queries: on a small cluster planning, compiling
and scheduling them costs far more than their rows, and the counts are the same on every machine.
"""

import json
from dataclasses import astuple
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.queries import Counts, cluster_settings, counts_of_day

NOTHING = Counts(queries=0, jobs=0, stages=0, tasks=0)
BUDGET = {
    "collect": NOTHING,
    "decode": NOTHING,
    "sessionize": NOTHING,
    "profile": NOTHING,
    "publish_fleet": NOTHING,
    "review": NOTHING,
    # Each view of a frame counts as a query.
    "publish_fleet with Spark": Counts(queries=30, jobs=18, stages=49, tasks=100),
    "review with Spark": Counts(queries=20, jobs=14, stages=26, tasks=56),
    "profile with Spark": Counts(queries=8, jobs=3, stages=12, tasks=25),
    "sessionize with Spark": Counts(queries=10, jobs=10, stages=28, tasks=50),
}


MOST_TASKS_ON_A_CLUSTER = 150
"""Of the whole day. Each shuffle begins with 200 partitions there, and adaptive execution has to join those of little data."""


def test_each_stage_stays_within_its_budget_and_pages_are_the_same_with_spark(spark, tmp_path) -> None:
    counts = counts_of_day(spark, "fleet", tmp_path)
    assert list(counts) == list(BUDGET)
    over = {
        stage: f"{used} of {BUDGET[stage]}"
        for stage, used in counts.items()
        if any(one > most for one, most in zip(astuple(used), astuple(BUDGET[stage]), strict=True))
    }
    assert over == {}, (
        "fewer and smaller plans (pipeline/one_query.py, lake/files.py), or a larger budget that says why"
    )
    for stage, folder in (("publish_fleet", "fleet"), ("review", "upgrade_review")):
        assert counts[f"{stage} with Spark"].jobs
        small, large = (_pages(tmp_path / name / folder) for name in ("published", "on_spark"))
        assert small.keys() == large.keys()
        assert [name for name in small if small[name] != large[name]] == []


def _pages(folder: Path) -> dict[str, object]:
    """File -> contents, but for when it was made, and what a second review knows of the first. The HTML is made of the others."""
    files = {
        str(file.relative_to(folder)): file
        for file in folder.rglob("*")
        if file.suffix in (".json", ".csv", ".txt")
    }
    texts = {name: file.read_text(encoding="utf-8") for name, file in files.items()}
    return {
        name: json.loads(text) | {"created_at": None, "rules_of_all_reviews": None}
        if name.endswith(".json")
        else text
        for name, text in texts.items()
    }


def test_a_small_day_is_few_tasks_with_the_settings_for_a_cluster(spark, tmp_path, monkeypatch) -> None:
    new_session = SparkSession.newSession
    settings = cluster_settings()
    assert settings["spark.sql.shuffle.partitions"] == "200"

    def with_settings(self: SparkSession) -> SparkSession:
        session = new_session(self)
        for name, value in settings.items():
            session.conf.set(name, value)
        return session

    monkeypatch.setattr(SparkSession, "newSession", with_settings)
    counts = counts_of_day(spark, "telemetry_cluster", tmp_path)
    assert sum(each.tasks for each in counts.values()) <= MOST_TASKS_ON_A_CLUSTER
