"""Client software names and versions as brokers accept them (KIP-511), not what a name stands for."""

import re

PATTERN = r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?"
"""ApiVersionsRequest.SOFTWARE_NAME_VERSION_PATTERN of Kafka; the whole string must match. Length is unlimited."""

UNKNOWN = "unknown"
"""What a broker registers for a connection that declared no name: before ApiVersions, and after versions 0 to 2 of it."""


def is_valid(name_or_version: str) -> bool:
    """Whether a broker accepts the string as software name or version in ApiVersions 3 and later. If not, it answers
    error 42 (INVALID_REQUEST), registers nothing and leaves the connection open.

    >>> is_valid("2.15.0-rdkafka-2.15.0"), is_valid("v1.2.3+dirty"), is_valid("")
    (True, False, False)
    """
    return re.fullmatch(PATTERN, name_or_version) is not None


NOT_DECLARED = (None, "", UNKNOWN)
"""Values of a column of registered names or versions if the client declared none. Empty and null: the source does not
record it.
"""


def is_known(registered: str | None) -> bool:
    """Whether the registered name or version is informative: present, not empty and not `unknown`."""
    return registered not in NOT_DECLARED


def declared(registered: str | None) -> str | None:
    """The registered name or version if it is informative, otherwise None."""
    return registered if is_known(registered) else None


NO_SOFTWARE = "not declared"


def software(name: str | None, version: str | None, otherwise: str = NO_SOFTWARE) -> str:
    """Registered name and version for display.

    >>> software("librdkafka", "2.3.0"), software("librdkafka", "unknown"), software("unknown", "unknown")
    ('librdkafka 2.3.0', 'librdkafka', 'not declared')
    """
    return " ".join(filter(None, (name, declared(version)))) if is_known(name) else otherwise


def is_declared(column: str) -> str:
    """`is_known` as a Spark SQL condition over a column, never null.

    >>> is_declared("client_software_name")
    "coalesce(client_software_name, '') not in ('', 'unknown')"
    """
    return f"coalesce({column}, '') not in ('', '{UNKNOWN}')"


def registered(name_or_version: str | None) -> str:
    """What a broker registers for a client that declared this, or nothing."""
    return name_or_version or UNKNOWN
