"""### What did a broker upgrade do to each client?

Run this during and after a rolling upgrade: the DAG compares what the brokers have recorded about every client since the first
broker was upgraded with what they recorded before, and with what was predicted.

**Trigger it** with the name of a `cluster` (as in the clusters file). `from` and `to` are the releases, or names of measured
targets (the clusters file's `targets`) that answer as these do; if empty, the last release change in the table `brokers` is
reviewed. `day` is the last day of the review (empty: the last processed day). During a roll, process the current day first (`client_telemetry_daily` with that day). The review is compared with the newest report
(`broker_upgrade_impact`) for the same releases that uses only evidence from before the first broker was upgraded; if there is no
such report, that question is asked first. The daily run starts reviews automatically.

**The result** of the run (XCom `return_value` of *review*, also over REST) has the path of the page, the number of clients per
outcome and, while brokers run both releases, whether to continue: `decision` is go, stop or cannot_tell, `exit_code` 0, 3 or 4.

**When it fails**, the log ends with the reason and what to do: an upgrade that the brokers did not go through (with what they
did instead), a day that was never processed, a window without data, a failed quality gate. Repeating a review replaces it.
"""

from airflow.sdk import Param, dag
from include.run_day import MECHANISMS, OPTIONAL_DAY, OPTIONAL_RELEASE, REVIEW
from include.spark_stage import QUESTION_ARGS, RUN_TIMEOUT, SparkStage


@dag(
    schedule=None,
    doc_md=__doc__,
    tags=["client telemetry", "upgrade"],
    default_args=QUESTION_ARGS,
    dagrun_timeout=RUN_TIMEOUT,
    params={
        "cluster": Param(type="string", minLength=1, description="Name of a cluster in the clusters file"),
        "from": Param(None, **OPTIONAL_RELEASE, description="Release before the upgrade"),
        "to": Param(None, **OPTIONAL_RELEASE, description="Release after the upgrade"),
        "day": Param(None, **OPTIONAL_DAY, description="Last UTC day of the review"),
        "window_days": Param(2, type="integer", minimum=1, maximum=31, description="Days of evidence"),
        "mechanisms": Param(None, type=["null", "string"], description=MECHANISMS),
    },
)
def broker_upgrade_review():
    texts = {name: f"{{{{ params['{name}'] or '' }}}}" for name in ("from", "to", "day", "mechanisms")}
    review = SparkStage(
        task_id="review",
        cluster="{{ params.cluster }}",
        **REVIEW,
        arguments=texts | {"window": "{{ params.window_days }}"},
    )
    review.returns_dag_result = True


broker_upgrade_review()
