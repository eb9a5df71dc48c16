"""Rows of a report over whole programs: a run of benchmarks/programs as a broker's request log of one day has it.

Clients are put together by identity/applications.py and programs behind one client id told apart by identity/programs.py,
as the stages profile and impact do it with Spark. What relates clients by their address is left out: nearly all programs
of these runs have the anonymous principal, of which nothing follows.
"""

import csv
import datetime as dt
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from pathlib import Path

from client_telemetry.compatibility import parse_api_uses
from client_telemetry.identity.applications import Client, applications
from client_telemetry.identity.broker_clients import is_broker
from client_telemetry.identity.programs import Seen, may_be_several, programs
from client_telemetry.profile.related_clients import related_by_client_id

FILE = Path(__file__).parent / "programs/connections.csv"
LIBRARIES = Path(__file__).parent / "programs/libraries.csv"
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
    return [row for run, connections in _runs().items() for row in _of_run(run, connections)]


def overlaid() -> Counter[str]:
    """Every two programs as if they had one address and principal and were there within twenty seconds of each other:
    `pairs`, `rows` of a report on both, `rows_apart` of two reports on one each, rows `of_both`, and such rows without
    a note (`unsaid`)."""
    by_case: dict[str, list[_Connection]] = defaultdict(list)
    for each in (each for connections in _runs().values() for each in connections):
        by_case[each.case].append(each)
    alone = {case: len(_of_run(case, _at(0, own))) for case, own in by_case.items()}
    chance, found = random.Random(7), Counter[str]()
    for one, other in combinations(sorted(by_case), 2):
        later = chance.randrange(-20, 20) * 1_000_000
        both = _of_run(one, [*_at(0, by_case[one]), *_at(later, by_case[other])])
        shared = [row for row in both if len(row.cases) > 1]
        found += Counter(pairs=1, rows=len(both), rows_apart=alone[one] + alone[other], of_both=len(shared))
        found += Counter(unsaid=sum(not row.notes for row in shared))
    return found


def with_one_client_id(client_id: str = "consumer-1") -> Counter[str]:
    """Every two clients of kafka-clients as if both had one client id, likewise: `pairs` that send different versions, those
    `told_apart`, their `connections`, and those put to the `wrong` one of the two."""
    java = {row["case"] for row in _csv(LIBRARIES) if row["library"] == "kafka-clients"}
    by_client: dict[tuple[str, str], list[_Connection]] = defaultdict(list)
    for each in (each for connections in _runs().values() for each in connections):
        if each.case in java:
            by_client[each.case, each.key[1]].append(each)
    chance, found = random.Random(7), Counter[str]()
    for one, other in combinations(sorted(who for who, own in by_client.items() if len(own) > 1), 2):
        if one[0] == other[0]:
            continue
        mixed = [*_at(0, by_client[one]), *_at(chance.randrange(-5, 25) * 1_000_000, by_client[other])]
        versions: dict[int, set[int]] = defaultdict(set)
        for key, version in (use for each in mixed for use in each.seen.uses):
            versions[key].add(version)
        if not may_be_several(client_id, versions):
            continue
        names = programs(client_id, [each.seen for each in mixed])
        found += Counter(pairs=1, told_apart=any(names))
        members: dict[str, Counter[str]] = defaultdict(Counter)
        for each, own in zip(mixed, names, strict=True):
            if own:
                found["connections"] += 1
                for name in own:
                    members[name][each.case] += 1
        found["wrong"] += sum(min(of_it.values()) for of_it in members.values() if len(of_it) > 1)
    return found


def _at(start: int, connections: Sequence[_Connection]) -> list[_Connection]:
    """The same at one place, the first of them opened at `start` microseconds after a moment that is one for all."""
    shift = 1_700_000_000_000_000 + start - min(each.seen.first for each in connections)
    return [
        replace(
            each,
            key=("User:one", *each.key[1:]),
            seen=each.seen._replace(
                address="10.0.0.1", first=each.seen.first + shift, last=each.seen.last + shift
            ),
        )
        for each in connections
    ]


def _csv(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


@cache
def _runs() -> dict[str, list[_Connection]]:
    by_run: dict[str, list[_Connection]] = defaultdict(list)
    for row in _csv(FILE):
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
    return by_run


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
        "api_uses": [{"api_key": api_key, "version": version} for api_key, version in uses],
        "broker_software_versions": [RELEASE],
        "first_seen_at": _time(min(each.seen.first for each in connections)),
        "last_seen_at": _time(max(each.seen.last for each in connections)),
    }


def _time(micros: int) -> dt.datetime:
    return dt.datetime.fromtimestamp(micros / 1e6, dt.UTC)
