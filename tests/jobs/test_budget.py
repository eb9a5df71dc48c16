"""The stages of a day stay within a budget of queries: on a small cluster planning, compiling and scheduling them costs far more
than their rows, and the counts are the same on every machine.
"""

from dataclasses import astuple

from client_telemetry.pipeline.stages import DAILY

from benchmarks.queries import Counts, counts_of_day

BUDGET = {
    "collect": Counts(queries=0, jobs=0, stages=0, tasks=0),
    "decode": Counts(queries=1, jobs=1, stages=1, tasks=8),
    "sessionize": Counts(queries=3, jobs=7, stages=26, tasks=50),
    "profile": Counts(queries=1, jobs=2, stages=11, tasks=22),
    "publish_fleet": Counts(queries=5, jobs=18, stages=42, tasks=100),
}


def test_each_stage_stays_within_its_budget(spark, tmp_path) -> None:
    counts = counts_of_day(spark, "telemetry_cluster", tmp_path)
    assert list(counts) == [stage.name for stage in DAILY]
    over = {
        stage: f"{used} of {BUDGET[stage]}"
        for stage, used in counts.items()
        if any(one > most for one, most in zip(astuple(used), astuple(BUDGET[stage]), strict=True))
    }
    assert over == {}, (
        "fewer and smaller plans (pipeline/one_query.py, lake/files.py), or a larger budget that says why"
    )
