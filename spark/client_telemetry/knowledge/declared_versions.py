"""The versions of an API that a client uses, as its declared library and version imply them."""

from client_telemetry.knowledge import client_ranges, served
from client_telemetry.knowledge.apis import Versions
from client_telemetry.knowledge.software import Identity


def declared(identity: Identity | None, key: int) -> Versions | None:
    """The versions of an API that a declared library and version imply; None if they imply nothing."""
    if identity is None or identity.version is None or not identity.version_decides:
        return None
    row = client_ranges.of(identity.library, identity.version, key) or client_ranges.of_unnamed(identity, key)
    return _as_pinned(row.versions, identity.pinned_to, key) if row else None


def _as_pinned(versions: Versions, pinned_to: str, key: int) -> Versions:
    """The versions of an API that a client uses which speaks as of this release, or all if it is not pinned."""
    of_release = served.by(pinned_to).get(key) if pinned_to else None
    if of_release is None:
        return versions
    highest = min(versions.max, of_release.advertised.max)
    return Versions(min(versions.min, highest), highest)
