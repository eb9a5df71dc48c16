"""In how many versions one process sends an API to brokers of one release: in one, with the exceptions here. Which program a
request is from, and whether a client is several programs, follows from it.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from client_telemetry.compatibility.fingerprints import TAKES_LOWER, Profile, every_profile
from client_telemetry.knowledge import apis, served

ONE_VERSION = frozenset((8, 11, 12, 13, 14, 15, 20, 22, 24, 26, 32))
"""OffsetCommit, JoinGroup, Heartbeat, LeaveGroup, SyncGroup, DescribeGroups, DeleteTopics, InitProducerId,
AddPartitionsToTxn, EndTxn, DescribeConfigs: no process of benchmarks/matrix sent two versions of these to one broker
release.
"""
SHOWS_ALL_FROM_THE_START = frozenset((11,))
"""JoinGroup: who joins shows from there on all that a member sends, so two versions of it hide nothing of either program."""

Several = Mapping[int, frozenset[int]]
"""API key -> versions, of APIs that were seen in more than one."""

_PRODUCE, _FETCH, _METADATA, _OFFSET_FETCH, _FIND_COORDINATOR = 0, 1, 3, 9, 10
_TOGETHER: Mapping[str, Mapping[int, tuple[frozenset[int], ...]]] = {
    "aiokafka": {
        _METADATA: (frozenset((0, 1)), frozenset((1, 5)), frozenset((0, 1, 5))),
        _FIND_COORDINATOR: (frozenset((0, 1)),),
    },
    "kafka-go (Conn, Reader)": {_METADATA: (frozenset((1, 6)),)},
    "kafka-node": {_METADATA: (frozenset((0, 1)),), _FETCH: (frozenset((0, 2)),)},
    "kafka-python": {
        _METADATA: (
            frozenset((0, 1)),
            frozenset((1, 5)),
            frozenset((0, 1, 5)),
            frozenset((5, 7)),
            frozenset((6, 7)),
            frozenset((5, 6, 7)),
        )
    },
    "sarama": {
        _PRODUCE: (frozenset((3, 7)),),
        _METADATA: (frozenset((0, 1)),),
        _OFFSET_FETCH: (frozenset((1, 2)),),
    },
}
"""Library, with the configuration if it matters -> API key -> the versions that one process sent to brokers of one release: runs of
benchmarks/matrix."""


def sends(profile: Profile, several: Several) -> bool:
    """Whether one process of a library, in one configuration, sends these APIs in all these versions."""
    own = _TOGETHER.get(profile.library) or _TOGETHER.get(f"{profile.library} ({profile.configuration})", {})
    return all(
        key in TAKES_LOWER.get(profile.library, ())
        or key in profile.also_sends
        or versions in own.get(key, ())
        for key, versions in several.items()
    )


_KAFKA_GO = "kafka-go"
_LOWEST_METADATA_OF_CONN = 1


def is_reader_and_writer_of_kafka_go(seen: Sequence[tuple[int, Sequence[int]]], release: str) -> bool:
    """Whether these are just the requests of a kafka-go program that has a Reader (conn.go) and a Writer or Client (transport.go),
    which choose versions each by itself. Each must show one beside Metadata that the other does not send.
    """
    chosen = _chosen_by_kafka_go(release)
    requests = {(key, version) for key, of_api in seen if key not in apis.SET_UP for version in of_api}
    together = set().union(*chosen) | {(_METADATA, _LOWEST_METADATA_OF_CONN)}
    return requests <= together and all(
        any(
            request in own and not any(request in other for other in chosen if other is not own)
            for request in requests
            if request[0] != _METADATA
        )
        for own in chosen
    )


@cache
def _chosen_by_kafka_go(release: str) -> tuple[frozenset[tuple[int, int]], ...]:
    """For each configuration the requests, as API key and version, that its versions choose on a release."""
    offered = served.by(release)
    chosen: dict[str, set[tuple[int, int]]] = {}
    for profile in every_profile():
        if profile.library == _KAFKA_GO:
            chosen.setdefault(profile.configuration, set()).update(
                (key, min(versions.max, offered[key].advertised.max))
                for key, versions in profile.ranges.items()
                if key in offered
            )
    return tuple(map(frozenset, chosen.values()))
