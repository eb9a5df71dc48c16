"""Listeners of the scheduler: at a run's end its note says the answer, or why it failed, and the tasks of a cluster have its name
from the moment they exist. A note that somebody wrote stays. Whoever may read a DAG reads the notes of its runs, so of a cluster that
is a team's the note says no more than where to look."""

from collections.abc import Iterable, Mapping
from typing import Any

from airflow.listeners import hookimpl
from airflow.models.dagrun import DagRun, DagRunNote
from airflow.models.taskinstance import TaskInstance
from airflow.models.xcom import XComModel
from airflow.utils.session import create_session
from include.airflow_internals import is_named, name_mapped_task
from include.clusters import ClustersFileError, read_clusters
from sqlalchemy import Connection, event, select
from sqlalchemy.orm import Session, object_session

DAILY = "client_telemetry_daily"
DAG_IDS = {
    DAILY,
    "broker_upgrade_impact",
    "broker_upgrade_review",
    "telemetry_subscription_check",
}
_RANKS = {"failed": 0, "lost_data": 1}
"""Of the status of a cluster: what needs somebody comes first."""
LONGEST = 1000
"""Characters that Airflow keeps of a note."""


@hookimpl
def on_dag_run_success(dag_run: DagRun, msg: str) -> None:
    _conclude(dag_run)


@hookimpl
def on_dag_run_failed(dag_run: DagRun, msg: str) -> None:
    _conclude(dag_run)


def _conclude(dag_run: DagRun) -> None:
    if dag_run.dag_id not in DAG_IDS:
        return
    session = object_session(dag_run)
    if session:
        return _write(session, dag_run)
    with create_session() as own:  # `dag.test` has no session around a run
        _write(own, own.get_one(DagRun, dag_run.id))


def _write(session: Session, dag_run: DagRun) -> None:
    results = list(_results(session, dag_run))
    asked_about = (dag_run.conf or {}).get("cluster")
    text = note([result for task, result in results if task != "clusters"], _teams(), asked_about)
    if text and (dag_run.dag_run_note is None or dag_run.dag_run_note.user_id is None):
        if dag_run.dag_run_note is None:
            dag_run.dag_run_note = DagRunNote(text)
        else:
            dag_run.dag_run_note.content = text


def note(results: Iterable[Any], teams: Mapping[str, str], asked_about: str | None = None) -> str:
    """From the results of a run's unmapped tasks: of a daily run a line per cluster, those that failed first, then those that lost data; of a
    question the reason of its failure, or the sentence of the task that came last. `teams`: of clusters that have one.

    >>> note([{"message": "impact: 12 clients"}, {"sentence": "breaks 2 of 3"}], {}, "east")
    'breaks 2 of 3'
    >>> note([{"sentence": "breaks 2 of 3"}], {"east": "platform"}, "east")
    'The answer is for the team platform of east: see its pages.'
    """
    text, has_failed = "", False
    for result in results:
        if not isinstance(result, dict):
            continue
        has_failed = has_failed or "failure" in result
        if "clusters" in result:
            clusters = sorted(
                result["clusters"].items(), key=lambda item: _RANKS.get(item[1]["status"], len(_RANKS))
            )
            lines = (_line(name, cluster, teams.get(name)) for name, cluster in clusters)
            text = f"{result['day']}\n\n" + "\n\n".join(lines)
        text = result.get("failure") or result.get("sentence") or text
    if text and asked_about in teams:
        begin, where = ("FAILED: the reason", "the task's log") if has_failed else ("The answer", "its pages")
        text = f"{begin} is for the team {teams[asked_about]} of {asked_about}: see {where}."
    return text if len(text) <= LONGEST else text[: LONGEST - 2] + " …"


def _line(name: str, cluster: dict[str, Any], team: str | None) -> str:
    if team:
        state = {"failed": f"FAILED {name}", "lost_data": f"{name}: DATA LOST"}.get(cluster["status"], name)
        return f"{state}: for the team {team}, see its pages"
    if cluster["status"] == "failed":
        return f"FAILED {cluster['message']}"
    lost = f"DATA LOST: {cluster['lost']}. " if cluster.get("lost") else ""
    return f"{name}: {lost}{cluster.get('sentence') or 'nothing to do'}"


def _teams() -> dict[str, str]:
    try:
        return {name: team for name, team in read_clusters().teams.items() if team}
    except ClustersFileError:
        return {}  # then no stage ran, and the note says why


@event.listens_for(TaskInstance, "before_insert")
@event.listens_for(TaskInstance, "before_update")
def name_cluster(mapper: object, connection: Connection, task: TaskInstance) -> None:
    """Airflow names a mapped task when it starts: one that waits for the pool, or never starts, would be a number."""
    if task.dag_id != DAILY or task.map_index < 0 or is_named(task):
        return
    result = select(XComModel.value).where(
        XComModel.dag_id == task.dag_id,
        XComModel.run_id == task.run_id,
        XComModel.task_id == "clusters",
        XComModel.key == "return_value",
    )
    row = connection.execute(result).first()
    names = XComModel.deserialize_value(row) if row else []
    if task.map_index < len(names):
        name_mapped_task(task, names[task.map_index])


def _results(session: Session, dag_run: DagRun) -> Iterable[tuple[str, Any]]:
    """Task id and result of tasks that are not mapped, oldest first."""
    query = XComModel.get_many(
        run_id=dag_run.run_id, key="return_value", dag_ids=dag_run.dag_id, map_indexes=-1
    )
    for row in session.scalars(query.order_by(None).order_by(XComModel.timestamp)):
        yield row.task_id, XComModel.deserialize_value(row)
