"""The knowledge base as if the runs of one library had never been made.

What the runs taught is marked in the knowledge files: a range corrected by them (`before_runs` holds what was
known before), an issue or a default client id (`learned_from_runs`). Left out for a library, the replay shows
how much of its accuracy the runs themselves brought, and how much follows from protocol facts and sources. A whole library
left out shows what happens to clients of libraries that the knowledge base does not have.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from client_telemetry import knowledge
from client_telemetry.compatibility import case, fingerprints, fixes, identification, inference
from client_telemetry.knowledge import advice, client_ranges, known_issues, software

LIBRARY_OF = {
    "confluent-kafka": "librdkafka",
    "confluent-kafka-go": "librdkafka",
    "segmentio/kafka-go": "kafka-go",
    "kafka-python-ng": "kafka-python",
}
"""Library of the knowledge base for a library of the matrix, where the names differ."""

_READERS = (client_ranges, known_issues, fingerprints)


def _without_runs(library: str, file: str, columns: tuple[str, ...]) -> list[tuple[int, list[str]]]:
    found = []
    for line, cells in knowledge.rows(file, columns):
        row = dict(zip(columns, cells, strict=True))
        if row.get("library") == library:
            if row.get("learned_from_runs") == "yes" or row.get("before_runs") == "none":
                continue
            if row.get("before_runs"):
                row["min_version"], _, row["max_version"] = row["before_runs"].partition("-")
        found.append((line, list(row.values())))
    return found


def _without_library(library: str, file: str, columns: tuple[str, ...]) -> list[tuple[int, list[str]]]:
    at = columns.index("library") if "library" in columns else None
    return [
        (line, cells) for line, cells in knowledge.rows(file, columns) if at is None or cells[at] != library
    ]


def _forget() -> None:
    for module in (*_READERS, software, inference, advice, case, identification, fixes):
        for each in vars(module).values():
            if hasattr(each, "cache_clear") and each.__module__ == module.__name__:
                each.cache_clear()


Rows = Callable[[str, str, tuple[str, ...]], list[tuple[int, list[str]]]]


@contextmanager
def _reading(library: str, rows: Rows) -> Iterator[None]:
    readers = (*_READERS, software, advice)
    for module in readers:
        module.rows = partial(rows, library)
    _forget()
    try:
        yield
    finally:
        for module in readers:
            module.rows = knowledge.rows
        _forget()


@contextmanager
def without_runs(library: str) -> Iterator[None]:
    """Within this context the engine knows of a library only what was known before its runs."""
    with _reading(library, _without_runs):
        yield


@contextmanager
def without_library(library: str) -> Iterator[None]:
    """Within this context the engine has never heard of a library."""
    with _reading(library, _without_library):
        yield
