"""What to do with a library whose requests are refused where its version ranges alone give no answer.

For libraries that are configured to old protocol versions (Sarama, kafka-python), declare no version, or have no
version that helps.
"""

from collections.abc import Collection
from functools import cache
from typing import NamedTuple

from client_telemetry.knowledge import DamagedKnowledge, apis, rows, served

FILE = "library_advice.csv"
COLUMNS = ("library", "apis", "where_served", "advice", "source")


class Advice(NamedTuple):
    api_keys: frozenset[int]
    """Empty: any refused API."""
    where_served: tuple[int, int] | None
    """API and version that the target must serve for the advice to help."""
    text: str


@cache
def _advices_by_library() -> dict[str, tuple[Advice, ...]]:
    advices: dict[str, tuple[Advice, ...]] = {}
    for line, (library, names, where, text, source) in rows(FILE, COLUMNS):
        if not (library and text and source):
            raise DamagedKnowledge(FILE, line, "library, advice and source are required")
        keys = apis.keys_of(FILE, line, names)
        try:
            name, _, version = where.partition(":")
            needs = (apis.find(name).key, int(version)) if where else None
        except ValueError as error:
            raise DamagedKnowledge(FILE, line, str(error)) from error
        advices[library] = (*advices.get(library, ()), Advice(keys, needs, text))
    return advices


def on(library: str, refused: Collection[int], target: str) -> str:
    """The advice for a library whose requests of these APIs the target refuses; empty if there is none."""
    texts = []
    for advice in _advices_by_library().get(library, ()):
        if advice.api_keys and not advice.api_keys & set(refused):
            continue
        if advice.where_served is None or served.serves(target, *advice.where_served):
            texts.append(advice.text)
    return ", ".join(texts)
