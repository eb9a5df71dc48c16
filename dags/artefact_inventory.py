"""### What is written about Kafka clients

Reads what tools leave of repositories and images (SBOMs of Dependency-Track, syft or a registry's exporter, images, checkouts)
in the folder or bucket `artefacts` of each cluster in the clusters file, and writes the Kafka clients in them to the table
`artefacts`: library, version, package URL, file and line, digests, repository, owner, client ids and groups that stand there as
literals, and the workloads that run the image, if the cluster has `workloads`. Clusters without `artefacts` are left out.

**Runs** daily; by hand with a `day` (empty: that of the run) and `clusters` (empty: all). A run has the whole inventory as it is
when it runs, and replaces what an earlier one wrote for its day.

**When it fails**, other clusters continue, and readers keep the inventory of the day before. The log ends with the reason: a folder
that is not there, owner rules or a workloads file that cannot be read, a failed quality gate. Files that cannot be read do not
fail it: they are warnings, with their reasons.
"""

from datetime import UTC, datetime

from airflow.sdk import CronDataIntervalTimetable, Param, dag, task, task_group
from include.clusters import NAMES, read_clusters
from include.run_day import OPTIONAL_DAY, RUN_DAY, day_of
from include.spark_stage import DEFAULT_ARGS, RUN_TIMEOUT, SparkStage


@dag(
    schedule=CronDataIntervalTimetable("0 1 * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    doc_md=__doc__,
    tags=["client telemetry", "inventory"],
    default_args=DEFAULT_ARGS,
    dagrun_timeout=RUN_TIMEOUT,
    user_defined_macros={"day_of": day_of},
    params={
        "day": Param(None, **OPTIONAL_DAY, description="UTC day of the rows; empty: the run's"),
        "clusters": Param([], **NAMES, description="Names in the clusters file; empty: all"),
    },
)
def artefact_inventory():
    @task
    def clusters(params):
        return read_clusters().with_artefacts(params["clusters"])

    @task_group
    def cluster(name):
        SparkStage(
            task_id="artefact_inventory",
            cluster=name,
            locations=["artefacts", "workloads", "owners", "publish"],
            arguments={"day": RUN_DAY},
            map_index_template="{{ task.cluster }}",
        )

    cluster.expand(name=clusters())


artefact_inventory()
