"""### Which clients does a broker upgrade break?

Run this before you upgrade: the DAG checks every client that was seen on a cluster against the target release and writes a
report with a verdict, the evidence, the owner and the fix for each client.

**Trigger it** with a `cluster` (a name in the clusters file; in the sample `fleet` or `telemetry_cluster`) and the exact release
to upgrade `to`, or the name of a measured target: a file of the folder that the clusters file names as `targets`, without `.json`.
`from` is the release that the brokers run today; empty: taken from the table `brokers`. The evidence covers the `window_days`
days up to `day` (empty: the last processed day); too short a window misses weekly and monthly jobs. Of a cluster with an inventory
(`artefact_inventory`), the report also says what is written: libraries that images prove, and clients that no broker saw.

**The result** of the run (XCom `return_value` of *publish*, also over REST: `GET …/dagRuns/{run}/wait?interval=1`) has
the path of the report and the number of clients per verdict. Clients without sufficient evidence are listed, never counted as safe.

**When it fails**, the log of the failed task ends with the reason and what to do: an unknown cluster or release, a day that was
never processed (run `client_telemetry_daily` for it), a failed quality gate. Fix the cause and trigger the DAG again.
"""

from airflow.sdk import Param, dag
from include.run_day import MECHANISMS, OPTIONAL_DAY, OPTIONAL_RELEASE, RELEASE, SHOWN
from include.spark_stage import QUESTION_ARGS, RUN_TIMEOUT, SparkStage


@dag(
    schedule=None,
    doc_md=__doc__,
    tags=["client telemetry", "upgrade"],
    default_args=QUESTION_ARGS,
    dagrun_timeout=RUN_TIMEOUT,
    params={
        "cluster": Param(type="string", minLength=1, description="Name of a cluster in the clusters file"),
        "to": Param(**RELEASE, description="Exact release to upgrade to, or name of a measured target"),
        "from": Param(
            None, **OPTIONAL_RELEASE, description="Release before the upgrade; empty: what the brokers run"
        ),
        "day": Param(None, **OPTIONAL_DAY, description="Last UTC day of the evidence"),
        "window_days": Param(7, type="integer", minimum=1, maximum=366, description="Days of evidence"),
        "planned_for": Param(None, **OPTIONAL_DAY, description="Day of the upgrade, for messages to owners"),
        "asked_by": Param(None, type=["null", "string"], description="Contact for owners' answers"),
        "mechanisms": Param(None, type=["null", "string"], description=MECHANISMS),
    },
)
def broker_upgrade_impact():
    names = {"from": "from", "to": "to", "day": "day", "window": "window_days", "mechanisms": "mechanisms"}
    question = {argument: f"{{{{ params['{name}'] or '' }}}}" for argument, name in names.items()}
    pack = {name.replace("_", "-"): f"{{{{ params.{name} or '' }}}}" for name in ("planned_for", "asked_by")}
    report = {"report-id": "{{ run_id }}"}
    cluster = "{{ params.cluster }}"
    asked = {"locations": ["scram_users", "hosts", "targets"], "arguments": report | question}
    impact = SparkStage(task_id="impact", cluster=cluster, **asked)
    shown = {"locations": SHOWN, "arguments": report | pack, "page": "answered"}
    publish = SparkStage(task_id="publish", cluster=cluster, **shown)
    impact >> publish
    publish.returns_dag_result = True


broker_upgrade_impact()
