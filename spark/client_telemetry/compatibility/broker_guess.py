"""Which releases a broker may run, by the request versions that its ApiVersions answer offers.

Patch releases of a line mostly offer the same, so the answer is a set. A KRaft broker lowers the APIs that it forwards
to the controller to what both know, so of those a broker may offer less than its release has, never more; telemetry APIs are
offered only where a telemetry receiver is configured.
"""

from collections.abc import Iterable

from client_telemetry.compatibility import apis, releases, served


def candidates(advertised: Iterable[tuple[int, int, int]]) -> tuple[str, ...]:
    """Releases whose brokers offer just these (api key, min, max), oldest first; none for a broker that no release of
    Apache Kafka explains (a proxy, another implementation, versions that were made available by configuration).

    >>> candidates([])
    ()
    """
    offered = {key: (low, high) for key, low, high in advertised}
    return tuple(release for release in releases.known() if offered and _explains(release, offered))


def _explains(release: str, offered: dict[int, tuple[int, int]]) -> bool:
    of_release = served.by(release)
    for key, (_, high) in offered.items():
        between_brokers = key in apis.by_key() and apis.by_key()[key].used_by == "broker"
        if not between_brokers and (key not in of_release or high > of_release[key].advertised.max):
            return False
    return all(
        offered[key] == api.advertised if key in offered else bool(api.condition)
        for key, api in of_release.items()
        if apis.by_key()[key].used_by in ("data", "connection")
    )
