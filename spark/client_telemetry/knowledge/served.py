"""Request versions that a broker release serves, and those that it advertises.

The two differ: 4.x advertises Produce 0 (KAFKA-18659) and refuses Produce 0-2. The advertised range decides what a
client chooses, the served range decides what works. Ranges are those of a broker listener with default settings,
without versions behind unstable.api.versions.enable.
"""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from client_telemetry.knowledge import (
    DamagedKnowledge,
    MeasuredTarget,
    apis,
    features,
    measured_target,
    releases,
    rows,
    whole,
)
from client_telemetry.knowledge.apis import Versions
from client_telemetry.knowledge.features import Gate

FILE = "broker_api_versions.csv"
COLUMNS = (
    "release",
    "api_key",
    "api_name",
    "served_min",
    "served_max",
    "advertised_min",
    "advertised_max",
    "deprecated",
    "condition",
    "source",
)


class BrokerApi(NamedTuple):
    served: Versions
    advertised: Versions
    deprecated: Versions | None
    """Versions that the release's own metrics and request log count as deprecated."""
    condition: str
    """Empty, or what the broker needs to serve the API at all (a telemetry plugin)."""

    @property
    def serves_any(self) -> bool:
        """False while all its versions depend on a feature level."""
        return self.served.min <= self.served.max

    def works_with(self, client: Versions) -> bool:
        """Whether a negotiating client with this range works: it takes the highest version that both sides have.

        It chooses from the advertised range and works within the served one: 4.x advertises Produce 0-2 and refuses
        them (KAFKA-18659).
        """
        chosen = min(client.max, self.advertised.max)
        lowest = max(client.min, self.advertised.min)
        return lowest <= chosen and self.served.has(chosen)


@cache
def _apis_by_release() -> dict[str, dict[int, BrokerApi]]:
    releases_known = set(releases.known())
    by_release: dict[str, dict[int, BrokerApi]] = {}
    for line, cells in rows(FILE, COLUMNS):
        release, key_text, api_name, *numbers, deprecated_text, condition, source = cells
        key = apis.key_of(FILE, line, key_text, api_name)
        if release not in releases_known:
            raise DamagedKnowledge(FILE, line, f"release {release} is not in {releases.FILE}")
        low, high, advertised_low, advertised_high = (
            whole(FILE, line, column, text) for column, text in zip(COLUMNS[3:7], numbers, strict=True)
        )
        if low > high or advertised_low > advertised_high or advertised_low > low or advertised_high != high:
            raise DamagedKnowledge(
                FILE, line, f"{api_name} {'-'.join(numbers)} is not a range within a range"
            )
        if not source:
            raise DamagedKnowledge(FILE, line, "no source")
        of_release = by_release.setdefault(release, {})
        if key in of_release:
            raise DamagedKnowledge(FILE, line, f"{api_name} occurs twice for {release}")
        of_release[key] = BrokerApi(
            Versions(low, high),
            Versions(advertised_low, advertised_high),
            _deprecated(line, deprecated_text),
            condition,
        )
    for release in releases_known - by_release.keys():
        raise DamagedKnowledge(FILE, 1, f"release {release} has no APIs")
    return by_release


def _deprecated(line: int, text: str) -> Versions | None:
    if not text:
        return None
    low, _, high = text.partition("-")
    versions = Versions(whole(FILE, line, "deprecated", low), whole(FILE, line, "deprecated", high or low))
    if versions.min > versions.max:
        raise DamagedKnowledge(FILE, line, f"deprecated {text} ends before it begins")
    return versions


def by(release: str) -> dict[int, BrokerApi]:
    """API key -> ranges of one exact release with every supported feature finalized."""
    target = measured_target(release)
    return _measured(target) if target else _apis_by_release()[release]


def _measured(target: MeasuredTarget) -> dict[int, BrokerApi]:
    """A request that is answered and not advertised works for clients that do not ask for versions."""
    return {
        key: BrokerApi(Versions(*served), Versions(*target.advertised.get(key, (0, -1))), None, "")
        for key, served in target.served.items()
    }


def with_levels(release: str, levels: Mapping[str, int]) -> dict[int, BrokerApi]:
    """API key -> ranges of one exact release with these finalized feature levels.

    Versions that need a higher level are advertised all the same, and refused.
    """
    closed = features.closed(release, levels)
    return without(release, closed) if closed else by(release)


@cache
def without(release: str, closed: tuple[Gate, ...]) -> dict[int, BrokerApi]:
    """API key -> ranges of one exact release with these gates closed."""
    apis_by_key = dict(by(release))
    for gate in closed:
        api = apis_by_key.get(gate.api_key)
        if api is None:
            continue
        low, high = api.served
        if gate.min_version > low:
            high = min(high, gate.min_version - 1)
        else:
            low = gate.max_version + 1
        apis_by_key[gate.api_key] = api._replace(served=Versions(low, high))
    return apis_by_key


@cache
def dropped(from_release: str, to_release: str, closed: tuple[Gate, ...] = ()) -> frozenset[int]:
    """Keys of the APIs of which the target, with these gates closed, refuses some version that the source serves.

    Only these can make an upgrade refuse a request that works today.
    """
    source, target = by(from_release), without(to_release, closed)
    return frozenset(
        key
        for key, api in source.items()
        if key not in target
        or target[key].served.min > api.served.min
        or target[key].served.max < api.served.max
    )


def serves(release: str, key: int, version: int) -> bool:
    """Whether a release accepts this request version."""
    api = by(release).get(key)
    return api is not None and api.served.has(version)


@cache
def falsely_deprecated(from_release: str, to_release: str) -> dict[int, Versions]:
    """API key -> versions that the source's metrics call deprecated although the target serves them.

    For this upgrade, DeprecatedRequestsPerSec and the source's request log raise false alarms about these.
    """
    versions_by_key = {}
    for key, api in by(from_release).items():
        target = by(to_release).get(key)
        if api.deprecated and target:
            low, high = max(api.deprecated.min, target.served.min), min(api.deprecated.max, target.served.max)
            if low <= high:
                versions_by_key[key] = Versions(low, high)
    return versions_by_key
