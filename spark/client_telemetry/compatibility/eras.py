"""How old the request versions of a client are: which release introduced them.

Kafka 0.11 is the dividing line: every version that 4.x removed for producers and consumers (KIP-896) is older.
"""

from collections.abc import Collection, Iterable
from functools import cache

from client_telemetry.knowledge import apis, releases, served

_SINCE = (0, 11, 0, 0)

Use = tuple[int, int, *tuple[object, ...]]
"""API key, version, and what more is known of these requests."""


@cache
def _first_release(key: int, version: int) -> tuple[int, ...] | None:
    """The release that introduced a request version; None for one that the knowledge base does not have."""
    return next(
        (
            releases.parse(release)
            for release in releases.known()
            if key in served.by(release) and version <= served.by(release)[key].advertised.max
        ),
        None,
    )


def speaks_as_of_0_11(api_uses: Iterable[Use]) -> bool:
    """Whether every version that was seen, answered or refused, was introduced in 0.11 or later. ApiVersions,
    SaslHandshake and telemetry do not count.
    """
    ages = [
        _first_release(use[0], use[1])
        for use in api_uses
        if (api := apis.by_key().get(use[0])) and api.used_by in ("data", "admin")
    ]
    return bool(ages) and all(age is not None and age >= _SINCE for age in ages)


def negotiates_as_of_0_11(api_uses: Collection[Use]) -> bool:
    """Whether the client was seen to ask for versions, using ApiVersions 1 or later, and all its other requests are of
    0.11 or later too.
    """
    greeting = [use[1] for use in api_uses if use[0] == apis.API_VERSIONS]
    return (
        bool(greeting)
        and all((_first_release(apis.API_VERSIONS, version) or ()) >= _SINCE for version in greeting)
        and speaks_as_of_0_11(api_uses)
    )


def is_as_young_as(api_uses: Iterable[Use], key: int, version: int) -> bool:
    """Whether some version that was seen was introduced with the same release as this one, or later: the client's
    author then had both at hand.
    """
    brought = _first_release(key, version)
    return brought is not None and any((_first_release(use[0], use[1]) or ()) >= brought for use in api_uses)
