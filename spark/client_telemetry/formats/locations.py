"""Where files are: a folder or file, as a path, or a URL of one or of an object store."""

from pathlib import Path
from urllib.parse import unquote, urlsplit


def absolute_url(location: str) -> str:
    """As a URL: relative paths start from the working directory."""
    return location if "://" in location else Path(location).absolute().as_uri()


def is_local(location: str) -> bool:
    """Whether it is on this machine, not in an object store."""
    return absolute_url(location).startswith("file://")


def local_path(location: str) -> Path:
    """Of a location that is local; a relative one stays relative."""
    return Path(unquote(urlsplit(location).path) if "://" in location else location)
