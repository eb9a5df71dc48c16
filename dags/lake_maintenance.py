"""### Upkeep of the lake

Weekly, and by hand: rows past their retention go, small files of a partition become one, manifests are merged, snapshots
and files that nobody names any more are removed, and so are branches of runs that died. What upgrade reports name is
kept. Stages may run meanwhile.

**Retention** is 90 days for what was received (pushes, points, events) and 13 months for what is derived from it
(sessions, connections, clients); reports stay for ever. `retention_days` changes it, such as `{"client_metrics": 30}`; null is
for ever.

**To erase a client**, trigger it with `cluster` and `client_id` or `principal` or both. Its rows leave all tables and
the snapshots that are kept, and published pages and reports that name it are removed: publish them again. The
result of *erase* says what was erased, and which raw objects still hold the client: delete these too.

**When it fails**, nothing is half done: run it again. The log of the task says why.
"""

from datetime import UTC, datetime

from airflow.sdk import CronDataIntervalTimetable, Param, dag
from include.spark_stage import DEFAULT_ARGS, SparkStage


@dag(
    schedule=CronDataIntervalTimetable("0 5 * * 0", timezone="UTC"),
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    doc_md=__doc__,
    tags=["client telemetry", "maintenance"],
    default_args=DEFAULT_ARGS,
    params={
        "retention_days": Param({}, type="object", description="Table to days where it is not the default"),
        "cluster": Param(None, type=["null", "string"], description="Cluster of a client to erase"),
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
