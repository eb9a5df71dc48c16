"""What a client writes into its requests does not decide whether the day of its cluster is done."""

import datetime as dt

import pytest
from client_telemetry.pipeline import queries
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS

from tests.jobs.conftest import DAY, NOON, connection, event


@pytest.fixture
def day_of_long_groups(pipeline, dump):
    """4 connections that named 16 groups each, one more with every event."""
    names = [f"{number:02}-" + "x" * 4000 for number in range(16)]
    with dump(pipeline) as out:
        for number in range(4):
            client = connection(
                connection_id=f"10.0.0.9:9092-10.0.0.2:{number}-0-{number}", client_port=number
            )
            for minute in range(40):
                at = NOON + dt.timedelta(minutes=minute, seconds=number)
                groups = names[: minute + 1]
                out.append_connection_event(
                    event(2, at, ((16, 4, minute + 1),), client=client, group_ids=groups)
                )
    (collected := pipeline.done("collect", day=DAY))
    pipeline.done("decode", days=",".join(collected["decode_days"]))
    return pipeline


@pytest.mark.parametrize(("memory", "is_enough"), [("100MB", True), ("20MB", False)])
def test_long_lists_take_little_memory_and_what_needs_more_is_done_by_spark(
    day_of_long_groups, monkeypatch, capfd, memory, is_enough
):
    monkeypatch.setattr(queries, "MOST_MEMORY", memory)
    day_of_long_groups.done("sessionize", days=DAY)
    said = capfd.readouterr().err
    assert is_enough != ("sessionize: too little memory for queries in this process" in said)
    assert is_enough != ("again, by Spark" in said)
    rows = day_of_long_groups.rows(CLIENT_CONNECTIONS)
    assert [(row["events"], len(row["group_ids"])) for row in rows] == [(40, 16)] * 4
