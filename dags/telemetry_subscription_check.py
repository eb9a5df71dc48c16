"""### What would a change of client metrics subscriptions do?

Ask before you apply it: a subscription (KIP-714, `kafka-client-metrics.sh`) reaches every client that it matches within
minutes, aborts some versions of librdkafka, and can multiply what brokers take. This DAG says whom a change matches and
which selector lets the others out, what each client will push, whom it hurts, who stays silent and why, and the commands.

**Trigger it** with the name of a `cluster` and one change: `action`, `name`, and what it sets, as in
`kafka-client-metrics.sh`; for several at once use `changes`; or say with `goal` what you want to know, and the smallest
subscription that delivers it is proposed and checked. What is configured now is what the brokers reported, or what
you paste into `configured`. The evidence is that of the `window_days` days up to `day`.

**The result** of the run (XCom `return_value`, also over REST: `GET …/dagRuns/{run}/wait?interval=1`) has `answer`,
`sentence` and `report`, its path.

**When it fails**, the log ends with the reason and what to do. What Kafka would refuse is in the report, with Kafka's words.
"""

from airflow.sdk import dag
from include.spark_stage import QUESTION_ARGS, SparkStage
from include.subscription_form import FORM, QUESTION


@dag(
    schedule=None,
    doc_md=__doc__,
    tags=["client telemetry", "subscriptions"],
    default_args=QUESTION_ARGS,
    params=FORM,
)
def telemetry_subscription_check():
    check = SparkStage(
        task_id="subscription_check",
        cluster="{{ params.cluster }}",
        locations=["publish"],
        arguments=QUESTION,
        page="checked",
    )
    check.returns_dag_result = True


telemetry_subscription_check()
