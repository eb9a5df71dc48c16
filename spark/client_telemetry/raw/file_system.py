"""The file system behind a folder or URL: one per URL and process, so that connections are reused. Not for tables,
whose files the catalog's FileIO opens (lake/).
"""

import re
from functools import lru_cache

from pyarrow import fs

_SCHEMES = {"s3a": "s3", "s3n": "s3"}
"""Hadoop's schemes for S3."""

_USERINFO = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)[^/?#\s\"']*@(?P<rest>[^\s\"',]*)")


class StoreRetries(fs.AwsDefaultS3RetryStrategy):  # type: ignore[misc]
    """How long the FileIO of tables waits for an overloaded store: six seconds, as pyarrow does for all other files. By
    default it gives up after less than one.
    """

    def __init__(self) -> None:
        super().__init__(max_attempts=8)


class UnusableLocation(Exception):
    """A location that cannot be used as it is written."""


def without_userinfo(text: str) -> str:
    """Returns the text unchanged, a location or JSON with locations in it. Raises UnusableLocation if one contains a
    user or password, which would end up in command lines and logs.
    """
    userinfo = _USERINFO.search(text)
    if userinfo:
        raise UnusableLocation(
            f"{userinfo['scheme']}{userinfo['rest']} has a user or password in its URL: leave them out, and set AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY (and AWS_ENDPOINT_URL where it is not Amazon's), or use an instance role"
        )
    return text


@lru_cache(maxsize=64)
def file_system(location: str) -> tuple[fs.FileSystem, str]:
    """The file system and the path in it, from a URL or an absolute path. Credentials come from the environment."""
    scheme, separator, rest = without_userinfo(location).partition("://")
    url = f"{_SCHEMES.get(scheme, scheme)}{separator}{rest}" if separator else location
    return fs.FileSystem.from_uri(url)
