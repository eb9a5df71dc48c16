"""### What did a broker upgrade do to each client?

Ask during a rolling upgrade, and after it: this DAG holds what the brokers recorded of every client before the first broker
changed against what they recorded since, and against what was predicted.

**Trigger it** with the name of a `cluster` (as in the clusters file). `from` and `to` are the releases; left empty, the last
change of release in the table `brokers` is reviewed. `day` is the last day that is looked at (empty: the last one that was
processed): during a roll process the current day first (`client_telemetry_daily` with that day).

It is compared with the newest report of the same pair of releases that was made from evidence before the first broker changed
(`broker_upgrade_impact`); without one that question is asked first. The daily run starts a review by itself.

**The result** of the run (XCom `return_value` of *review*, also over REST) names the page, counts the outcomes, and, while
brokers still differ, says whether to go on: `decision` is go, stop or cannot_tell, `exit_code` 0, 3 or 4.

**When it fails**, the log ends with the reason and what to do: an upgrade that the brokers did not go through (with what they
did), a day that was never processed, a window without data, a failed quality gate. The same review made again replaces itself.
"""

from airflow.sdk import Param, dag
from include.releases import RELEASES
from include.run_day import OPTIONAL_DAY, REVIEWED
from include.spark_stage import QUESTION_ARGS, SparkStage

_RELEASE = {
    "type": ["null", "string"],
    "enum": [None, *RELEASES],
    "values_display": {"null": "what the brokers did last"},
}


@dag(
    schedule=None,
    doc_md=__doc__,
    tags=["client telemetry", "upgrade"],
    default_args=QUESTION_ARGS,
    params={
        "cluster": Param(type="string", minLength=1, description="Name of a cluster in the clusters file"),
        "from": Param(None, **_RELEASE, description="Release before the upgrade"),
        "to": Param(None, **_RELEASE, description="Release after the upgrade"),
        "day": Param(None, **OPTIONAL_DAY, description="Last UTC day that is looked at"),
        "window_days": Param(2, type="integer", minimum=1, maximum=31, description="Days that are looked at"),
    },
)
def broker_upgrade_review():
    review = SparkStage(
        task_id="review",
        cluster="{{ params.cluster }}",
        locations=REVIEWED,
        arguments={
            "from": "{{ params['from'] or '' }}",
            "to": "{{ params.to or '' }}",
            "day": "{{ params.day or '' }}",
            "window": "{{ params.window_days }}",
        },
    )
    review.returns_dag_result = True


broker_upgrade_review()
