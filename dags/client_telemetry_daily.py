"""### Client telemetry of one day

Turns a day's broker dumps into tables: which clients were connected, and what they pushed. **For each cluster**: *collect* (new
objects), *decode* (to rows), *sessionize*, *profile* (clients, owners), *publish* (the fleet page), *review* (broker upgrades).
**By hand**: trigger it with a `day` (UTC; empty: the last complete day) and `clusters` (empty: all), in any order; `again` also
retries days with unreadable records. The next run picks up objects that are up to three days late. **When it fails** (other
clusters continue), the log of *summary* says where, why and what to do; then clear the task."""

from datetime import UTC, datetime

from airflow.sdk import CronDataIntervalTimetable, Param, dag, result, task, task_group
from include.clusters import NAMES
from include.daily_summary import chosen_clusters, conclude, stages_of
from include.run_day import COLLECT, DAYS, DECODE, OPTIONAL_DAY, PAGE, PROFILE, REVIEW, day_of
from include.spark_stage import DEFAULT_ARGS, RUN_TIMEOUT, SparkStage


@dag(
    schedule=CronDataIntervalTimetable("0 2 * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    doc_md=__doc__,
    tags=["client telemetry", "daily"],
    default_args=DEFAULT_ARGS,
    dagrun_timeout=RUN_TIMEOUT,
    user_defined_macros={"day_of": day_of},
    params={
        "day": Param(None, **OPTIONAL_DAY, description="UTC day; empty: the last complete day"),
        "clusters": Param([], **NAMES, description="Names in the clusters file; empty: all"),
        "again": Param(None, enum=[None, "quarantined"], description="Retry unreadable records"),
    },
)
def client_telemetry_daily():
    @task
    def clusters(ti, params):
        return chosen_clusters(ti, params["clusters"])

    @task_group
    def cluster(name):
        shared = {"cluster": name, "map_index_template": "{{ task.cluster }}"}
        collect = SparkStage(task_id="collect", **COLLECT, **shared)
        arrived, affected, changed = ({option: collect.output[days]} for option, days in DAYS)
        decode = SparkStage(task_id="decode", **DECODE, arguments=arrived, **shared)
        sessionize = SparkStage(task_id="sessionize", arguments=affected, **shared)
        profile = SparkStage(task_id="profile", **PROFILE, arguments=affected, **shared)
        publish = SparkStage(task_id="publish", **PAGE, arguments=affected, **shared)
        review = SparkStage(task_id="review", arguments=changed, **REVIEW, **shared)
        decode >> sessionize >> profile >> publish >> review

    @result
    @task(trigger_rule="all_done")
    def summary(ti, dag_run, params):
        return conclude(ti, day_of(dag_run, params), stages_of(ti.task.dag))

    cluster.expand(name=clusters()) >> summary()


client_telemetry_daily()
