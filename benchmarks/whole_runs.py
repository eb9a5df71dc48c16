"""Rows of a report over whole programs: a run of benchmarks/programs as a broker's request log of one day has it.

Clients are put together by identity/applications.py and programs behind one client id told apart by identity/programs.py,
as the stages profile and impact do it with Spark. What relates clients by their address is left out: nearly all programs
of these runs have the anonymous principal, of which nothing follows.
"""

import csv
import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from client_telemetry.compatibility import parse_api_uses
from client_telemetry.identity.applications import Client, applications
from client_telemetry.identity.broker_clients import is_broker
from client_telemetry.identity.programs import Seen, may_be_several, programs
from client_telemetry.profile.related_clients import related_by_client_id

FILE = Path(__file__).parent / "programs/connections.csv"
RELEASE = "3.9.1"
PROCESSES = {"concons-0102": 2, "concons-0110": 2, "reassign-282": 2, "tools-391": 4}
"""Programs that one case ran, where it ran several (the column `client` of programs/cases.csv)."""
OF_THE_CASE_BEFORE = frozenset((("kafka-rust-09", "kafkajs"),))
"""Logs are cut by time: the last request of a long-lived connection can be in the next case's."""

Key = tuple[str, str, str, str]
"""Principal, client id, software name and version."""


@dataclass(frozen=True)
class Row:
    """A row of the report: an application, or one of the programs behind a client id."""

    run: str
    name: str
    notes: tuple[str, ...]
    cases: frozenset[str]


@dataclass(frozen=True)
class _Connection:
    case: str
    key: Key
    seen: Seen
    groups: frozenset[str]


def rows() -> list[Row]:
    """All rows of all runs."""
    by_run: dict[str, list[_Connection]] = defaultdict(list)
    with FILE.open(encoding="utf-8", newline="") as opened:
        for row in csv.DictReader(opened):
            uses = frozenset((use.api_key, use.version) for use in parse_api_uses(row["api_uses"]))
            broker = is_broker(row["client_id"], frozenset(key for key, _ in uses))
            if broker or row["client_id"].isdigit() or (row["case"], row["client_id"]) in OF_THE_CASE_BEFORE:
                continue
            key = (
                row["principal"],
                row["client_id"],
                row["client_software_name"],
                row["client_software_version"],
            )
            seen = Seen(row["address"], int(row["first"]), int(row["last"]), uses)
            by_run[row["run"]].append(_Connection(row["case"], key, seen, frozenset(row["groups"].split())))
    return [row for run, connections in by_run.items() for row in _of_run(run, connections)]


def _of_run(run: str, connections: Sequence[_Connection]) -> list[Row]:
    of_client: dict[Key, list[_Connection]] = defaultdict(list)
    for each in connections:
        of_client[each.key].append(each)
    parts = {key: _part(key, of_it) for key, of_it in of_client.items()}
    siblings: dict[tuple[str, str], list[Mapping[str, object]]] = defaultdict(list)
    for key, part in parts.items():
        siblings[key[:2]].append(part)
    clients: list[tuple[Client, list[_Connection]]] = []
    for key, of_it in of_client.items():
        related = related_by_client_id(key[1], key[2:], siblings[key[:2]])
        of_program: dict[str, list[_Connection]] = defaultdict(list)
        for connection, names in zip(of_it, _programs(_client(key, of_it, related), of_it), strict=True):
            for name in names or ("",):
                of_program[name].append(connection)
        clients += [(_client(key, part, related, name), part) for name, part in of_program.items()]
    cases: dict[tuple[str, str], set[str]] = defaultdict(set)
    notes: dict[tuple[str, str], tuple[str, ...]] = {}
    found = applications([client for client, _ in clients])
    for (client, of_it), application in zip(clients, found, strict=True):
        row = client.principal or "", application.name
        cases[row].update(each.case for each in of_it)
        notes[row] = application.notes
    return [
        Row(run, row[1] or "(empty client id)", notes[row], frozenset(of_it))
        for row, of_it in sorted(cases.items())
    ]


def _programs(client: Client, connections: Sequence[_Connection]) -> list[tuple[str, ...]]:
    if not may_be_several(client.client_id, client.versions):
        return [()] * len(connections)
    return programs(client.client_id, [each.seen for each in connections])


def _client(
    key: Key, connections: Sequence[_Connection], related: Sequence[Mapping[str, str]], program: str = ""
) -> Client:
    others: dict[str, set[tuple[str | None, str | None]]] = defaultdict(set)
    for other in related:
        others[other["relation"]].add((other["client_software_name"], other["client_software_version"]))
    versions: dict[int, set[int]] = defaultdict(set)
    for each in connections:
        for api_key, version in each.seen.uses:
            versions[api_key].add(version)
    return Client(
        *key,
        None,
        _time(min(each.seen.first for each in connections)),
        _time(max(each.seen.last for each in connections)),
        frozenset(each.seen.address for each in connections),
        frozenset(group for each in connections for group in each.groups),
        {api_key: frozenset(of_api) for api_key, of_api in versions.items()},
        same_as=frozenset(others["one_application"]),
        not_same_as=frozenset(others["two_applications"]),
        doubtful=frozenset(others["doubtful"]),
        program=program,
    )


def _part(key: Key, connections: Sequence[_Connection]) -> dict[str, object]:
    """What `related_by_client_id` needs of a client."""
    uses = sorted({use for each in connections for use in each.seen.uses})
    return {
        "client_software_name": key[2],
        "client_software_version": key[3],
        "asked": [{"api_key": api_key, "version": version} for api_key, version in uses],
        "broker_software_versions": [RELEASE],
        "first_seen_at": _time(min(each.seen.first for each in connections)),
        "last_seen_at": _time(max(each.seen.last for each in connections)),
    }


def _time(micros: int) -> dt.datetime:
    return dt.datetime.fromtimestamp(micros / 1e6, dt.UTC)
