"""### Planned upgrades until their day

Asks each planned upgrade of the campaigns file (`CLIENT_TELEMETRY_CAMPAIGNS`) whose day has not passed again for the days that
`client_telemetry_daily` has published, then writes the states of its applications (table `campaign_states`) and its page.
**Runs** when days of a cluster are published (its asset: `client_telemetry/NAME`); by hand with `campaigns` (empty: all open ones)
and a `day` (empty: the last processed one). Order and repetition make no difference; what an old day changes is recorded.
**When it fails**, the log of the failed task says why; states and page are made from the reports that there are.
"""

from airflow.sdk import Param, dag, task, task_group
from include.campaigns import DAYS_PUBLISHED, open_campaigns, questions, standings
from include.clusters import NAMES
from include.run_day import ANSWERED, ASKED, OPTIONAL_DAY, STANDING
from include.spark_stage import DEFAULT_ARGS, RUN_TIMEOUT, SparkStage


@dag(
    schedule=DAYS_PUBLISHED,
    max_active_runs=1,
    doc_md=__doc__,
    tags=["client telemetry", "upgrade"],
    default_args=DEFAULT_ARGS,
    dagrun_timeout=RUN_TIMEOUT,
    params={
        "campaigns": Param([], **NAMES, description="Names in the campaigns file; empty: all open ones"),
        "day": Param(None, **OPTIONAL_DAY, description="Last UTC day of the evidence, by hand"),
    },
)
def upgrade_campaign():
    @task
    def ask(params, triggering_asset_events):
        events = triggering_asset_events.get(DAYS_PUBLISHED, ())
        return questions(open_campaigns(params["campaigns"]), events, params["day"])

    @task_group
    def question(cluster, report, to, day, planned_for, asked_by):
        asked = {"report-id": report, "to": to, "day": day}
        impact = SparkStage(task_id="impact", cluster=cluster, arguments=asked, **ASKED)
        told = {"report-id": report, "planned-for": planned_for, "asked-by": asked_by}
        impact >> SparkStage(task_id="publish", cluster=cluster, arguments=told, **ANSWERED)

    @task(trigger_rule="all_done")
    def stand(asked, params):
        return standings(open_campaigns(params["campaigns"]), asked)

    @task_group
    def standing(cluster, campaign, file):
        asked = {"campaign": campaign, "campaigns": file}
        SparkStage(task_id="upgrade_campaign", cluster=cluster, arguments=asked, **STANDING)

    @task(trigger_rule="none_failed")
    def complete():
        """A question that failed fails the run."""

    answered = question.expand_kwargs(asked := ask())
    answered >> (now := stand(asked))
    [answered, standing.expand_kwargs(now)] >> complete()


upgrade_campaign()
