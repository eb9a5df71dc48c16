"""The gates of the real jobs: every rule can fail, and what a failure leaves behind."""

import datetime as dt
import importlib.util
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from client_telemetry.formats.raw.writer import DumpWriter
from client_telemetry.impact import answer
from client_telemetry.jobs import collect as collect
from client_telemetry.jobs import decode as decode
from client_telemetry.jobs import impact as impact
from client_telemetry.jobs import profile as profile
from client_telemetry.jobs import sessionize as sessionize
from client_telemetry.lake.catalog import CATALOG, NAMESPACE
from client_telemetry.pipeline.stage import Stage
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.quality_results import QUALITY_RESULTS
from client_telemetry.tables.suite import WARNING, rows_satisfy, suite
from client_telemetry.tables.table import Table
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS

from tests.jobs.conftest import CLUSTER, DAY, INCARNATION, NOON, Pipeline, connection, event, push

SLICE = {"cluster_id", "dt", "report_id"}
BAD_ROWS = Path(__file__).parents[1] / "data" / "bad_rows"
SHARES = {
    "client_pushes": {"clocks_agree": {"clock_skew_ms": 300_000}},
    "client_connections": {
        "releases_are_known": {"broker_software_version": None},
        "counts_are_of_the_day": {"flags": ["counts_from_before"]},
        "connections_are_identified": {"client_id": None, "principal": ""},
    },
    "client_sessions": {
        "software_is_known": {"client_software_name": "unknown"},
        "instance_ids_are_real": {"client_instance_id": bytes(16), "flags": ["zero_instance_id"]},
    },
    "clients": {
        "clients_have_owners, software_is_known": {
            "owner": None,
            "owner_contact": None,
            "owner_rule": None,
            "client_software_name": "unknown",
            "flags": ["software_unknown"],
        },
    },
}
"""What breaks the rules about shares of a slice, if enough rows are so."""

ENOUGH = 100

RUNS = {
    "collect": (collect.TABLES, {"day": DAY}),
    "decode": (decode.DECODED_TABLES, {"days": DAY}),
    "sessionize": (sessionize.TABLES, {"days": DAY}),
    "profile": (profile.TABLES, {"days": DAY}),
    "impact": (impact.TABLES, {"report_id": "report", "to": "4.0.0"}),
}
WITHOUT_SPARK = "impact"
"""The stage whose gate needs no Spark if its work needed none."""


@pytest.fixture(scope="module")
def published(spark, tmp_path_factory) -> Pipeline:
    """A day and a report that went through."""
    pipeline = Pipeline(tmp_path_factory.mktemp("published"), spark)
    with DumpWriter(
        pipeline.raw, CLUSTER, 1, INCARNATION, broker_started_at=NOON, broker_software_version="3.9.1"
    ) as out:
        out.append_push(push())
        out.append_connection_event(event(1))
        out.append_connection_event(
            event(2, NOON + dt.timedelta(minutes=5), uses=((0, 9, 7), (3, 12, 2), (18, 3, 1)))
        )
    pipeline.run_day()
    code, result = pipeline.run("impact", report_id="report", to="4.0.0")
    assert code == 0, result["message"]
    return pipeline


def rows_that_break(table: Table) -> list[dict]:
    """The good row twice (of one key), changed for each rule, and without each required column in turn."""
    path = BAD_ROWS / f"{table.name}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    good = module.GOOD | {"cluster_id": CLUSTER}
    shares = SHARES.get(table.name, {})
    required = [{c.name: None} for c in table.columns if not c.nullable and c.name not in SLICE]
    changes = [{}, {}, *module.BAD.values(), *required]
    changes += [change for change in shares.values() for _ in range(ENOUGH)]
    return [good | change for change in changes]


def in_columns(table: Table, row: dict) -> tuple:
    """Values in table order; maps are written as pairs in the bad rows."""

    def value(given):
        if isinstance(given, list):
            pairs = given and all(isinstance(each, tuple) for each in given)
            return dict(given) if pairs else [value(each) for each in given]
        return given

    return tuple(value(row[c.name]) for c in table.columns)


@pytest.mark.parametrize(
    ("stage", "more"), [*((stage, {}) for stage in RUNS), (WITHOUT_SPARK, {"without_spark_up_to": 0})]
)
def test_every_rule_fails_on_its_bad_row_and_readers_keep_what_they_had(published, monkeypatch, stage, more):
    tables, arguments = RUNS[stage]
    run_id = f"bad-{stage}{len(more)}"
    before = {table.name: published.rows(table) for table in tables}
    publish = Stage.publish

    def publish_with_bad_rows(self, branch, slices, days_written):
        started = self.lake.spark
        for slice_ in slices:
            table = slice_.table
            if table in tables:
                values = [in_columns(table, row) for row in rows_that_break(table)]
                frame = self.spark.createDataFrame(values, table.schema)
                frame.writeTo(f"{CATALOG}.{NAMESPACE}.{table.name}.branch_{branch.name}").append()
        if stage == WITHOUT_SPARK:
            results = [self.validate(branch, slice_) for slice_ in slices]
            self.lake.spark = None
            assert [self.validate(branch, slice_) for slice_ in slices] == results
        self.lake.spark = started
        publish(self, branch, slices, days_written)

    monkeypatch.setattr(Stage, "publish", publish_with_bad_rows)
    code, result = published.run(stage, run_id=run_id, **arguments, **more)
    assert (code, result["status"]) == (3, "failed_gate")

    found = published.lake.rows(QUALITY_RESULTS, run_id=run_id)
    for table in tables:
        judged = {row["expectation"]: row for row in found if row["table_name"] == table.name}
        assert judged.keys() == suite(table).keys()
        outside = {f"present_{name}" for name in SLICE}
        passed = {name for name, row in judged.items() if row["success"]} - outside
        assert passed == set(), f"{table.name}: no bad row breaks these"
        assert published.rows(table) == before[table.name]
    failed = [row for row in found if not row["success"] and row["severity"] == "critical"]
    assert f"{len(failed)} critical expectations failed" in result["message"]
    assert f"{failed[0]['table_name']}.{failed[0]['expectation']}" in result["message"]
    assert run_id in result["message"] and "readers keep the previous state" in result["message"]


def test_the_gate_tells_of_a_value_that_the_workers_of_impact_had_not(published, monkeypatch):
    before = published.rows(UPGRADE_VERDICTS)
    parts_of = answer.parts_of

    def without_connections(*known):
        def work(pieces):
            for rows in pieces:
                place = rows.schema.get_field_index("connections")
                yield 0, rows.set_column(place, "connections", pa.nulls(len(rows), pa.int64()))

        return parts_of(*known).worked(work)

    monkeypatch.setattr(answer, "parts_of", without_connections)
    code, result = published.run("impact", report_id="report", to="4.0.0")
    assert (code, result["status"]) == (3, "failed_gate")
    assert (
        "upgrade_verdicts.present_connections (connections is never null; found 1 of 1 row)"
        in result["message"]
    )
    assert published.rows(UPGRADE_VERDICTS) == before


def test_after_the_cause_is_mended_the_stage_goes_through(published):
    code, result = published.run("profile", days=DAY)
    assert code == 0, result["message"]
    assert len(published.rows(CLIENTS)) == 1


def test_a_failed_warning_publishes_and_is_reported(published, dump, spark, tmp_path):
    pipeline = Pipeline(tmp_path, spark)
    with dump(pipeline) as out:
        out.append_push(push(client_instance_id=bytes(16)))
    pipeline.run("collect", day=DAY)
    code, result = pipeline.run("decode", days=DAY)
    assert code == 0
    assert any("client_pushes.clients_have_instance_ids" in warning for warning in result["warnings"])
    assert len(pipeline.rows(CLIENT_PUSHES)) == 1


def test_an_expectation_that_cannot_be_evaluated_publishes_nothing(published, monkeypatch):
    before = published.rows(CLIENTS)
    broken = {"is_broken": rows_satisfy("no_such_column > 1", "broken", WARNING)}
    monkeypatch.setattr(profile, "TABLES", (replace(CLIENTS, expectations=lambda: broken),))
    code, _ = published.run("profile", days=DAY)
    assert code != 0
    assert published.rows(CLIENTS) == before


def test_a_question_gets_its_verdict_on_what_was_observed(published):
    (verdict,) = published.rows(UPGRADE_VERDICTS)
    assert (verdict["verdict"], verdict["confidence"], verdict["roles"]) == ("safe", "observed", ["producer"])


def test_spark_and_one_process_give_the_same_answer(pipeline, dump):
    """Of connections of clients with and without names, open on two days, and of a client that only pushes."""
    days = DAY, DAY + dt.timedelta(days=1)
    with dump(pipeline) as out:
        out.append_push(push(client=connection(client_id="pushes")))
        for number, names in enumerate(({}, {"principal": "User:b"}, {"client_id": "", "principal": ""})):
            client = connection(**names, connection_id=f"10.0.0.9:9092-10.0.0.1:{number}-0-1")
            for kind, hours, uses in (
                (1, 0, ()),
                (2, 1, ((0, 2 + number, 7), (18, 3, 1))),
                (2, 13, ((3, 12, 2),)),
            ):
                at = NOON + dt.timedelta(hours=hours)
                out.append_connection_event(event(kind, at, uses, client=client))
    for day in days:
        pipeline.run_day(day)
    assert {row["dt"] for row in pipeline.rows(CLIENT_CONNECTIONS)} == {*days}
    answers = []
    for rows in (0, 1000):
        pipeline.done("impact", report_id="report", to="4.0.0", without_spark_up_to=rows)
        answers.append([pipeline.rows(table) for table in impact.TABLES])
    assert [len(rows) for rows in answers[0]] == [1, 4, len(answers[1][2])]
    assert answers[0][0][0]["connections"] == 3
    for table, (of_spark, of_process) in enumerate(zip(*answers, strict=True)):
        for row in (*of_spark, *of_process):
            row.pop("created_at", None), row.pop("snapshots", None)
        assert of_spark == of_process, impact.TABLES[table].name


def test_a_client_of_which_only_pushes_are_seen_gets_a_row(pipeline, dump):
    """Mode `off`, or outside a sampled window: there are pushes and not one connection."""
    with dump(pipeline) as out:
        out.append_push(push())
        out.append_connection_event(
            event(1, client=connection(client_id="other", connection_id="10.0.0.9:9092-10.0.0.2:40002-0-1"))
        )
    pipeline.run_day()
    pipeline.done("impact", report_id="report", to="4.0.0")
    pushed = {row["client_id"]: row for row in pipeline.rows(UPGRADE_VERDICTS)}["orders"]
    # The software that it named decides.
    assert (pushed["verdict"], pushed["connections"], pushed["broker_ids"]) == ("safe", 0, [])
