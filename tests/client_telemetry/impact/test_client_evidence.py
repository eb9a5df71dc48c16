"""Which evidence counts."""

import datetime as dt
import tempfile
from collections.abc import Sequence
from pathlib import Path

from client_telemetry.impact.client_evidence import Evidence, time_of
from client_telemetry.impact.question import Question
from client_telemetry.impact.totals import Totals, totals
from client_telemetry.lake.files import PartitionFile
from client_telemetry.lake.writer import TablePlace, write_rows
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.table import Table
from pyspark.sql import SparkSession

DAY = dt.date(2026, 11, 21)
NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
MINUTE = dt.timedelta(minutes=1)
PRODUCE, FETCH = 0, 1


def asked(to: str = "4.0.0", until: dt.datetime | None = None, source: str = "3.9.1") -> Question:
    return Question("c", source, to, (DAY,), until, None)


def use(api_key: int, version: int, requests: int = 1, minute: int = 0) -> dict:
    at = NOON + minute * MINUTE
    return {
        "api_key": api_key,
        "version": version,
        "requests": requests,
        "rejected": 0,
        "first_request_at": at,
        "last_request_at": at,
    }


def connection(number: int, *uses: dict, opened: int = 0, **columns) -> dict:
    return {
        "cluster_id": "c",
        "dt": DAY,
        "broker_id": 1,
        "broker_incarnation": "0f" * 16,
        "connection_id": str(number),
        "client_address": "10.0.0.1",
        "opened_at": NOON + opened * MINUTE,
        "first_seen_at": NOON + opened * MINUTE,
        "last_seen_at": NOON + 60 * MINUTE,
        "client_id": "orders",
        "principal": "User:orders",
        "listener_name": "CLIENTS",
        "security_protocol": "PLAINTEXT",
        "client_software_name": "unknown",
        "client_software_version": "unknown",
        "broker_software_version": "3.9.1",
        "api_uses": list(uses),
        "uses_object": f"object-{number}",
        "uses_sequence": number,
        **columns,
    }


def test_connections_count_by_what_their_broker_declares():
    declared = ("3.9.1", "3.9.1.redhat-1", "automq 3.9.1", None)
    rows = [connection(n, use(0, 9), broker_software_version=each) for n, each in enumerate(declared)]
    assert counts(*rows)[0] == 1
    question = Question("c", "3.9.1", "4.0.0", (DAY,), None, None, ("3.9.1", "3.9.1.redhat-1"))
    assert counts(*rows, of=question) == (2, 0, 2)


def counts(*rows: dict, of: Question | None = None) -> tuple[int, int, int]:
    """Connections that are evidence, of unknown clients, and all others."""
    with tempfile.TemporaryDirectory() as folder:
        stored = files(Path(folder), CLIENT_CONNECTIONS, *rows)
        found = totals(None, of or asked(), stored, (), 1)
    return found.connections, found.unidentified, found.elsewhere


def evidence(
    question: Question,
    connections: Sequence[PartitionFile],
    profiled: Sequence[PartitionFile] = (),
    spark: SparkSession | None = None,
) -> Evidence:
    found: Totals = totals(spark, question, connections, profiled, 2)
    return Evidence(question, time_of(found.first_micros, found.last_micros, question), found.shared)


def files(folder: Path, table: Table, *rows: dict) -> list[PartitionFile]:
    by_day = sorted(rows, key=lambda row: row["dt"])
    urls = write_rows(table, TablePlace(folder.as_uri()), by_day)
    return [PartitionFile(url, "c", DAY, len(rows)) for url in urls]


def clients(*rows: dict, of: Question | None = None) -> list[dict]:
    with tempfile.TemporaryDirectory() as folder:
        stored = files(Path(folder), CLIENT_CONNECTIONS, *rows)
        seen = evidence(of or asked(), stored)
        found: list[dict] = seen.of_clients(list(seen.connections(stored))).to_pylist()
    return found


UNIDENTIFIED = {"client_id": None, "principal": ""}


def test_only_connections_to_the_from_release_that_were_opened_before_the_cut_count():
    cut = asked(until=NOON + 30 * MINUTE)
    rows = [
        connection(1, use(PRODUCE, 9)),
        connection(2, use(PRODUCE, 2), opened=30),
        connection(3, use(PRODUCE, 1), broker_software_version="4.0.0"),
        connection(4, use(PRODUCE, 0), broker_software_version=None),
    ]
    (client,) = clients(*rows, of=cut)
    assert client["connections"] == 1
    assert [each["version"] for each in client["uses"]] == [9]
    assert counts(*rows, of=cut) == (1, 0, 3)


def test_a_connection_that_outlived_the_cut_keeps_its_counts_but_not_versions_of_later():
    rows = connection(1, use(PRODUCE, 9, requests=500), use(FETCH, 12, minute=31))
    (client,) = clients(rows, of=asked(until=NOON + 30 * MINUTE))
    assert [(each["api_key"], each["requests"]) for each in client["uses"]] == [(PRODUCE, 500)]
    assert client["last_seen_at"] > NOON + 30 * MINUTE, "as the comment of evidence_until says"


def test_a_client_of_older_brokers_alone_is_no_evidence():
    elsewhere = connection(1, use(PRODUCE, 2), use(FETCH, 4, requests=0), broker_software_version="3.8.0")
    assert clients(elsewhere) == []
    found = clients(elsewhere, connection(2, api_uses=None), connection(3, client_id="billing"))
    assert {each["client_id"]: (each["uses"], each["uses_elsewhere"]) for each in found} == {
        "orders": (None, [{"release": "3.8.0", "api_key": PRODUCE, "version": 2}]),
        "billing": (None, None),
    }


def test_connections_of_nobody_are_no_client():
    rows = [
        connection(1, use(PRODUCE, 9)),
        connection(2, **UNIDENTIFIED),
        connection(3, **UNIDENTIFIED, client_software_name=""),
        connection(4, **UNIDENTIFIED, broker_software_version="4.0.0"),
        connection(5, **UNIDENTIFIED | {"principal": None}),
    ]
    assert [client["client_id"] for client in clients(*rows)] == ["orders"]
    assert counts(*rows) == (1, 3, 1)


def test_whoever_tells_anything_is_a_client():
    identities = [{"client_id": ""}, {"principal": "User:ANONYMOUS"}, {"client_software_name": "kgo"}]
    rows = [
        connection(number, use(PRODUCE, 9), **UNIDENTIFIED | each) for number, each in enumerate(identities)
    ]
    assert len(clients(*rows)) == 3


def test_a_text_in_one_column_or_the_next_is_another_client():
    """A null is no text."""
    rows = [
        connection(1, use(PRODUCE, 9), principal="a", client_id=None),
        connection(2, use(FETCH, 12), principal=None, client_id="a"),
        connection(3, use(FETCH, 13), principal="a", client_id="", client_software_name=None),
    ]
    found = {(each["principal"], each["client_id"]): each["uses"] for each in clients(*rows)}
    versions = {key: [(each["api_key"], each["version"]) for each in uses] for key, uses in found.items()}
    assert versions == {("a", None): [(PRODUCE, 9)], (None, "a"): [(FETCH, 12)], ("a", ""): [(FETCH, 13)]}


def test_a_connection_on_two_days_is_one():
    rows = [connection(1, use(PRODUCE, 9)), connection(1, use(PRODUCE, 9), dt=DAY + dt.timedelta(days=1))]
    (client,) = clients(*rows)
    assert client["connections"] == 1 and client["uses"][0]["requests"] == 2
    assert counts(*rows) == (1, 0, 0)


def test_a_use_names_its_brokers_and_the_latest_record_that_shows_it():
    refused = {**use(PRODUCE, 2, requests=0), "rejected": 1}
    rows = [
        connection(1, use(PRODUCE, 2), uses_sequence=2**42, broker_id=70),
        connection(2, use(PRODUCE, 2), uses_object="object-1", uses_sequence=2, broker_id=-1),
        connection(3, refused),
        *(connection(broker, broker_id=broker) for broker in range(4, 70)),
    ]
    (client,) = clients(*rows)
    (produce,) = client["uses"]
    assert (produce["requests"], produce["rejected"], produce["broker_ids"]) == (2, 1, [-1, 1, 70])
    assert (produce["source_object"], produce["source_sequence"]) == ("object-1", 2**42)


def test_rows_of_before_records_were_named_have_none():
    (client,) = clients(connection(1, use(PRODUCE, 2), uses_object=None, uses_sequence=None))
    assert client["uses"][0]["source_object"] is None


def over(api_key: int, requests: int, first: int, last: int) -> dict:
    """Requests from minute `first` to minute `last`."""
    return use(api_key, 9, requests, first) | {"last_request_at": NOON + last * MINUTE}


def test_cells_say_when_a_client_sent_an_api():
    """The hour has 62 cells of 58 seconds: minute n lies in cell n, near the end in one or two more."""
    (client,) = clients(
        connection(1, over(PRODUCE, 60, 0, 10), over(FETCH, 2, 0, 10)),
        connection(2, over(PRODUCE, 1, 20, 20), use(3, 9, 0, 30)),
    )
    assert round(client["cell_s"], 3) == round(3600 / 62, 3)
    cells = {use["api_key"]: use["cells"] for use in client["uses"]}
    assert cells[PRODUCE] == (1 << 11) - 1 | 1 << 20
    assert cells[FETCH] == 1 | 1 << 10
    assert not cells[3]


def test_requests_on_every_day_of_a_connection_that_stays_fill_the_days():
    """What was in use before the day has no first request of the day."""
    yesterday = DAY - dt.timedelta(days=1)
    (client,) = clients(
        connection(1, over(PRODUCE, 5000, 0, 60), dt=yesterday),
        connection(
            1,
            over(PRODUCE, 5000, 24 * 60, 25 * 60) | {"first_request_at": None},
            first_seen_at=NOON + 60 * MINUTE,
            last_seen_at=NOON + 25 * 60 * MINUTE,
        ),
    )
    (use,) = client["uses"]
    assert use["cells"] == 2**62 - 1
