"""Which clients of a review belong to one application: owners know applications, so reviews count them. Pure."""

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from client_telemetry.identity.applications import Client, applications
from client_telemetry.knowledge import kip511
from client_telemetry.review.model import Review, ReviewedClient
from client_telemetry.review.outcome import OUTCOMES
from client_telemetry.review.tracks import Track
from client_telemetry.tables.rows import ClientRow

Names = Mapping[tuple[str | None, str, str], str]
"""(client id, principal, software name as registered) -> application."""

READ = ("dt", "client_id", "principal", "client_software_name", "application")
"""Columns of `clients` that `of_rows` reads."""


def of_rows(rows: Iterable[ClientRow]) -> Names:
    """As the daily runs grouped them; the latest day counts."""
    return {
        _key(row["client_id"], row["principal"], row["client_software_name"]): row["application"]
        for row in sorted(rows, key=lambda row: row["dt"])
        if row["application"]
    }


def of_tracks(tracks: Sequence[Track], old: Collection[str]) -> Names:
    """Applications of request logs' clients. `old`: the incarnations before the upgrade, whose request versions are
    compared: brokers of one release, if there are requests to any of them.
    """
    there = [track for track in tracks if track.all_requests]
    by_track = applications([_client(track, frozenset(old)) for track in there])
    return {_key(*track.key): application.name for track, application in zip(there, by_track, strict=True)}


def _client(track: Track, old: frozenset[str]) -> Client:
    versions: dict[int, set[int]] = {}
    for (key, version), incarnations in track.used.items():
        if not old.isdisjoint(incarnations):
            versions.setdefault(key, set()).add(version)
    name, version_text = track.software
    return Client(
        track.key.principal,
        track.key.client_id,
        name,
        version_text,
        None,
        _moment(min(span.first for span in track.all_requests)),
        _moment(max(span.last for span in track.all_requests)),
        frozenset(track.addresses),
        frozenset(track.groups),
        {key: frozenset(of_api) for key, of_api in versions.items()},
        on_one_release=True,
    )


def with_applications(review: Review, names: Names) -> Review:
    """The review with the application of each client; a client without a name is an application of its own."""
    return replace(review, clients=tuple(named(review.clients, names)))


def named(clients: Iterable[ReviewedClient], names: Names) -> Iterator[ReviewedClient]:
    """Each client with its application."""
    any_software = {key[:2]: name for key, name in names.items()}
    for client in clients:
        key = _key(client.client_id, client.principal, client.track_name)
        yield replace(client, application=names.get(key) or any_software.get(key[:2]) or "")


def keys(clients: Iterable[ReviewedClient]) -> set[tuple[str, str | None, str]]:
    """What identifies the applications of these clients."""
    return {
        (client.principal, client.owner, client.application or client.client_id or "") for client in clients
    }


def outcome_counts(clients: Iterable[ReviewedClient]) -> dict[str, int]:
    """Number of applications by their worst outcome, in the order of OUTCOMES."""
    worst: dict[tuple[str, str | None, str], int] = {}
    for client in clients:
        (key,) = keys([client])
        place = OUTCOMES.index(client.last_outcome.outcome)
        worst[key] = min(place, worst.get(key, place))
    counts = Counter(worst.values())
    return {OUTCOMES[place]: counts[place] for place in sorted(counts)}


def _key(
    client_id: str | None, principal: str | None, software_name: str | None
) -> tuple[str | None, str, str]:
    return client_id, principal or "", kip511.registered(software_name or "")


def _moment(seconds: float) -> dt.datetime:
    return dt.datetime.fromtimestamp(seconds, dt.UTC)
