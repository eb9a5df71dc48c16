"""Several programs behind one client id: which of its connections are one program's. Pure.

A library takes for each API the highest version that it and the broker have, so one process sends one version of an API
to brokers of one release, with exceptions that benchmarks/matrix shows. Connections of one address that follow each other
are a run; runs that no two versions tell apart are one program. A connection that can be of several counts for each of
them: what it shows may be anyone's.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from client_telemetry.compatibility import apis, fingerprints, products

ONE_VERSION = frozenset((8, 11, 12, 13, 14, 15, 20, 22, 24, 26, 32))
"""OffsetCommit, JoinGroup, Heartbeat, LeaveGroup, SyncGroup, DescribeGroups, DeleteTopics, InitProducerId,
AddPartitionsToTxn, EndTxn, DescribeConfigs: no process of benchmarks/matrix sent two versions of them to one broker
release."""
JAVA_SEVERAL = frozenset((1, 2, 9, 10, 16))
"""Fetch (topic ids or not), ListOffsets, OffsetFetch, FindCoordinator, ListGroups: kafka-clients takes a lower version
where a request needs no more; of all others it sends one."""
NOT_COMPARED = frozenset((17, apis.API_VERSIONS, 36))
"""SaslHandshake, ApiVersions, SaslAuthenticate: asked before a library knows what the broker has."""

NEXT_MICROS, AT_ONCE_MICROS, TOGETHER_MICROS = 100_000, 2_000_000, 60_000_000
"""A process opens connection after connection; a pause of a minute may be another process. kafka-clients opens the next one
as soon as the first broker has named the others (NetworkClient)."""
MOST_CONNECTIONS, MOST_RUNS, MOST_PROGRAMS = 20_000, 500, 12
"""Beyond these nothing is told apart: it would say more of chance than of programs."""

Versions = Mapping[int, Set[int]]


class Seen(NamedTuple):
    """A connection: when it sent requests (microseconds), and the API keys and versions of them."""

    address: str
    first: int
    last: int
    uses: frozenset[tuple[int, int]]


def is_anybodys(client_id: str | None) -> bool:
    """Whether any program can have the client id: a library's default, or that of one of Kafka's own tools."""
    product = products.by_client_id(client_id)
    return fingerprints.by_client_id(client_id)[0] is not None or (
        product is not None and product.kind == "tool"
    )


def may_be_several(client_id: str | None, versions: Versions) -> bool:
    """Whether what a client id sent to brokers of one release is a reason to look at its connections."""
    return sends_two_versions(versions, _is_java(client_id)) or (
        is_anybodys(client_id)
        and any(len(of_api) > 1 for key, of_api in versions.items() if key not in NOT_COMPARED)
    )


def sends_two_versions(versions: Versions, is_java: bool) -> bool:
    """Whether one client id sends what no process does. `is_java`: it is one of kafka-clients."""
    return any(len(of_api) > 1 and _takes_one(key, is_java) for key, of_api in versions.items())


def programs(client_id: str | None, connections: Sequence[Seen]) -> list[tuple[str, ...]]:
    """For each connection the programs that it can be of, named by the versions that tell them apart. Nothing where all
    are one, or cannot be told apart."""
    one: list[tuple[str, ...]] = [()] * len(connections)
    if len(connections) > MOST_CONNECTIONS:
        return one
    is_java = _is_java(client_id)
    runs = _runs(connections, is_java)
    if not runs or len(runs) > MOST_RUNS:
        return one
    found: list[dict[int, set[int]]] = []
    waiting: list[_Run] = []
    for run in sorted(runs, key=lambda run: (-len(run.versions), run.first)):
        fitting = [place for place, versions in enumerate(found) if _fit(versions, run.versions, is_java)]
        if not fitting:
            found.append({key: set(of_api) for key, of_api in run.versions.items()})
            run.programs = [len(found) - 1]
        elif len(fitting) == 1:
            _add(found[fitting[0]], run.versions)
            run.programs = fitting
        else:
            waiting.append(run)
    if not 1 < len(found) <= MOST_PROGRAMS:
        return one
    for run in waiting:
        fitting = [p for p, versions in enumerate(found) if _fit(versions, run.versions, is_java)]
        closest = [p for p in fitting if _fit(found[p], run.versions, False)]
        run.programs = closest or fitting or [*range(len(found))]
    names = _names(found)
    result = list(one)
    for run in runs:
        for connection in run.connections:
            result[connection] = tuple(sorted(names[program] for program in run.programs))
    return result


@dataclass
class _Run:
    """`connections`: their places. `opened`: when the latest of them was."""

    address: str
    first: int
    opened: int
    last: int
    versions: dict[int, set[int]]
    connections: list[int]
    programs: list[int] = field(default_factory=list)


def _runs(connections: Sequence[Seen], is_java: bool) -> list[_Run]:
    done: list[_Run] = []
    going_on: dict[str, list[_Run]] = defaultdict(list)
    for place in sorted(range(len(connections)), key=lambda place: connections[place][:3]):
        seen = connections[place]
        versions: dict[int, set[int]] = defaultdict(set)
        for key, version in seen.uses:
            if key not in NOT_COMPARED:
                versions[key].add(version)
        recent = [run for run in going_on[seen.address] if run.last + TOGETHER_MICROS >= seen.first]
        going_on[seen.address] = recent
        fitting = [run for run in recent if _goes_on(run, seen, versions, is_java)]
        if fitting:
            run = max(
                fitting,
                key=lambda run: (
                    is_java and _nearness(run, seen),
                    _common(run.versions, versions),
                    run.last,
                ),
            )
            _add(run.versions, versions)
            run.opened, run.last = seen.first, max(run.last, seen.last)
            run.connections.append(place)
        else:
            sent = {k: set(v) for k, v in versions.items()}
            run = _Run(seen.address, seen.first, seen.first, seen.last, sent, [place])
            done.append(run)
            recent.append(run)
    return done


def _nearness(run: _Run, seen: Seen) -> int:
    """How near in time a connection is to a run: opened next, at once, or later."""
    return (seen.first <= run.opened + NEXT_MICROS) + (seen.first <= run.last + AT_ONCE_MICROS)


def _goes_on(run: _Run, seen: Seen, versions: Versions, is_java: bool) -> bool:
    if seen.first <= run.last + AT_ONCE_MICROS:
        return not any(
            _takes_one(key, is_java) and run.versions[key].isdisjoint(versions[key])
            for key in run.versions.keys() & versions.keys()
        )
    return _fit(run.versions, versions, is_java)


def _fit(one: Versions, other: Versions, is_java: bool) -> bool:
    """Whether nothing tells two runs apart: of each API that both used they have a version in common."""
    return not any(
        one[key].isdisjoint(other[key])
        for key in one.keys() & other.keys()
        if not (is_java and key in JAVA_SEVERAL)
    )


def _takes_one(key: int, is_java: bool) -> bool:
    return key in ONE_VERSION or (is_java and key not in JAVA_SEVERAL and key not in NOT_COMPARED)


def _is_java(client_id: str | None) -> bool:
    product = products.by_client_id(client_id)
    library = fingerprints.by_client_id(client_id)[0]
    return "kafka-clients" in (library, product.library if product else None)


def _common(one: Versions, other: Versions) -> int:
    return sum(not one[key].isdisjoint(other[key]) for key in one.keys() & other.keys())


def _add(versions: dict[int, set[int]], more: Versions) -> None:
    for key, of_api in more.items():
        versions.setdefault(key, set()).update(of_api)


def _names(found: Sequence[Versions]) -> list[str]:
    """Of each program the versions that others do not send: as few as tell it apart, at least one."""
    differing = {
        key
        for place, one in enumerate(found)
        for other in found[:place]
        for key in one.keys() & other.keys()
        if one[key].isdisjoint(other[key])
    }
    names: list[str] = []
    for place, versions in enumerate(found):
        others = [other for number, other in enumerate(found) if number != place]
        words: list[str] = []
        # Metadata last: what a program is there for says more.
        for key in sorted(differing & versions.keys(), key=lambda key: (key == 3, key)):
            numbers = ", ".join(f"v{version}" for version in sorted(versions[key]))
            words.append(f"{apis.name(key)} {numbers}")
            others = [other for other in others if not other.get(key, set()).isdisjoint(versions[key])]
            if not others:
                break
        names.append("; ".join(words[:3]))
    for name in {name for name in names if names.count(name) > 1}:
        same = [place for place, each in enumerate(names) if each == name]
        for number, place in enumerate(same, start=1):
            names[place] = f"{name} ({number})"
    return names
