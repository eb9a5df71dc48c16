"""Which brokers of a cluster ran which release, and when that changed."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import itemgetter

from client_telemetry.console.grouped import grouped
from client_telemetry.reports.evidence import BrokerIncarnation, BrokersOfRelease, ClusterState
from client_telemetry.reports.versions import version_order


def cluster_states(brokers: Iterable[BrokerIncarnation]) -> tuple[ClusterState, ...]:
    """The first state has what each broker ran first; then one for each start of a broker on another release than
    before. Incarnations that do not tell when they started are left out."""
    starts = sorted(
        ((broker.started_at, broker.broker_id, broker) for broker in brokers if broker.started_at),
        key=itemgetter(0, 1),
    )
    running: dict[int, str] = {}
    for _, broker_id, broker in starts:
        running.setdefault(broker_id, release(broker))
    states = [_state(starts[0][0], running)] if starts else []
    for started_at, broker_id, broker in starts:
        if running[broker_id] != release(broker):
            running[broker_id] = release(broker)
            states.append(_state(started_at, running))
    return tuple(states)


def _state(since: datetime, running: Mapping[int, str]) -> ClusterState:
    of_release = grouped(sorted(running), running.__getitem__)
    ordered = sorted(of_release.items(), key=lambda item: version_order(item[0]))
    return ClusterState(since, tuple(BrokersOfRelease(each, tuple(ids)) for each, ids in ordered))


def release(broker: BrokerIncarnation) -> str:
    """What a broker runs, in words: as declared, under its own name if that is not Apache Kafka's; otherwise what it
    can be. A guess never reads as one release for certain: a newer patch may offer the same."""
    named = " ".join(filter(None, (broker.software_name, broker.software_version)))
    declared = named.removeprefix("apache-kafka").strip() or "not reported"
    if broker.releases_known_by == "none_explains":
        return f"{declared} (offers the request versions of no known release of Apache Kafka)"
    if broker.releases_known_by == "confluent_platform":
        return f"{declared} (built on {broker.releases[0]} to {broker.releases[-1]})"
    if broker.releases_known_by == "guessed":
        at_least = " or a later patch" if len(broker.releases) == 1 else ""
        return f"{declared} (offers the request versions of {' or '.join(broker.releases)}{at_least})"
    return declared
