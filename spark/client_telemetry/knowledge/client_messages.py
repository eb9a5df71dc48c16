"""What libraries said, in their own words, when brokers did not have the requests that they need: owners recognise it in their logs.

Each row is a run of one version (`client-telemetry knowledge measure`). It explains verdicts and decides none.
"""

import re
from collections.abc import Collection
from functools import cache
from typing import Final, NamedTuple

from client_telemetry.knowledge import (
    apis,
    client_versions,
    due,
    measured_target,
    one_of,
    releases,
    rows_if_there,
)
from client_telemetry.knowledge.vocabulary import Role

FILE: Final = "client_messages.csv"
COLUMNS: Final = (
    "library",
    "version",
    "configuration",
    "role",
    "broker_from",
    "broker_to",
    "refused",
    "says",
    "source",
)


class Message(NamedTuple):
    library: str
    version: tuple[int, ...]
    configuration: str
    role: str
    brokers: frozenset[str]
    """Releases that refused it so."""
    refused: frozenset[int]
    """Keys of the APIs that it requested nevertheless, and was disconnected; empty: it asked which versions there are."""
    says: str
    """Empty: it reported no error for as long as it was run, which says nothing of later."""


@cache
def every() -> tuple[Message, ...]:
    """Raises DamagedKnowledge. A package that was built before there was this file has none."""
    return tuple(_row(line, cells) for line, cells in rows_if_there(FILE, COLUMNS))


def _row(line: int, cells: list[str]) -> Message:
    library, version, configuration, role, first, last, refused, says, source = cells
    due(FILE, line, library=library, role=role, broker_from=first, source=source)
    one_of(FILE, line, "role", role, tuple(Role))
    brokers = releases.between_cells(FILE, line, first, last)
    keys = apis.keys_of(FILE, line, re.sub(r":\S*", "", refused))
    number = client_versions.of_cell(FILE, line, "version", version)
    return Message(library, number, configuration, role, brokers, keys, says)


@cache
def _by_library() -> dict[str, list[Message]]:
    """Oldest version first."""
    found: dict[str, list[Message]] = {}
    for message in sorted(every(), key=lambda message: message.version):
        found.setdefault(message.library, []).append(message)
    return found


def of(
    library: str,
    version: tuple[int, ...] | None,
    roles: Collection[str],
    target: str,
    keys: Collection[int],
    *,
    gives_up: bool,
) -> Message | None:
    """What the library says in one of these roles on the target, where it is refused one of these APIs: the newest measured version
    up to the given one, otherwise the oldest. None: it said nothing while it was measured, or was not measured."""
    measured = measured_target(target)
    releases_like_it = frozenset(measured.answers_like if measured else (target,))
    fitting = [
        message
        for message in _by_library().get(library, ())
        if message.role in roles
        and message.brokers & releases_like_it
        and (message.refused & frozenset(keys) if message.refused else gives_up)
    ]
    if not fitting:
        return None
    versions = [message.version for message in fitting]
    measured_version = max((each for each in versions if version and each <= version), default=versions[0])
    return next(
        (message for message in fitting if message.version == measured_version and message.says), None
    )
