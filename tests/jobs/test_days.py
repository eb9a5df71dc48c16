"""Stages run again, and days run backwards, give identical tables."""

import datetime as dt
import json

import pytest
from client_telemetry.formats.raw.writer import DumpWriter
from client_telemetry.subscriptions.instances import kafka_uuid
from client_telemetry.tables.all_tables import TABLES
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS

from tests.jobs.conftest import CLUSTER, DAY, INCARNATION, INSTANCE, Pipeline, event, push

BEFORE = DAY - dt.timedelta(days=1)
MIDNIGHT = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)
RUN = {"quality_results", "publications"}
"""Tables of what runs did."""


def write_dump(pipeline: Pipeline) -> None:
    """A client that lives over midnight, and its connection."""
    with DumpWriter(
        pipeline.raw,
        CLUSTER,
        1,
        INCARNATION,
        broker_started_at=MIDNIGHT - dt.timedelta(hours=1),
        broker_software_version="3.9.1",
    ) as out:
        for seconds in (-600, -300, -1, 299, 599):
            out.append_push(push(MIDNIGHT + dt.timedelta(seconds=seconds), push_interval_ms=300_000))
        for kind, seconds, requests in ((1, -600, 0), (2, -1, 7), (2, 299, 12), (3, 600, 15)):
            uses = ((0, 9, requests), (18, 3, 1)) if requests else ()
            at = MIDNIGHT + dt.timedelta(seconds=seconds)
            opened = int((MIDNIGHT - dt.timedelta(seconds=600)).timestamp()) * 10**9
            out.append_connection_event(event(kind, at, uses=uses, opened_at_nanos=opened))


@pytest.fixture(scope="module")
def backwards(spark, tmp_path_factory) -> Pipeline:
    """Both days, the later one derived first."""
    pipeline = Pipeline(tmp_path_factory.mktemp("backwards"), spark)
    write_dump(pipeline)
    collected = pipeline.done("collect", day=DAY)
    assert collected["decode_days"] == collected["derive_days"] == [str(BEFORE), str(DAY)]
    pipeline.done("decode", days=f"{BEFORE},{DAY}")
    for stage in ("sessionize", "profile"):
        for day in (DAY, BEFORE):
            pipeline.done(stage, days=day)
    return pipeline


def test_the_fleet_page_of_a_day_compares_it_with_the_day_before(backwards):
    result = backwards.done("publish_fleet", days=DAY, publish=backwards.folder / "published")
    assert result["sentence"] == (
        "1 application with 1 client, none new, none gone since the day before; none uses a request version that a newer release refuses."
    )
    folder = backwards.folder / "published" / "fleet" / CLUSTER
    fleet = json.loads((folder / str(DAY) / "fleet.json").read_text())
    assert [(each["against"], each["is_known"]) for each in fleet["changes"]] == [
        (str(BEFORE), True),
        ("2026-11-14", False),
    ]
    (found,) = json.loads((folder / str(DAY) / "search.json").read_text())["instances"]
    assert found["client_instance_id"] == kafka_uuid(INSTANCE)
    assert json.loads((folder / "latest.json").read_text())["path"] == f"{DAY}/index.html"


def tables(pipeline: Pipeline) -> dict[str, list[dict]]:
    return {
        table.name: pipeline.rows(table)
        for table in TABLES
        if table.name not in RUN and pipeline.lake.exists(table)
    }


def test_a_session_over_midnight_is_one_session_in_two_partitions(backwards):
    rows = sorted(backwards.rows(CLIENT_SESSIONS), key=lambda row: row["dt"])
    assert [(row["dt"], row["pushes"], row["end_reason"]) for row in rows] == [
        (BEFORE, 3, "still_open"),
        (DAY, 2, "connection_closed"),
    ]
    assert (
        rows[0]["started_at"] == rows[1]["started_at"]
        or rows[0]["started_before"] == rows[1]["started_before"]
    )


def test_two_days_backwards_and_again_in_order_give_identical_tables(backwards):
    before = tables(backwards)
    assert len(before) >= 11
    backwards.done("collect", day=BEFORE)
    for stage in ("decode", "sessionize", "profile"):
        backwards.done(stage, days=f"{BEFORE},{DAY}")
    after = tables(backwards)
    assert after.keys() == before.keys()
    for name, rows in before.items():
        assert after[name] == rows, name


def test_a_stage_before_any_other_says_which_tables_are_missing(pipeline):
    code, result = pipeline.run("sessionize", days=DAY)
    assert code == 2
    assert "no stage has written brokers, client_pushes, connection_events to " in result["message"]
    assert result["message"].endswith(": run the stages before this one")
