"""Fetching a data package, or an artefact of a registry: over HTTP(S), from a file:// URL, a file or a folder."""

import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path
from urllib.parse import unquote, urlsplit

from client_telemetry import Unusable
from client_telemetry.knowledge import UnusablePackage
from client_telemetry.knowledge_package import package_files
from client_telemetry.knowledge_package.package_files import MOST_BYTES, PackageFiles

TIMEOUT_S = 30


class NotFetched(Unusable):
    """An address that does not answer with the whole of what was asked for; the message has one line."""


def package(location: str, offline: bool = False) -> PackageFiles:
    """A package from a path or URL, not trusted yet. Raises UnusablePackage."""
    scheme = urlsplit(location).scheme
    if scheme in ("http", "https"):
        if offline:
            raise UnusablePackage(f"{location}: not fetched, as --offline says")
        try:
            return package_files.read_zip(location, content(location))
        except NotFetched as error:
            raise UnusablePackage(str(error)) from error
    if scheme == "file":
        return package_files.read(Path(unquote(urlsplit(location).path)))
    if "://" in location:
        raise UnusablePackage(f"{location}: {scheme}:// is not supported: use https://, file:// or a path")
    return package_files.read(Path(location).expanduser())


def content(url: str, most_bytes: int = MOST_BYTES) -> bytes:
    """What an address answers. Raises NotFetched, also for half an answer or one that is too large."""
    request = urllib.request.Request(url, headers={"User-Agent": "client-telemetry"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            length = answer.headers.get("Content-Length")
            read: bytes = answer.read(most_bytes + 1)
    except urllib.error.HTTPError as error:
        raise NotFetched(f"{url}: the server answered {error.code} {error.reason}") from error
    except (urllib.error.URLError, HTTPException, OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise NotFetched(f"{url}: not fetched: {str(reason).strip() or type(error).__name__}") from error
    if len(read) > most_bytes:
        raise NotFetched(f"{url}: more than {most_bytes:,} bytes")
    if length is not None and length.isdecimal() and int(length) != len(read):
        raise NotFetched(f"{url}: only {len(read):,} of {int(length):,} bytes arrived")
    return read
