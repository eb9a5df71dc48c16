"""### What would a change of client metrics subscriptions do?

Run this before you apply a change: a subscription (KIP-714, `kafka-client-metrics.sh`) reaches every client that it matches within
minutes, makes some versions of librdkafka abort, and can multiply the load on the brokers. The DAG reports which clients a change
matches and which selectors exclude the others, what each client will push, which clients the change harms, which stay silent and
why, and the commands to apply it.

**Trigger it** with the name of a `cluster` and one change: `action`, `name`, and the settings, as in
`kafka-client-metrics.sh`. For several changes at once, use `changes`. Alternatively, specify in `goal` what you want to know: the
smallest subscription that delivers it is proposed and checked. The current configuration is what the brokers reported, or what
you paste into `configured`. The evidence covers the `window_days` days up to `day`.

**The result** of the run (XCom `return_value`, also over REST: `GET …/dagRuns/{run}/wait?interval=1`) has `answer`,
`sentence` and `report`, its path.

**When it fails**, the log ends with the reason and what to do. What Kafka would reject is in the report, with Kafka's message.
"""

from airflow.sdk import dag
from include.spark_stage import QUESTION_ARGS, RUN_TIMEOUT, SparkStage
from include.subscription_form import FORM, QUESTION


@dag(
    schedule=None,
    doc_md=__doc__,
    tags=["client telemetry", "subscriptions"],
    default_args=QUESTION_ARGS,
    dagrun_timeout=RUN_TIMEOUT,
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
