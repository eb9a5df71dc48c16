"""Request versions of a day that newer releases refuse, and requests that no known client explains."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache

from client_telemetry.knowledge import apis, releases, served
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.reports.fleet.model import (
    DeprecatedUse,
    DeprecatedVersion,
    FleetClient,
    RequestCounts,
    UnexplainedRequests,
)
from client_telemetry.tables.rows import ApiUseRecord, BrokerHourRow, ClientRow, RequestsCountedRecord

SHOWN_IDS = 12
SENT_BY_BROKERS = {
    ApiKey.FETCH,
    ApiKey.LIST_OFFSETS,
    ApiKey.API_VERSIONS,
    ApiKey.OFFSET_FOR_LEADER_EPOCH,
    ApiKey.ADD_PARTITIONS_TO_TXN,
}
"""Fetch, ListOffsets and OffsetForLeaderEpoch (replication), ApiVersions, AddPartitionsToTxn (verification, KIP-890):
what brokers send each other beside the APIs that only they use. Not in versions that newer releases refuse: brokers take
the newest that both sides have."""


@cache
def refused_by(api_key: int, version: int, release: str | None) -> str | None:
    """Which releases newer than `release` refuse a request version because it is too old, in words; None where none
    does. Without a release the newest known one is asked.

    >>> refused_by(11, 1, "3.9.1"), refused_by(8, 1, "3.9.1"), refused_by(8, 2, "3.9.1")
    ('4.0.0', '4.0.0 and later', None)
    """
    newer = releases.newer_than(release) if release else releases.known()[-1:]
    refusing = [each for each in newer if _is_too_old(api_key, version, each)]
    if not refusing:
        return None
    first = newer.index(refusing[0])
    if len(refusing) > 1 and tuple(refusing) == newer[first:]:
        return f"{refusing[0]} and later"
    return ", ".join(refusing)


def _is_too_old(api_key: int, version: int, release: str) -> bool:
    if api_key not in apis.by_key():
        return False  # newer than the knowledge base
    api = served.by(release).get(api_key)
    return version < api.served.min if api else apis.by_key()[api_key].used_by != "broker"


def deprecated_uses(api_uses: Iterable[ApiUseRecord], release: str | None) -> tuple[DeprecatedUse, ...]:
    """`api_uses` of a client: those whose version a newer release refuses. Requests that a broker of the day refused
    already count too: the client has not changed."""
    found = []
    for use in api_uses:
        words = refused_by(use["api_key"], use["version"], release)
        requests = use["requests"] + use["rejected"]
        if words and requests:
            key = use["api_key"]
            found.append(DeprecatedUse(key, apis.name(key), use["version"], requests, words))
    return tuple(found)


def deprecated_versions(clients: Iterable[FleetClient]) -> tuple[DeprecatedVersion, ...]:
    """The same by request version, in the order of API and version."""
    uses = defaultdict(list)
    for client in clients:
        for use in client.deprecated:
            uses[use.api_key, use.api_name, use.version, use.refused_by].append((client, use.requests))
    return tuple(
        DeprecatedVersion(
            *key,
            clients=len(found),
            requests=sum(requests for _, requests in found),
            client_ids=first_ids(client.client_id for client, _ in found),
            applications=applications(client for client, _ in found),
        )
        for key, found in sorted(uses.items())
    )


def applications_by_release(clients: Iterable[FleetClient]) -> dict[str, int]:
    """Which releases refuse, in words -> how many applications use a version that just these refuse."""
    clients = list(clients)
    words = {use.refused_by for client in clients for use in client.deprecated}
    return {
        refused_by: applications(
            client for client in clients if any(use.refused_by == refused_by for use in client.deprecated)
        )
        for refused_by in sorted(words)
    }


def applications(clients: Iterable[FleetClient]) -> int:
    """How many applications these clients are of."""
    return len({(client.principal, client.owner, client.application) for client in clients})


def first_ids(client_ids: Iterable[str | None]) -> tuple[str | None, ...]:
    """The first few of several clients' ids, each once."""
    return tuple(sorted(set(client_ids), key=lambda each: each or "")[:SHOWN_IDS])


def request_counts(
    hours: Iterable[BrokerHourRow],
    known: Iterable[ClientRow],
    unidentified: Iterable[ClientRow],
    release: str | None,
) -> RequestCounts:
    """Rows of `broker_hours`; rows of `clients` of which it is known whose they are, and of which it is not.

    A client's requests are known for the day as a whole: where some hours have no counts, what is unexplained is a
    lower bound."""
    hours = list(hours)
    reported = [each for row in hours if (each := row.get("requests_counted")) is not None]
    counted = _sums(each for requests in reported for each in requests)
    explained = _sums(use for row in known for use in row["api_uses"])
    nobodys = _sums(use for row in unidentified for use in row["api_uses"])
    found = []
    for (key, version), count in counted.items():
        rest = count - explained[key, version]
        if rest > 0:
            refused = refused_by(key, version, release)
            found.append(
                UnexplainedRequests(
                    api_key=key,
                    api_name=apis.name(key),
                    version=version,
                    counted=count,
                    of_known_clients=explained[key, version],
                    of_unidentified=nobodys[key, version],
                    unexplained=rest,
                    refused_by=refused,
                    sent_by_brokers=refused is None and (key in SENT_BY_BROKERS or _is_of_brokers(key)),
                )
            )
    found.sort(key=lambda each: (each.sent_by_brokers, -each.unexplained, each.api_key, each.version))
    unexplained = sum(each.unexplained for each in found if not each.sent_by_brokers)
    return RequestCounts(len(reported), len(hours), sum(counted.values()), unexplained, tuple(found))


def _is_of_brokers(api_key: int) -> bool:
    return api_key in apis.by_key() and apis.by_key()[api_key].used_by == "broker"


def _sums(uses: Iterable[ApiUseRecord | RequestsCountedRecord]) -> Counter[tuple[int, int]]:
    sums: Counter[tuple[int, int]] = Counter()
    for use in uses:
        # Brokers count a request when its answer is sent; one that they refuse has none.
        sums[use["api_key"], use["version"]] += use["requests"]
    return sums
