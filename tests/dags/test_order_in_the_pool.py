"""Airflow's scheduler itself, over the project's DAGs and a pool of one slot: which waiting task it starts next."""

from datetime import UTC, datetime

import pytest

from tests.airflow_settings import CHECKOUT

POOL = "lake_writer"


@pytest.fixture
def scheduler(database):
    """A scheduler of the project's DAGs whose executor keeps what it is given and runs nothing."""
    from airflow.dag_processing.dagbag import DagBag, sync_bag_to_db
    from airflow.executors.base_executor import BaseExecutor
    from airflow.jobs.job import Job
    from airflow.jobs.scheduler_job_runner import SchedulerJobRunner
    from airflow.models.dagbundle import DagBundleModel
    from airflow.models.dagrun import DagRun
    from airflow.models.pool import Pool
    from airflow.models.taskinstance import TaskInstance
    from airflow.utils.session import create_session

    with create_session() as session:
        if not session.get(DagBundleModel, "project"):
            session.add(DagBundleModel(name="project"))
        Pool.create_or_update_pool(POOL, 1, "one writer", include_deferred=False, session=session)
    sync_bag_to_db(DagBag(str(CHECKOUT / "dags"), bundle_name="project"), "project", None)
    yield SchedulerJobRunner(Job(), executors=[BaseExecutor()])
    with create_session() as session:
        session.query(TaskInstance).delete()
        session.query(DagRun).delete()


class Waiting:
    """Runs of which a task is ready to start, and what the scheduler makes of them."""

    def __init__(self, scheduler) -> None:
        self.scheduler = scheduler

    def run(self, dag_id: str, run_id: str, **conf) -> None:
        from airflow.models.serialized_dag import SerializedDagModel
        from airflow.utils.session import create_session
        from airflow.utils.state import DagRunState
        from airflow.utils.types import DagRunTriggeredByType, DagRunType

        with create_session() as session:
            SerializedDagModel.get_dag(dag_id, session=session).create_dagrun(
                run_id=run_id,
                run_after=datetime.now(UTC),
                run_type=DagRunType.MANUAL,
                triggered_by=DagRunTriggeredByType.TEST,
                state=DagRunState.RUNNING,
                conf=conf,
                session=session,
            )

    def set(self, dag_id: str, run_id: str, task_id: str, state: str) -> None:
        from airflow.models.taskinstance import TaskInstance
        from airflow.utils.session import create_session

        with create_session() as session:
            for each in session.query(TaskInstance).filter_by(dag_id=dag_id, run_id=run_id, task_id=task_id):
                each.state = state

    def started(self) -> list[tuple[str, str]]:
        """What starts now in the pool, which is at most one task."""
        from airflow.utils.session import create_session

        with create_session() as session:
            found = self.scheduler._executable_task_instances_to_queued(32, session)
            return [(each.run_id, each.task_id) for each in found if each.pool == POOL]


def test_a_question_waits_for_the_running_task_only(scheduler):
    """Three nightly runs wait for the pool, a stage of a fourth is running, and a question comes last."""
    waiting = Waiting(scheduler)
    for number in range(4):
        waiting.run("client_telemetry_daily", f"night__{number}")
        waiting.set("client_telemetry_daily", f"night__{number}", "cluster.decode", "scheduled")
    ((first, _),) = waiting.started()
    waiting.set("client_telemetry_daily", first, "cluster.decode", "running")
    waiting.run("broker_upgrade_impact", "manual__question", cluster="fleet", to="4.0.0")
    waiting.set("broker_upgrade_impact", "manual__question", "impact", "scheduled")
    assert waiting.started() == [], "the pool has one slot"
    waiting.set("client_telemetry_daily", first, "cluster.decode", "success")
    assert waiting.started() == [("manual__question", "impact")]
    waiting.set("broker_upgrade_impact", "manual__question", "impact", "success")
    waiting.set("broker_upgrade_impact", "manual__question", "publish", "scheduled")
    assert waiting.started() == [("manual__question", "publish")]
    waiting.set("broker_upgrade_impact", "manual__question", "publish", "success")
    ((then, task),) = waiting.started()
    assert then.startswith("night__") and then != first and task == "cluster.decode"
