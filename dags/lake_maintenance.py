"""### Maintenance of the lake

Runs weekly and on demand: removes rows past their retention, compacts the small files of each partition, merges manifests, and
removes snapshots and files that are no longer referenced and branches of runs that died. Snapshots that upgrade reports refer to are
kept for 13 months. Stages may run at the same time.

**Retention** is 90 days for received data (pushes, points, events) and 13 months for data derived from it
(sessions, connections, clients); reports are kept forever. Change it with `retention_days` in the
clusters file, such as `client_metrics: 30` (null means forever), or for a single run with the parameter of the same name.

**To erase a client**, trigger the DAG with `cluster` and `client_id`, `principal` or both. Its rows are removed from all tables and
retained snapshots, and the cluster's pages and reports that list it are removed: publish them again. The
result of *erase* lists what was erased, and which raw objects still contain the client: delete these too. The log of an
interrupted attempt lists what that attempt erased.

**When it fails**, nothing is left half done: run it again. The log of the task says why it failed.
"""

from datetime import UTC, datetime

from airflow.sdk import CronDataIntervalTimetable, Param, dag
from include.spark_stage import DEFAULT_ARGS, RUN_TIMEOUT, SparkStage


@dag(
    schedule=CronDataIntervalTimetable("0 5 * * 0", timezone="UTC"),
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    doc_md=__doc__,
    tags=["client telemetry", "maintenance"],
    default_args=DEFAULT_ARGS,
    dagrun_timeout=RUN_TIMEOUT,
    params={
        "retention_days": Param({}, type="object", description="Days per table, in this run only"),
        "cluster": Param(None, type=["null", "string"], description="Cluster of the client to erase"),
        "client_id": Param(None, type=["null", "string"], description="client.id to erase"),
        "principal": Param(None, type=["null", "string"], description="Principal to erase, `User:name`"),
    },
)
def lake_maintenance():
    erase = SparkStage(
        task_id="erase",
        job="lake_maintenance",
        cluster="{{ params.cluster or '' }}",
        locations=["publish"],
        arguments={
            "erase": True,
            "client-id": "{{ params.client_id or '' }}",
            "principal": "{{ params.principal or '' }}",
        },
    )
    keep = {"retention-days": "{{ params.retention_days | tojson }}"}
    erase >> SparkStage(task_id="maintain", job="lake_maintenance", cluster=None, arguments=keep)


lake_maintenance()
