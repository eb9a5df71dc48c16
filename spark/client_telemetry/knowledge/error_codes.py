"""Kafka's error codes in answers (error_codes.csv)."""

from enum import IntEnum
from functools import cache
from typing import NamedTuple

from client_telemetry.knowledge import DamagedKnowledge, due, rows

FILE = "error_codes.csv"
COLUMNS = ("code", "name", "stays", "upgrade_helps", "means", "source")


class KafkaError(IntEnum):
    """Those that rules name."""

    TOPIC_AUTHORIZATION_FAILED = 29
    GROUP_AUTHORIZATION_FAILED = 30
    CLUSTER_AUTHORIZATION_FAILED = 31
    UNSUPPORTED_VERSION = 35
    INVALID_REQUEST = 42
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
    UNSUPPORTED_COMPRESSION_TYPE = 76
    INVALID_RECORD = 87
    THROTTLING_QUOTA_EXCEEDED = 89
    UNKNOWN_SUBSCRIPTION_ID = 117
    TELEMETRY_TOO_LARGE = 118


NOT_AUTHORIZED = (
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
)
"""Answers that follow from ACLs, which no release changes."""
LEAST_ERRORS = 3
"""Fewer failures of a function that worked before may be a coincidence."""


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
