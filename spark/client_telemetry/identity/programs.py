"""Tells apart several programs behind one client id: which of its connections belong to the same program. Pure.

For each API a library takes the highest version that it and the broker have, so one process sends one version of an API
to brokers of one release, with exceptions that benchmarks/matrix shows. Consecutive connections from one address are a
run; runs that differ in no version are one program. A connection that can belong to several programs counts for each of
them.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from client_telemetry.compatibility import fingerprints, one_process
from client_telemetry.knowledge import apis, products
from client_telemetry.knowledge.api_key import ApiKey

JAVA_SEVERAL = fingerprints.TAKES_LOWER["kafka-clients"]
"""Of all other APIs it sends one version."""


NEXT_MICROS, AT_ONCE_MICROS, TOGETHER_MICROS = 100_000, 2_000_000, 60_000_000
"""A process opens one connection after another; after a minute's pause it may be another process. kafka-clients opens
the next one as soon as the first broker has named the others (NetworkClient).
"""
MOST_CONNECTIONS, MOST_RUNS, MOST_PROGRAMS = 20_000, 500, 12
"""Beyond these limits nothing is split: the result would be chance rather than programs."""

Versions = Mapping[int, Set[int]]


class Seen(NamedTuple):
    """A connection: when it sent requests (microseconds), and their API keys and versions."""

    address: str
    first: int
    last: int
    uses: frozenset[tuple[int, int]]


def is_anybodys(client_id: str | None) -> bool:
    """Whether any program can have the client id: a library's default, that of one of Kafka's own tools, none at all, or
    only a number.
    """
    if not client_id or client_id.isdecimal():
        return True
    product = products.by_client_id(client_id)
    return fingerprints.by_client_id(client_id)[0] is not None or (
        product is not None and product.kind == "tool"
    )


def may_be_several(client_id: str | None, versions: Versions) -> bool:
    """Whether what a client id sent to brokers of one release is a reason to look at its single connections. Two versions of
    Produce can be one process (a library that writes old topics in an old version), but also two producers.
    """
    two_producers = len(versions.get(ApiKey.PRODUCE, ())) > 1
    return (
        two_producers
        or sends_two_versions(versions, _is_java(client_id))
        or (
            is_anybodys(client_id)
            and any(len(of_api) > 1 for key, of_api in versions.items() if key not in apis.SET_UP)
        )
    )


def sends_two_versions(versions: Versions, is_java: bool) -> bool:
    """Whether one client id sends what no single process sends. `is_java`: the id belongs to kafka-clients."""
    return any(len(of_api) > 1 and _sends_one_version(key, is_java) for key, of_api in versions.items())


def programs(client_id: str | None, connections: Sequence[Seen]) -> list[tuple[str, ...]]:
    """For each connection the programs that it can belong to, named by the versions that distinguish them. Empty if
    there is only one program, or several cannot be distinguished.
    """
    undivided: list[tuple[str, ...]] = [()] * len(connections)
    if len(connections) > MOST_CONNECTIONS:
        return undivided
    is_java = _is_java(client_id)
    runs = _runs(connections, is_java)
    if not runs or len(runs) > MOST_RUNS:
        return undivided
    program_versions: list[dict[int, set[int]]] = []
    waiting: list[_Run] = []
    for run in sorted(runs, key=lambda run: (-len(run.versions), run.first)):
        fitting = _fitting(run, program_versions, is_java)
        if not fitting:
            program_versions.append({key: set(of_api) for key, of_api in run.versions.items()})
            run.programs = [len(program_versions) - 1]
        elif len(fitting) == 1:
            _add(program_versions[fitting[0]], run.versions)
            run.programs = fitting
        else:
            waiting.append(run)
    if not 1 < len(program_versions) <= MOST_PROGRAMS:
        return undivided
    for run in waiting:
        fitting = _fitting(run, program_versions, is_java)
        closest = _fitting(run, program_versions, False)
        run.programs = closest or fitting or [*range(len(program_versions))]
    names = _names(program_versions)
    result = list(undivided)
    for run in runs:
        for connection in run.connections:
            result[connection] = tuple(sorted(names[program] for program in run.programs))
    return result


@dataclass
class _Run:
    """`connections`: their places. `opened`: when the latest one opened."""

    address: str
    first: int
    opened: int
    last: int
    versions: dict[int, set[int]]
    connections: list[int]
    programs: list[int] = field(default_factory=list)


def _fitting(run: _Run, programs: Sequence[Versions], is_java: bool) -> list[int]:
    """The places of the programs that it can be of."""
    return [
        place for place, versions in enumerate(programs) if _are_compatible(versions, run.versions, is_java)
    ]


def _runs(connections: Sequence[Seen], is_java: bool) -> list[_Run]:
    runs: list[_Run] = []
    going_on: dict[str, list[_Run]] = defaultdict(list)
    for place in sorted(range(len(connections)), key=lambda place: connections[place][:3]):
        connection = connections[place]
        versions: dict[int, set[int]] = defaultdict(set)
        for key, version in connection.uses:
            if key not in apis.SET_UP:
                versions[key].add(version)
        recent = [
            run for run in going_on[connection.address] if run.last + TOGETHER_MICROS >= connection.first
        ]
        going_on[connection.address] = recent
        fitting = [run for run in recent if _continues(run, connection, versions, is_java)]
        if fitting:
            run = max(
                fitting,
                key=lambda run: (
                    is_java and _nearness(run, connection),
                    _shared_apis(run.versions, versions),
                    run.last,
                ),
            )
            _add(run.versions, versions)
            run.opened, run.last = connection.first, max(run.last, connection.last)
            run.connections.append(place)
        else:
            sent = {k: set(v) for k, v in versions.items()}
            run = _Run(connection.address, connection.first, connection.first, connection.last, sent, [place])
            runs.append(run)
            recent.append(run)
    return runs


def _nearness(run: _Run, connection: Seen) -> int:
    """How close in time a connection is to a run: opened next, at once, or later."""
    return (connection.first <= run.opened + NEXT_MICROS) + (connection.first <= run.last + AT_ONCE_MICROS)


def _continues(run: _Run, connection: Seen, versions: Versions, is_java: bool) -> bool:
    if connection.first <= run.last + AT_ONCE_MICROS:
        return not any(
            _sends_one_version(key, is_java) and run.versions[key].isdisjoint(versions[key])
            for key in run.versions.keys() & versions.keys()
        )
    return _are_compatible(run.versions, versions, is_java)


def _are_compatible(one: Versions, other: Versions, is_java: bool) -> bool:
    """Whether two runs can be of one program: they share a version of each API that both used."""
    return not any(
        one[key].isdisjoint(other[key])
        for key in one.keys() & other.keys()
        if not (is_java and key in JAVA_SEVERAL)
    )


def _sends_one_version(key: int, is_java: bool) -> bool:
    return key in one_process.ONE_VERSION or (is_java and key not in JAVA_SEVERAL and key not in apis.SET_UP)


def _is_java(client_id: str | None) -> bool:
    product = products.by_client_id(client_id)
    library = fingerprints.by_client_id(client_id)[0]
    return "kafka-clients" in (library, product.library if product else None)


def _shared_apis(one: Versions, other: Versions) -> int:
    return sum(not one[key].isdisjoint(other[key]) for key in one.keys() & other.keys())


def _add(versions: dict[int, set[int]], more: Versions) -> None:
    for key, of_api in more.items():
        versions.setdefault(key, set()).update(of_api)


def _names(program_versions: Sequence[Versions]) -> list[str]:
    """For each program the versions that the others do not send: as few as distinguish it, at least one."""
    differing = {
        key
        for place, one in enumerate(program_versions)
        for other in program_versions[:place]
        for key in one.keys() & other.keys()
        if one[key].isdisjoint(other[key])
    }
    names: list[str] = []
    for place, versions in enumerate(program_versions):
        rivals = [other for number, other in enumerate(program_versions) if number != place]
        words: list[str] = []
        # Metadata last: the other APIs say more about what a program does.
        for key in sorted(differing & versions.keys(), key=lambda key: (key == 3, key)):
            numbers = ", ".join(f"v{version}" for version in sorted(versions[key]))
            words.append(f"{apis.name(key)} {numbers}")
            rivals = [rival for rival in rivals if not rival.get(key, set()).isdisjoint(versions[key])]
            if not rivals:
                break
        names.append("; ".join(words[:3]))
    for name in {name for name in names if names.count(name) > 1}:
        namesakes = [place for place, candidate in enumerate(names) if candidate == name]
        for number, place in enumerate(namesakes, start=1):
            names[place] = f"{name} ({number})"
    return names
