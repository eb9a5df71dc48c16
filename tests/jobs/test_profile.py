"""profile as a job: what its gate compares with the rows that it read."""

from client_telemetry.tables.clients import CLIENTS

from tests.jobs.conftest import connection, event


def test_a_summary_counts_as_the_connections_that_it_stands_for(pipeline, dump):
    """The plugin sums up the short connections of a client that reconnects many times a minute."""
    with dump(pipeline) as out:
        out.append_connection_event(event(3, uses=((0, 9, 7),)))
        out.append_connection_event(
            event(5, client=connection(connection_id=""), connections=94, uses=((0, 9, 94),))
        )
    pipeline.run_day()
    (client,) = pipeline.rows(CLIENTS)
    assert (client["connections"], client["refusals"]) == (95, 0)
