"""Kafka's error codes in answers (error_codes.csv), and what a client's errors say about it. Pure; the review uses it, too.

An error alone is no harm: a tool may learn that a topic exists, and producers and group members retry. It is harm where an
API that the client needs is answered with nothing else.
"""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from client_telemetry.compatibility import apis
from client_telemetry.compatibility.evidence import ApiError, ApiUse, FailedApi
from client_telemetry.compatibility.knowledge import DamagedKnowledge, due, rows

FILE = "error_codes.csv"
COLUMNS = ("code", "name", "stays", "upgrade_helps", "means", "source")
UNSUPPORTED_VERSION = 35
NOT_AUTHORIZED = (29, 30, 31, 53)
"""Answers that follow from ACLs, which no release changes."""
LEAST_ERRORS = 3
"""Fewer failures of a function that worked before may be a coincidence."""
_LEAST_STAYING_ERRORS = 2
"""Of an API that never succeeds, with an error that stays."""
_LEAST_PASSING_ERRORS, _LEAST_SECONDS = 10, 60
"""Errors that pass, as while a group rebalances, count if there were so many, over so long (the default
transaction.timeout.ms), and no success.
"""
_METADATA = 3


class ErrorCode(NamedTuple):
    """`stays`: a client that repeats its request gets it again until something is changed. `upgrade_helps`: another
    release may not answer with it. `means`: in words, of the client as `it`.
    """

    name: str
    stays: bool
    upgrade_helps: bool
    means: str


@cache
def known() -> dict[int, ErrorCode]:
    """Code -> what it says."""
    codes: dict[int, ErrorCode] = {}
    for line, (code_text, name, stays, helps, means, source) in rows(FILE, COLUMNS):
        if not code_text.removeprefix("-").isdecimal() or int(code_text) in codes:
            raise DamagedKnowledge(FILE, line, f"code {code_text!r} is not a number, or occurs twice")
        if not {stays, helps} <= {"yes", "no"}:
            raise DamagedKnowledge(FILE, line, "stays and upgrade_helps are yes or no")
        due(FILE, line, name=name, means=means, source=source)
        codes[int(code_text)] = ErrorCode(name, stays == "yes", helps == "yes", means)
    return codes


def text(code: int) -> str:
    """As readers see it.

    >>> text(29), text(9999)
    ('29 (TOPIC_AUTHORIZATION_FAILED)', '9999')
    """
    return f"{code} ({known()[code].name})" if code in known() else str(code)


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
        needed = 0.9 * requests if key == _METADATA and len(uses_of_api) == len(answered) else requests
        code = min(codes, key=lambda code: (-codes[code], code))
        if uses_of_api and errors_of_api >= needed and _is_a_pattern(code, errors_of_api, uses_of_api):
            failed.append(FailedApi(key, code))
    return tuple(failed)


def _is_a_pattern(code: int, errors: int, uses: list[ApiUse]) -> bool:
    if code in known() and known()[code].stays:
        return errors >= _LEAST_STAYING_ERRORS
    times = [(use.first_seen, use.last_seen) for use in uses]
    firsts = [first for first, _ in times if first is not None]
    lasts = [last for _, last in times if last is not None]
    is_long = True
    if len(firsts) == len(lasts) == len(uses):
        is_long = max(lasts) - min(firsts) >= _LEAST_SECONDS * 1_000_000
    return errors >= _LEAST_PASSING_ERRORS and is_long
