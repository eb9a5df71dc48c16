"""The one way to run a stage: start its job, read what it reports, decide what a failure means.

Belongs here: the conversation between Airflow and spark/run_stage.py, which is arguments one way and an exit
code with a JSON file the other way. What a stage does is the job's affair.
"""

import json
import logging
import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode

from airflow.sdk import AssetAlias, BaseHook, BaseOperatorLink, Context, ObjectStoragePath
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowTaskTimeout

from include import credentials
from include.airflow_internals import PythonOperator
from include.campaigns import asset_of
from include.clusters import CHECKOUT, read_clusters
from include.run_priority import TodayFirst

LAKE_WRITER_POOL = "lake_writer"
"""Pool in which every stage runs: as many slots as the catalog takes writers, one where it is a SQLite file."""

WHOLE_LAKE = "all_clusters"
"""What stands for the cluster's name where a job is about the whole lake."""


def say_why(context: Context) -> None:
    """Repeats the reason of a failure below Airflow's traceback, as the last line of the log."""
    logging.getLogger(__name__).error("%s", context.get("exception"))


DEFAULT_ARGS = {
    "owner": "kafka-platform",
    "retries": 2,
    "retry_delay": timedelta(minutes=2),
    "execution_timeout": timedelta(hours=3),
    "on_failure_callback": say_why,
    "on_retry_callback": say_why,
    "weight_rule": TodayFirst(),
}
"""What the tasks of every DAG have in common. The longest stage measured takes minutes (docs/performance.md): one that takes
hours hangs, and every other cluster waits for its slot."""

RUN_TIMEOUT = timedelta(hours=20)
"""Of a whole run: the next night's begins after it."""

QUESTION_ARGS = DEFAULT_ARGS | {"priority_weight": 1000, "weight_rule": "absolute"}
"""Of tasks that somebody waits for: they go before the stages of a nightly run that wait for the same pool. No pool of
their own: where the catalog is a SQLite file, there must not be two writers."""

FAILURE_KEY = "failure"
"""XCom of a stage that failed: the sentence that says why and what to do."""

WARM_VARIABLE = "WARM_JOBS"
"""Path of the socket of spark/warm_jobs.py, if there is one."""

BAD_ARGUMENTS, FAILED_GATE = 2, 3
"""Exit codes of a job that would end the same way if it ran again."""

_FINAL = {"bad_arguments", "failed_gate"}
"""Statuses in the result file with the same meaning."""


OF_TASK = "runs"
"""Page of a stage whose result names what it published."""


class PublishedLink(BaseOperatorLink):
    """From a task to the page that its run published, inside Airflow."""

    name = "Report"
    xcom_key = "link_to_report"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """Of a task that publishes nothing: empty."""
        page, run = getattr(operator, "page", None), quote(ti_key.run_id, safe="")
        if page == OF_TASK:
            task = urlencode({"task": ti_key.task_id, "map_index": ti_key.map_index})
            return f"/client-telemetry/{page}/{quote(ti_key.dag_id, safe='')}/{run}?{task}"
        return f"/client-telemetry/{page}/{run}" if page else ""


class StageFailed(AirflowException):
    """The job broke (a lost worker, storage that does not answer): another attempt may succeed."""


class StageRefused(AirflowFailException):
    """The job refused its arguments or a quality gate failed: another attempt would end the same way."""


class SparkStage(PythonOperator):
    """Runs a stage (spark/run_stage.py) for one cluster, or for the lake, and returns what the job reported.

    The job runs under Python, and starts Spark with the connection ``spark_default`` if it needs it; where WARM_JOBS names the
    socket of spark/warm_jobs.py, in a fork of that.

    :param cluster: name in the clusters file; the lake and all other locations are looked up at run time. None or empty:
        the job is about the whole lake
    :param locations: which entries of the clusters file the job takes: ``raw``, ``source``, ``owners``,
        ``scram_users``, ``hosts``, ``artefacts``, ``workloads``, ``publish``; every job takes
        ``knowledge_package`` and ``knowledge``, so that all know the same
    :param job: name of the stage where it is not that of the task
    :param arguments: further options, name -> value. A list is joined by commas and passed even when it is empty
        ("there is nothing to do"); an empty text or None is a question that was not asked, and is left out.
    :param page: word before the run id in the address of the page that the run publishes: ``answered``, ``checked``,
        ``runs`` (OF_TASK)

    The whole report is the return value, and each of its keys is an XCom of its own, so that the next stage
    can take ``collect.output["decode_days"]``. A failure leaves its message as the XCom ``failure``, and as the only key of
    a result of the run, so that ``/wait`` ends with it.
    """

    operator_extra_links = (PublishedLink(),)
    template_fields: Sequence[str] = (*PythonOperator.template_fields, "cluster", "arguments")

    def __init__(
        self,
        *,
        task_id: str,
        cluster: str | None,
        locations: Sequence[str] = (),
        job: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        page: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            task_id=task_id,
            application=str(CHECKOUT / "spark" / "run_stage.py"),
            name=f"client_telemetry_{task_id}",
            multiple_outputs=True,
            **{"pool": LAKE_WRITER_POOL, **kwargs},
        )
        self.stage = task_id
        self.job = job or task_id
        self.page = page
        self.cluster = cluster
        self.locations = tuple(locations)
        self.arguments = dict(arguments or {})

    def execute(self, context: Context) -> dict[str, Any]:
        """Start the job and return its report; raises StageRefused (no retry) or StageFailed (retry)."""
        try:
            self._check_connection()
            with credentials.in_environment():
                return self._run(context)
        except AirflowTaskTimeout:  # on_kill has ended the job
            hours = self.execution_timeout.total_seconds() / 3600
            self._leave_failure(
                context,
                f"{self.cluster or WHOLE_LAKE}: {self.stage} did not end within {hours:g} hours and was stopped. The log of this task "
                "ends with what it was doing.",
            )
            raise
        except (StageFailed, AirflowFailException) as failure:
            self._leave_failure(context, str(failure))
            raise

    def _leave_failure(self, context: Context, reason: str) -> None:
        self.returns_dag_result = True  # what waits for the run over REST is told why there is no answer
        for key, value in ((FAILURE_KEY, reason), ("return_value", {FAILURE_KEY: reason})):
            context["ti"].xcom_push(key=key, value=value)

    def _run(self, context: Context) -> dict[str, Any]:
        clusters = read_clusters()
        cluster = clusters.named(self.cluster) if self.cluster else None
        name = cluster.name if cluster else WHOLE_LAKE
        values = cluster.model_dump(exclude_none=True) if cluster else {}
        run_id = context["run_id"]
        report_url = f"{clusters.results}/{context['dag'].dag_id}/{run_id}/{name}/{self.stage}.json"
        report_file = ObjectStoragePath(report_url)
        report_file.parent.mkdir(parents=True, exist_ok=True)
        report_file.unlink(missing_ok=True)  # of an earlier attempt

        given = {
            "cluster": cluster.cluster_id if cluster else None,
            "cluster-name": cluster.name if cluster else None,
            "run-id": run_id,
            "lake": clusters.lake,
            "result": report_url,
            "knowledge-package": values.get("knowledge_package"),
            "knowledge": values.get("knowledge"),
            **{location.replace("_", "-"): values.get(location) for location in self.locations},
            **self.arguments,
        }
        if "retention-days" in self.arguments:  # of this run, beside what the clusters file has
            given["retention-days"] = clusters.retention_days | json.loads(self.arguments["retention-days"])
        if "publish" in self.locations:
            given["publish"] = clusters.publish
        self.application_args = [self.job, *_options(given)]

        broke = None
        try:
            super().execute(context)
        except (AirflowException, OSError) as error:  # the hook's ways to say that spark-submit failed
            broke = error
        exit_code = self.exit_code()
        report = _read(report_file)
        if broke is None and report.get("status") == "ok":
            self.log.info("%s: %s", name, report["message"])
            for warning in report.get("warnings", ()):
                self.log.warning("%s: %s", name, warning)
            self._announce(context, name)
            return report
        raise self._failure(name, report, broke, exit_code)

    def _announce(self, context: Context, cluster: str) -> None:
        """An event of the cluster's asset, if the stage publishes days and there were any."""
        days = self.arguments.get("days")
        for outlet in self.outlets if days else ():
            if isinstance(outlet, AssetAlias):
                told = {"cluster": cluster, "days": list(days)}
                context["outlet_events"][outlet].add(asset_of(cluster), extra=told)

    def launcher(self) -> Sequence[str]:
        warm = os.environ.get(WARM_VARIABLE)
        return (str(CHECKOUT / "spark" / "warm_jobs.py"), "run", warm) if warm else ()

    def _check_connection(self) -> None:
        """Without a Spark connection the hook would quietly submit to YARN."""
        try:
            BaseHook.get_connection(self.connection_id)
        except AirflowException as error:
            raise StageRefused(
                f"There is no usable Spark connection {self.connection_id!r} ({error}). Create it, for instance with "
                f"""AIRFLOW_CONN_{self.connection_id.upper()}='{{"conn_type": "spark", "host": "local[2]"}}'."""
            ) from None

    def _failure(
        self, cluster: str, report: dict[str, Any], broke: Exception | None, exit_code: int | None
    ) -> StageFailed | StageRefused:
        """What to raise for a job that did not end well, with a message that says what to do next."""
        if report.get("status") == "ok":  # it reported, and then it broke
            report = {}
        message = report.get("message") or (
            f"{self.stage}: the job ended with exit code {exit_code} and left no report of a failure. Look for the reason in the log of this "
            f"task. {broke or ''}"
        )
        refused = report.get("status") in _FINAL if report else exit_code in (BAD_ARGUMENTS, FAILED_GATE)
        return (StageRefused if refused else StageFailed)(f"{cluster}: {message}")


def _options(given: Mapping[str, Any]) -> list[str]:
    """Command line options as --name=value: a cluster id may begin with a dash. A mapping is written as JSON."""
    options = []
    for name, value in given.items():
        if isinstance(value, list | tuple):
            options.append(f"--{name}={','.join(str(item) for item in value)}")
        elif isinstance(value, Mapping):
            options.append(f"--{name}={json.dumps(value)}")
        elif value is True:
            options.append(f"--{name}")
        elif value not in (None, ""):
            options.append(f"--{name}={value}")
    return options


def _read(report_file: ObjectStoragePath) -> dict[str, Any]:
    """The job's report; empty if it wrote none, or if it died while it wrote."""
    try:
        return json.loads(report_file.read_text())
    except (FileNotFoundError, ValueError):
        return {}
