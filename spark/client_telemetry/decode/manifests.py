"""Reads the manifests in the raw location, or says why one cannot be read."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from client_telemetry.decode.coverage import ManifestRead
from client_telemetry.formats.raw.errors import BadManifest
from client_telemetry.formats.raw.location import RawLocation
from client_telemetry.formats.raw.manifest import LARGEST_BYTES, parse_manifest
from client_telemetry.formats.raw.object_key import ObjectKey

_AT_ONCE = 32
"""A cluster of 500 brokers has 12,000 manifests a day, each a request to the store."""


def read_manifests(raw: RawLocation, keys: Sequence[ObjectKey]) -> list[ManifestRead]:
    """In the order of the keys, many in parallel."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda key: read_manifest(raw, key), keys))


def read_manifest(raw: RawLocation, key: ObjectKey) -> ManifestRead:
    """An unreadable manifest does not fail the run: its bytes go to quarantine when the day is decoded. Many are in memory at once,
    so none is read beyond LARGEST_BYTES.
    """
    try:
        data = raw.beginning(str(key), LARGEST_BYTES + 1)
        if len(data) > LARGEST_BYTES:
            raise BadManifest(f"larger than {LARGEST_BYTES:,} bytes")
        return ManifestRead(key, parse_manifest(data, key))
    except BadManifest as error:
        return ManifestRead(key, None, error)
