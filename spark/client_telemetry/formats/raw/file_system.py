"""The file system behind a folder or URL: one per URL and process, so that connections are reused. Not for tables,
whose files the catalog's FileIO opens (lake/).
"""

import re
import threading
from functools import lru_cache

from pyarrow import fs

from client_telemetry import Unusable

_SCHEMES = {"s3a": "s3", "s3n": "s3"}
"""Hadoop's schemes for S3."""

_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#\s\"']*)(?P<rest>[^\s\"']*)")
_HOST = re.compile(r"(?:\[[^\]]*\]|[^:@\[\]]*)(?::\d*)?")
_BUCKET = re.compile(r"[^:@]*")
_SECRET_OPTION = re.compile(
    r"[?&][^=&]*(?:password|secret|token|credential|(?<!ssl)key)[^=&]*=", re.IGNORECASE
)
"""`sslkey` of PostgreSQL is a file."""


class StoreRetries(fs.AwsDefaultS3RetryStrategy):  # type: ignore[misc]
    """How long the FileIO of tables waits for an overloaded store: six seconds, as pyarrow does for all other files. By
    default it gives up after less than one.
    """

    def __init__(self) -> None:
        super().__init__(max_attempts=8)


class UnusableLocation(Unusable):
    """A location that cannot be used as it is written."""


def without_userinfo(text: str) -> str:
    """Returns the text unchanged, a location or JSON with locations in it. Raises UnusableLocation if one contains a
    user or password, which would end up in command lines and logs.
    """
    for url in _URL.finditer(text):
        scheme, authority, rest = url.groups()
        is_bucket = scheme.lower() in ("s3", "gs", *_SCHEMES)
        # A secret key may contain slashes: the store's name is then what follows the last @.
        if not (_BUCKET if is_bucket else _HOST).fullmatch(authority) or has_secret_option(rest):
            place = f"{authority}{rest}".partition("?")[0]
            shown = place.rpartition("@")[2] if "@" in place or ":" not in authority else "..."
            raise UnusableLocation(
                f"{scheme}://{shown} has a user or password in its URL: leave them out, and set AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY (and AWS_ENDPOINT_URL where it is not Amazon's), or use an instance role"
            )
    return text


def has_secret_option(url: str) -> bool:
    """Whether a URL has a parameter such as `password` or `secret_key`."""
    return bool(_SECRET_OPTION.search(url))


_CREATING = threading.Lock()


def file_system(location: str) -> tuple[fs.FileSystem, str]:
    """The file system and the path in it, from a URL or an absolute path. Credentials come from the environment. Threads
    that ask at the same time get one and the same: arrow registers the client of a new S3 file system under a lock that
    every request shares, so that a thread which creates another one waits as long as any thread reads.
    """
    with _CREATING:
        return _created(location)


def forget_file_systems() -> None:
    """What is asked for next is created anew, with the environment as it is then."""
    _created.cache_clear()


@lru_cache(maxsize=64)
def _created(location: str) -> tuple[fs.FileSystem, str]:
    scheme, separator, rest = without_userinfo(location).partition("://")
    url = f"{_SCHEMES.get(scheme, scheme)}{separator}{rest}" if separator else location
    return fs.FileSystem.from_uri(url)
