"""Random events and pushes, with what clients may send and broken clocks show: connections are the same on both engines."""

import datetime as dt
import random
from typing import Any

import pyarrow as pa
import pytest
from client_telemetry.sessionize.connections import READ, client_connections, events_left_out
from client_telemetry.sessionize.earlier_events import EARLIER
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.table import Table

from tests.client_telemetry.conftest import ENGINES, queries_on

DAYS = [dt.date(2026, 11, 19) + dt.timedelta(days=n) for n in range(3)]
TEXTS = [
    *(
        "app",
        "app-1",
        "app-550e8400-e29b-41d4-a716-446655440000",
        "",
        "unknown",
        "\0",
        "a\0b",
        "a\nb",
        "\\",
        "a\\1",
        "'",
        '"',
        "$1",
    ),
    *(
        "(",
        "[",
        "*",
        ".",
        "^",
        "|",
        "{",
        "%",
        "_",
        "é",
        "e\u0301",
        "\u202e",
        "😀",
        "\ufffe",
        "İ",
        " a",
        "a ",
        "-a",
        "x" * 3000,
    ),
    *(
        "broker-1-txn-marker-sender",
        "broker-1-txn-marker-sender\n",
        "\nraft-client-3",
        "broker-١-txn-marker-sender",
    ),
]
TIMES = [
    dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, dt.UTC),
    dt.datetime(1970, 1, 1, tzinfo=dt.UTC),
    dt.datetime(9999, 12, 31, 23, 59, 59, 999_999, dt.UTC),
]
COUNTS = [0, 0, 1, 1, 2, 100, 2**31, 2**47]
API_KEYS = [-1, 0, 1, 3, 6, 17, 18, 27, 52, 71, 999]


class Hostile(random.Random):
    def maybe(self, *values: object) -> Any:
        return None if self.random() < 0.15 else self.choice(values)

    def time(self, day: dt.date) -> dt.datetime:
        midnight = dt.datetime.combine(day, dt.time(), dt.UTC)
        micros = self.choice((0, 3_600_000_000, 86_399_999_999, self.randrange(-(2**38), 2**37)))
        return self.choice(TIMES) if self.random() < 0.1 else midnight + dt.timedelta(microseconds=micros)

    def texts(self) -> list[str]:
        return [self.choice(TEXTS) for _ in range(self.choice((0, 1, 2, 20)))]

    def client(self) -> dict[str, object]:
        return {
            "client_id": self.maybe("app", *TEXTS),
            "principal": self.maybe("User:app", "", self.choice(TEXTS)),
            "client_address": self.maybe("10.0.0.1", "10.0.0.1", "::1", ""),
            "client_port": self.maybe(0, -1, 50000, 50001),
            "listener_name": self.maybe("CLIENTS", ""),
            "security_protocol": self.maybe("SASL_SSL", "PLAINTEXT", "SASL\n", ""),
            "connection_id": self.maybe("1", "2", "3", ""),
            "client_software_name": self.maybe("apache-kafka-java", "unknown", "", self.choice(TEXTS)),
            "client_software_version": self.maybe("4.3.1", "unknown", ""),
            "sent_software_name": self.maybe("", "sarama", self.choice(TEXTS)),
            "sent_software_version": self.maybe("", "v1", self.choice(TEXTS)),
            "api_versions_error": self.maybe(42, 35, 0, -1),
        }

    def of_client(self, client: dict[str, object]) -> dict[str, object]:
        """Most of the time as it was."""
        return {
            name: self.choice((value, value, other))
            for (name, value), other in zip(client.items(), self.client().values(), strict=True)
        }

    def use(self, day: dt.date) -> dict[str, object]:
        pair = {"api_key": self.choice(API_KEYS), "version": self.choice((-1, 0, 12))}
        counts = {name: self.choice(COUNTS) for name in ("requests", "rejected")}
        return {
            **pair,
            **counts,
            **{f"{name}_request_at": self.maybe(self.time(day)) for name in ("first", "last")},
        }

    def error(self) -> dict[str, object]:
        return {
            "api_key": self.choice((0, 3)),
            "version": 1,
            "error_code": self.choice((-1, 6)),
            "requests": self.choice(COUNTS),
        }

    def event(self, sequence: int, client: dict[str, object], opened_at: dt.datetime) -> dict[str, object]:
        day = self.choice((*DAYS, DAYS[-1] - dt.timedelta(days=7)))
        return self.of_client(client) | {
            "dt": day,
            "broker_incarnation": self.choice(("0f" * 16, "0f" * 16, "1f" * 16)),
            "sequence": sequence,
            "observed_at": self.time(day),
            "kind": self.choice(
                ("opened", "active", "active", "closed", "summary", "authentication_failed", "6")
            ),
            "opened_at": self.choice((opened_at, opened_at, self.time(day))),
            "last_request_at": self.maybe(self.time(day)),
            "api_uses": [self.use(day) for _ in range(self.choice((0, 1, 3, 6)))],
            "group_ids": self.texts(),
            "transactional_ids": self.texts(),
            "connections": self.maybe(0, 1, 2**48),
            "sasl_mechanism": self.maybe("PLAIN", ""),
            "given_instance_ids": self.maybe([], [bytes([n] * 16) for n in (255, 1, 128)], [b"\0" * 16]),
            "topics": self.maybe(self.texts()),
            "api_errors": self.maybe([], [self.error() for _ in range(3)]),
            "source_object": self.choice("abc"),
        }

    def push(self, client: dict[str, object]) -> dict[str, object]:
        day = self.choice(DAYS)
        return self.of_client(client) | {
            "dt": day,
            "broker_incarnation": "0f" * 16,
            "received_at": self.time(day),
            "client_instance_id": self.maybe(*(bytes([n] * 16) for n in range(4))),
            "push_interval_ms": self.maybe(1000, 60_000, 0, 2**31 - 1),
            "flags": self.maybe([]) or ["zero_instance_id"],
        }


def _table(table: Table, rows: list[dict[str, object]]) -> pa.Table:
    names = READ[table]
    schema = pa.schema([table.arrow_schema.field(name) for name in names])
    return pa.Table.from_pylist([{name: row.get(name) for name in names} for row in rows], schema)


@pytest.mark.parametrize("seed", [1, 2])
def test_connections_are_the_same(spark, seed: int) -> None:
    made, events, pushes = Hostile(seed), [], []
    for case in range(40):
        client, where = made.client(), {"cluster_id": f"c{case}", "broker_id": 1}
        opened_at = made.time(made.choice(DAYS))
        events += [
            made.event(n, client, opened_at) | where for n in made.sample(range(99), made.choice((1, 3, 20)))
        ]
        pushes += [made.push(client) | where for _ in range(made.choice((0, 5, 30)))]
    frames = {
        table.name: spark.createDataFrame(_table(table, rows))
        for table, rows in (
            (CONNECTION_EVENTS, [row for row in events if row["dt"] in DAYS]),
            (CLIENT_PUSHES, pushes),
        )
    }
    frames[EARLIER] = spark.createDataFrame(
        _table(CONNECTION_EVENTS, [row for row in events if row["dt"] < DAYS[0]])
    )

    def found(engine: str) -> tuple[list[str], int]:
        with queries_on(engine, frames) as queries:
            texts = [client_connections(queries, [], day, is_first=day == DAYS[0]) for day in DAYS]
            rows = queries.answers({"rows": " union all ".join(texts)})["rows"]
            return sorted(map(repr, rows)), events_left_out(queries, DAYS)

    on_spark, in_process = map(found, ENGINES)
    assert len(on_spark[0]) > 50
    assert on_spark == in_process
