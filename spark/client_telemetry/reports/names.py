"""Names of files and folders made from names that people and machines chose."""

import hashlib
import re

LONGEST_FOLDER_NAME = 80
_NOT_PORTABLE = re.compile(r"[^A-Za-z0-9._-]+")


def folder_name(name: str) -> str:
    """A folder name that any file system, object store and URL takes as it is. A name that is one already stays;
    in another, what is not ASCII letter, digit, `.`, `_` or `-` becomes `-` and the start of the SHA-256 of the
    whole name is added, so that different names stay different.

    >>> folder_name("orders-eu")
    'orders-eu'
    >>> folder_name("manual__2026-11-21T05:00:00+00:00")
    'manual__2026-11-21T05-00-00-00-00-9bbbb20a'
    """
    portable = _NOT_PORTABLE.sub("-", name).lstrip("._-").rstrip(".")[:LONGEST_FOLDER_NAME]
    if portable and portable == name:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{portable.rstrip('-')}-{digest}".lstrip("-")


def anchor(kind: str, *key: str | None) -> str:
    """A fragment of an address that names the same thing on every page: `kind` and 12 hex digits of a digest.

    >>> anchor("client", "User:a", "orders", None)
    'client-7cba5b2a82c0'
    """
    text = "\0".join("\1" if part is None else part for part in key)
    return f"{kind}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
