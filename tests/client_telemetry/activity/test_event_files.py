"""What compiled code makes of events, compared with the rule as plain Python, over several files and many orders."""

import datetime as dt
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from client_telemetry.activity import event_files
from client_telemetry.activity.event_files import CLIENT, RUN, Known, Uses
from client_telemetry.lake.files import PartitionFile
from client_telemetry.lake.writer import TablePlace, write_rows
from client_telemetry.tables.connection_events import CONNECTION_EVENTS

NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
SLOT = 10


def at(seconds: float) -> dt.datetime:
    return NOON + dt.timedelta(seconds=seconds)


def events(seed: int) -> list[dict[str, Any]]:
    """Connections with several snapshots, some of which learn their client id late; summaries; failed logins; refusals of nobody."""
    chance = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for number in range(40):
        broker = number % 2
        opened = chance.randrange(60)
        who = dict.fromkeys(CLIENT) | {"client_address": f"10.0.0.{number % 5}"}
        named = who | {"client_id": f"app-{number % 7}", "principal": f"User:{number % 3}"}
        named |= {"client_software_name": chance.choice(["sarama", None])}
        counts: dict[tuple[int, int], list[Any]] = {}
        for snapshot in range(chance.randrange(1, 6)):
            for api in ((0, 9), (1, 4), (3, 0), (0, 3)):
                if chance.random() < 0.5:
                    own = counts.setdefault(api, [0, 0, opened + snapshot * 15, 0])
                    own[0] += chance.randrange(3)
                    own[1] += chance.random() < 0.1
                    own[3] = opened + snapshot * 15 + chance.random() * 9
            is_named = snapshot or number % 4
            row = {
                **(named if is_named else who),
                "kind": "opened" if not snapshot else "active",
                "connection_id": "" if number % 9 == 8 else f"c-{number}",
                "broker_id": broker,
                "broker_incarnation": f"run-{broker}",
                "opened_at": at(opened),
                "connections": 5 if number % 9 == 8 else None,
                "group_ids": [f"g{number % 3}"] if is_named else [],
                "api_uses": [
                    {
                        "api_key": key,
                        "version": version,
                        "requests": own[0],
                        "rejected": own[1],
                        "first_request_at": at(own[2]),
                        "last_request_at": at(own[3]),
                    }
                    for (key, version), own in sorted(counts.items())
                ],
            }
            rows.append(row)
    rows.append({**rows[0], "kind": "authentication_failed", "api_uses": []})
    for sequence, row in enumerate(rows):
        row |= {"sequence": sequence, "observed_at": NOON, "flags": [], "cut_fields": []}
    return rows


def stored(rows: Sequence[dict[str, Any]], folder: Path, number: int) -> list[PartitionFile]:
    """In several files, in any order."""
    shuffled = random.Random(number).sample(rows, len(rows))
    found = []
    for part in range(number):
        own = [{**row, "cluster_id": "c", "dt": NOON.date()} for row in shuffled[part::number]]
        (url,) = write_rows(CONNECTION_EVENTS, TablePlace(f"file://{folder}"), own)
        found.append(PartitionFile(url, "c", NOON.date(), len(own)))
    return found


def by_rule(
    rows: Sequence[dict[str, Any]],
) -> tuple[dict[Any, list[Any]], dict[Any, list[Any]], dict[Any, int]]:
    """Requests, refusals, first and last by client, broker, API, version and slot; those that were refused on connections that name
    nobody; connections opened by client and slot."""
    used: dict[Any, list[Any]] = {}
    nobodys: dict[Any, list[Any]] = {}
    opened: dict[Any, list[Any]] = {}
    before: dict[Any, Any] = {}
    for row in rows:
        if row["kind"] == "authentication_failed":
            continue
        client = (*(row[name] for name in CLIENT), *(row[name] for name in RUN))
        alone = row["sequence"] if not row["connection_id"] else None
        connection = row["broker_incarnation"], row["connection_id"], row["opened_at"], alone
        opened.setdefault(connection, [0, client])
        opened[connection] = [max(opened[connection][0], row["connections"] or 1), client]
        for use in row["api_uses"]:
            same = *connection, use["api_key"], use["version"]
            earlier = before.get(same)
            before[same] = use
            requests = use["requests"] - (earlier["requests"] if earlier else 0)
            rejected = use["rejected"] - (earlier["rejected"] if earlier else 0)
            if requests <= 0 and rejected <= 0:
                continue
            first = (earlier["last_request_at"] if earlier else use["first_request_at"]).timestamp()
            last = use["last_request_at"].timestamp()
            is_nobodys = client[0] is None and not client[1] and rejected > 0
            own = (nobodys if is_nobodys else used).setdefault(
                (*client, use["api_key"], use["version"], int(last // SLOT)), [0, 0, first, last]
            )
            own[0] += requests
            own[1] += rejected
            own[2], own[3] = min(own[2], first), max(own[3], last)
    slots: dict[Any, int] = {}
    for (_, _, moment, _), (connections, client) in opened.items():
        key = *client, int(moment.timestamp() // SLOT)
        slots[key] = slots.get(key, 0) + connections
    return used, nobodys, slots


def rows_of(table: pa.Table) -> dict[Any, list[Any]]:
    names = (*CLIENT, *RUN, "api_key", "version", "slot")
    return {
        tuple(row[name] for name in names): [row[name] for name in ("requests", "rejected", "first", "last")]
        for row in table.to_pylist()
    }


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("files", [1, 3])
@pytest.mark.parametrize("buckets", [1, 4])
def test_events_in_any_files_and_buckets_give_what_the_rule_gives(
    seed: int, files: int, buckets: int, tmp_path: Path
) -> None:
    rows = events(seed)
    by_connection: dict[int, list[event_files.Events]] = {}
    for file in stored(rows, tmp_path, files):
        for bucket, piece in event_files.read([file], buckets):
            by_connection.setdefault(bucket, []).append(piece)
    known: list[Known] = []
    by_client: dict[int, list[Uses]] = {}
    for pieces in by_connection.values():
        for bucket, found in event_files.differences(pieces, SLOT, buckets):
            if isinstance(found, Known):
                known.append(found)
            else:
                by_client.setdefault(bucket, []).append(found)

    used, nobodys, opened = by_rule(rows)
    found_used: dict[Any, list[Any]] = {}
    found_opened: dict[Any, int] = {}
    for uses in map(event_files.together, by_client.values()):
        own = rows_of(event_files.table_of(uses.clients, uses.runs, uses.used))
        assert not own.keys() & found_used.keys()
        found_used |= own
        clients, runs = uses.clients.to_pylist(), uses.runs.to_pylist()
        for client, run, slot, number in uses.opened.tolist():
            names = (*(clients[client][n] for n in CLIENT), *(runs[run][n] for n in RUN), slot)
            found_opened[names] = number
    everything = Known.of_all(known)
    assert found_used == used
    assert found_opened == opened
    assert rows_of(everything.refusals).keys() == nobodys.keys()
    assert everything.first_slot == min(key[-1] for key in used)
    assert everything.last_us == round(max(own[3] for own in (*used.values(), *nobodys.values())) * 1e6)


def test_events_without_requests_are_no_uses(tmp_path: Path) -> None:
    rows = [{**events(0)[0], "api_uses": []}]
    (file,) = stored(rows, tmp_path, 1)
    pieces = [piece for _, piece in event_files.read([file], 1)]
    (known,) = [each for _, each in event_files.differences(pieces, SLOT, 1) if isinstance(each, Known)]
    assert (known.rows, known.first_slot, known.last_us, len(known.refusals)) == (0, None, None, 0)


def test_the_latest_snapshot_of_each_broker_incarnation_is_known(tmp_path: Path) -> None:
    rows = [
        {
            **events(0)[0],
            "kind": kind,
            "broker_incarnation": incarnation,
            "observed_at": dt.datetime.fromtimestamp(at, dt.UTC),
        }
        for kind, incarnation, at in (
            ("active", "a", 300),
            ("active", "a", 600),
            ("closed", "a", 700),
            ("active", "b", 400),
        )
    ]
    pieces = [piece for file in stored(rows, tmp_path, 2) for _, piece in event_files.read([file], 2)]
    known = [each for _, each in event_files.differences(pieces, SLOT, 2) if isinstance(each, Known)]
    assert Known.of_all(known).snapshots == {"a": 600_000_000, "b": 400_000_000}
