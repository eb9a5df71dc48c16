"""A store that answers 503, a database that is started again or has another password, clocks that differ: a stage goes on or fails with
one line, and the next attempt is right."""

import datetime as dt
import time
import traceback
from collections.abc import Callable, Iterator

import pytest
from client_telemetry.formats.raw.file_system import forget_file_systems
from client_telemetry.lake import catalog as catalogs
from client_telemetry.lake.lake import Lake
from client_telemetry.pipeline.stage import FAILED, OK, Outcome, Stage, parser, run
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.publications import PUBLICATIONS
from pyspark.sql import functions as F  # noqa: N812
from sqlalchemy.exc import OperationalError

from tests.client_telemetry.lake.conftest import (
    COMMITS,
    DAY,
    DECIDES,
    WRITTEN,
    check_consistent,
    in_spark,
    left_over,
    staged,
)

from .servers import Gateway, Postgres, postgres_programs, postgres_server, s3, s3_server

SHORT_S, LONG_S = 3, 600
"""Outages: what the clients of the store wait for, and what they do not."""
BROKERS_OF_A_RUN = 3
MOMENTS = [(at, when) for at in (1, DECIDES, COMMITS) for when in ("before", "after")]


@pytest.fixture
def postgres(monkeypatch) -> Iterator[Postgres]:
    if postgres_programs() is None:
        pytest.skip("no PostgreSQL: on Debian, apt-get install postgresql")
    with postgres_server() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.fixture
def gateway(postgres, tmp_path, monkeypatch) -> Iterator[Gateway]:
    """Before the store of the tables."""
    if s3_server() is None:
        pytest.skip("no S3 server: make e2e installs one")
    with s3(tmp_path, ("lake",)) as environment:
        found = Gateway(int(environment["AWS_ENDPOINT_URL"].rpartition(":")[2]))
        environment["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{found.port}"
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        yield found
        found.close()
        forget_file_systems()


WAREHOUSE = "s3://lake/warehouse"


@pytest.fixture
def folder(warehouse, monkeypatch) -> str:
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__WAREHOUSE", warehouse)
    return warehouse


def stage_at(
    location: str,
    run_id: str,
    meanwhile: Callable[[], None] = lambda: None,
    at: int = 0,
    when: str = "before",
) -> int:
    """A stage of two tables without Spark, in which something happens before or after its commit number `at`."""

    def body(stage: Stage) -> Outcome:
        stage.branch(WRITTEN)
        commit, commits = stage.lake.catalog.commit_table, []

        def watched(*arguments):
            commits.append(arguments)
            if len(commits) == at and when == "before":
                meanwhile()
            done = commit(*arguments)
            if len(commits) == at and when == "after":
                meanwhile()
            return done

        stage.lake.catalog.commit_table = watched
        branch = staged(stage.lake, "a", run_id, brokers=BROKERS_OF_A_RUN)
        branch.publish("a", run_id, "collect", [DAY])
        return Outcome("collect: done")

    arguments = ["--cluster", "a", "--lake", location, "--run-id", run_id]
    return run(parser("collect", None), body, arguments)


def check_published_once(location: str, *runs: str) -> None:
    lake = Lake(None, location)
    lake.published()
    for table in WRITTEN:
        assert sorted(row["broker_id"] for row in lake.rows(table)) == list(range(BROKERS_OF_A_RUN))
    assert sorted(row["run_id"] for row in lake.rows(PUBLICATIONS)) == sorted(runs)
    assert left_over(lake) == {}
    check_consistent(lake)


def check_one_line(capsys, *words: str) -> None:
    told = capsys.readouterr()
    lines = [line for line in told.err.splitlines() if line]
    assert len(lines) == 1, told.err
    for word in words:
        assert word in lines[0]


def test_a_store_that_is_overloaded_for_seconds_is_waited_for(gateway):
    runs = ["first"]
    assert stage_at(WAREHOUSE, "first") == OK
    for at, when in MOMENTS:
        runs.append(f"{when} {at}")
        assert stage_at(WAREHOUSE, runs[-1], lambda: gateway.fail_for(SHORT_S), at, when) == OK
    check_published_once(WAREHOUSE, *runs)
    assert gateway.refused > len(MOMENTS)


@pytest.mark.parametrize(("at", "when"), [(DECIDES, "before"), (DECIDES, "after")])
def test_a_store_that_stays_overloaded_ends_a_stage_with_one_line(gateway, capsys, at, when):
    assert stage_at(WAREHOUSE, "first") == OK
    assert stage_at(WAREHOUSE, "second", lambda: gateway.fail_for(LONG_S), at, when) == FAILED
    check_one_line(capsys, "collect: the object store: ", "SLOW_DOWN", "run the stage again")
    gateway.fail_for(0)
    assert stage_at(WAREHOUSE, "second") == OK
    decided = when == "after"
    check_published_once(WAREHOUSE, *["first", "second", *(["second"] if decided else [])])


def test_a_database_that_is_started_again_meanwhile(postgres, folder):
    def again() -> None:
        postgres.stop()
        postgres.start()

    runs = ["first"]
    assert stage_at(folder, "first") == OK
    for at, when in MOMENTS:
        runs.append(f"{when} {at}")
        assert stage_at(folder, runs[-1], again, at, when) == OK
    check_published_once(folder, *runs)


def test_spark_goes_on_after_the_database_was_started_again(postgres, folder, spark):
    assert stage_at(folder, "first") == OK
    lake = Lake(in_spark(spark, folder), folder)
    rows = lake.read(BROKERS).withColumn("cluster_id", F.lit("b"))
    branch = lake.branch("of Spark", "b", "collect")
    postgres.stop()
    postgres.start()
    branch.replace(BROKERS, rows, cluster_id="b", dt=[DAY])
    branch.publish("b", "of Spark", "collect", [DAY])
    assert lake.read(BROKERS).where("cluster_id = 'b'").count() == BROKERS_OF_A_RUN
    check_consistent(lake)


@pytest.mark.parametrize(("at", "when"), MOMENTS)
def test_a_database_that_is_away_ends_a_stage_with_one_line(postgres, folder, capsys, at, when):
    assert stage_at(folder, "first") == OK
    capsys.readouterr()
    ended = stage_at(folder, "second", postgres.stop, at, when)
    is_done = (at, when) == (COMMITS, "after")
    assert ended == (OK if is_done else FAILED)
    if not is_done:
        check_one_line(
            capsys, "collect: the catalog's database: ", f"port {postgres.port} failed", "run the stage again"
        )
    assert stage_at(folder, "second") == FAILED
    check_one_line(capsys, "collect: the catalog's database: ", "run the stage again")
    postgres.start()
    assert stage_at(folder, "second") == OK
    decided = at > DECIDES or (at, when) == (DECIDES, "after")
    check_published_once(folder, *["first", "second", *(["second"] if decided else [])])


def test_a_password_that_was_changed_is_told_and_not_shown(postgres, folder, capsys, monkeypatch):
    old, new = "of-yesterday-8c1f", "of-today-42aa"
    assert postgres.sql(f"alter role lake password '{old}'")
    monkeypatch.setenv("PGPASSWORD", old)
    postgres.ask_for_passwords()
    assert stage_at(folder, "first") == OK
    assert postgres.sql(f"alter role lake password '{new}'")
    capsys.readouterr()
    assert stage_at(folder, "second") == FAILED
    check_one_line(capsys, "collect: the catalog's database: ", "password authentication failed", '"lake"')
    with pytest.raises(OperationalError) as refused:
        Lake(None, folder)
    assert not [each for each in traceback.format_exception(refused.value) if old in each]
    monkeypatch.setenv("PGPASSWORD", new)
    assert stage_at(folder, "second") == OK
    check_published_once(folder, "first", "second")


@pytest.mark.parametrize("seconds", [3600, -86400])
def test_a_writer_with_a_wrong_clock_writes_nothing(catalog, warehouse, capsys, monkeypatch, seconds):
    """`catalog`: PostgreSQL and REST."""
    assert stage_at(warehouse, "first") == OK
    capsys.readouterr()
    with monkeypatch.context() as wrong:
        wrong.setattr(catalogs.time, "time", lambda now=time.time: now() + seconds)
        assert stage_at(warehouse, "second") == FAILED
    side = "ahead of" if seconds > 0 else "behind"
    check_one_line(capsys, "collect: this machine's clock is ", side, "nothing was written")
    assert stage_at(warehouse, "third") == OK
    check_published_once(warehouse, "first", "third")
    lake = Lake(None, warehouse)
    newest = max(t.metadata.last_updated_ms for t in lake.tables().values()) / 1000
    assert abs(dt.datetime.now(dt.UTC).timestamp() - newest) < 60
