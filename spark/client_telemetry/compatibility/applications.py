"""Whether connections without a software name belong to the application whose connections, with the same principal and
client id, declared one. Decided by request versions and times, never by the id alone; doubtful cases are called
doubtful.

Both happen: kafka-python 2.x declares its name on its first connection only, and a new Java client may share its id
with an old one.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from client_telemetry.compatibility import fingerprints
from client_telemetry.knowledge import apis, client_ranges, declared_versions, releases, served, software
from client_telemetry.knowledge.served import BrokerApi
from client_telemetry.knowledge.software import Identity

ONE, TWO, DOUBTFUL = "one_application", "two_applications", "doubtful"

_TOGETHER = dt.timedelta(minutes=1)
"""How far apart an application's first connections may be."""


@dataclass(frozen=True)
class Connections:
    """Connections of one principal and client id that registered the same software, or all registered none."""

    client_software_name: str
    client_software_version: str
    versions: Mapping[int, frozenset[int]]
    """API key -> versions that were requested, refused ones included: they show what the client sends."""
    broker_releases: tuple[str, ...]
    first_seen_at: dt.datetime
    last_seen_at: dt.datetime


@dataclass(frozen=True)
class Relation:
    """ONE, TWO or DOUBTFUL, with the reason."""

    kind: str
    because: str


def relation(named: Connections, unnamed: Connections) -> Relation:
    """How `unnamed` (software `unknown`, or empty where the source does not record it) relates to `named`."""
    requests = {key: versions for key, versions in unnamed.versions.items() if key not in apis.SET_UP}
    if not requests:
        return _closed_before_named(named, unnamed)
    identity = software.identify_name(named.client_software_name, named.client_software_version)
    if identity is None or identity.version is None or not identity.version_decides:
        what = identity.text if identity else named.client_software_name
        return Relation(DOUBTFUL, f"which requests {what} sends is not known by its version")
    if strange := _cannot_send(identity, requests):
        return Relation(TWO, strange)
    keeps_names = bool(unnamed.broker_releases) and all(map(_keeps_names, unnamed.broker_releases))
    offered = [served.by(release) for release in unnamed.broker_releases if release in releases.known()]
    since = software.names_every_connection_since(identity.library)
    if keeps_names and unnamed.client_software_name and since is not None and identity.version >= since:
        names = f"{identity.text} names every connection before its first request"
        return Relation(TWO, "; ".join(filter(None, (names, _not_chosen(identity, requests, offered)))))
    if not identity.leaves_connections_unnamed and keeps_names:
        return Relation(DOUBTFUL, f"whether {identity.text} names every connection is not known")
    if doubt := _unexplained(identity, requests, offered):
        return Relation(DOUBTFUL, doubt)
    if unnamed.first_seen_at < named.first_seen_at - _TOGETHER:
        return Relation(DOUBTFUL, "the unnamed connections were there before the first that carries the name")
    why = "does not name every connection" if keeps_names else "was not asked its name by brokers before 2.5"
    return Relation(ONE, f"{identity.text} {why}, and every request has the version that it chooses")


def _closed_before_named(named: Connections, unnamed: Connections) -> Relation:
    together = (
        unnamed.first_seen_at >= named.first_seen_at - _TOGETHER
        and unnamed.last_seen_at <= named.last_seen_at + _TOGETHER
    )
    nothing = "the unnamed connections asked for nothing but ApiVersions and the login"
    if together:
        return Relation(ONE, f"{nothing}, while the others were open: they closed before they were named")
    return Relation(DOUBTFUL, f"{nothing}, at another time than the others")


def _cannot_send(identity: Identity, requests: Mapping[int, frozenset[int]]) -> str:
    """The first request that this library version cannot have sent; empty if it can have sent all."""
    newer = client_ranges.is_newer_than_known(identity)
    for key, versions in sorted(requests.items()):
        row = identity.version and client_ranges.of(identity.library, identity.version, key)
        if not row:
            continue
        for version in sorted(versions):
            if client_ranges.can_send(version, row.versions, row.also_sends):
                continue
            if not (newer and version > row.versions.max):
                return f"{identity.text} does not send {apis.request(key, version)} ({apis.in_words(row.versions)} only)"
    return ""


def _not_chosen(
    identity: Identity, requests: Mapping[int, frozenset[int]], offered: Sequence[Mapping[int, BrokerApi]]
) -> str:
    """The first request in a version that the library would not choose on these brokers; empty if there is none."""
    for key, versions in sorted(requests.items()):
        declared = declared_versions.declared(identity, key)
        chosen = {
            min(declared.max, by_key[key].advertised.max) for by_key in offered if declared and key in by_key
        }
        if chosen and (unchosen := versions - chosen):
            return (
                f"{apis.request(key, min(unchosen))} was sent, and {identity.text} would choose "
                f"{' or '.join(map(apis.in_words, sorted(chosen)))} here"
            )
    return ""


def _unexplained(
    identity: Identity, requests: Mapping[int, frozenset[int]], offered: Sequence[Mapping[int, BrokerApi]]
) -> str:
    """What is not known to be the choice of the library on these brokers; empty if every request is."""
    if not offered:
        return "the release of the brokers is not known"
    for key in sorted(requests):
        if declared_versions.declared(identity, key) is None or not any(key in by_key for by_key in offered):
            return f"whether {identity.text} sends {apis.name(key)} is not known"
    return _not_chosen(identity, requests, offered)


def _keeps_names(release: str) -> bool:
    try:
        return releases.parse(release) >= fingerprints.NAMES_KEPT_SINCE
    except releases.UnknownRelease:
        return False
