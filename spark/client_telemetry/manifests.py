"""Manifests in the raw location: read each, or say why it cannot be read."""

from client_telemetry.coverage import ManifestRead
from client_telemetry.raw.errors import BadManifest
from client_telemetry.raw.manifest import parse_manifest
from client_telemetry.raw.object_key import ObjectKey
from client_telemetry.raw_location import RawLocation


def read_manifest(raw: RawLocation, key: ObjectKey) -> ManifestRead:
    """A manifest that cannot be read is no error of the run: its bytes go to quarantine when the day is decoded."""
    try:
        return ManifestRead(key, parse_manifest(raw.bytes(str(key)), key))
    except BadManifest as error:
        return ManifestRead(key, None, error)
