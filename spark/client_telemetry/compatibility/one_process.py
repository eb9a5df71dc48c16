"""In how many versions one process sends an API to brokers of one release: in one, with the exceptions here. Which program a
request is from, and whether a client is several programs, follows from it.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from client_telemetry.compatibility.fingerprints import TAKES_LOWER, Profile, every_profile
from client_telemetry.knowledge import apis, served
from client_telemetry.knowledge.api_key import ApiKey

ONE_VERSION = frozenset(
    (
        ApiKey.OFFSET_COMMIT,
        ApiKey.JOIN_GROUP,
        ApiKey.HEARTBEAT,
        ApiKey.LEAVE_GROUP,
        ApiKey.SYNC_GROUP,
        ApiKey.DESCRIBE_GROUPS,
        ApiKey.DELETE_TOPICS,
        ApiKey.INIT_PRODUCER_ID,
        ApiKey.ADD_PARTITIONS_TO_TXN,
        ApiKey.END_TXN,
        ApiKey.DESCRIBE_CONFIGS,
    )
)
"""OffsetCommit, JoinGroup, Heartbeat, LeaveGroup, SyncGroup, DescribeGroups, DeleteTopics, InitProducerId,
AddPartitionsToTxn, EndTxn, DescribeConfigs: no process of benchmarks/matrix sent two versions of these to one broker
release.
"""
SHOWS_ALL_FROM_THE_START = frozenset((ApiKey.JOIN_GROUP,))
"""JoinGroup: who joins shows from there on all that a member sends, so two versions of it hide nothing of either program."""

Several = Mapping[int, frozenset[int]]
"""API key -> versions, of APIs that were seen in more than one."""

_TOGETHER: Mapping[str, Mapping[int, tuple[frozenset[int], ...]]] = {
    "aiokafka": {
        ApiKey.METADATA: (frozenset((0, 1)), frozenset((1, 5)), frozenset((0, 1, 5))),
        ApiKey.FIND_COORDINATOR: (frozenset((0, 1)),),
    },
    "kafka-go (Conn, Reader)": {ApiKey.METADATA: (frozenset((1, 6)),)},
    "kafka-node": {ApiKey.METADATA: (frozenset((0, 1)),), ApiKey.FETCH: (frozenset((0, 2)),)},
    "kafka-python": {
        ApiKey.METADATA: (
            frozenset((0, 1)),
            frozenset((1, 5)),
            frozenset((0, 1, 5)),
            frozenset((5, 7)),
            frozenset((6, 7)),
            frozenset((5, 6, 7)),
        )
    },
    "sarama": {
        ApiKey.PRODUCE: (frozenset((3, 7)),),
        ApiKey.METADATA: (frozenset((0, 1)),),
        ApiKey.OFFSET_FETCH: (frozenset((1, 2)),),
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
    together = set().union(*chosen) | {(ApiKey.METADATA, _LOWEST_METADATA_OF_CONN)}
    return requests <= together and all(
        any(
            request in own and not any(request in other for other in chosen if other is not own)
            for request in requests
            if request[0] != ApiKey.METADATA
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
