"""What a client's errors say about it.

An error alone is no harm: a tool may learn that a topic exists, and producers and group members retry. It is harm where an
API that the client needs is answered with nothing else.
"""

from collections import Counter
from collections.abc import Iterable

from client_telemetry.compatibility.evidence import ApiError, ApiUse, FailedApi
from client_telemetry.knowledge import apis, error_codes
from client_telemetry.knowledge.api_key import ApiKey

_LEAST_STAYING_ERRORS = 2
"""Of an API that never succeeds, with an error that stays."""
_LEAST_PASSING_ERRORS, _LEAST_SECONDS = 10, 60
"""Errors that pass, as while a group rebalances, count if there were so many, over so long (the default
transaction.timeout.ms), and no success.
"""


def failed_apis(uses: Iterable[ApiUse], errors: Iterable[ApiError]) -> tuple[FailedApi, ...]:
    """APIs whose requests got no answer but errors, often and long enough to be no coincidence, each with its most frequent
    code, sorted. A client that asks for the metadata of topics begins with a request that names none and succeeds: for it
    alone nine of ten suffice, if nothing else follows.
    """
    codes_by_key: dict[int, Counter[int]] = {}
    for error in errors:
        codes_by_key.setdefault(error.api_key, Counter())[error.code] += error.requests
    if not codes_by_key:
        return ()
    answered = [use for use in uses if use.requests and use.api_key != apis.API_VERSIONS]
    failed = []
    for key, codes in sorted(codes_by_key.items()):
        uses_of_api = [use for use in answered if use.api_key == key]
        requests, errors_of_api = sum(use.requests for use in uses_of_api), codes.total()
        needed = 0.9 * requests if key == ApiKey.METADATA and len(uses_of_api) == len(answered) else requests
        code = min(codes, key=lambda code: (-codes[code], code))
        if uses_of_api and errors_of_api >= needed and _is_a_pattern(code, errors_of_api, uses_of_api):
            failed.append(FailedApi(key, code))
    return tuple(failed)


def _is_a_pattern(code: int, errors: int, uses: list[ApiUse]) -> bool:
    if code in error_codes.known() and error_codes.known()[code].stays:
        return errors >= _LEAST_STAYING_ERRORS
    times = [(use.first_seen, use.last_seen) for use in uses]
    firsts = [first for first, _ in times if first is not None]
    lasts = [last for _, last in times if last is not None]
    is_long = True
    if len(firsts) == len(lasts) == len(uses):
        is_long = max(lasts) - min(firsts) >= _LEAST_SECONDS * 1_000_000
    return errors >= _LEAST_PASSING_ERRORS and is_long
