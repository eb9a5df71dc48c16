"""What the daily run says at its end: per cluster the counts of each stage, and what failed and where to look."""

import logging
from collections.abc import Iterator, Sequence
from typing import Any

from airflow.sdk.exceptions import AirflowFailException
from airflow.sdk.types import RuntimeTaskInstanceProtocol

from include.clusters import ClustersFileError, read_clusters
from include.notices import tell_failure
from include.spark_stage import FAILURE_KEY

log = logging.getLogger(__name__)


class ClustersFailed(AirflowFailException):
    """At least one cluster has no complete day. Trying the summary again would not change that."""


def chosen_clusters(ti: RuntimeTaskInstanceProtocol, names: Sequence[str]) -> list[str]:
    """The names of the clusters that a run processes. Raises ClustersFileError, and leaves its reason to `conclude`."""
    try:
        return read_clusters().chosen(names)
    except ClustersFileError as error:
        ti.xcom_push(key=FAILURE_KEY, value=str(error))
        raise


def stages_of(dag: Any) -> tuple[str, ...]:
    """Names of the tasks in the task group ``cluster`` of the daily DAG, in the order in which they run."""
    return tuple(task.label for task in dag.task_group.children["cluster"].topological_sort())


def conclude(ti: RuntimeTaskInstanceProtocol, day: str, stages: Sequence[str]) -> dict[str, Any]:
    """Log and return the summary of the run; it is also kept as the XCom of the task if a cluster failed.

    Raises ClustersFailed then, because the task that calls this is the last one of the run and decides whether
    the run counts as failed.
    """
    clusters = ti.xcom_pull(task_ids="clusters")
    if not clusters:
        reason = (
            ti.xcom_pull(task_ids="clusters", key=FAILURE_KEY) or "The log of the task clusters says why."
        )
        tell_failure(f"client_telemetry_daily of {day}", f"No cluster was processed. {reason}")
        ti.xcom_push(key="return_value", value={FAILURE_KEY: f"No cluster was processed. {reason}"})
        raise ClustersFailed(f"No cluster was processed. {reason}")
    summary = daily_summary(ti, day, clusters, stages)
    for level, line in summary_lines(summary):
        log.log(level, line)
    failed = [cluster for cluster in summary["clusters"].values() if cluster["status"] == "failed"]
    if failed:
        ti.xcom_push(key="return_value", value=summary)
        reason = " ".join(f"{cluster['message']} See {cluster['where']}." for cluster in failed)
        tell_failure(f"client_telemetry_daily of {day}", reason)
        raise ClustersFailed(reason)
    return summary


def daily_summary(
    ti: RuntimeTaskInstanceProtocol, day: str, clusters: Sequence[str], stages: Sequence[str]
) -> dict[str, Any]:
    """Gather what the stages of this run reported.

    Returns ``{"day": …, "clusters": {name: {"status": "ok", "counts": {stage: {…}}, "warnings": […],
    "page": path of the fleet page, if one was published, "sentence": what it says, "reviews": paths, "lost": what could not
    be read}}}``; a cluster that lost data has the status ``lost_data``, one that failed has the status ``failed``, the counts of the stages before, and ``failed_stage``, ``message`` and
    ``where``.
    """
    return {
        "day": day,
        "clusters": {name: _cluster(ti, index, name, stages) for index, name in enumerate(clusters)},
    }


def summary_lines(summary: dict[str, Any]) -> list[tuple[int, str]]:
    """The summary as lines for the log with their levels, failures last."""
    clusters = summary["clusters"].items()
    failures = [
        (logging.ERROR, f"FAILED {cluster['message']} See {cluster['where']}.")
        for _, cluster in clusters
        if cluster["status"] == "failed"
    ]
    return [line for name, cluster in clusters for line in _lines(name, summary["day"], cluster)] + failures


def _lines(name: str, day: str, cluster: dict[str, Any]) -> Iterator[tuple[int, str]]:
    yield logging.INFO, f"{name}, {day}: {cluster['status'].replace('_', ' ')}"
    if cluster.get("lost"):
        yield logging.WARNING, f"    data lost: {cluster['lost']}"
    for stage, counts in cluster["counts"].items():
        figures = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in counts.items())
        yield logging.INFO, f"    {stage}: {figures or 'nothing to do'}"
    for warning in cluster["warnings"]:
        yield logging.WARNING, f"    warning: {warning}"
    if cluster.get("page"):
        yield logging.INFO, f"    fleet page: {cluster['page']}"
    for review in cluster.get("reviews", ()):
        yield logging.INFO, f"    review of an upgrade: {review}"


def _cluster(ti: RuntimeTaskInstanceProtocol, index: int, name: str, stages: Sequence[str]) -> dict[str, Any]:
    """What became of one cluster; the first stage that left no report is where it failed."""
    counts: dict[str, Any] = {}
    warnings: list[str] = []
    page = sentence = None
    lost = ""
    reviews: list[str] = []
    for stage in stages:
        task_id = f"cluster.{stage}"
        report = ti.xcom_pull(task_ids=task_id, map_indexes=index)
        if report is None or FAILURE_KEY in report:
            failure = ti.xcom_pull(task_ids=task_id, map_indexes=index, key=FAILURE_KEY)
            return {
                "status": "failed",
                "counts": counts,
                "warnings": warnings,
                "failed_stage": stage,
                "message": failure or f"{name}: {stage} was stopped before it could say why.",
                "where": f"the log of the task {task_id} [{name}]",
            }
        counts[stage] = report["counts"]
        warnings += report["warnings"]
        lost = report.get("lost") or lost
        if report.get("page"):
            page, sentence = report["page"], report.get("sentence")
        reviews += [review["review"] for review in report.get("reviews", ())]
    shown = {"page": page, "sentence": sentence, "reviews": reviews, "lost": lost}
    return {"status": "lost_data" if lost else "ok", "counts": counts, "warnings": warnings, **shown}
