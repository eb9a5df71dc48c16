from client_telemetry.decode.event_rows import event_row
from client_telemetry.formats.raw.object_key import parse_object_key
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ConnectionEvent
from client_telemetry.tables.connection_events import CONNECTION_EVENTS

KEY = parse_object_key("v1/dataset=connections/cluster=c/dt=2026-11-21/hour=12/broker=1/x.zst")
COLUMNS = [c.name for c in CONNECTION_EVENTS.columns if c.name not in ("cluster_id", "dt")]


def row(**fields: object) -> dict[str, object]:
    event = ConnectionEvent(broker_id=1, incarnation=bytes(16), observed_at_nanos=2_000, **fields)
    return dict(zip(COLUMNS, event_row(str(KEY), 0, event, False), strict=True))


def test_a_failed_login():
    client = {"client_address": "10.0.0.1", "sasl_mechanism": "SCRAM-SHA-256"}
    found = row(kind=4, client=client, failure_reason="invalid credentials")
    assert (found["kind"], found["connections"], found["flags"]) == ("authentication_failed", 1, [])
    assert (found["failure_reason"], found["sasl_mechanism"]) == ("invalid credentials", "SCRAM-SHA-256")
    assert row(kind=4, connections=7)["connections"] == 7


def test_a_summary():
    found = row(kind=5, connections=56_000)
    assert (found["kind"], found["connections"], found["failure_reason"]) == ("summary", 56_000, None)


def test_an_ordinary_event_stands_for_itself():
    found = row(kind=1, client={"connection_id": "1"})
    assert (found["kind"], found["connections"], found["cut_fields"], found["flags"]) == (
        "opened",
        None,
        [],
        [],
    )
    assert row(kind=1)["flags"] == ["no_connection"]


def test_a_kind_that_is_not_known_is_kept_and_flagged():
    found = row(kind=6, client={"connection_id": "1"})
    assert (found["kind"], found["flags"]) == ("6", ["unknown_kind"])


def test_strings_that_were_cut_are_named():
    found = row(kind=2, client={"connection_id": "1"}, cut_fields=["group_ids", "client_id"])
    assert (found["cut_fields"], found["flags"]) == (["client_id", "group_ids"], ["cut_fields"])
