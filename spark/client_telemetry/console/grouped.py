"""Things of one kind under what they have in common."""

from collections.abc import Callable, Iterable
from typing import TypeVar

_T = TypeVar("_T")
_Key = TypeVar("_Key")


def grouped(things: Iterable[_T], key: Callable[[_T], _Key]) -> dict[_Key, list[_T]]:
    """In the order in which they come.

    >>> grouped(["brod", "sarama", "brod-cli"], lambda name: name[0])
    {'b': ['brod', 'brod-cli'], 's': ['sarama']}
    """
    found: dict[_Key, list[_T]] = {}
    for each in things:
        found.setdefault(key(each), []).append(each)
    return found
