"""### What is new, told to owners and operators

Sends what `client-telemetry notify --send` sends, if the variable `CLIENT_TELEMETRY_NOTICES` names a notices file (docs/notices.md):
digests of campaigns to owners, regressions, and days that are not published in time. Nothing is sent twice.
**Runs** every hour and when `upgrade_campaign` has computed states; without a notices file never.
**When it fails**, its log says what could not be sent, and to whom: the next run tries it again.
"""

from datetime import UTC, datetime

from airflow.sdk import AssetOrTimeSchedule, CronTriggerTimetable, dag, task
from include.campaigns import STATES_COMPUTED
from include.notices import is_on, tell_news
from include.spark_stage import DEFAULT_ARGS, RUN_TIMEOUT

HOURLY = CronTriggerTimetable("10 * * * *", timezone="UTC")


@dag(
    schedule=AssetOrTimeSchedule(timetable=HOURLY, assets=[STATES_COMPUTED]) if is_on() else None,
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    doc_md=__doc__,
    tags=["client telemetry", "upgrade"],
    default_args=DEFAULT_ARGS,
    dagrun_timeout=RUN_TIMEOUT,
)
def client_telemetry_notices():
    @task
    def tell():
        return tell_news()

    tell()


client_telemetry_notices()
