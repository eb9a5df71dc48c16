"""What happens between a client and brokers of a release: the oracle. It knows every fact, and shares no code or table with
the verdict engine.

Brokers: brokers.csv, read in Kafka's sources at each release. Clients: clients.csv, read in the sources of the libraries
or seen in runs with real brokers. Logins and features: KIP-511, KIP-848, KIP-890, KIP-896, KIP-932, KIP-1071,
CVE-2024-56128, KAFKA-10239, KAFKA-18339, KAFKA-19444, confluentinc/librdkafka#4895, and runs of 52 library versions on
nine releases.
"""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
DESCRIBE_GROUPS, API_VERSIONS, ADD_PARTITIONS, END_TXN, OFFSET_COMMIT, FETCH = 15, 18, 24, 26, 8, 1
CREATE_TOKEN, DESCRIBE_CLUSTER = 38, 60
CONSUMER_HEARTBEAT, SHARE_HEARTBEAT, STREAMS_HEARTBEAT = 68, 76, 88
TRANSACTIONS = frozenset((24, 25, 26, 28))
SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")


def parse(release: str) -> tuple[int, ...]:
    """'v1.19.0' -> (1, 19, 0)."""
    return tuple(int(number) for number in re.findall(r"\d+", release))


@dataclass(frozen=True)
class BrokerRange:
    """Request versions of one API: those accepted, and the least that ApiVersions advertises."""

    low: int
    high: int
    advertised_low: int


@dataclass(frozen=True)
class Client:
    """One client with all that decides what happens to it."""

    library: str
    version: str
    configuration: str
    negotiates: bool
    requests: Mapping[int, tuple[int, int]]
    """API key -> lowest and highest version; one version where it does not negotiate."""
    apis: frozenset[int]
    """What its program does with Kafka."""
    mechanism: str | None
    """None: it does not log in."""
    delegation_token: bool = False
    builds_offset_commit: bool = False
    """It commits for groups that it is no member of, with requests that it builds itself."""

    @property
    def number(self) -> tuple[int, ...]:
        return parse(self.version)


@dataclass(frozen=True)
class Cluster:
    """Brokers of one release, and how they are set up."""

    release: str
    levels: Mapping[str, int]
    """Finalized features; a missing one is at level 0."""
    vendor: str = "apache-kafka"
    token_secret_by_master_key: bool = False
    """delegation.token.master.key and not delegation.token.secret.key."""
    has_static_members: bool = False

    @property
    def number(self) -> tuple[int, ...]:
        return parse(self.release)


@cache
def brokers() -> dict[str, dict[int, BrokerRange]]:
    """Release -> API key -> versions."""
    with (HERE / "brokers.csv").open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    return {
        release: {
            int(key): BrokerRange(int(low), int(high), int(advertised or low))
            for key, low, high, advertised in re.findall(
                r"(\d+):(\d+)-(\d+)(?:\(advertised (\d+)-\d+\))?", row["ranges"]
            )
        }
        for row in rows
        for release in row["releases"].split()
    }


_METADATA_VERSIONS = (
    ((3, 3), 7), ((3, 4), 8), ((3, 5), 11), ((3, 6), 14), ((3, 7), 19), ((3, 8), 20), ((3, 9), 21),
    ((4, 0), 25), ((4, 1), 27), ((4, 2), 29), ((4, 3), 30),
)  # fmt: skip
"""Release and its default level (apache/kafka: MetadataVersion.java)."""


def default_levels(release: str) -> dict[str, int]:
    """What a new cluster of the release finalizes (KIP-1022 and the features' own KIPs)."""
    number = parse(release)
    levels = {}
    for since, level in _METADATA_VERSIONS:
        if number >= since:
            levels["metadata.version"] = level
    if number >= (4, 0):
        levels |= {"transaction.version": 2, "group.version": 1}
    if number >= (4, 2):
        levels |= {"share.version": 1, "streams.version": 1}
    return levels


def chosen_version(client: Client, key: int, cluster: Cluster) -> int | None:
    """The version of a request that the client sends to these brokers; None if it finds that they have none that it can
    use, and gives up by itself.
    """
    low, high = client.requests[key]
    offered = brokers()[cluster.release].get(key)
    if not client.negotiates:
        return low
    if key == ADD_PARTITIONS and client.library == "franz-go":
        high = _franz_go_adds_partitions(client, cluster)
    if offered is None or low > offered.high or high < offered.advertised_low:
        return None
    return min(high, offered.high)


def _franz_go_adds_partitions(client: Client, cluster: Cluster) -> int:
    """The highest AddPartitionsToTxn of franz-go: versions 4 and 5 are for brokers (KIP-890), but 1.15.1 takes 4, and
    1.19.0 and 1.19.1 take 5 where EndTxn 5 is offered (twmb/franz-go: CHANGELOG.md; runs on 3.9.1 and 4.x).
    """
    end_txn = brokers()[cluster.release].get(END_TXN)
    if client.number in ((1, 19, 0), (1, 19, 1)) and end_txn and end_txn.high >= 5:
        return 5
    return 4 if client.number == (1, 15, 1) else 3


def harm(client: Client, cluster: Cluster) -> list[str]:
    """Why the client cannot do its job on these brokers, in words; empty if it can."""
    reasons = [_login_fails(client, cluster), _does_not_connect(client, cluster), *_vendor(client, cluster)]
    reasons += [_request_fails(client, key, cluster) for key in sorted(client.apis)]
    return [reason for reason in reasons if reason]


def harm_while_brokers_differ(client: Client, source: Cluster, target: Cluster) -> list[str]:
    """Why it cannot do its job while brokers of both releases are at work, in words."""
    reasons = [*harm(client, source), *harm(client, target)]
    if client.apis & {ADD_PARTITIONS}:
        if target.number == (4, 2, 0) and source.number < (4, 2):
            reasons.append("brokers send WriteTxnMarkers 2 to brokers without it (KAFKA-20322)")
        if (3, 6) <= target.number <= (3, 7, 0) and source.number < (3, 6):
            reasons.append(
                "brokers verify transactions with AddPartitionsToTxn 4 at brokers without it (KAFKA-16692)"
            )
    return reasons


def depends_on_broker_settings(client: Client, cluster: Cluster) -> bool:
    """Whether only a setting of the brokers that no record shows decides: the verdict then names the condition."""
    return client.delegation_token and cluster.token_secret_by_master_key and cluster.number >= (4, 0)


def _login_fails(client: Client, cluster: Cluster) -> str:
    release, number, mechanism = cluster.number, client.number, client.mechanism
    if mechanism in SCRAM:
        if client.library == "librdkafka" and number <= (2, 6, 0) and release >= (4, 0):
            return "" if cluster.vendor == "confluent" else "its SCRAM nonce is doubled"
        foreign = {"franz-go": (1, 2, 9), "brod": (3, 16, 8)}.get(client.library)
        if foreign and number <= foreign and _compares_nonces(release):
            return "its last SCRAM message has a foreign nonce"
        if client.delegation_token and cluster.token_secret_by_master_key and release >= (4, 0):
            return "delegation.token.master.key is not read"
    if mechanism == "GSSAPI":
        if client.library == "librdkafka" and number <= (2, 10, 1) and release == (4, 0, 0):
            return "it wants JoinGroup 0 for GSSAPI"
        if client.library == "kafka-clients" and number < (0, 10) and release >= (4, 0):
            return "it sends GSSAPI tokens without SaslHandshake"
    return ""


def _compares_nonces(release: tuple[int, ...]) -> bool:
    """CVE-2024-56128: fixed in 3.7.2, 3.8.1, 3.9.0."""
    return release >= (3, 9) or (3, 8, 1) <= release < (3, 9) or (3, 7, 2) <= release < (3, 8)


def _does_not_connect(client: Client, cluster: Cluster) -> str:
    if client.library == "franz-go" and client.number == (1, 19, 0) and cluster.number < (3, 9):
        return "it takes error 35 to ApiVersions 4 for an answer"
    if client.library == "platformatic-kafka" and cluster.number < (2, 4):
        return "it asks with ApiVersions 3 only"
    return ""


def _vendor(client: Client, cluster: Cluster) -> list[str]:
    """Redpanda and Event Hubs by their own documentation."""
    lacks: dict[str, frozenset[int]] = {
        "redpanda": frozenset((CONSUMER_HEARTBEAT, SHARE_HEARTBEAT, STREAMS_HEARTBEAT)),
        "azure-event-hubs": frozenset((CONSUMER_HEARTBEAT, SHARE_HEARTBEAT, STREAMS_HEARTBEAT))
        | TRANSACTIONS,
    }
    return [
        f"{cluster.vendor} has no API {key}" for key in client.apis & lacks.get(cluster.vendor, frozenset())
    ]


def _request_fails(client: Client, key: int, cluster: Cluster) -> str:
    version, offered = chosen_version(client, key, cluster), brokers()[cluster.release].get(key)
    if key == API_VERSIONS or falls_back(client, key, version):
        return ""
    if version is None or offered is None or not offered.low <= version <= offered.high:
        sent = "has no version of" if version is None else f"sends version {version} of"
        return f"it {sent} API {key}"
    if gate := _waits_for(key, version, cluster):
        return f"API {key} version {version} waits for {gate}"
    if (
        key == DESCRIBE_GROUPS
        and version <= 3
        and cluster.has_static_members
        and (2, 4) <= cluster.number <= (2, 5, 0)
    ):
        return "DescribeGroups below 4 fails for groups with static members (KAFKA-10239)"
    if (
        key == FETCH
        and client.library == "librdkafka"
        and client.number == (2, 6, 0)
        and cluster.number < (2, 7)
    ):
        return "it sends Fetch 12 to brokers that do not have it"
    if key == OFFSET_COMMIT and version >= 10 and client.builds_offset_commit:
        return "OffsetCommit 10 wants topic ids, which it leaves out"
    return ""


def falls_back(client: Client, key: int, version: int | None) -> bool:
    """Java describes a cluster with Metadata where brokers have no DescribeCluster (KafkaAdminClient.describeCluster, KIP-700)."""
    return version is None and key == DESCRIBE_CLUSTER and client.library == "kafka-clients"


def _waits_for(key: int, version: int, cluster: Cluster) -> str:
    """The feature that brokers want finalized before they answer this request; empty if none."""
    if cluster.number < (4, 0):
        return ""
    if key == CREATE_TOKEN and cluster.levels.get("metadata.version", 0) < 14:  # 3.6-IV2, KAFKA-15219
        return "metadata.version"
    gates = {
        CONSUMER_HEARTBEAT: "group.version",
        SHARE_HEARTBEAT: "share.version",
        78: "share.version",
        79: "share.version",
        STREAMS_HEARTBEAT: "streams.version",
    }
    feature = "transaction.version" if key == ADD_PARTITIONS and version >= 4 else gates.get(key, "")
    return feature if feature and cluster.levels.get(feature, 0) < 1 else ""
