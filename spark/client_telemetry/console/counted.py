"""A number and its noun, and the first of many names, as people read them."""

from collections.abc import Sequence


def counted(count: int, noun: str, plural: str = "") -> str:
    """
    >>> counted(1, "client"), counted(2048, "client"), counted(2, "push", "pushes")
    ('1 client', '2,048 clients', '2 pushes')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def first_of(names: Sequence[str], most: int) -> str:
    """
    >>> first_of(["a", "b", "c"], 2), first_of(["a"], 2)
    ('a, b and 1 more', 'a')
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
